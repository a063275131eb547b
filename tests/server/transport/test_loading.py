"""A server process while it imports the user's modules."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from support.running_processes import is_running
from support.server_process import Process, call, request, served, wait_until
from toolwire.transport import stdio

pytestmark = pytest.mark.process

ADD = "def add(a: int, b: int) -> int:\n    return a + b\n"
INITIALIZE = request("initialize", {"protocolVersion": "2025-11-25"}, id="hello")


def waiting_for(gate: Path, then: str = "") -> str:
    """Return a module whose import does not end before the file *gate* exists."""
    wait = f"import os, time\nwhile not os.path.exists({str(gate)!r}):\n    time.sleep(0.01)\n"
    return f"{wait}{then}{ADD}"


def test_a_handshake_is_answered_during_an_import_and_a_list_after_it(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    with served(tmp_path, waiting_for(gate)) as process:
        hello = process.ask(INITIALIZE)
        process.send(request("tools/list", id="list"), call("add", {"a": 1, "b": 2}, id="call"))
        assert process.ask(request("ping", id="ping"))["id"] == "ping"

        gate.touch()

        answers: dict[str, Any] = {}
        for _ in range(2):
            answer = process.receive()
            answers[answer["id"]] = answer["result"]
        assert hello["result"]["serverInfo"] == {"name": "tools_file", "version": "0.0.0"}
        assert [tool["name"] for tool in answers["list"]["tools"]] == ["add"]
        assert answers["call"]["structuredContent"] == {"result": 3}


def test_a_file_that_may_have_prompts_is_imported_before_a_handshake(tmp_path: Path) -> None:
    prompt = "from toolwire import prompt\n@prompt\ndef greet() -> str:\n    return 'Hi'\n"
    with served(tmp_path, prompt) as process:
        hello = process.ask(INITIALIZE)

    assert hello["result"]["capabilities"].keys() == {"prompts", "tools", "logging", "tasks"}


def test_the_end_of_the_input_ends_an_import(tmp_path: Path) -> None:
    with served(tmp_path, waiting_for(tmp_path / "gate")) as process:
        process.ask(INITIALIZE)

        assert process.hang_up() == []
        assert process.wait() == 0
        assert "the input ended before the tools were imported" in process.stderr()


def test_requests_that_wait_at_the_end_of_the_input_are_answered(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    with served(tmp_path, waiting_for(gate)) as process:
        process.send(request("tools/list", id="list"))
        process.popen.stdin.close()  # type: ignore[union-attr]

        gate.touch()

        assert process.receive()["id"] == "list"
        assert process.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_an_import(tmp_path: Path, number: int) -> None:
    with served(tmp_path, waiting_for(tmp_path / "gate")) as process:
        process.ask(INITIALIZE)

        process.popen.send_signal(number)

        assert process.wait() == 0


def test_requests_that_wait_at_a_signal_are_answered_within_the_grace(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    with served(tmp_path, waiting_for(gate), "--limit", "grace_seconds=30") as process:
        process.send(request("tools/list", id="list"))
        process.ask(request("ping", id="ping"))

        process.popen.send_signal(signal.SIGTERM)
        gate.touch()

        assert process.receive()["id"] == "list"
        assert process.wait() == 0


HOLDING = """
import ctypes, os, time
open({reached!r}, "w").close()
while not os.path.exists({gate!r}):
    time.sleep(0.01)
ctypes.PyDLL(None).sleep(1000)  # a C function that keeps the interpreter's lock
"""


@pytest.mark.skipif(not hasattr(os, "posix_spawn"), reason="the system has no watchdog")
def test_an_import_that_holds_the_interpreters_lock_is_killed(tmp_path: Path) -> None:
    reached, gate = tmp_path / "reached", tmp_path / "gate"
    source = HOLDING.format(reached=str(reached), gate=str(gate)) + ADD
    with served(tmp_path, source) as process:
        process.ask(INITIALIZE)
        wait_until(reached.exists)
        gate.touch()

        process.popen.stdin.close()  # type: ignore[union-attr]

        assert process.wait() == -signal.SIGKILL
        assert "an import may hold the interpreter's lock" in process.stderr()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system has no /proc")
def test_a_server_that_is_killed_during_an_import_leaves_no_process(tmp_path: Path) -> None:
    started = tmp_path / "started"
    child = "import subprocess\nchild = subprocess.Popen(['sleep', '1000'])\n"
    note = f"open({str(started)!r} + '.new', 'w').write(str(child.pid))\n"
    move = f"import os\nos.replace({str(started)!r} + '.new', {str(started)!r})\n"
    source = child + note + move + waiting_for(tmp_path / "gate")
    with served(tmp_path, source) as process:
        wait_until(started.exists)
        number = int(started.read_text())

        process.popen.kill()

        wait_until(lambda: not is_running(number))


def test_requests_get_the_reason_of_an_import_that_fails(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    with served(tmp_path, waiting_for(gate, "import no_such_module_anywhere\n")) as process:
        process.ask(INITIALIZE)
        process.send(request("tools/list", id="list"))

        gate.touch()

        error = process.receive()["error"]
        assert "no_such_module_anywhere" in error["message"]
        assert "tools_file.py" in error["message"]
        assert process.wait() == 2
        assert "no_such_module_anywhere" in process.stderr()


def test_a_program_that_only_pipes_requests_gets_all_responses(process: Process) -> None:
    requests = [request("tools/list", id=number) for number in range(20)]

    process.send(*requests)

    assert [answer["id"] for answer in process.hang_up()] == list(range(20))


@pytest.fixture
def process(tmp_path: Path) -> Any:
    with served(tmp_path, ADD) as process:
        yield process


def test_a_call_that_waits_for_an_import_does_not_wait_for_the_watchdog_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The main thread runs what has waited, and it is the one that polls.
    monkeypatch.setattr(threading, "main_thread", threading.current_thread)
    monkeypatch.setattr(signal, "set_wakeup_fd", lambda *given, **named: -1)
    ended = stdio.ProcessEnd()
    has_waited: list[object] = []
    monkeypatch.setattr(ended._polls, "wait", has_waited.append)

    ended.poll_from_now_on()

    assert has_waited == []
    for descriptor in ended.pipe:
        os.close(descriptor)
