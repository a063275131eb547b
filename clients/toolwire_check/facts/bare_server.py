"""A server of a Python SDK with one tool and nothing else, to compare with: run as
`python bare_server.py CLASS` by the interpreter of a server that is checked.

It imports nothing but that SDK: the environment belongs to the other server.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import version
from typing import Any

CLASSES = {
    "fastmcp.FastMCP": "fastmcp",
    "mcp.server.mcpserver.MCPServer": "mcp",
    "mcp.server.fastmcp.FastMCP": "mcp",
    "mcp.server.lowlevel.Server": "mcp",
}
"""The distribution of each class that a server can be made with."""


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def serve_low_level(server: Any) -> None:
    """Serve `add` by the low-level class of the SDK of the first generation."""
    import anyio

    types = import_module("mcp.types")
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}

    @server.list_tools()  # type: ignore[untyped-decorator]
    async def list_tools() -> list[Any]:
        return [types.Tool(name="add", description="Add two numbers.", inputSchema=schema)]

    @server.call_tool()  # type: ignore[untyped-decorator]
    async def call_tool(name: str, arguments: dict[str, Any]) -> list[Any]:
        return [types.TextContent(type="text", text=str(add(**arguments)))]

    async def run() -> None:
        async with import_module("mcp.server.stdio").stdio_server() as streams:
            await server.run(*streams, server.create_initialization_options())

    anyio.run(run)


def main(name: str) -> None:
    """Serve `add` by the class of this *name*."""
    module, _, class_name = name.rpartition(".")
    title = f"{class_name} {version(CLASSES[name])}"
    server = getattr(import_module(module), class_name)(title)
    if class_name == "Server":
        serve_low_level(server)
        return
    server.tool()(add)
    server.run()


if __name__ == "__main__":
    main(sys.argv[1])
