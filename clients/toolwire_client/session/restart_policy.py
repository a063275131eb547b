"""Whether, and how soon, a server that has ended is started again."""

from __future__ import annotations

import time

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
GOOD_LIFE_SECONDS = 60.0
"""A server that has lived for so long did not end because of how it was started: the pauses begin anew."""


class Restarts:
    """Allows so many restarts in all, any number (`True`), or none.

    The first may come at once. From then on, starts are some time apart, which doubles with each.
    """

    def __init__(self, allowed: bool | int) -> None:
        self._left = float("inf") if allowed is True else int(allowed)
        self._last = time.monotonic()
        self._pause_seconds = 0.0

    def wait_seconds(self) -> float | None:
        """Return after how many seconds the next restart may come; `None` if there is none."""
        return None if self._left <= 0 else max(0.0, self._last + self._pause_seconds - time.monotonic())

    def begin(self) -> None:
        """Take note that the server is started again."""
        now = time.monotonic()
        lived_well = now - self._last >= GOOD_LIFE_SECONDS
        longer = max(FIRST_PAUSE_SECONDS, 2 * self._pause_seconds)
        self._pause_seconds = FIRST_PAUSE_SECONDS if lived_well else min(LONGEST_PAUSE_SECONDS, longer)
        self._left -= 1
        self._last = now
