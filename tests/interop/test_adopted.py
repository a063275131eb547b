"""The examples of FastMCP and the SDK are served as their own packages serve them, or refused for the recorded reason."""

from __future__ import annotations

import json

import pytest
from interop.adopted import EXAMPLES, PACKAGES, RECORDED, outcome, table
from interop.peers import installed
from support.examples import ROOT

# Every kind of outcome, and every feature that most files use; `python tests/interop/adopted.py` compares all files.
CHOSEN = (
    "fastmcp-4.1.6/elicitation.py",
    "fastmcp-4.1.6/testing_demo/server.py",
    "fastmcp-4.1.6/tool_result_echo.py",
    "fastmcp-4.1.6/search/server_regex.py",
    "mcp-1.30.0/snippets/servers/direct_call_tool_result.py",
    "mcp-1.30.0/snippets/servers/lifespan_example.py",
    "mcp-1.30.0/snippets/servers/prompt_embedded_resources.py",
    "mcp-1.30.0/snippets/servers/sampling.py",
    "mcp-1.30.0/snippets/servers/structured_output.py",
    "mcp-1.30.0/snippets/servers/tool_errors.py",
    "mcp-2.3.0/mcpserver/icons_demo.py",
    "mcp-2.3.0/snippets/servers/oauth_server.py",
    "mcp-2.3.0/snippets/servers/tool_progress.py",
)
