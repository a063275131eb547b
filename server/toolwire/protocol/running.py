"""The thread that runs a call, and the message that continues it without one: only types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable


class Worker(Protocol):
    """The thread that runs a call; `slot` is its place on the board of the watchdog."""

    slot: int


class Suspension(Protocol):
    """A message that a call in another process waits for without a thread."""

    def notify(self, resume: Callable[[bool], None]) -> bool:
        """Have *resume* called once, by the thread that reads the message; false if it has
        arrived already.

        It gets whether the message is the result, so that the rest of the call never blocks.
        """
