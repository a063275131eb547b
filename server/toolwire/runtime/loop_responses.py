"""Responses of the calls that end on the event loop: those of one turn are written together.

Strategy. To pass a response to the outbox takes longer than to make it. So the loop makes responses
itself, unless they are large, and passes those of a turn to the outbox together, after the turn.
Should a call of this turn block the loop, a timer passes them.

Progress and log messages are made by the outbox, while their call has not ended. So the response of
a call that may have sent some is made there, too.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from ..protocol.call import Call
    from ..timers import Timers
    from .event_loop import EventLoop, Outcome
    from .writer import MessageWriter

    class SessionParts(Protocol):
        """What responses need of a `Session`."""

        writer: MessageWriter
        timers: Timers
        loop: EventLoop | None
        log_level: int | None

        @property
        def is_copy(self) -> bool:
            """Whether a tool has forked this process."""

        def end_call(self, call: Call, outcome: Outcome) -> bytes | None:
            """End *call* and return its response; `None` if nothing waits for one."""

        def deliver(self, call: Call, outcome: Outcome) -> None:
            """Have the outbox answer *call*."""


_MAX_BYTES = 16 * 1024
"""Up to which size the loop makes a response: beyond that, other calls would wait for it."""

_LONGEST_TURN_SECONDS = 0.002
"""As long as the stall monitor waits (worker_pool.py)."""


class LoopResponses:
    """Answers calls of *session* that end on the event loop. *estimate_size* says about how many
    bytes the response with an outcome takes.
    """

    def __init__(self, session: SessionParts, estimate_size: Callable[[Outcome], int]) -> None:
        self._session = session
        self._estimate_size = estimate_size
        self._messages: deque[bytes] = deque()
        self._timer_runs = False

    def deliver(self, call: Call, outcome: Outcome) -> None:
        """Answer *call*. Never blocks."""
        session = self._session
        wants_logs = call.log_level is not None or session.log_level is not None
        may_have_sent = call.token is not None or wants_logs
        if may_have_sent or session.is_copy or self._estimate_size(outcome) > _MAX_BYTES:
            session.deliver(call, outcome)
            return
        message = session.end_call(call, outcome)
        if message is None:
            return
        self._messages.append(message)
        if len(self._messages) == 1:
            self._flush_after_turn()

    def _flush_after_turn(self) -> None:
        if not self._timer_runs:
            try:
                self._session.timers.after(_LONGEST_TURN_SECONDS, self._flush_late)
            except RuntimeError:  # the system allows no more threads
                self._flush()
                return
            self._timer_runs = True
        loop = self._session.loop
        if loop is None or not loop.run_soon(self._flush):
            self._flush()

    def _flush_late(self) -> None:
        self._timer_runs = False
        self._flush()

    def _flush(self) -> None:
        """Pass the responses to the outbox. On the loop, or in the thread of the timers."""
        messages: list[bytes] = []
        with suppress(IndexError):
            while True:
                messages.append(self._messages.popleft())
        if messages:
            self._session.writer.enqueue(messages, sum(map(len, messages)))
