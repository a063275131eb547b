"""PythonInterpreter in a real server: calls, cancellation, and the end of the server."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import pytest
from support.sandbox_runs import NAMED, called_by, need_sandbox
from support.server_process import Process, call, request, running, wait_until

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap and /proc are Linux's"),
    pytest.mark.process,
]

TOOL = "PythonInterpreter"


@pytest.fixture(params=["required", "off"])
def server(request: pytest.FixtureRequest) -> Iterator[Process]:
    """A server of the tool, for each way there is to run code."""
    if request.param == "required":
        need_sandbox()
    with running(
        "-m", "toolwire", "serve", TOOL, "--set", f"{TOOL}.sandbox={request.param}"
    ) as process:
        yield process


def test_calls_are_answered_and_what_code_prints_is_no_message(server: Process) -> None:
    forged = 'print(\'{"jsonrpc": "2.0", "id": 1, "result": {}}\', flush=True)\n'

    listed = server.ask(request("tools/list"))
    good = server.ask(call(TOOL, {"command": forged + "6 * 7"}))
    bad = server.ask(call(TOOL, {"command": "1 / 0"}))

    (tool,) = listed["result"]["tools"]
    assert (tool["name"], list(tool["inputSchema"]["properties"])) == (TOOL, ["command"])
    assert tool["annotations"]["destructiveHint"]
    answer, printed = good["result"]["content"]
    assert (answer["text"], good["result"]["isError"]) == ("42", False)
    assert answer["_meta"]["toolwire/python"]["sandbox"] in ("bubblewrap", "none")
    assert printed["text"] == 'Printed:\n{"jsonrpc": "2.0", "id": 1, "result": {}}'
    assert bad["result"]["isError"]
    assert "ZeroDivisionError" in bad["result"]["content"][0]["text"]


def endless(name: str) -> str:
    return NAMED.format(name) + "import os, time\nos.fork()\nwhile True:\n    time.sleep(60)"


def test_a_cancelled_call_ends_at_once_and_the_server_goes_on(server: Process) -> None:
    name = f"tw-served-{os.getpid() % 10_000}"
    server.send(call(TOOL, {"command": endless(name)}, id=7))
    wait_until(lambda: len(called_by(name)) == 2)

    server.send(request("notifications/cancelled", {"requestId": 7}, id=...))
    wait_until(lambda: not called_by(name))

    assert server.ask(call(TOOL, {"command": "1"}, id=8))["id"] == 8


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_code_outlives_the_server(server: Process, number: int) -> None:
    name = f"tw-killed-{os.getpid() % 10_000}"
    server.send(call(TOOL, {"command": endless(name)}))
    wait_until(lambda: len(called_by(name)) == 2)

    server.popen.send_signal(number)

    wait_until(lambda: not called_by(name))
