"""Mounted and wrapped servers whose outputs the reading thread of a served process polls."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.server_process import Process, call, request, running

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="needs SIGSTOP and prompt pipes"),
]

TOOLS = """
import os, signal, threading

def add(a: int, b: int) -> int:
    return a + b

def stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)

def die() -> None:
    os._exit(7)

def wait() -> None:
    threading.Event().wait()

def count(context: Context) -> str:
    for number in range(3):
        context.progress(number, 3, str(number))
    return "counted"
"""

SERVE = ("-m", "toolwire", "serve")
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}}
OPENING["clientInfo"] = {"name": "test", "version": "1"}


@contextmanager
def mounted(folder: Path, *names: str, wraps: bool = False) -> Iterator[Process]:
    """A served process with a mounted server for each of *names*, or a wrapped server; its lists
    are known, and it polls the outputs.
    """
    (folder / "tools.py").write_text(f"from toolwire import Context\n{TOOLS}", encoding="utf-8")
    command = [sys.executable, *SERVE, str(folder / "tools.py")]
    arguments = [*SERVE]
    for name in names:
        arguments += ["--mount", f"{name}={shlex.join(command)}"]
    if wraps:
        arguments = ["-m", "toolwire", "wrap", "--", *command]
    with running(*arguments) as process:
        process.ask(request("initialize", OPENING, id="opening"))
        process.send(request("notifications/initialized", id=...))
        process.ask(request("tools/list", id="list"))
        first = names[0] + "_add" if names else "add"
        for number in range(2):
            process.send(call(first, {"a": 1, "b": 1}, id=number))
            response_to(process, number)
        yield process


def response_to(process: Process, id: Any) -> Any:
    """The response to the request with *id*, after whatever else comes."""
    while (message := process.receive()).get("id") != id:
        continue
    return message


def sum_in(response: Any) -> Any:
    return response["result"]["structuredContent"]["result"]


@pytest.mark.parametrize("wraps", [False, True])
def test_many_calls_at_once_get_their_own_results(tmp_path: Path, wraps: bool) -> None:
    name = "add" if wraps else "one_add"
    with mounted(tmp_path, *(() if wraps else ("one",)), wraps=wraps) as process:
        process.send(*(call(name, {"a": number, "b": 1}, id=number) for number in range(500)))
        responses = [process.receive() for _ in range(500)]

    assert {response["id"]: sum_in(response) for response in responses} == {
        number: number + 1 for number in range(500)
    }


@pytest.mark.parametrize("wraps", [False, True])
def test_calls_in_flight_at_the_end_of_the_input_are_answered(tmp_path: Path, wraps: bool) -> None:
    name = "add" if wraps else "one_add"
    with mounted(tmp_path, *(() if wraps else ("one",)), wraps=wraps) as process:
        process.send(*(call(name, {"a": number, "b": 1}, id=number) for number in range(200)))
        responses = process.hang_up()

        assert process.wait() == 0
    assert {response["id"] for response in responses} == set(range(200))


def test_a_process_with_open_calls_ends_on_a_signal(tmp_path: Path) -> None:
    with mounted(tmp_path, "one") as process:
        process.send(call("one_wait", id="open"), call("one_add", {"a": 1, "b": 2}, id="quick"))
        assert sum_in(response_to(process, "quick")) == 3
        process.popen.send_signal(signal.SIGTERM)

        assert process.wait() == 0


def test_a_server_that_is_stuck_holds_up_no_other(tmp_path: Path) -> None:
    large = {"a": 1, "b": 1, "_": "x" * 100_000}
    with mounted(tmp_path, "stuck", "other") as process:
        process.send(call("stuck_stop", id="stop"))
        process.send(*(call("stuck_add", large, id=f"stuck {number}") for number in range(20)))
        process.send(call("other_add", {"a": 1, "b": 2}, id="other"))

        assert sum_in(response_to(process, "other")) == 3
        assert process.ask(request("ping", id="ping"))["result"] == {}


def test_the_end_of_a_server_fails_its_calls_and_the_next_one_starts_it_again(
    tmp_path: Path,
) -> None:
    with mounted(tmp_path, "one") as process:
        process.send(call("one_wait", id="open"), call("one_die", id="die"))
        failed = [process.receive(), process.receive()]
        process.send(call("one_add", {"a": 1, "b": 2}, id="again"))
        again = response_to(process, "again")

    assert {response["id"] for response in failed} == {"open", "die"}
    assert all("exit status 7" in str(response["result"]["content"]) for response in failed)
    assert sum_in(again) == 3


@pytest.mark.parametrize("wraps", [False, True])
def test_progress_of_a_call_precedes_its_result(tmp_path: Path, wraps: bool) -> None:
    name = "count" if wraps else "one_count"
    with mounted(tmp_path, *(() if wraps else ("one",)), wraps=wraps) as process:
        for number in range(20):
            process.send(call(name, id=number, progressToken=f"token {number}"))
            messages = [process.receive() for _ in range(4)]

            assert [each["params"]["message"] for each in messages[:3]] == ["0", "1", "2"]
            assert messages[3]["result"]["content"][0]["text"] == "counted"
