"""A tools file served by the official Python SDK, second generation: `mcp2_server.py add.py`."""

import sys

from functions import functions
from mcp.server import MCPServer

server = MCPServer("benchmark")
for function in functions(sys.argv[1]):
    server.tool()(function)
server.run()
