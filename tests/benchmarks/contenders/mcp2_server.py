"""A tools file served by the official Python SDK, second generation: `mcp2_server.py add.py`."""

import runpy
import sys

from mcp.server import MCPServer

server = MCPServer("benchmark")
for function in runpy.run_path(sys.argv[1]).values():
    if callable(function) and function.__module__ == "<run_path>":
        server.tool()(function)
server.run()
