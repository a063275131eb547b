"""One request after the other for one purpose, and what comes back for them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Self

from ..errors import BrokenRules, CallCancelled, ClientError, RequestFailed, TimedOut
from ..protocol.events import Answer, Failure, Progress, Unreadable

if TYPE_CHECKING:
    from types import TracebackType

    from ..waiting.base import Waiting
    from ..waiting.deadline import Limit
    from .connection import Connection
    from .elicitation import Asker

OnProgress = Callable[[float, float | None, str | None], object]
"""Called with how much is done, of how much (`None` if nobody knows), and what is being done. A plain function."""


class Exchange:
    """Requests on *connection*, one at a time. `id` is that of the last, 0 before the first.

    An exception that leaves its `with` block cancels the request that is under way.
    """

    def __init__(
        self,
        connection: Connection,
        waiting: Waiting,
        asker: Asker | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self.id = 0
        self.connection = connection
        self._waiting = waiting
        self._asker = asker
        self._on_progress = on_progress
        self._inbox = waiting.inbox()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:  # without effect if the server has answered, or is gone
            self.connection.cancel(self.id, "timed out" if isinstance(error, TimedOut) else "no longer waited for")

    def begin(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a request.

        Raises:
            EncodingError: if *params* cannot be written as JSON.
            ClientError: why there can be no answer.
        """
        self.send(self.connection.session.request(method, params, progress=self._on_progress is not None))

    def send(self, request: tuple[int, bytes]) -> None:
        """As `begin`, with a request that has its id and is written already."""
        self.id = request[0]
        self.connection.begin(request, self._inbox)

    def cancel(self, reason: str) -> None:
        """Tell the server that the answer is no longer wanted, and wake whoever waits for it. From any thread."""
        self.connection.cancel(self.id, reason)
        self._inbox.put(CallCancelled(reason))

    async def result(self, limit: Limit) -> Any:
        """Wait for the answer and return its result; report progress and answer questions meanwhile.

        Raises:
            RequestFailed: if the answer is an error.
            TimedOut: if it takes too long.
            CallCancelled, ServerGone, Closed: if there will be no answer.
            BrokenRules: if the answer cannot be read.
        """
        while True:
            arrival = await self._next(limit)
            match arrival:
                case Answer(result=result):
                    return result
                case Failure(code=code, message=message, data=data):
                    raise RequestFailed(code, message, data)
                case Unreadable(reason=reason):
                    raise BrokenRules(reason)
                case ClientError():
                    raise arrival
                case Progress(id=self.id):
                    self._report(arrival)

    def _report(self, progress: Progress) -> None:
        if self._on_progress is not None:
            outcome = self._on_progress(progress.done, progress.total, progress.message)
            if isinstance(outcome, Coroutine):
                outcome.close()
                raise TypeError("on_progress must be a plain function, not an async one")

    async def _next(self, limit: Limit) -> Any:
        if self._asker is not None and self.connection.has_questions:
            with limit.stopped():
                await self._asker.serve(self.connection)
        left = limit.left()
        arrival = await self._inbox.next(left)
        if arrival is None or (left == 0 and isinstance(arrival, Progress)):
            raise TimedOut(f"no answer {limit}")
        return arrival
