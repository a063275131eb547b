"""A server of the official Python SDK, second generation, whose tools ask the host for
something.
"""

from __future__ import annotations

from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver import ListRoots, Resolve, Sample
from mcp_types import CreateMessageResult, ListRootsResult, SamplingMessage, TextContent

server = MCPServer("requesting")


def ask_model() -> Sample:
    message = SamplingMessage(role="user", content=TextContent(type="text", text="Say hi"))
    return Sample([message], max_tokens=9)


def ask_folders() -> ListRoots:
    return ListRoots()


@server.tool()
def sample(reply: Annotated[CreateMessageResult, Resolve(ask_model)]) -> str:
    """Let the model of the host say something."""
    return reply.content.text


@server.tool()
def roots(found: Annotated[ListRootsResult, Resolve(ask_folders)]) -> str:
    """Name the folders of the host."""
    return " ".join(str(root.uri) for root in found.roots)


if __name__ == "__main__":
    server.run()
