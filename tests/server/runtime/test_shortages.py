"""What the system has run out of, or what fails where nothing should: nobody waits for an answer
that never comes.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from support.server_process import PATIENCE_SECONDS, call, request, served, wait_until
from toolwire import RequestError, Server

TOOLS = """
import os, resource, select, threading

gate = threading.Event()

def block() -> str:
    gate.wait()
    return "open"

async def open_all() -> str:
    gate.set()
    return "open"

def add(a: int, b: int) -> int:
    return a + b

def open_files() -> str:
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    try:
        while True:
            os.open(os.devnull, os.O_RDONLY)
    except OSError:
        return "all"

def fail() -> None:
    open(os.devnull)

def crash() -> None:
    raise ValueError("boom" + "!" * 5000)
"""

FEW_THREADS = """
start = threading.Thread.start
note = os.path.join(os.path.dirname(__file__), "refused")

def limited(thread):
    if threading.active_count() > 8 and not os.path.exists(note + ".no_more"):
        open(note, "w").close()
        raise RuntimeError("can't start new thread")
    start(thread)

threading.Thread.start = limited
"""


@pytest.mark.process
def test_threads_that_could_not_be_started_are_started_when_they_can_be(tmp_path: Path) -> None:
    with served(tmp_path, TOOLS + FEW_THREADS) as process:
        process.send(*(call("block", id=number) for number in range(20)))
        wait_until((tmp_path / "refused").exists)

        (
            tmp_path / "refused.no_more"
        ).touch()  # before the call that ends all others: its event loop is a thread too
        process.send(call("open_all", id="open"), request("ping", id="ping"))

        assert {process.receive()["id"] for _ in range(22)} == {*range(20), "open", "ping"}
        assert process.hang_up() == []
        assert process.wait() == 0


@pytest.mark.process
def test_an_event_loop_that_gets_no_thread_is_an_error_answer(tmp_path: Path) -> None:
    never = FEW_THREADS.replace("threading.active_count() > 8", "thread.name == 'toolwire-loop'")
    with served(tmp_path, TOOLS + never) as process:
        assert process.ask(call("open_all", id=1))["result"]["isError"] is True
        assert process.ask(call("add", {"a": 1, "b": 2}, id=2))["result"]["structuredContent"] == {
            "result": 3
        }

        (tmp_path / "refused.no_more").touch()

        assert process.ask(call("open_all", id=3))["result"]["isError"] is False


@pytest.mark.process
def test_an_outbox_that_gets_no_thread_is_given_one_later(tmp_path: Path) -> None:
    never = FEW_THREADS.replace("threading.active_count() > 8", "thread.name == 'toolwire-outbox'")
    with served(tmp_path, TOOLS + never) as process:
        process.send(call("open_all", id=1))
        wait_until((tmp_path / "refused").exists)

        (tmp_path / "refused.no_more").touch()
        process.send(call("add", {"a": 1, "b": 2}, id=2))

        assert {process.receive()["id"], process.receive()["id"]} == {1, 2}


@pytest.mark.process
def test_what_waits_in_an_outbox_without_a_thread_goes_out_though_nothing_else_comes(
    tmp_path: Path,
) -> None:
    never = FEW_THREADS.replace("threading.active_count() > 8", "thread.name == 'toolwire-outbox'")
    with served(tmp_path, TOOLS + never) as process:
        process.send(call("open_all", id=1))
        wait_until((tmp_path / "refused").exists)

        (tmp_path / "refused.no_more").touch()

        assert process.receive()["id"] == 1


@pytest.mark.process
def test_a_tool_that_fails_when_no_file_can_be_opened_is_answered(tmp_path: Path) -> None:
    """Nothing can be imported any more, for one: not what shows the first traceback."""
    with served(tmp_path, TOOLS) as process:
        assert process.ask(call("open_files", id=1))["result"]["isError"] is False

        assert (
            "Too many open files" in process.ask(call("fail", id=2))["result"]["content"][0]["text"]
        )
        assert process.ask(call("add", {"a": "x"}, id=3))["result"]["isError"] is True
        assert process.ask(b"no json\n")["error"]["code"] == -32603
        assert process.ask(b"Content-Length\n")["error"]["code"] == -32603
        assert process.ask(call("add", {"a": 1, "b": 2}, id=4))["result"]["structuredContent"] == {
            "result": 3
        }

        assert process.hang_up() == []
        assert process.wait() == 0
        assert "Too many open files" in process.stderr()


UNREAD_STDERR = """
unread, stderr = os.pipe()
os.dup2(stderr, 2)

async def fail_async() -> None:
    raise ValueError("x" * 5000)

def said() -> str:
    return os.read(unread, 1 << 20).decode()
"""


@pytest.mark.process
def test_a_host_that_does_not_read_stderr_is_answered_all_the_same(tmp_path: Path) -> None:
    with served(tmp_path, TOOLS + UNREAD_STDERR) as process:
        process.send(
            *(call("fail_async" if number % 2 else "crash", id=number) for number in range(60))
        )
        assert {process.receive()["id"] for _ in range(60)} == set(range(60))
        assert process.ask(request("ping", id="ping"))["id"] == "ping"

        first = process.ask(call("said"))["result"]["content"][0]["text"]
        process.ask(call("crash"))
        second = process.ask(call("said"))["result"]["content"][0]["text"]

        assert first.startswith("toolwire: error: ")
        assert second.startswith("\ntoolwire: warning: some lines were dropped here")
        assert "ValueError: boom" in second
        assert process.hang_up() == []
        assert process.wait() == 0


def test_reading_that_fails_is_the_end(capfd: pytest.CaptureFixture[str]) -> None:
    def read() -> bytes:
        raise MemoryError("no room for what was to be read")

    ended = threading.Event()
    session = Server().open_session(lambda data: None)

    session.start_reading(read, ended.set)

    assert ended.wait(PATIENCE_SECONDS)
    session.end()
    assert "no room for what was to be read" in capfd.readouterr().err


def test_writing_that_fails_costs_nothing_but_what_was_to_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def add(a: int, b: int) -> int:
        return a + b

    attempts: SimpleQueue[bytes] = SimpleQueue()

    def write(data: bytes) -> None:
        attempts.put(data)
        if b'"fails"' in data:
            raise ConnectionError("nobody is there")

    monkeypatch.setattr(threading, "excepthook", lambda failure: None)
    session = Server([add], max_workers=1).open_session(write)
    for id in ["fails"] * 5 + ["arrives"]:
        session.feed(json.dumps(call("add", {"a": 1, "b": 2}, id=id)).encode() + b"\n")
        assert f'"{id}"'.encode() in attempts.get(timeout=PATIENCE_SECONDS)
    session.end()


def test_a_call_whose_answer_cannot_even_be_made_is_answered_with_an_error(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise ValueError

    def refuse(*_: Any, **__: Any) -> Any:
        raise MemoryError("no room for the answer")

    answered: SimpleQueue[Any] = SimpleQueue()

    def ask() -> None:
        try:
            server.call("fail")
        except RequestError as error:
            answered.put(error)

    monkeypatch.setattr("toolwire_tools.failures.make_failure", refuse)
    with Server([fail]) as server:
        threading.Thread(target=ask, daemon=True).start()
        assert answered.get(timeout=PATIENCE_SECONDS).code == -32603
    assert "no room for the answer" in capfd.readouterr().err
