"""The parts of a session that a running call knows, as types without a `Call`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

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


class Elicitor(Protocol):
    """Asks the client of a session.

    Both methods raise `CannotAsk`, `NotAnswered` or `Cancelled`.
    """

    def ask(self, call: Any, params: dict[str, Any], method: str = ...) -> dict[str, Any]:
        """Send the client a request, by default to ask its user; blocks until the reply."""

    async def ask_async(self, call: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the client's user, on the event loop."""
