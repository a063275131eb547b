"""A time limit that can be stopped, and work within it."""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

T = TypeVar("T")


class DeadlineExceeded(Exception):
    """Work did not end in time."""


class Deadline:
    """Ends *seconds* from now, never if `None`. Time in which the user answers does not count."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.on_moved: Callable[[], object] | None = None
        """Called when the deadline is stopped, and when it continues."""
        self._end = None if seconds is None else time.monotonic() + seconds
        self._stops = 0
        self._stopped_at = 0.0

    def __str__(self) -> str:
        return "in time" if self.seconds is None else f"within {round(self.seconds, 3):g} s"

    @property
    def is_stopped(self) -> bool:
        """Whether the deadline is stopped."""
        return self._stops > 0

    def left(self) -> float | None:
        """Return the seconds left, at least 0; `None` without a limit."""
        now = self._stopped_at if self.is_stopped else time.monotonic()
        return None if self._end is None else max(0.0, self._end - now)

    def at_most(self, seconds: float | None) -> Deadline:
        """Return a deadline that ends after *seconds*, or with this one if that is sooner."""
        left = self.left()
        return Deadline(
            seconds if left is None else left if seconds is None else min(left, seconds)
        )

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the deadline inside the block."""
        if not self.is_stopped:
            self._stopped_at = time.monotonic()
        self._move(+1)
        try:
            yield
        finally:
            if self._end is not None and self._stops == 1:
                self._end += time.monotonic() - self._stopped_at
            self._move(-1)

    def _move(self, stops: int) -> None:
        self._stops += stops
        if self.on_moved is not None:
            self.on_moved()


async def within(work: Callable[[], Coroutine[Any, Any, T]], deadline: Deadline) -> T:
    """Return the result of *work*; cancel it and raise `DeadlineExceeded` if it does not end within
    *deadline*.
    """
    import anyio  # here, since a blocking client rarely needs it and the import takes time

    with anyio.CancelScope() as scope:

        def move() -> None:
            left = deadline.left()
            scope.deadline = (
                math.inf if left is None or deadline.is_stopped else anyio.current_time() + left
            )

        deadline.on_moved = move
        move()
        try:
            return await work()
        finally:
            deadline.on_moved = None
    raise DeadlineExceeded
