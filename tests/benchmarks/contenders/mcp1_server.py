"""A tools file served by the official Python SDK, first generation: `mcp1_server.py add.py`."""

import sys

from functions import functions
from mcp.server.fastmcp import FastMCP

server = FastMCP("benchmark", log_level="ERROR")
for function in functions(sys.argv[1]):
    server.tool()(function)
server.run()
