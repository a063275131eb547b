"""Parameters of tools that resolvers fill, as in version 2 of the SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.recording_caller import RecordingCaller
from toolwire.loading.targets import load

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.usefixtures("own_imports"), pytest.mark.anyio]

REFUNDS = """
from __future__ import annotations
from typing import Annotated
from pydantic import BaseModel, Field
from mcp.server.mcpserver import (
    Context, Elicit, ElicitationResult, ListRoots, MCPServer, Resolve, Sample
)
mcp = MCPServer("refunds")
calls = []

class Sure(BaseModel):
    sure: bool

def amount(order: int) -> int:
    calls.append(order)
    return order * 100

async def confirm(
    ctx: Context, order: int, cents: Annotated[int, Resolve(amount)], fast: bool = Field(False)
) -> Sure | Elicit[Sure]:
    if fast:
        return Sure(sure=True)
    return Elicit(f"Refund {cents} to {ctx.session.client_capabilities.roots}?", Sure)

@mcp.tool()
def refund(
    order: int,
    cents: Annotated[int, Resolve(amount)],
    sure: Annotated[Sure, Resolve(confirm)],
    fast: bool = Field(False, description="do not ask"),
) -> str:
    "Refund an order."
    return f"{cents} {sure.sure} {len(calls)}"

@mcp.tool()
async def ask(
    order: int, sure: Annotated[ElicitationResult[Sure], Resolve(confirm)], ctx: Context
) -> str:
    return f"{ctx.tool} {sure.action}"
"""


@pytest.fixture
def write(write: Callable[[str, str], str]) -> Callable[[str], str]:
    return lambda text: write("server.py", text)


async def run(path: str, name: str, *answers: dict[str, Any], **arguments: Any) -> str:
    tool = {tool.name: tool for tool in load([path])}[name]
    caller = RecordingCaller()
    caller.answers += answers
    result = await tool.call_async(arguments, caller)
    text: str = result["content"][0]["text"]
    return text


async def test_parameters_of_resolvers_are_not_shown(write: Callable[[str], str]) -> None:
    tools = load([write(REFUNDS)])

    shown = [list(tool.describe()["inputSchema"]["properties"]) for tool in tools]
    assert shown == [["order", "fast"], ["order"]]


async def test_resolvers_run_once_each_and_ask_the_user(write: Callable[[str], str]) -> None:
    answer = {"action": "accept", "content": {"sure": True}}

    assert await run(write(REFUNDS), "refund", answer, order=2) == "200 True 1"


async def test_resolver_that_knows_its_value_asks_nothing(write: Callable[[str], str]) -> None:
    assert await run(write(REFUNDS), "refund", order=2, fast=True) == "200 True 1"


async def test_declining_fails_the_call_unless_the_tool_takes_the_outcome(
    write: Callable[[str], str],
) -> None:
    path = write(REFUNDS)
    declined = {"action": "decline"}

    with pytest.raises(Exception, match="'sure' could not resolve: elicitation was decline"):
        await run(path, "refund", declined, order=2)
    assert await run(path, "ask", declined, order=2) == "ask decline"


async def test_resolver_that_needs_itself_is_refused(write: Callable[[str], str]) -> None:
    text = REFUNDS.replace(
        "def amount(order: int)",
        "def amount(order: int, other: Annotated[int, Resolve(lambda: amount)])",
    ).replace("Resolve(lambda: amount)", "Resolve(amount)")

    with pytest.raises(Exception, match="needs its own value"):
        load([write(text)])
