"""The end of a check before all cases are played: its time is over, or a person interrupts it."""

from __future__ import annotations

import time


class EarlyEnd:
    """Says when a check has to end: after *max_seconds* from now, or by `interrupt`.

    What plays then is played to its end; the other cases are reported as not played.
    """

    def __init__(self, max_seconds: float | None = None) -> None:
        self.is_interrupted = False
        self._max_seconds = max_seconds
        self._started = time.monotonic()

    def interrupt(self) -> None:
        """End the check soon."""
        self.is_interrupted = True

    @property
    def reason(self) -> str:
        """The reason that no further case is played; "" while cases are."""
        if self.is_interrupted:
            return "the check was interrupted"
        if self._max_seconds is None or time.monotonic() - self._started < self._max_seconds:
            return ""
        return f"the check has taken {self._max_seconds:g} seconds"
