"""The end of a shared process, or of a server of others in it, that no session uses."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .timers import Timer, Timers


class IdleEnd:
    """Calls *end* some time after the last session has left."""

    def __init__(self, timers: Timers, end: Callable[[], None]) -> None:
        self._timers = timers
        self._end = end
        self._lock = threading.Lock()
        self._timer: Timer | None = None

    def schedule(self, seconds: float) -> None:
        """Call *end* after *seconds*, and not when it was to be called before."""
        with self._lock:
            self._cancel()
            self._timer = self._timers.after(seconds, self._end)

    def cancel(self) -> None:
        """Do not call *end*: a session has come."""
        with self._lock:
            self._cancel()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timers.cancel(self._timer)
        self._timer = None
