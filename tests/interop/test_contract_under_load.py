"""The contract kit on a busy machine: a server fails no `must` that it does not fail on an idle
one.

Each check keeps all cores busy, so four servers are checked, one of each SDK; with
`TOOLWIRE_EVERY_SERVER=1` in the environment, all fifteen.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from interop.peers import missing
from interop.third_party import EXAMPLES, SERVERS, Server, python_of
from toolwire_check import Report
from toolwire_check.playing.plan import select_cases
from toolwire_schemas.cases import load_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERY_SERVER = os.environ.get("TOOLWIRE_EVERY_SERVER") == "1"
ONE_OF_EACH_SDK = ("filesystem", "mcp1-echo", "mcp2-echo", "fastmcp-echo")

# Each burns one core, at the priority of the servers, and ends by itself even if nothing ends it.
BURNER = """
import time
end = time.monotonic() + 600
while time.monotonic() < end:
    pass
"""

TIMED = [
    "batch/*",
    "cancellation/*",
    "concurrency/*",
    "ending/*",
    "large/*",
    "lifecycle/*",
    "progress/*",
    "calls/*",
]
"""The areas whose cases wait for something, or count processes; the others are judged by single
responses.
"""

_MCP1, _MCP2, _FASTMCP = (EXAMPLES / name for name in ("mcp-1.30.0", "mcp-2.3.0", "fastmcp-4.1.6"))

# They have no baseline: what they fail on a busy machine is compared with what they fail
# afterwards.
MORE_SERVERS = (
    Server(
        "mcp1-echo",
        "`fastmcp/echo.py`",
        "mcp 1.30.0",
        python_of("mcp1", "-c", "from echo import mcp; mcp.run()"),
        _MCP1 / "fastmcp",
    ),
    Server(
        "mcp1-progress",
        "`snippets/servers/tool_progress.py`",
        "mcp 1.30.0",
        python_of("mcp1", "-c", "from tool_progress import mcp; mcp.run()"),
        _MCP1 / "snippets" / "servers",
        {"long_running_task": {"task_name": "a", "steps": 3}},
    ),
    Server(
        "mcp2-echo",
        "`mcpserver/echo.py`",
        "mcp 2.3.0",
        python_of("mcp2", "-c", "from echo import mcp; mcp.run()"),
        _MCP2 / "mcpserver",
    ),
    Server(
        "fastmcp-echo",
        "`echo.py`",
        "fastmcp 4.1.6",
        python_of("fastmcp", "-c", "from echo import mcp; mcp.run()"),
        _FASTMCP,
    ),
    Server(
        "fastmcp-inputs",
        "`complex_inputs.py`",
        "fastmcp 4.1.6",
        python_of("fastmcp", "-c", "from complex_inputs import mcp; mcp.run()"),
        _FASTMCP,
    ),
)


CHECKED = [
    server for server in (*SERVERS, *MORE_SERVERS) if EVERY_SERVER or server.name in ONE_OF_EACH_SDK
]


@contextlib.contextmanager
def busy_cores() -> Iterator[None]:
    burners = [subprocess.Popen([sys.executable, "-c", BURNER]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def failures(report: Report) -> set[tuple[str, str]]:
    return {(verdict.case, verdict.revision) for verdict in report.list_failures("must")}


@pytest.mark.slow
@pytest.mark.parametrize("server", CHECKED, ids=lambda server: server.name)
def test_a_server_fails_on_busy_cores_only_what_it_fails_on_idle_ones(server: Server) -> None:
    if not server.installed:
        missing(server.what)
    with busy_cores():
        busy = failures(server.check(select_cases(load_cases(), TIMED), gaps=server.gaps()))
    if busy:
        again = [case for case in load_cases() if case.id in {name for name, _ in busy}]
        busy -= failures(server.check(again, gaps=server.gaps(), jobs=1))
    assert busy == set()
