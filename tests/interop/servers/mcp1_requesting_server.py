"""A server of the official Python SDK, first generation, whose tools ask the host for something."""

from __future__ import annotations

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import SamplingMessage, TextContent

server = FastMCP("requesting")


@server.tool()
async def sample(context: Context) -> str:
    """Let the model of the host say something."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text="Say hi"))
    reply = await context.session.create_message([message], max_tokens=9)
    return reply.content.text


@server.tool()
async def roots(context: Context) -> str:
    """Name the folders of the host."""
    found = await context.session.list_roots()
    return " ".join(str(root.uri) for root in found.roots)


@server.tool()
async def link(context: Context) -> str:
    """Have the user open a page."""
    answer = await context.elicit_url("Log in", "https://example.org/", "e")
    return answer.action


if __name__ == "__main__":
    server.run()
