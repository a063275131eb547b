"""How the asynchronous client waits: on the event loop it is used in, asyncio's or trio's."""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from anyio import CancelScope, CapacityLimiter, Event, WouldBlock, from_thread, to_thread
from anyio.lowlevel import checkpoint

from .deadline import TooLate

if TYPE_CHECKING:
    from ..session.connection import Arrival, OpenQuestion
    from .base import Turn, WaitedInbox
    from .deadline import Limit

T = TypeVar("T")


class OnLoop:
    """See `Waiting`. Belongs to the event loop on which it is first used."""

    suspends = True

    @cached_property
    def _soon(self) -> Soon:
        return Soon()

    def inbox(self) -> WaitedInbox:
        """As `Waiting.inbox`."""
        return _LoopInbox(self._soon)

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

    async def together(self, works: Sequence[Callable[[], Coroutine[Any, Any, None]]]) -> None:
        """As `Waiting.together`."""
        await together(works)

    async def aside(self, work: Callable[[], T], limit: Limit) -> T:
        """As `Waiting.aside`: in a thread."""
        return await within(partial(to_thread.run_sync, work, abandon_on_cancel=True), limit)

    async def awaited(self, work: Callable[[], Coroutine[Any, Any, T]], limit: Limit) -> T:
        """As `Waiting.awaited`."""
        return await within(work, limit)

    def call_back(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """As `Waiting.call_back`."""
        return from_thread.run(work)

    async def settled(self, value: T | Awaitable[T]) -> T:
        """As `Waiting.settled`."""
        return await value if isinstance(value, Awaitable) else value

    async def unless_closed(self, question: OpenQuestion, value: T | Awaitable[T]) -> T | None:
        """As `Waiting.unless_closed`."""
        with CancelScope() as scope:
            question.on_closed = lambda: self._soon(scope.cancel)
            if not question.is_open:
                scope.cancel()
            try:
                return await self.settled(value)
            finally:
                question.on_closed = None
        return None


async def together(works: Iterable[Callable[[], Coroutine[Any, Any, None]]]) -> None:
    """Do several things side by side, and wait for all of them. What one of them raises ends the others."""
    try:
        async with anyio.create_task_group() as tasks:
            for work in works:
                tasks.start_soon(work)
    except BaseExceptionGroup as group:
        faults = list(_leaves(group))
        raise next((fault for fault in faults if isinstance(fault, Exception)), faults[0]) from None


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for inner in error.exceptions:
        yield from _leaves(inner)


async def within(work: Callable[[], Coroutine[Any, Any, T]], limit: Limit) -> T:
    """Return what *work* returns. Raises `TooLate` if it does not end within *limit*, and cancels it."""
    with CancelScope() as scope:

        def move() -> None:
            left = limit.left()
            scope.deadline = math.inf if left is None or limit.is_stopped else anyio.current_time() + left

        limit.on_moved = move
        move()
        try:
            return await work()
        finally:
            limit.on_moved = None
    raise TooLate


class _LoopInbox:
    def __init__(self, soon: Soon) -> None:
        self._arrived: deque[Arrival] = deque()
        self._woken = Event()
        self._soon = soon

    def __len__(self) -> int:
        return len(self._arrived)

    def put(self, arrival: Arrival) -> None:
        self._arrived.append(arrival)
        self._soon(self._wake)

    async def next(self, seconds: float | None) -> Arrival | None:
        if self._arrived:  # a server that reports without end must not keep everybody else from running
            await checkpoint()
        elif seconds is None:
            await self._any()
        else:
            with anyio.move_on_after(seconds):
                await self._any()
        return self._arrived.popleft() if self._arrived else None

    async def _any(self) -> None:
        while not self._arrived:
            await self._woken.wait()
            self._woken = Event()

    def _wake(self) -> None:
        self._woken.set()


class _LoopLock:
    def __init__(self) -> None:
        self._lock = anyio.Lock()

    async def take(self, seconds: float | None) -> bool:
        with suppress(WouldBlock):
            self._lock.acquire_nowait()
            return True
        with anyio.move_on_after(seconds):
            await self._lock.acquire()
            return True
        return False

    def give_back(self) -> None:
        self._lock.release()


class Soon:
    """Has something done by the loop, from any thread and without waiting, which anyio has no way to.

    What comes together is done together: to wake the loop takes longer than most of it.
    """

    def __init__(self) -> None:
        self._schedule = _scheduler()
        self._due: deque[Callable[[], None]] = deque()
        self._is_scheduled = False

    def __call__(self, task: Callable[[], None]) -> None:
        self._due.append(task)
        if not self._is_scheduled:
            self._is_scheduled = True
            with suppress(RuntimeError):  # the loop has ended, and everybody who waited with it
                self._schedule(self._work)

    def _work(self) -> None:
        self._is_scheduled = False  # first: what is added from here on is done now, or scheduled again
        while self._due:
            self._due.popleft()()


def _scheduler() -> Callable[[Callable[[], None]], Any]:
    if "trio" in sys.modules:
        from trio.lowlevel import current_trio_token

        with suppress(RuntimeError):  # it is asyncio that runs us
            return current_trio_token().run_sync_soon
    import asyncio

    return asyncio.get_running_loop().call_soon_threadsafe
