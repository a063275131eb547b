"""Heartbeats: progress for calls whose tools report none, so that hosts which wait for a sign of
life get one.

Strategy. One timer serves all calls of a session. When it runs, it looks through the calls in
flight, and its next time is when the first of them will have been silent for long enough. So the
many calls that end before cost nothing.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..protocol.call import Call, ProgressReport
    from ..protocol.in_flight import InFlight
    from ..timers import Timers

_PAUSES = 20
"""Two looks are at least this part of the period apart: with 100,000 calls in flight, each takes
some 10 ms.
"""

_BYTES = 150
"""About the size of a heartbeat."""

_STEP = 1e-9
"""By how much heartbeats increase: less than any step of a tool, but no denormal number, which some
parsers refuse.
"""


class Heartbeat:
    """Sends progress through *send* for each call of *in_flight* that has reported none for
    *seconds*.

    *send* gets the function that makes the message, and its size; it must not block.
    """

    def __init__(
        self,
        seconds: float,
        in_flight: InFlight,
        timers: Timers,
        send: Callable[[Callable[[], bytes | None], int], None],
    ) -> None:
        self._seconds = seconds
        self._in_flight = in_flight
        self._timers = timers
        self._send = send
        self._lock = threading.Lock()
        self._ticking = False
        self.sent = 0

    def watch(self) -> None:
        """Tick from now on, until no call with a progress token is in flight. Never blocks."""
        if not self._ticking:
            self._start(self._seconds)

    def _start(self, seconds: float) -> None:
        with (
            self._lock,
            suppress(RuntimeError),
        ):  # no thread for the timers: the next call tries again
            if not self._ticking:
                self._timers.after(seconds, self._tick)
                self._ticking = True

    def _tick(self) -> None:
        now = time.monotonic()
        first = now
        reporting = self._find_reporting()
        for call, report in reporting:
            if now - report.at < self._seconds:
                first = min(first, report.at)
            else:
                report.at = now  # also if it cannot be sent: the next one is due as long after
                self.sent += 1
                self._send(partial(make_heartbeat, call), _BYTES)
        # A call that begins after this line finds the timer stopped, and starts it; one before it
        # is found here.
        self._ticking = False
        if reporting or self._find_reporting():
            self._start(max(first + self._seconds - now, self._seconds / _PAUSES))

    def _find_reporting(self) -> list[tuple[Call, ProgressReport]]:
        """Return the calls that report progress, each with its latest report."""
        pairs = [(call, call.last_report) for call in self._in_flight.list_running()]
        return [
            (call, report) for call, report in pairs if report is not None and not call.is_silent
        ]


def make_heartbeat(call: Call) -> bytes | None:
    """Return a progress notification in place of the tool, which has not reported for long.

    Its value is just above the tool's last one, or above 0 before that, so that the tool's next
    value will be more. It repeats the tool's total, without which hosts would remove their progress
    bar, but not its message, since clients may join the messages of a generator.
    """
    last = call.last_report
    if last is not None and last.by_tool and last.done is not None:
        return call.progress_message(last.done, last.total, None)
    done = 0.0 if last is None or last.done is None else last.done
    return call.progress_message(done + _STEP, None, _describe_state(call), by_tool=False)


def _describe_state(call: Call) -> str | None:
    if call.handler.is_generator:
        return None
    if call.elicitation is not None:
        return "waiting for the user's answer"
    return (
        "waiting for other calls" if call.worker is None and call.scope is None else "still running"
    )
