"""The waits of the asynchronous client, on asyncio's or trio's event loop."""

from __future__ import annotations

import logging
import sys
import threading
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from anyio import CancelScope, CapacityLimiter, Event, from_thread, to_thread
from anyio.lowlevel import checkpoint

from .base import Inbox, Waiting, run_in_daemon_thread
from .within import run_within

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from toolwire_schemas.deadline import Deadline

    from .base import OpenElicitation

T = TypeVar("T")


class OnEventLoop(Waiting):
    """See `Waiting`. Belongs to the event loop on which it is first used."""

    suspends = True

    @cached_property
    def _scheduler(self) -> Callable[[Callable[[], object]], None]:
        return make_loop_scheduler()

    def make_inbox(self) -> Inbox:
        return _LoopInbox(self._scheduler)

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)

    async def run_blocking_shielded(self, work: Callable[[], T]) -> T:
        with CancelScope(
            shield=True
        ):  # in a thread beyond anyio's limit, which others may have used up
            return await to_thread.run_sync(work, limiter=CapacityLimiter(1))
        raise AssertionError("nothing cancels a shielded scope")

    async def gather(self, works: Sequence[Callable[[], Coroutine[Any, Any, None]]]) -> None:
        await gather(works)

    async def run_blocking(self, work: Callable[[], T], deadline: Deadline) -> T:
        return await run_within(partial(to_thread.run_sync, work, abandon_on_cancel=True), deadline)

    async def run_async(self, work: Callable[[], Coroutine[Any, Any, T]], deadline: Deadline) -> T:
        return await run_within(work, deadline)

    def run_from_worker(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return from_thread.run(work)

    async def await_if_awaitable(self, value: T | Awaitable[T]) -> T:
        return await value if isinstance(value, Awaitable) else value

    async def await_while_open(
        self, elicitation: OpenElicitation, value: T | Awaitable[T]
    ) -> T | None:
        with CancelScope() as scope:
            elicitation.on_closed = lambda: self._scheduler(scope.cancel)
            if not elicitation.is_open:
                scope.cancel()
            try:
                return await self.await_if_awaitable(value)
            finally:
                elicitation.on_closed = None
        return None


async def gather(works: Iterable[Callable[[], Coroutine[Any, Any, None]]]) -> None:
    """Run all *works* concurrently and wait for all; an error of one cancels the others."""
    async with open_task_group() as tasks:
        for work in works:
            tasks.start_soon(work)


@asynccontextmanager
async def open_task_group() -> AsyncGenerator[TaskGroup, None]:
    """Yield a task group, which raises the first error of a task instead of a group of errors."""
    try:
        async with anyio.create_task_group() as tasks:
            yield tasks
    except BaseExceptionGroup as group:
        error: BaseException = group.subgroup(Exception) or group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None


class _LoopInbox(Inbox):
    def __init__(self, soon: Callable[[Callable[[], object]], None]) -> None:
        self._arrived: deque[object] = deque()
        self._woken = Event()
        self._soon = soon

    def __len__(self) -> int:
        return len(self._arrived)

    def put(self, arrival: object) -> None:
        self._arrived.append(arrival)
        self._soon(self._wake)

    async def receive(self, seconds: float | None) -> Any:
        with anyio.move_on_after(seconds):
            if self._arrived:  # or a server's endless progress would starve other tasks
                await checkpoint()
            while not self._arrived:
                await self._woken.wait()
        return self._arrived.popleft() if self._arrived else None

    def _wake(self) -> None:
        self._woken.set()
        self._woken = Event()


def make_loop_scheduler() -> Callable[[Callable[[], object]], None]:
    """Return a function that runs functions on this loop, called from any thread without blocking;
    anyio cannot.
    """
    soon: Callable[[Callable[[], object]], object] | None = None
    if "trio" in sys.modules:
        from trio.lowlevel import current_trio_token

        with suppress(RuntimeError):  # running on asyncio
            soon = current_trio_token().run_sync_soon
    if soon is None:
        import asyncio

        soon = asyncio.get_running_loop().call_soon_threadsafe

    def schedule(task: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop has ended
            soon(task)

    return schedule


async def run_in_thread(work: Callable[[], T]) -> T:
    """Return the result of *work*, which may block for any time.

    Cancellation abandons the thread, and so does the end of the program: a model or a person that
    does not answer must not keep Ctrl-C from ending it. anyio's own threads are waited for at exit,
    so they cannot be used.
    """
    schedule, done = make_loop_scheduler(), Event()
    future = run_in_daemon_thread(work)
    future.add_done_callback(lambda _: schedule(done.set))  # must not block: the loop may be ending
    await done.wait()
    return future.result()


def bind_to_loop(function: Callable[..., object]) -> Callable[..., None]:
    """Return a version of *function* that any thread may call: it runs on the event loop where this
    was called.

    Synchronous clients report progress, and blocking models stream their replies, in threads of
    their own.
    """
    schedule, thread = make_loop_scheduler(), threading.get_ident()

    def run(given: tuple[Any, ...]) -> None:
        try:
            function(*given)
        except Exception:  # no caller waits for it
            logging.getLogger("toolwire_client").exception(
                "a progress or text callback raised an exception"
            )

    def call(*given: Any) -> None:
        if threading.get_ident() == thread:
            function(*given)
        else:
            schedule(partial(run, given))

    return call
