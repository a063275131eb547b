"""When the reader looks out for the next request, and when it sleeps: decided on a clock of the
test's own.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from toolwire.transport.busy_poll import poll_before

SOON = 50e-6
"""Surely quick enough."""

LATER = 1.0
"""Surely not."""


class Host:
    """What a reader sees of its host: each request comes so many seconds after the last was
    read.
    """

    def __init__(self, *, may_poll: Callable[[], bool] = lambda: True) -> None:
        self.time = 100.0
        self.comes_at = 0.0
        self.looks = 0
        self.slept = False
        self.read = poll_before(self._sleep, self._ready, may_poll, lambda: self.time)
        self.time += LATER

    def ask(self, after: float) -> str:
        """How the reader got a request that comes *after* so many seconds."""
        self.comes_at, self.looks, self.slept = self.time + after, 0, False
        assert self.read() == b"request"
        if not self.looks:
            return "asleep"
        return "in vain" if self.slept else "looking"

    def _ready(self) -> bool:
        self.looks += 1
        self.time += 1e-6
        return self.time >= self.comes_at

    def _sleep(self) -> bytes:
        self.slept = self.time < self.comes_at
        self.time = max(self.time, self.comes_at)
        return b"request"


def test_the_first_request_is_slept_for_and_those_that_follow_soon_are_looked_out_for() -> None:
    host = Host()
    assert [host.ask(after=SOON) for _ in range(4)] == ["asleep", "looking", "looking", "looking"]


def test_what_came_while_the_process_started_makes_no_quick_host() -> None:
    host = Host()
    host.time -= LATER
    assert [host.ask(after=0), host.ask(after=LATER), host.ask(after=LATER)] == ["asleep"] * 3


def test_a_host_that_takes_its_time_is_never_looked_out_for() -> None:
    host = Host()
    assert [host.ask(after=LATER) for _ in range(4)] == ["asleep"] * 4


def test_looking_out_in_vain_ends_after_a_fifth_of_a_millisecond() -> None:
    host = Host()
    host.ask(after=SOON)
    assert host.ask(after=LATER) == "in vain"
    assert host.looks == pytest.approx(200, abs=2)


def test_after_looking_out_in_vain_the_reader_sleeps_for_a_while_however_quick_the_host_is() -> (
    None
):
    host = Host()
    host.ask(after=SOON)
    host.ask(after=300e-6)
    ways = [host.ask(after=100e-6) for _ in range(200)]
    rest = ways.index("looking")
    assert ways[:rest] == ["asleep"] * rest
    assert ways[rest:] == ["looking"] * (200 - rest)
    assert rest == pytest.approx(100, abs=3)  # a hundredth of a second


def test_nothing_is_looked_out_for_while_a_tool_runs() -> None:
    runs = True
    host = Host(may_poll=lambda: not runs)
    host.ask(after=SOON)
    assert host.ask(after=SOON) == "asleep"
    runs = False
    assert host.ask(after=SOON) == "looking"


@pytest.mark.skipif(not hasattr(os, "sched_yield"), reason="pipes cannot be polled here")
def test_a_pipe_is_ready_when_something_is_in_it_and_when_its_other_end_is_closed() -> None:
    from toolwire.transport.busy_poll import make_readiness_check

    read, write = os.pipe()
    try:
        ready = make_readiness_check(read)
        before = ready()
        os.write(write, b"request")
        filled = ready()
        os.read(read, 100)
        emptied = ready()
        os.close(write)
        assert (before, filled, emptied, ready()) == (False, True, False, True)
    finally:
        os.close(read)
