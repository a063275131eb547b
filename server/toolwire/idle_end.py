"""The end of what nothing has used for some time: a shared process, a mounted server, a worker."""

from __future__ import annotations

import math
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .timers import Timer, Timers

NEVER = math.inf
"""As *seconds* of `IdleEnd.schedule`: nothing is ended."""


class IdleEnd:
    """Calls *end* some time after the last use, once, on the thread of *timers*.

    A use that starts at this moment may be too late for `cancel`, so *end* checks again, under the
    lock that uses take. It must neither block nor raise.
    """

    def __init__(self, timers: Timers, end: Callable[[], None]) -> None:
        self._timers = timers
        self._end = end
        self._lock = threading.Lock()
        self._timer: Timer | None = None

    def schedule(self, seconds: float) -> None:
        """Call *end* after *seconds*, and not at an earlier scheduled time: the last use has ended.

        If the system allows no thread for timers, *end* is not called: the next use tries again.
        """
        with self._lock:
            self._cancel()
            if seconds == NEVER:
                return
            with suppress(RuntimeError):
                self._timer = self._timers.after(seconds, self._end)

    def cancel(self) -> None:
        """Do not call *end*: a use has started."""
        with self._lock:
            self._cancel()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timers.cancel(self._timer)
            self._timer = None
