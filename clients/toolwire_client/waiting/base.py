"""All that a client can wait for.

Strategy. The client is written once, as coroutines that await only the methods of a `Waiting`.
Those of this module block the thread and never suspend, so they need no event loop; `OnEventLoop`
has the same methods for asyncio and trio. anyio's portal would serve the synchronous client as
well, but importing anyio and asyncio takes longer than everything else that `toolwire call`
imports.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from toolwire_schemas.deadline import DeadlineExceeded
from toolwire_schemas.threads import start_thread

from .within import run_within

if TYPE_CHECKING:
    from concurrent.futures import Future

    from toolwire_schemas.deadline import Deadline

    from ..protocol.events import ElicitationRequest

P = ParamSpec("P")
T = TypeVar("T")

# On Windows, Ctrl-C does not interrupt a wait for a lock, so waits are cut into pieces.
_LOOK_SECONDS = 1.0
_LEAST_SECONDS = 0.02
"""The shortest piece, since the deadline may be stopped just before it ends."""


class Inbox:
    """Holds the events of one request until its caller takes them, and the `ClientError` that ends
    its wait.
    """

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._callbacks: list[Callable[[object], None]] = []  # one, or none

    def put(self, arrival: object) -> None:
        """Add an event. Called from any thread; never blocks."""
        self._queue.put(arrival)
        if not self._callbacks:
            return
        try:
            callback = self._callbacks.pop()
        except IndexError:  # another event has called it
            return
        callback(arrival)

    def notify(self, callback: Callable[[object], None]) -> bool:
        """Have *callback* called once with the next event, by the thread that adds it; false if
        there are events already. The event stays here.
        """
        self._callbacks.append(callback)
        if not len(self):
            return True
        try:
            self._callbacks.pop()
        except IndexError:  # called just now
            return True
        return False

    def take(self) -> Any:
        """Return the first event, which has come already."""
        return self._queue.get_nowait()

    def __len__(self) -> int:
        return self._queue.qsize()

    async def receive(self, seconds: float | None) -> Any:
        """Return the first event; `None` if none arrives in time."""
        deadline = None if seconds is None else time.monotonic() + seconds
        left = _LOOK_SECONDS
        while True:
            if deadline is not None:
                left = min(_LOOK_SECONDS, deadline - time.monotonic())
            try:
                return self._queue.get(timeout=max(left, 0))
            except queue.Empty:
                if deadline is not None and time.monotonic() >= deadline:
                    return None


class OpenElicitation:
    """A legacy server's elicitation, or other request, that has no response yet."""

    def __init__(self, request: ElicitationRequest) -> None:
        self.id = request.id
        self.method = request.method
        self.params = request.params
        self.is_open = True
        self.on_closed: Callable[[], object] | None = None
        """Called, on any thread, when the response is no longer wanted."""

    def close(self) -> None:
        self.is_open = False
        if self.on_closed is not None:
            self.on_closed()


class Waiting:
    """The ways to wait, here by blocking the thread. `suspends` says whether other tasks run during
    a wait.
    """

    suspends = False

    def make_inbox(self) -> Inbox:
        return Inbox()

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def gather(self, works: Sequence[Callable[[], Coroutine[Any, Any, None]]]) -> None:
        """Run all *works* concurrently and wait for all. Raises the error of one of them, never an
        exception group.
        """
        if len(works) == 1:
            return run(works[0]())
        futures = [run_in_daemon_thread(partial(self.run_from_worker, work)) for work in works]
        errors = [error for future in futures if (error := future.exception()) is not None]
        if errors:
            raise errors[0]
        return None

    async def run_blocking_shielded(self, work: Callable[[], T]) -> T:
        """Run *work*, which may block, to its end, even if the caller is cancelled."""
        return work()

    async def run_blocking(self, work: Callable[[], T], deadline: Deadline) -> T:
        """Run *work*, which may block; on cancellation it continues in its thread.

        Raises:
            DeadlineExceeded: if it does not end in time; *work* may stop the deadline.
        """
        if deadline.seconds is None:
            return work()
        from concurrent.futures import wait

        future = run_in_daemon_thread(work)
        while left := deadline.seconds_left:  # the deadline moves while a user answers
            wait([future], timeout=min(max(left, _LEAST_SECONDS), _LOOK_SECONDS))
            if future.done():
                return future.result()
        raise DeadlineExceeded

    async def run_async(self, work: Callable[[], Coroutine[Any, Any, T]], deadline: Deadline) -> T:
        """As `run_blocking`, for work that needs an event loop; it is cancelled with the caller."""
        import anyio

        return anyio.run(run_within, work, deadline)

    def run_from_worker(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run *work* where the caller of `run_blocking` waits. Called from inside that function's
        work.
        """
        return run(work())

    async def await_if_awaitable(self, value: T | Awaitable[T]) -> T:
        """Return *value*, a user function's return value, after awaiting it if it is awaitable."""
        if isinstance(value, Awaitable):
            if isinstance(value, Coroutine):
                value.close()
            raise TypeError(
                "an async function was given to the synchronous client; use it with `async with"
                " connect(...)`"
            )
        return value

    async def await_while_open(
        self, elicitation: OpenElicitation, value: T | Awaitable[T]
    ) -> T | None:
        """As `await_if_awaitable`; cancels the wait, where that is possible, if *elicitation* is
        closed first.
        """
        return await self.await_if_awaitable(value)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of *work*, a coroutine that awaits nothing but the methods of a blocking
    `Waiting`.
    """
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError("a coroutine of the synchronous client awaited an event loop")


def make_blocking(
    method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Any, P], T]:
    """Return the blocking version of *method*, for a class that holds its asynchronous twin as
    `_async`.
    """

    @wraps(method)
    def block(self: Any, /, *given: P.args, **named: P.kwargs) -> T:
        return run(method(self._async, *given, **named))

    return block


def run_in_daemon_thread(work: Callable[[], T]) -> Future[T]:
    """Run *work* in a thread that does not keep the program from ending."""
    # Here, since most clients need no thread and the import takes time.
    from concurrent.futures import Future, InvalidStateError

    future: Future[T] = Future()
    context = copy_context()

    def do() -> None:
        with suppress(InvalidStateError):  # it was cancelled
            try:
                future.set_result(context.run(work))
            except BaseException as error:  # raised again by `result`
                future.set_exception(error)

    start_thread(do, "toolwire-client-work")
    return future
