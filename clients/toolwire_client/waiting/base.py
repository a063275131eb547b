"""How a client waits.

Strategy. What a client does is written once, as coroutines that wait for nothing but the methods of a `Waiting`. There
are two: `Blocking`, whose coroutines never suspend, so that running them needs no event loop, and `OnLoop` for asyncio
and trio. An event loop in a thread of its own (anyio's portal) would do for the synchronous client as well, but
importing anyio and asyncio takes longer than everything else that `toolwire call` imports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

    from ..session.connection import Arrival, OpenQuestion
    from .deadline import Limit

T = TypeVar("T")


class Inbox(Protocol):
    """Where events wait for whoever made a request."""

    def put(self, arrival: Arrival) -> None:
        """Add an event; from any thread, never waits."""

    def __len__(self) -> int: ...


class WaitedInbox(Inbox, Protocol):
    """An inbox with somebody who waits."""

    async def next(self, seconds: float | None) -> Arrival | None:
        """Return what has arrived first; `None` if nothing does in time."""


class Turn(Protocol):
    """What one at a time can have."""

    async def take(self, seconds: float | None) -> bool:
        """Wait for it; false if it does not become free in time."""

    def give_back(self) -> None:
        """Let the next one have it."""


class Waiting(Protocol):
    """All that a client waits for. `suspends` tells whether an event loop does other things meanwhile."""

    suspends: bool

    def inbox(self) -> WaitedInbox:
        """Return a new inbox."""

    def turn(self) -> Turn:
        """Return a new turn, which is free."""

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""

    async def apart(self, work: Callable[[], T]) -> T:
        """Do *work*, which may block, to its end, whatever happens meanwhile."""

    async def together(self, works: Sequence[Callable[[], Coroutine[Any, Any, None]]]) -> None:
        """Do several things side by side, and wait for all of them. What one raises is raised, and in no group."""

    async def aside(self, work: Callable[[], T], limit: Limit) -> T:
        """Do *work*, which may block, and let it run on by itself if nobody waits any longer.

        Raises:
            TooLate: if it does not end within *limit*, which it may stop.
        """

    async def awaited(self, work: Callable[[], Coroutine[Any, Any, T]], limit: Limit) -> T:
        """As `aside`, for what needs an event loop; it is cancelled if nobody waits any longer."""

    def call_back(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do *work* where `aside` is waited for; called from there."""

    async def settled(self, value: T | Awaitable[T]) -> T:
        """Return what somebody's function returned, which may have to be awaited."""

    async def unless_closed(self, question: OpenQuestion, value: T | Awaitable[T]) -> T | None:
        """As `settled`, given up if *question* is closed meanwhile."""
