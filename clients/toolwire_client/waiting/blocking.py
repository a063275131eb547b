"""How the synchronous client waits: by blocking the thread it is used in."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeVar

from .deadline import TooLate

if TYPE_CHECKING:
    from ..session.connection import Arrival, OpenQuestion
    from .base import Turn, WaitedInbox
    from .deadline import Limit

T = TypeVar("T")

# On Windows, a thread that waits for a lock does not notice Ctrl-C.
_LOOK_SECONDS = 1.0
_LEAST_SECONDS = 0.02
"""As often it is looked at most whether a limit that is nearly over has been stopped."""


class Blocking:
    """See `Waiting`."""

    suspends = False

    def inbox(self) -> WaitedInbox:
        """As `Waiting.inbox`."""
        return _Queue()

    def turn(self) -> Turn:
        """As `Waiting.turn`."""
        return _Lock()

    async def sleep(self, seconds: float) -> None:
        """As `Waiting.sleep`."""
        time.sleep(seconds)

    async def apart(self, work: Callable[[], T]) -> T:
        """As `Waiting.apart`."""
        return work()

    async def together(self, works: Sequence[Callable[[], Coroutine[Any, Any, None]]]) -> None:
        """As `Waiting.together`: in a thread for each."""
        if len(works) == 1:
            return run(works[0]())
        faults: list[BaseException] = []

        def do(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
            try:
                run(work())
            except BaseException as fault:
                faults.append(fault)

        threads = [threading.Thread(target=do, args=(work,), daemon=True) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if faults:
            raise faults[0]
        return None

    async def aside(self, work: Callable[[], T], limit: Limit) -> T:
        """As `Waiting.aside`; without a limit, in the thread it is used in."""
        if limit.seconds is None:
            return work()
        context = copy_context()
        done: queue.SimpleQueue[tuple[T, None] | tuple[None, BaseException]] = queue.SimpleQueue()

        def do() -> None:
            try:
                done.put((context.run(work), None))
            except BaseException as error:
                done.put((None, error))

        threading.Thread(target=do, name="toolwire-client-aside", daemon=True).start()
        while left := limit.left():  # which may go on when somebody has been asked
            with suppress(queue.Empty):
                value, error = done.get(timeout=min(max(left, _LEAST_SECONDS), _LOOK_SECONDS))
                if error is not None:
                    raise error
                return value  # type: ignore[return-value]
        raise TooLate

    async def awaited(self, work: Callable[[], Coroutine[Any, Any, T]], limit: Limit) -> T:
        """As `Waiting.awaited`: on an event loop of its own."""
        import anyio

        from .event_loop import within

        return anyio.run(within, work, limit)

    def call_back(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """As `Waiting.call_back`: right here."""
        return run(work())

    async def settled(self, value: T | Awaitable[T]) -> T:
        """As `Waiting.settled`; nothing can be awaited here."""
        if isinstance(value, Awaitable):
            if isinstance(value, Coroutine):
                value.close()
            raise TypeError(
                "an async function was given to the synchronous client; use it with `async with connect(...)`"
            )
        return value

    async def unless_closed(self, question: OpenQuestion, value: T | Awaitable[T]) -> T | None:
        """As `Waiting.unless_closed`; what blocks cannot be given up."""
        return await self.settled(value)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return what *work* does, which must wait for nothing but `Blocking`."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError("a blocking client was made to wait for an event loop")


class _Queue:
    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Arrival] = queue.SimpleQueue()
        self.put = self._queue.put
        self._size = self._queue.qsize

    def __len__(self) -> int:
        return self._size()

    async def next(self, seconds: float | None) -> Arrival | None:
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            left = _LOOK_SECONDS if deadline is None else min(_LOOK_SECONDS, deadline - time.monotonic())
            try:
                return self._queue.get(timeout=max(left, 0))
            except queue.Empty:
                if deadline is not None and time.monotonic() >= deadline:
                    return None


class _Lock:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.give_back = self._lock.release

    async def take(self, seconds: float | None) -> bool:
        return self._lock.acquire(timeout=-1 if seconds is None else min(max(seconds, 0), threading.TIMEOUT_MAX))
