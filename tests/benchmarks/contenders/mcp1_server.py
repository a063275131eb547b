"""A tools file served by the official Python SDK, first generation: `mcp1_server.py add.py`."""

import runpy
import sys

from mcp.server.fastmcp import FastMCP

server = FastMCP("benchmark", log_level="ERROR")
for function in runpy.run_path(sys.argv[1]).values():
    if callable(function) and function.__module__ == "<run_path>":
        server.tool()(function)
server.run()
