"""How long something may still take."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class TooLate(Exception):
    """Something has not come to its end in time."""


class Limit:
    """So many *seconds* from now on, `None` for as long as it takes. Time with the user does not count."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds

    def __str__(self) -> str:
        return "in time" if self.seconds is None else f"within {self.seconds:g} s"

    def left(self) -> float | None:
        """Return how many seconds are left; never less than none."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def at_most(self, seconds: float | None) -> Limit:
        """Return a limit that is over after *seconds*, or with this one."""
        left = self.left()
        return Limit(seconds if left is None else left if seconds is None else min(left, seconds))

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Let no time pass meanwhile."""
        start = time.monotonic()
        try:
            yield
        finally:
            if self._end is not None:
                self._end += time.monotonic() - start
