"""The time limit of each call."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..protocol.call import Call
    from ..protocol.responses import Responses
    from ..timers import Timers
    from .writer import MessageWriter


class TimeLimits:
    """Answers calls whose time is up, and passes them to *stop*.

    *default_seconds* is for tools without a limit of their own.
    """

    def __init__(
        self,
        timers: Timers,
        responses: Responses,
        writer: MessageWriter,
        stop: Callable[[Call], None],
        default_seconds: float | None,
    ) -> None:
        self._timers = timers
        self._responses = responses
        self._writer = writer
        self._stop = stop
        self._default_seconds = default_seconds

    def start(self, call: Call, left: float | None = None) -> None:
        """Start the time of *call*: all of it, or the *left* seconds."""
        seconds = call.tool.timeout_seconds or self._default_seconds
        if seconds is not None:
            call.limit = self._timers.after(seconds if left is None else left, lambda: self._expire(call, seconds))

    def suspend(self, call: Call) -> float | None:
        """Stop the time of *call*; return the seconds left, `None` if it has no limit."""
        return None if call.limit is None else self._timers.cancel(call.limit)

    def resume(self, call: Call, left: float | None) -> None:
        """Start the time of *call* again with the seconds that `suspend` returned."""
        if left is not None and not call.ended:
            self.start(call, left)

    def _expire(self, call: Call, seconds: float) -> None:
        message = self._responses.expire(call, seconds)
        if message is not None:
            self._writer.enqueue(message)
            self._stop(call)
