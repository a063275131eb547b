"""`OpenSessions`: how the sessions of a shared process open and end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from toolwire.settings import Settings
from toolwire.sharing.common_parts import CommonParts
from toolwire.sharing.open_place import Admission
from toolwire.sharing.open_sessions import OpenSessions


class FakeAdmission:
    """Gives the answer that a test sets."""

    def __init__(self) -> None:
        self.response, self.has_ended = "ok", False

    def choose_answer(self, pipe: str, sessions: int, *, is_loading: bool) -> str:
        return "wait" if is_loading and sessions else self.response

    def close(self, refusal: str) -> None:
        self.response = refusal

    step_aside = close

    def end(self) -> None:
        self.has_ended = True


class FakeConnection:
    """Keeps the lines that the process sends to it."""

    pid, since = 1, 0.0

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.is_closed = False

    send_line = control = note = lambda self, line: self.lines.append(line.partition(" ")[0])

    def read(self) -> bytes:
        return b""

    def close(self) -> None:
        self.is_closed = True


class FakeSession:
    """Has no threads; its client hangs up when a test calls `hang_up`."""

    has_threads = True

    def __init__(self) -> None:
        self.has_ended = threading.Event()
        self.hang_up: Callable[[], None] = self.end
        self.notifies_of_changes = True
        self.filter: Any = None

    def start_reading(self, read: Callable[[], bytes], at_end: Callable[[], None]) -> None:
        if not self.has_threads:
            raise RuntimeError("can't start new thread")
        self.hang_up = at_end

    def filter_with(self, kept: object) -> None:
        self.filter = kept

    def end(self) -> None:
        self.has_ended.set()


class Process:
    """The open sessions of a process, with those that were opened."""

    def __init__(self) -> None:
        self.opened: list[FakeSession] = []
        self.admission = FakeAdmission()
        self.common = CommonParts()
        self.has_ended = threading.Event()
        self.sessions = OpenSessions(
            self.open_session,
            self.common,
            cast("Admission", self.admission),
            Settings(grace_seconds=5),
            0.0,
            self.has_ended.set,
        )

    def open_session(self, connection: object) -> Any:
        self.opened.append(FakeSession())
        return self.opened[-1]

    def connect(self) -> FakeConnection:
        connection: Any = FakeConnection()
        self.sessions.answer(connection)
        return cast("FakeConnection", connection)


@pytest.fixture
def process() -> Iterator[Process]:
    process = Process()
    yield process
    process.common.timers.stop()


def test_process_ends_after_its_last_session(process: Process) -> None:
    for _ in range(2):
        process.connect()
    with process.sessions.lock:
        process.opened[0].hang_up()
        assert process.sessions.lock.wait(5)
    assert not process.admission.has_ended
    process.opened[1].hang_up()
    assert process.has_ended.wait(5)
    assert process.admission.has_ended


def test_session_without_a_thread_ends_at_once(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeSession, "has_threads", False)
    connection = process.connect()
    assert process.opened[0].has_ended.is_set()
    assert connection.is_closed
    assert process.has_ended.wait(5)


def test_second_connection_waits_until_the_tools_are_loaded(process: Process) -> None:
    process.sessions.waiting.start(answers_handshake=False)
    first, second = process.connect(), process.connect()
    assert (first.lines, second.lines) == (["ok"], ["wait"])
    assert process.opened[0].filter is not None
    process.opened[0].filter.serve = lambda: None
    process.sessions.serve_waiting()
    assert second.lines == ["wait", "ok"]
    assert process.opened[1].filter is None


def test_waiting_connection_is_refused_if_the_first_session_stays_alone(process: Process) -> None:
    process.sessions.waiting.start(answers_handshake=False)
    first, second = process.connect(), process.connect()
    process.sessions.become_private("a module is not shared")
    process.opened[0].filter.serve = lambda: None
    process.sessions.serve_waiting()
    assert first.lines == ["ok", "a"]
    assert second.lines == ["wait", "alone"]
    assert second.is_closed
    assert not process.common.keeps_tasks


def test_all_clients_get_an_error_if_the_tools_cannot_be_loaded(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered: list[object] = []
    monkeypatch.setattr(
        "toolwire.loading.failed_start.answer_failure", lambda kept, error: answered.append(kept)
    )
    process.sessions.waiting.start(answers_handshake=False)
    first, second = process.connect(), process.connect()
    process.sessions.fail(ValueError("no tools"))
    assert answered == [process.opened[0].filter]
    assert (first.lines, second.lines) == (["ok", "end"], ["wait", "failed"])
