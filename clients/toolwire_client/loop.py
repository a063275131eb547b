"""How the asynchronous client waits: on the event loop it is used in, asyncio's or trio's."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from anyio import CancelScope, CapacityLimiter, Event, to_thread
from anyio.lowlevel import checkpoint

if TYPE_CHECKING:
    from .connection import Arrival, Question
    from .waiting import Turn, WaitedInbox

T = TypeVar("T")


class OnLoop:
    """See `Waiting`."""

    def inbox(self) -> WaitedInbox:
        """As `Waiting.inbox`."""
        return _LoopInbox()

    def turn(self) -> Turn:
        """As `Waiting.turn`."""
        return _LoopLock()

    async def sleep(self, seconds: float) -> None:
        """As `Waiting.sleep`."""
        await anyio.sleep(seconds)

    async def apart(self, work: Callable[[], T]) -> T:
        """As `Waiting.apart`: in a thread, which the application's other threads cannot keep waiting."""
        with CancelScope(shield=True):
            return await to_thread.run_sync(work, limiter=CapacityLimiter(1))
        raise AssertionError("nothing cancels a shielded scope")

    async def settled(self, value: T | Awaitable[T]) -> T:
        """As `Waiting.settled`."""
        return await value if isinstance(value, Awaitable) else value

    async def unless_closed(self, question: Question, value: T | Awaitable[T]) -> T | None:
        """As `Waiting.unless_closed`."""
        soon = _soon()
        with CancelScope() as scope:
            question.on_closed = lambda: soon(scope.cancel)
            if not question.is_open:
                scope.cancel()
            try:
                return await self.settled(value)
            finally:
                question.on_closed = None
        return None


class _LoopInbox:
    def __init__(self) -> None:
        self._arrived: deque[Arrival] = deque()
        self._woken = Event()
        self._soon = _soon()

    def __len__(self) -> int:
        return len(self._arrived)

    def put(self, arrival: Arrival) -> None:
        self._arrived.append(arrival)
        self._soon(self._wake)

    async def next(self, seconds: float | None) -> Arrival | None:
        with anyio.move_on_after(seconds):
            if self._arrived:  # a server that reports without end must not keep everybody else from running
                await checkpoint()
            while not self._arrived:
                await self._woken.wait()
                self._woken = Event()
        return self._arrived.popleft() if self._arrived else None

    def _wake(self) -> None:
        self._woken.set()


class _LoopLock:
    def __init__(self) -> None:
        self._lock = anyio.Lock()

    async def take(self, seconds: float | None) -> bool:
        with anyio.move_on_after(seconds):
            await self._lock.acquire()
            return True
        return False

    def give_back(self) -> None:
        self._lock.release()


def _soon() -> Callable[[Callable[[], None]], None]:
    """What has something done by this event loop, from any thread and without waiting; anyio only knows how to wait."""
    schedule = _scheduler()

    def soon(task: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop has ended, and everybody who waited with it
            schedule(task)

    return soon


def _scheduler() -> Callable[[Callable[[], None]], Any]:
    if "trio" in sys.modules:
        from trio.lowlevel import current_trio_token

        with suppress(RuntimeError):  # it is asyncio that runs us
            return current_trio_token().run_sync_soon
    import asyncio

    return asyncio.get_running_loop().call_soon_threadsafe
