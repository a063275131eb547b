"""The waits of the synchronous client, which block the calling thread."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from .deadline import DeadlineExceeded

if TYPE_CHECKING:
    from .base import WaitedLock
    from .deadline import Deadline
    from .inbox import Arrival, OpenElicitation, WaitedInbox

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
        """As `Waiting.inbox`."""
        return _Queue()

    def lock(self) -> WaitedLock:
        """As `Waiting.lock`."""
        return _Lock()

    async def sleep(self, seconds: float) -> None:
        """As `Waiting.sleep`."""
        time.sleep(seconds)

    async def run_blocking_shielded(self, work: Callable[[], T]) -> T:
        """As `Waiting.run_blocking_shielded`."""
        return work()

    async def gather(self, works: Sequence[Callable[[], Coroutine[Any, Any, None]]]) -> None:
        """As `Waiting.gather`, with a thread for each."""
        if len(works) == 1:
            return run(works[0]())
        errors: list[BaseException] = []

        def do(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
            try:
                run(work())
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=do, args=(work,), daemon=True) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        return None

    async def run_blocking(self, work: Callable[[], T], deadline: Deadline) -> T:
        """As `Waiting.run_blocking`; in the calling thread if there is no deadline."""
        if deadline.seconds is None:
            return work()
        context = copy_context()
        done: queue.SimpleQueue[tuple[T, None] | tuple[None, BaseException]] = queue.SimpleQueue()

        def do() -> None:
            try:
                done.put((context.run(work), None))
            except BaseException as error:
                done.put((None, error))

        threading.Thread(target=do, name="toolwire-client-aside", daemon=True).start()
        while left := deadline.left():  # the deadline moves while a user answers
            with suppress(queue.Empty):
                value, error = done.get(timeout=min(max(left, _LEAST_SECONDS), _LOOK_SECONDS))
                if error is not None:
                    raise error
                return value  # type: ignore[return-value]
        raise DeadlineExceeded

    async def run_async(self, work: Callable[[], Coroutine[Any, Any, T]], deadline: Deadline) -> T:
        """As `Waiting.run_async`: on an event loop of its own."""
        import anyio

        from .event_loop import within

        return anyio.run(within, work, deadline)

    def run_from_worker(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """As `Waiting.run_from_worker`, in the calling thread."""
        return run(work())

    async def maybe_await(self, value: T | Awaitable[T]) -> T:
        """As `Waiting.maybe_await`; an awaitable is an error here."""
        if isinstance(value, Awaitable):
            if isinstance(value, Coroutine):
                value.close()
            raise TypeError(
                "an async function was given to the synchronous client; use it with `async with connect(...)`"
            )
        return value

    async def await_while_open(self, elicitation: OpenElicitation, value: T | Awaitable[T]) -> T | None:
        """As `Waiting.await_while_open`; a blocking function cannot be cancelled."""
        return await self.maybe_await(value)


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
        self.release = self._lock.release

    async def acquire(self, seconds: float | None) -> bool:
        return self._lock.acquire(timeout=-1 if seconds is None else min(max(seconds, 0), threading.TIMEOUT_MAX))
