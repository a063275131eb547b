"""A tools file served by fastmcp: `fastmcp_server.py add.py`."""

import sys

from fastmcp import FastMCP
from functions import functions

server = FastMCP("benchmark")
for function in functions(sys.argv[1]):
    server.tool(function)
server.run(show_banner=False)
