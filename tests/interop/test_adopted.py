"""The examples of FastMCP and the SDK are served as by their own packages, or refused for the
recorded reason.
"""

from __future__ import annotations

import json

import pytest
from interop.adopted import EXAMPLES, HERE, PACKAGES, PAGE, RECORDED, outcome, table
from interop.peers import missing, python_driver

# Every kind of outcome, and every feature that most files use; `python tests/interop/adopted.py`
# compares all files.
CHOSEN = (
    "fastmcp-4.1.6/elicitation.py",
    "fastmcp-4.1.6/testing_demo/server.py",
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

SHARED = ("mcp-1.30.0/snippets/servers/lifespan_example.py",)
"""Those that a shared process serves."""


@pytest.mark.process
@pytest.mark.parametrize("example", CHOSEN)
def test_an_example_has_the_recorded_outcome(example: str) -> None:
    python_driver(PACKAGES[example.partition("/")[0]], "")
    if not (EXAMPLES / example).exists():
        missing("the set of examples")

    options = ("--share", "--idle", "1") if example in SHARED else ()
    assert outcome(example, *options) == json.loads(RECORDED.read_text("utf-8"))[example]


@pytest.mark.process
def test_middleware_runs_as_in_fastmcp() -> None:
    python_driver("fastmcp", "")

    assert outcome(str(HERE / "servers" / "fastmcp_middleware_server.py")) == "same"


def test_the_page_shows_the_recorded_outcomes() -> None:
    shown = (
        PAGE.read_text("utf-8")
        .partition("<!-- fastmcp examples -->\n")[2]
        .partition("<!-- /fastmcp examples -->")[0]
    )

    assert shown == table(json.loads(RECORDED.read_text("utf-8")))
