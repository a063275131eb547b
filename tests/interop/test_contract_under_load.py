"""The contract kit on a busy machine: a server fails no `must` that it does not fail on an idle
one.

Each check keeps all cores busy, so four servers are checked, one of each SDK; with
`TOOLWIRE_EVERY_SERVER=1` in the environment, all twenty.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

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


def _take_example(
    environment: str, folder: str, module: str, calls: dict[str, Any] | None = None
) -> Server:
    """Return the server `mcp` of a *module*, an example of the SDK in *environment*."""
    sdk = _SDKS[environment]
    run = f"from {module} import mcp; mcp.run()"
    place = EXAMPLES / sdk.replace(" ", "-") / folder
    name = f"{environment}-{module.replace('_', '-')}"
    return Server(
        name, f"`{module}.py`", sdk, python_of(environment, "-c", run), place, calls or {}
    )


_SDKS = {"mcp1": "mcp 1.30.0", "mcp2": "mcp 2.3.0", "fastmcp": "fastmcp 4.1.6"}

# They have no baseline: what they fail on a busy machine is compared with what they fail
# afterwards.
MORE_SERVERS = (
    _take_example("mcp1", "fastmcp", "echo"),
    _take_example("mcp1", "fastmcp", "unicode_example", {"list_emoji_categories": {}}),
    _take_example(
        "mcp1",
        "snippets/servers",
        "tool_progress",
        {"long_running_task": {"task_name": "a", "steps": 3}},
    ),
    _take_example("mcp2", "mcpserver", "echo"),
    _take_example("mcp2", "mcpserver", "logging_and_progress", {"echo": {"text": "a"}}),
    _take_example("mcp2", "mcpserver", "parameter_descriptions", {"greet_user": {"name": "a"}}),
    _take_example("fastmcp", "", "echo"),
    _take_example("fastmcp", "", "complex_inputs"),
    _take_example("fastmcp", "", "tool_result_echo", {"echo": {"text": "a"}}),
    _take_example("fastmcp", "", "mount_example"),
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
