"""All that a client can wait for.

Strategy. The client is written once, as coroutines that await only the methods of a `Waiting`. There are two:
`Blocking`, whose coroutines never suspend and so need no event loop, and `OnEventLoop` for asyncio and trio. anyio's
portal would serve the synchronous client as well, but importing anyio and asyncio takes longer than everything else
that `toolwire call` imports.
"""

from __future__ import annotations

import threading
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence
    from concurrent.futures import Future

    from ..protocol.events import ElicitationRequest
    from .deadline import Deadline

T = TypeVar("T")


class Inbox(Protocol):
    """Holds the events of one request until its caller takes them, and the `ClientError` that ends its wait."""

    def put(self, arrival: object) -> None:
        """Add an event. Called from any thread; never blocks."""

    def __len__(self) -> int: ...


class WaitedInbox(Inbox, Protocol):
    """An inbox with callers that wait."""

    async def next(self, seconds: float | None) -> Any:
        """Return the first event; `None` if none arrives in time."""


class OpenElicitation:
    """A legacy server's elicitation that has no response yet."""

    def __init__(self, request: ElicitationRequest) -> None:
        self.id = request.id
        self.params = request.params
        self.is_open = True
        self.on_closed: Callable[[], None] | None = None
        """Called, on any thread, when the response is no longer wanted."""

    def close(self) -> None:
        self.is_open = False
        if self.on_closed is not None:
            self.on_closed()


class Waiting(Protocol):
    """The ways to wait. `suspends` says whether other tasks of an event loop run during a wait."""

    suspends: bool

    def inbox(self) -> WaitedInbox: ...

    async def sleep(self, seconds: float) -> None: ...

    async def gather(self, works: Sequence[Callable[[], Coroutine[Any, Any, None]]]) -> None:
        """Run all *works* concurrently and wait for all. Raises the error of one of them, never an exception group."""

    async def run_blocking_shielded(self, work: Callable[[], T]) -> T:
        """Run *work*, which may block, to its end, even if the caller is cancelled."""

    async def run_blocking(self, work: Callable[[], T], deadline: Deadline) -> T:
        """Run *work*, which may block; on cancellation it continues in its thread.

        Raises:
            DeadlineExceeded: if it does not end in time; *work* may stop the deadline.
        """

    async def run_async(self, work: Callable[[], Coroutine[Any, Any, T]], deadline: Deadline) -> T:
        """As `run_blocking`, for work that needs an event loop; it is cancelled with the caller."""

    def run_from_worker(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run *work* where the caller of `run_blocking` waits. Called from inside that function's work."""

    async def maybe_await(self, value: T | Awaitable[T]) -> T:
        """Return *value*, a user function's return value, after awaiting it if it is awaitable."""

    async def await_while_open(self, elicitation: OpenElicitation, value: T | Awaitable[T]) -> T | None:
        """As `maybe_await`; cancels the wait if *elicitation* is closed first."""


def in_daemon_thread(work: Callable[[], T]) -> Future[T]:
    """Run *work* in a thread that does not keep the program from ending."""
    from concurrent.futures import Future  # here, since most clients need no thread and the import takes time

    future: Future[T] = Future()
    context = copy_context()

    def do() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:  # raised again by `result`
            future.set_exception(error)

    threading.Thread(target=do, name="toolwire-client-work", daemon=True).start()
    return future
