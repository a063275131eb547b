"""Tools that wait for the client's user. Imported for the first elicitation."""

from __future__ import annotations

from _queue import SimpleQueue
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from toolwire_schemas.wire import messages
from toolwire_tools import NotAnswered

from ..protocol.elicitation import PendingElicitation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from ..protocol.call import Call, Reply
    from ..protocol.elicitation import Elicitations
    from ..timers import Timers
    from .event_loop import EventLoop
    from .worker_pool import WorkerPool
    from .writer import MessageWriter

_GONE = "The client has disconnected, so its user cannot answer."


class Runner(Protocol):
    """What this needs of the session, which runs the calls."""

    timers: Timers
    is_ending: bool

    def get_event_loop(self) -> EventLoop:
        """Return the loop of the asynchronous tools."""

    def without_limit(self, call: Call) -> AbstractContextManager[None]:
        """Stop the time of *call* inside the `with` block."""

    def stop(self, call: Call) -> None:
        """Stop the tool of *call*, which has ended. Never blocks."""


class OpenElicitations:
    """Sends the elicitations of a session's tools, and waits for each reply for at most
    *seconds*.
    """

    def __init__(
        self,
        session: Runner,
        elicitations: Elicitations,
        writer: MessageWriter,
        workers: WorkerPool,
        seconds: float,
    ) -> None:
        self._session = session
        self._elicitations = elicitations
        self._writer = writer
        self._workers = workers
        self._seconds = seconds

    def ask(
        self,
        call: Call,
        params: dict[str, Any],
        input_key: str = "answer",
        *,
        method: str = "elicitation/create",
    ) -> dict[str, Any]:
        """Send the client a request of *method*; blocks the worker of *call* until the reply."""
        replies: SimpleQueue[Reply] = SimpleQueue()
        pending = PendingElicitation(call, params, replies.put, method, input_key)
        self._check_connected()
        message = self._elicitations.request(pending)
        with self._suspend_limit(pending), self._workers.allow_one_more():
            if message is not None:
                self._writer.write(message)
            reply = replies.get()
        return _unwrap_reply(reply)

    async def ask_async(
        self,
        call: Call,
        params: dict[str, Any],
        input_key: str,
        method: str = "elicitation/create",
    ) -> dict[str, Any]:
        """Send the client a request of *method*, on the event loop."""
        from anyio import Event

        replies: list[Reply] = []
        replied = Event()
        loop = self._session.get_event_loop()

        def wake(reply: Reply) -> None:
            replies.append(reply)
            loop.run_soon(replied.set)

        pending = PendingElicitation(call, params, wake, method, input_key=input_key)
        self._check_connected()
        message = self._elicitations.request(pending)
        with self._suspend_limit(pending):
            if message is not None:
                self._writer.enqueue(message)
            await replied.wait()
        return _unwrap_reply(replies[0])

    def ask_outside(
        self, method: str, params: dict[str, Any], wake: Callable[[Reply], None]
    ) -> Callable[[], object]:
        """Send a legacy client a request that belongs to no call, and return what withdraws it.
        *wake* gets the reply, on any thread. Never blocks.

        Raises:
            NotAnswered: if the client has gone, or too many requests wait already.
        """
        self._check_connected()

        def take(reply: Reply) -> None:
            self._session.timers.cancel(too_late)
            wake(reply)

        def withdraw() -> bool:
            if not self._elicitations.close_outside(key):
                return False
            self._session.timers.cancel(too_late)
            withdrawn = messages.encode_notification("notifications/cancelled", {"requestId": key})
            self._writer.enqueue(withdrawn)
            return True

        def end_waiting() -> None:
            if withdraw():
                wake(NotAnswered(f"The client did not answer within {self._seconds:g} seconds."))

        too_late = self._session.timers.after(self._seconds, end_waiting)
        try:
            key, message = self._elicitations.request_outside(method, params, take)
        except NotAnswered:
            self._session.timers.cancel(too_late)
            raise
        self._writer.enqueue(message)
        return withdraw

    def fail_all(self) -> None:
        """Wake every tool that waits: the client has gone."""
        for wake in self._elicitations.close_all_outside():
            wake(NotAnswered(_GONE))
        for pending in self._elicitations.close_all():
            pending.wake(NotAnswered(_GONE))
            if pending.call.given_up:
                self._session.stop(pending.call)

    def _check_connected(self) -> None:
        if self._session.is_ending:
            raise NotAnswered(_GONE)

    @contextmanager
    def _suspend_limit(self, pending: PendingElicitation) -> Iterator[None]:
        """Suspend the time limit of the call inside the `with` block, and limit the wait."""
        session = self._session
        with session.without_limit(pending.call):
            too_late = session.timers.after(self._seconds, lambda: self._end_waiting(pending))
            try:
                yield
            finally:
                session.timers.cancel(too_late)
                cancellation = self._elicitations.end(pending)
                if cancellation is not None and not session.is_ending:
                    self._writer.enqueue(cancellation)

    def _end_waiting(self, pending: PendingElicitation) -> None:
        call = pending.call
        if call.task is not None or not call.origin.modern:
            pending.wake(NotAnswered(f"The user did not answer within {self._seconds:g} seconds."))
        elif self._elicitations.close(pending, give_up=True) and call.given_up:
            self._session.stop(call)


def _unwrap_reply(reply: Reply) -> dict[str, Any]:
    if isinstance(reply, BaseException):
        raise reply
    return reply
