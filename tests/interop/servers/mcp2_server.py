"""A server of the official Python SDK, second generation, that does what a client has to cope
with.
"""

from __future__ import annotations

from typing import Annotated

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

server = MCPServer("official", instructions="Be kind.")


class Sure(BaseModel):
    """The answer."""

    sure: bool


def ask(what: str) -> Elicit[Sure]:
    return Elicit(f"Delete {what}?", Sure)


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def fail() -> str:
    """Fail."""
    raise ToolError("out of order")


@server.tool()
async def count(context: Context) -> str:
    """Count to three."""
    for number in (1, 2, 3):
        await context.report_progress(number, 3, f"step {number}")
    return "counted"


@server.tool()
async def wait() -> None:
    """Wait for ever."""
    await anyio.sleep_forever()


@server.tool()
def delete(what: str, answer: Annotated[Sure, Resolve(ask)]) -> str:
    """Delete something, if the user is sure."""
    return f"deleted {what}" if answer.sure else f"kept {what}"


@server.tool()
async def grow(context: Context) -> str:
    """Get another tool."""
    server.add_tool(lambda: "new", name="new", description="New.")
    await context.notify_tools_changed()
    return "grown"


if __name__ == "__main__":
    server.run()
