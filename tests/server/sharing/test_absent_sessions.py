"""Which sessions without a client stay for their tasks, and for how long."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from toolwire.sharing.absent_sessions import MAX_ABSENT, AbsentSessions
from toolwire.timers import Timers


class Gone:
    """A session whose client has gone, with its tasks."""

    def __init__(self, *, is_running: bool = False, is_undelivered: bool = False) -> None:
        self.runs_task = False
        self.has_running = is_running
        self.has_undelivered = is_undelivered
        self.ended = threading.Event()
        self.is_open = False

    def open_to_others(self) -> None:
        self.is_open = True

    def end_now(self) -> None:
        self.ended.set()


class Sessions:
    """The sessions without a client, and how many there were after each change."""

    def __init__(self) -> None:
        self.absent = AbsentSessions(Timers())
        self.counts: list[int] = []
        self.absent.on_change = lambda: self.counts.append(self.absent.count)

    def add(self, gone: Any) -> bool:
        return self.absent.add(gone, gone)


@pytest.fixture
def sessions() -> Sessions:
    return Sessions()


@pytest.mark.parametrize(
    ("is_running", "is_undelivered", "is_reachable", "stays"),
    [
        (False, False, True, False),
        (True, False, True, True),
        (False, True, True, True),
        (True, False, False, True),
        (False, True, False, False),
    ],
)
def test_session_stays_for_tasks_that_run_and_results_that_a_client_can_get(
    sessions: Sessions, is_running: bool, is_undelivered: bool, is_reachable: bool, stays: bool
) -> None:
    sessions.absent.is_reachable = is_reachable
    gone = Gone(is_running=is_running, is_undelivered=is_undelivered)
    assert sessions.add(gone) is stays
    assert gone.is_open is stays
    assert sessions.counts == [1] * stays


@pytest.mark.parametrize("needed_for", ["has_running", "has_undelivered", "runs_task"])
def test_session_ends_when_it_is_not_needed_any_more(sessions: Sessions, needed_for: str) -> None:
    gone = Gone()
    setattr(gone, needed_for, True)
    sessions.add(gone)
    setattr(gone, needed_for, False)
    assert gone.ended.wait(60)


def test_session_beyond_the_limit_replaces_one_whose_tasks_have_ended(sessions: Sessions) -> None:
    running = [Gone(is_running=True) for _ in range(MAX_ABSENT - 1)]
    first = Gone(is_undelivered=True)
    for gone in [*running[:3], first, *running[3:]]:
        assert sessions.add(gone)
    assert sessions.add(Gone(is_running=True))
    assert first.ended.wait(60)
    assert sessions.absent.count == MAX_ABSENT
    assert not sessions.add(Gone(is_running=True))
    assert not any(gone.ended.is_set() for gone in running)


def test_all_end_with_the_process(sessions: Sessions) -> None:
    gone = Gone(is_running=True)
    sessions.add(gone)
    sessions.absent.end_all()
    assert gone.ended.is_set()
    assert sessions.absent.count == 0
