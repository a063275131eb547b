"""A time limit that can be stopped."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class DeadlineExceeded(Exception):
    """Work did not end in time."""


class Deadline:
    """Ends *seconds* from now, never if `None`. Time in which the user answers does not count.

    *clock* returns seconds that never go backwards.
    """

    def __init__(self, seconds: float | None, clock: Callable[[], float] | None = None) -> None:
        self.seconds = seconds
        self._clock = clock or time.monotonic
        self.on_moved: Callable[[], object] | None = None
        """Called when the deadline is stopped, and when it continues."""
        self._end = None if seconds is None else self._clock() + seconds
        self._stops = 0
        self._stopped_at = 0.0

    def __str__(self) -> str:
        if self.seconds is None:
            return "in time"
        return f"within {round(self.seconds, 3):g} s"

    @property
    def is_stopped(self) -> bool:
        """Whether the deadline is stopped."""
        return self._stops > 0

    @property
    def seconds_left(self) -> float | None:
        """The seconds left, at least 0; `None` without a limit."""
        now = self._stopped_at if self.is_stopped else self._clock()
        if self._end is None:
            return None
        return max(0.0, self._end - now)

    def limit_to(self, seconds: float | None) -> Deadline:
        """Return a deadline that ends after *seconds*, or with this one if that is sooner."""
        limits = [limit for limit in (self.seconds_left, seconds) if limit is not None]
        return Deadline(min(limits, default=None), self._clock)

    @contextmanager
    def stop_clock(self) -> Iterator[None]:
        """Stop the deadline inside the block."""
        if not self.is_stopped:
            self._stopped_at = self._clock()
        self._move(+1)
        try:
            yield
        finally:
            if self._end is not None and self._stops == 1:
                self._end += self._clock() - self._stopped_at
            self._move(-1)

    def _move(self, stops: int) -> None:
        self._stops += stops
        if self.on_moved is not None:
            self.on_moved()
