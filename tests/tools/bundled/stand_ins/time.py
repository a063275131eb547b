"""Time that goes on only when somebody sleeps."""

from __future__ import annotations

import threading

from toolwire_bundled.web.call import Watch


class Hours:
    """A clock at 2026-01-01 00:00 UTC, and everything that was slept so far. *chance* is what is
    drawn.
    """

    START = 1_767_225_600.0

    def __init__(self, chance: float = 0.5) -> None:
        self.slept = 0.0
        self._lock = threading.Lock()
        self.watch = Watch(
            elapsed=lambda: self.slept,
            now=lambda: self.START + self.slept,
            sleep=self._sleep,
            chance=lambda: chance,
        )

    def _sleep(self, seconds: float) -> None:
        with self._lock:
            self.slept += seconds
