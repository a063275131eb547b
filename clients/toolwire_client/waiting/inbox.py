"""What waits to be taken by the caller of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..errors import ClientError
from ..protocol.events import ElicitationRequest, Event

if TYPE_CHECKING:
    from collections.abc import Callable

Arrival = Event | ClientError
"""An event of one request, or the error that ends its wait."""


class Inbox(Protocol):
    """Holds the events of one request until its caller takes them."""

    def put(self, arrival: Arrival) -> None:
        """Add an event. Called from any thread; never blocks."""

    def __len__(self) -> int: ...


class WaitedInbox(Inbox, Protocol):
    """An inbox with a caller that waits."""

    async def next(self, seconds: float | None) -> Arrival | None:
        """Return the first event; `None` if none arrives in time."""


class DiscardingInbox:
    """The inbox of a response that no caller waits for."""

    def put(self, arrival: Arrival) -> None:
        """Drop the event."""

    def __len__(self) -> int:
        return 0


class OpenElicitation:
    """A legacy server's elicitation that has no response yet."""

    def __init__(self, request: ElicitationRequest) -> None:
        self.id = request.id
        self.params = request.params
        self.is_open = True
        self.on_closed: Callable[[], None] | None = None
        """Called, on any thread, when the response is no longer wanted."""

    def close(self) -> None:
        """Note that the response is no longer wanted."""
        self.is_open = False
        if self.on_closed is not None:
            self.on_closed()
