"""A tool that asks the user and waits for the reply. Imported for the first elicitation."""

from __future__ import annotations

from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_tools import NotAnswered

from ..protocol.call import PendingElicitation, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from ..protocol.call import Call
    from ..protocol.server_protocol import ServerProtocol
    from ..timers import Timers
    from .worker_pool import WorkerPool
    from .writer import MessageWriter


class Elicitations(msgspec.Struct, frozen=True):
    """Asks through *writer*. *stop* ends the tool of a call whose user did not reply within *seconds*."""

    protocol: ServerProtocol
    writer: MessageWriter
    timers: Timers
    without_limit: Callable[[Call], AbstractContextManager[None]]
    seconds: float
    stop: Callable[[Call], None]
    is_ending: Callable[[], bool]

    def ask(self, call: Call, message: str, schema: dict[str, Any], workers: WorkerPool) -> dict[str, Any]:
        """Ask for a synchronous tool; blocks its worker."""
        replies: SimpleQueue[Reply] = SimpleQueue()
        pending = PendingElicitation(call, message, schema, replies.put)
        with self._waiting(pending, self.writer.write), workers.one_more():
            reply = replies.get()
        return _checked(reply)

    async def ask_async(
        self, call: Call, message: str, schema: dict[str, Any], soon: Callable[[Callable[[], None]], None]
    ) -> dict[str, Any]:
        """Ask for an asynchronous tool, whose event loop runs what is passed to *soon*."""
        from anyio import Event

        replies: list[Reply] = []
        replied = Event()

        def wake(reply: Reply) -> None:
            replies.append(reply)
            soon(replied.set)

        with self._waiting(PendingElicitation(call, message, schema, wake), self.writer.enqueue):
            await replied.wait()
        return _checked(replies[0])

    @contextmanager
    def _waiting(self, pending: PendingElicitation, send: Callable[[bytes], None]) -> Iterator[None]:
        """Send the elicitation; the time limit of the call is suspended inside the `with` block."""
        call = pending.call
        message = self.protocol.elicit(pending)
        with self.without_limit(call):
            too_late = self.timers.after(self.seconds, lambda: self._time_out(pending))
            if message is not None:
                send(message)
            try:
                yield
            finally:
                self.timers.cancel(too_late)
                cancellation = self.protocol.end_elicitation(pending)
                if cancellation is not None and not self.is_ending():
                    self.writer.enqueue(cancellation)

    def _time_out(self, pending: PendingElicitation) -> None:
        call = pending.call
        if not call.origin.modern:
            pending.wake(NotAnswered(f"The user did not answer within {self.seconds:g} seconds."))
        elif self.protocol.elicitations().close(pending, give_up=True) and call.given_up:
            self.stop(call)


def _checked(reply: Reply) -> dict[str, Any]:
    if isinstance(reply, BaseException):
        raise reply
    return reply
