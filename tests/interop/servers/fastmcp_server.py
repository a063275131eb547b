"""A server of fastmcp that does what a client has to cope with."""

from __future__ import annotations

import anyio
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError

server = FastMCP("official", instructions="Be kind.")


@server.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool
def fail() -> str:
    """Fail."""
    raise ToolError("out of order")


@server.tool
async def count(context: Context) -> str:
    """Count to three."""
    for number in (1, 2, 3):
        await context.report_progress(number, 3, f"step {number}")
    return "counted"


@server.tool
async def wait() -> None:
    """Wait for ever."""
    await anyio.sleep_forever()


if __name__ == "__main__":
    server.run()
