"""Finds calls that take long.

Strategy. One timer serves all calls of a session, and looks through those in flight. A call that
ends before costs nothing: it is not even noted when it begins. So a call is found up to two ticks
after its time.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..protocol.call import Call
    from ..timers import Timers

_TICKS = 20
"""How often a call is looked at before it counts as slow."""

_SHORTEST_TICK_SECONDS = 0.01


class SlowCalls:
    """Passes each of the calls that *find* returns to *note* once it has been among them for
    *seconds*; neither may block.
    """

    def __init__(
        self,
        seconds: float,
        find: Callable[[], list[Call]],
        note: Callable[[Call], None],
        timers: Timers,
    ) -> None:
        self._seconds = seconds
        self._find = find
        self._note = note
        self._timers = timers
        self._tick_seconds = max(seconds / _TICKS, _SHORTEST_TICK_SECONDS)
        self._lock = threading.Lock()
        self._ticking = False
        self._seen: dict[Call, float] = {}

    def watch(self) -> None:
        """Tick from now on, while there are such calls. Never blocks."""
        if self._ticking:
            return
        # No thread for the timers: the next call tries again.
        with self._lock, suppress(RuntimeError):
            if not self._ticking:
                self._timers.after(self._tick_seconds, self._tick)
                self._ticking = True

    def _tick(self) -> None:
        now = time.monotonic()
        seen: dict[Call, float] = {}
        for call in self._find():
            first = self._seen.get(call, now)
            if now - first >= self._seconds:
                self._note(call)
            seen[call] = first
        self._seen = seen
        # A call that begins after this line finds the timer stopped, and starts it; one before it
        # is found here.
        self._ticking = False
        if self._find():
            self.watch()
