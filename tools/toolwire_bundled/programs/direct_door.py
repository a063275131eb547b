"""The door of a program whose interpreter stops at each call; `ProgramDoor` has a socket."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire.codec import EncodingError, decode, encode

from .door import describe_calls, describe_size
from .frames import Outcome, ProgramCall, write_outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from .door import DoorLimits


class DirectDoor:
    """Passes calls to *start*, which answers each by `answer`, from any thread; *deliver* gets the
    outcomes by the numbers of the calls.
    """

    problem = ""

    def __init__(
        self,
        start: Callable[[ProgramCall], None],
        deliver: Callable[[int, Outcome], None],
        limits: DoorLimits,
    ) -> None:
        self._start = start
        self._deliver = deliver
        self._limits = limits
        self._lock = threading.Lock()
        self._bytes = 0
        self.calls = 0
        """How many calls the program has made."""

    def call(
        self, number: int, tool: str, positional: Any, arguments: dict[str, Any], line: int
    ) -> None:
        """Start a call of *tool*, whose outcome is delivered under its *number*."""
        self.calls += 1
        if self.calls > self._limits.max_calls:
            self._deliver(number, Outcome(failed=describe_calls(self._limits)))
            return
        try:
            sent = encode([list(positional), arguments])
        except EncodingError as error:
            problem = f"the arguments of {tool} are no JSON: {error}"
            self._deliver(number, Outcome(failed=problem))
            return
        if not self._count(len(sent)):
            self._deliver(number, Outcome(failed=describe_size(self._limits)))
            return
        by_place, by_name = decode(sent)
        self._start(ProgramCall(number, tool, by_place, by_name, line))

    def answer(self, call: ProgramCall, outcome: Outcome) -> None:
        """Deliver the *outcome* of a *call* that was started. Never blocks."""
        frame = write_outcome(call.id, outcome)  # as the program would read it
        if not self._count(len(frame)):
            outcome = Outcome(failed=describe_size(self._limits))
        self._deliver(call.id, outcome)

    def _count(self, size: int) -> bool:
        with self._lock:
            self._bytes += size
            return self._bytes <= self._limits.max_bytes
