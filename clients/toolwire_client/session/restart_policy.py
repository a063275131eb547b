"""When a server that ended may be restarted."""

from __future__ import annotations

import time

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
GOOD_LIFE_SECONDS = 60.0
"""A server that ran this long did not fail at start: the pauses start again at the first."""


class RestartPolicy:
    """Allows a number of restarts in all; `True` allows any number.

    The first is immediate; the pause before each further one doubles.
    """

    def __init__(self, allowed: bool | int) -> None:
        self._left = float("inf") if allowed is True else int(allowed)
        self._last = time.monotonic()
        self._pause_seconds = 0.0

    def wait_seconds(self) -> float | None:
        """Return the seconds until the next restart; `None` if none is left."""
        return None if self._left <= 0 else max(0.0, self._last + self._pause_seconds - time.monotonic())

    def begin(self) -> None:
        """Record a restart."""
        now = time.monotonic()
        lived_well = now - self._last >= GOOD_LIFE_SECONDS
        longer = max(FIRST_PAUSE_SECONDS, 2 * self._pause_seconds)
        self._pause_seconds = FIRST_PAUSE_SECONDS if lived_well else min(LONGEST_PAUSE_SECONDS, longer)
        self._left -= 1
        self._last = now
