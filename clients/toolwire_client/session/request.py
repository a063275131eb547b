"""Send a request and wait for its result."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Self

from ..errors import CallCancelled, ClientError, TimedOut
from ..protocol.events import Failure, Progress, Result

if TYPE_CHECKING:
    from ..waiting.base import Waiting
    from ..waiting.deadline import Deadline
    from .connection import Connection
    from .elicitation import ElicitationHandler

OnProgress = Callable[[float, float | None, str | None], object]
"""Called with the progress, the total (`None` if unknown) and a message. Must not be async."""


class RequestHandle:
    """Requests on *connection*, one at a time. `id` is the id of the last, 0 before the first.

    An exception that leaves the `with` block cancels the open request.
    """

    def __init__(
        self,
        connection: Connection,
        waiting: Waiting,
        elicitation: ElicitationHandler | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self.id = 0
        self.connection = connection
        self._waiting = waiting
        self._elicitation = elicitation
        self._on_progress = on_progress
        self._inbox = waiting.inbox()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is not None:  # no effect if the server has answered or ended
            reason = "timed out" if isinstance(error, TimedOut) else "the client stopped waiting"
            self.connection.cancel(self.id, reason)

    def begin(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a request. Raises `EncodingError` if *params* are not JSON, or the error that ended the conversation."""
        self.send(self.connection.protocol.request(method, params, progress=self._on_progress is not None))

    def send(self, request: tuple[int, bytes]) -> None:
        self.id = request[0]
        self.connection.begin(request, self._inbox)

    def cancel(self, reason: str) -> None:
        """Cancel the request and end the wait for it. From any thread."""
        self.connection.cancel(self.id, reason)
        self._inbox.put(CallCancelled(reason))

    async def result(self, deadline: Deadline) -> Any:
        """Return the request's result; until it arrives, report progress and answer elicitations.

        Raises:
            RequestFailed: if the response is an error.
            TimedOut: if it does not arrive in time.
            CallCancelled, ServerGone, Closed: if it cannot arrive any more.
            BrokenRules: if it cannot be read.
        """
        while True:
            arrival = await self._next(deadline)
            match arrival:
                case Result(result=result):
                    return result
                case Failure(error=error) | (ClientError() as error):
                    raise error
                case Progress(id=self.id):
                    self._report(arrival)

    def _report(self, progress: Progress) -> None:
        if self._on_progress is not None:
            returned = self._on_progress(progress.done, progress.total, progress.message)
            if isinstance(returned, Coroutine):
                returned.close()
                raise TypeError("on_progress must be a plain function, not an async one")

    async def _next(self, deadline: Deadline) -> Any:
        if self._elicitation is not None and (elicitation := self.connection.take_elicitation()) is not None:
            with deadline.stopped():
                await self._elicitation.serve(self.connection, elicitation)
        left = deadline.left()
        arrival = await self._inbox.next(left)
        if arrival is None or (left == 0 and isinstance(arrival, Progress)):
            raise TimedOut(f"no answer {deadline}")
        return arrival
