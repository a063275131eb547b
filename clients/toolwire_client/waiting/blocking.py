"""The waits of the synchronous client, which block the calling thread."""

from __future__ import annotations

import queue
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from .base import in_daemon_thread
from .deadline import DeadlineExceeded

if TYPE_CHECKING:
    from .base import OpenElicitation, WaitedInbox
    from .deadline import Deadline

P = ParamSpec("P")
T = TypeVar("T")

# On Windows, Ctrl-C does not interrupt a wait for a lock, so waits are cut into pieces.
_LOOK_SECONDS = 1.0
_LEAST_SECONDS = 0.02
"""The shortest piece, since the deadline may be stopped just before it ends."""


class Blocking:
    """See `Waiting`."""

    suspends = False

    def inbox(self) -> WaitedInbox:
        return _Queue()

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def run_blocking_shielded(self, work: Callable[[], T]) -> T:
        return work()

    async def gather(self, works: Sequence[Callable[[], Coroutine[Any, Any, None]]]) -> None:
        if len(works) == 1:
            return run(works[0]())
        futures = [in_daemon_thread(partial(_run_made, work)) for work in works]
        errors = [error for future in futures if (error := future.exception()) is not None]
        if errors:
            raise errors[0]
        return None

    async def run_blocking(self, work: Callable[[], T], deadline: Deadline) -> T:
        if deadline.seconds is None:
            return work()
        from concurrent.futures import wait

        future = in_daemon_thread(work)
        while left := deadline.left():  # the deadline moves while a user answers
            wait([future], timeout=min(max(left, _LEAST_SECONDS), _LOOK_SECONDS))
            if future.done():
                return future.result()
        raise DeadlineExceeded

    async def run_async(self, work: Callable[[], Coroutine[Any, Any, T]], deadline: Deadline) -> T:
        import anyio

        from .event_loop import within

        return anyio.run(within, work, deadline)

    def run_from_worker(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return run(work())

    async def maybe_await(self, value: T | Awaitable[T]) -> T:
        if isinstance(value, Awaitable):
            if isinstance(value, Coroutine):
                value.close()
            raise TypeError(
                "an async function was given to the synchronous client; use it with `async with connect(...)`"
            )
        return value

    async def await_while_open(self, elicitation: OpenElicitation, value: T | Awaitable[T]) -> T | None:
        return await self.maybe_await(value)  # a blocking function cannot be cancelled


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of *work*, a coroutine that awaits nothing but `Blocking`."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError("a coroutine of the synchronous client awaited an event loop")


def blocking(method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> Callable[Concatenate[Any, P], T]:
    """Return the blocking version of *method*, for a class that holds its asynchronous twin as `_async`."""

    @wraps(method)
    def blocks(self: Any, /, *given: P.args, **named: P.kwargs) -> T:
        return run(method(self._async, *given, **named))

    return blocks


def _run_made(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    return run(make())


class _Queue:
    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[object] = queue.SimpleQueue()
        self.put = self._queue.put
        self._size = self._queue.qsize

    def __len__(self) -> int:
        return self._size()

    async def next(self, seconds: float | None) -> Any:
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            left = _LOOK_SECONDS if deadline is None else min(_LOOK_SECONDS, deadline - time.monotonic())
            try:
                return self._queue.get(timeout=max(left, 0))
            except queue.Empty:
                if deadline is not None and time.monotonic() >= deadline:
                    return None
