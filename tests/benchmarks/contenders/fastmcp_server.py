"""A tools file served by fastmcp: `fastmcp_server.py add.py`."""

import runpy
import sys

from fastmcp import FastMCP

server = FastMCP("benchmark")
for function in runpy.run_path(sys.argv[1]).values():
    if callable(function) and function.__module__ == "<run_path>":
        server.tool(function)
server.run(show_banner=False)
