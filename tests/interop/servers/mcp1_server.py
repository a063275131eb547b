"""A server of the official Python SDK, first generation, that does what a client has to cope
with.
"""

from __future__ import annotations

import anyio
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from pydantic import BaseModel

server = FastMCP("official", instructions="Be kind.")


class Sure(BaseModel):
    """The answer."""

    sure: bool


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
async def delete(what: str, context: Context) -> str:
    """Delete something, if the user is sure."""
    answer = await context.elicit(f"Delete {what}?", Sure)
    return f"deleted {what}" if answer.action == "accept" and answer.data.sure else f"kept {what}"


@server.tool()
async def grow(context: Context) -> str:
    """Get another tool."""
    server.add_tool(lambda: "new", name="new", description="New.")
    await context.session.send_tool_list_changed()
    return "grown"


if __name__ == "__main__":
    server.run()
