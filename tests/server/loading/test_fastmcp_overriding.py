"""Classes derived from FastMCP that list tools or answer calls themselves, and the context of the
call that runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.recording_caller import RecordingCaller
from toolwire.loading.targets import load

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.usefixtures("own_imports"), pytest.mark.anyio]

GUARDED = """
from contextlib import asynccontextmanager
from fastmcp import Context, FastMCP
from fastmcp.exceptions import NotFoundError

@asynccontextmanager
async def lifespan(server):
    yield {"hidden": "write"}

class Guarded(FastMCP[dict]):
    def _hidden(self):
        return self._mcp_server.request_context.lifespan_context["hidden"]

    async def _list_tools_mcp(self):
        hidden = self._hidden()
        tools = [tool for tool in await self.list_tools() if hidden not in tool.tags]
        return [tool.to_mcp_tool(description="Shown.") for tool in tools]

    async def _call_tool_mcp(self, key, arguments):
        tool = await self.get_tool(key)
        if tool is None or arguments.get("name") == "secret":
            raise NotFoundError(f"Unknown tool: {key}")
        return await super()._call_tool_mcp(key, arguments)

mcp = Guarded("guarded", lifespan=lifespan)
inner = FastMCP("inner")

@mcp.tool
def read(name: str, ctx: Context) -> str:
    "Read."
    return f"{name} {ctx.lifespan_context}"

@inner.tool(tags={"write"})
def write(name: str) -> str:
    return name

@inner.tool
def look(ctx: Context) -> list[int]:
    return [len(ctx.request_context.lifespan_context)]

mcp.mount(inner, "in")
"""
INNER_SERVER = """
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("x")

@mcp.tool()
def show() -> str:
    return helper()

@mcp.tool()
async def outer() -> str:
    content, data = await mcp.call_tool("show", {})
    return f"{content[0].text} {data}"

@mcp.tool()
def hidden() -> str:
    return ""

def helper():
    session = mcp.get_context().session
    wanted = types.ClientCapabilities(roots=types.RootsCapability())
    return f"{session.check_client_capability(wanted)} {session.client_params is None}"

from mcp import types

async def list_tools():
    known = mcp.get_context().session.client_params
    tools = await mcp.list_tools()
    return [tool for tool in tools if known or tool.name != "hidden"]

mcp._mcp_server.list_tools()(list_tools)
"""


@pytest.fixture
def write(write: Callable[[str, str], str]) -> Callable[[str], str]:
    return lambda text: write("server.py", text)


def make_host() -> Any:
    """Return a host with folders, and with the value that the file's lifespan yields."""
    host: Any = RecordingCaller()
    host.capabilities = {"roots": {"listChanged": True}}
    host.state = {"hidden": "write"}
    return host


async def test_overridden_list_chooses_and_changes_tools_within_the_lifespan(
    write: Callable[[str], str],
) -> None:
    tools = load([write(GUARDED)])

    assert [(tool.name, tool.describe()["description"]) for tool in tools] == [
        ("read", "Shown."),
        ("in_look", "Shown."),
    ]


async def test_overridden_call_runs_the_tool_or_refuses_it(write: Callable[[str], str]) -> None:
    read, look = load([write(GUARDED)])

    done = await read.call_async({"name": "a"}, make_host())
    with pytest.raises(Exception, match="Unknown tool: read"):
        await read.call_async({"name": "secret"}, make_host())
    counted = await look.call_async({}, make_host())

    assert done["content"][0]["text"] == "a {'hidden': 'write'}"
    assert (counted["structuredContent"], counted["isError"]) == ({"result": [1]}, False)


async def test_inner_server_lists_tools_as_for_a_client_without_capabilities(
    write: Callable[[str], str],
) -> None:
    shown, outer = load([write(INNER_SERVER)])

    assert shown.call({}, make_host())["content"][0]["text"] == "True False"
    done = await outer.call_async({}, make_host())
    assert done["content"][0]["text"] == "True False {'result': 'True False'}"


async def test_list_with_an_unknown_tool_is_refused(write: Callable[[str], str]) -> None:
    text = INNER_SERVER.replace(
        "tools = await mcp.list_tools()", "return [types.Tool(name='odd', inputSchema={})]"
    )

    with pytest.raises(Exception, match="lists it, and has no tool of this name"):
        load([write(text)])


async def test_context_of_the_running_call_is_found_in_functions_that_take_none(
    write: Callable[[str], str],
) -> None:
    text = """
from fastmcp import FastMCP
from fastmcp.server.dependencies import get_context
mcp = FastMCP("x")

@mcp.tool
async def log() -> str:
    await get_context().info("begun")
    return get_context().fastmcp.name

try:
    get_context()
except RuntimeError as error:
    assert str(error) == "No active context found."
"""
    (log,) = load([write(text)])
    caller = RecordingCaller()

    result = await log.call_async({}, caller)

    assert result["content"][0]["text"] == "x"
    assert [logged[:2] for logged in caller.logged] == [("info", "begun")]
