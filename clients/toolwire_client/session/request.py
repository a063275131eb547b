"""Send a request and wait for its result; a tool call, with all its rounds of elicitation."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Self

from toolwire_schemas.deadline import Deadline
from toolwire_schemas.tracing import with_context

from ..errors import BrokenRules, CallCancelled, ClientError, TimedOut
from ..protocol.events import Failure, LogEntry, Progress, Result
from ..protocol.results import CallResult, outcome
from .connection import MAX_UNREAD

if TYPE_CHECKING:
    from ..protocol.events import OnLog
    from ..waiting.base import Waiting
    from .connection import Connection
    from .elicitation import ElicitationHandler

_MAX_ROUNDS = 10
"""The limit of the official clients."""

_PAUSE_SECONDS = 0.1
"""Before a retry that only carries `requestState`. The official clients pause for 50 to 250 ms."""

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
        on_log: OnLog | None = None,
    ) -> None:
        self.id = 0
        self.connection = connection
        self.waiting = waiting
        self.elicitation = elicitation
        self._on_progress = on_progress
        self._on_log = on_log
        self._inbox = waiting.inbox()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is not None:  # no effect if the server has answered or ended
            reason = "timed out" if isinstance(error, TimedOut) else "the client stopped waiting"
            self.connection.cancel(self.id, reason)

    def begin(
        self, method: str, params: dict[str, Any] | None = None, *, more_follows: bool = False
    ) -> None:
        """Send a request: soon, if *more_follows*. Raises `EncodingError` if *params* are not JSON,
        or the error that ended the conversation.
        """
        has_progress = self._on_progress is not None
        request = self.connection.protocol.request(
            method, with_context(params), progress=has_progress
        )
        self.send(request, more_follows=more_follows)

    def send(self, request: tuple[int, bytes], *, more_follows: bool = False) -> None:
        self.id = request[0]
        self.connection.begin(request, self._inbox, more_follows=more_follows)

    def notify(self, callback: Callable[[bool], None]) -> bool:
        """As `Inbox.notify`: *callback* gets whether the event is the final result."""
        return self._inbox.notify(lambda event: callback(_is_final(event)))

    def log(self, entry: LogEntry) -> bool:
        """Have `on_log` called by the caller of the request, before its result; false if it is not
        open.

        Only for the reading thread. Of too many entries the last are dropped, as with progress.
        """
        if not self.connection.is_open(self.id):
            return False
        if len(self._inbox) < MAX_UNREAD:
            self._inbox.put(entry)
        return True

    def cancel(self, reason: str) -> None:
        """Cancel the request and end the wait for it. From any thread."""
        self.connection.cancel(self.id, reason)
        self._inbox.put(CallCancelled(reason))

    async def result(self, deadline: Deadline) -> Any:
        """Return the result or raise its `ClientError`; until then, report progress and answer
        elicitations.
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
                case LogEntry() if self._on_log is not None:
                    self._on_log(arrival)

    def _report(self, progress: Progress) -> None:
        if self._on_progress is not None:
            returned = self._on_progress(progress.done, progress.total, progress.message)
            if isinstance(returned, Coroutine):
                returned.close()
                raise TypeError("on_progress must be a plain function, not an async one")

    async def _next(self, deadline: Deadline) -> Any:
        if (
            self.elicitation is not None
            and (elicitation := self.connection.take_elicitation()) is not None
        ):
            with deadline.stopped():
                await self.elicitation.serve(self.connection, elicitation)
        left = deadline.left()
        arrival = await self._inbox.next(left)
        if arrival is None or (left == 0 and isinstance(arrival, Progress)):
            raise TimedOut(f"no answer {deadline}")
        return arrival


class AsyncPendingCall:
    """An open tool call."""

    def __init__(
        self, handle: RequestHandle, name: str, arguments: Mapping[str, Any] | None
    ) -> None:
        self._handle = handle
        self._params: dict[str, Any] = {"name": name, "arguments": dict(arguments or {})}
        self._outcome: CallResult | ClientError | None = None
        handle.begin("tools/call", self._params)

    @property
    def id(self) -> int:
        """The id of the call's current request; each round of elicitation sends another."""
        return self._handle.id

    def cancel(self, reason: str = "cancelled by the client") -> None:
        """Cancel the call and end the wait for it. From any thread."""
        self._handle.cancel(reason)

    async def result(self, timeout_seconds: float | None = None) -> CallResult:
        """Return the call's result; until it arrives, report progress and ask the user the tool's
        questions.

        The time in which the user answers does not count. Later calls return the same result.

        Raises:
            RequestFailed: if the response is an error, as for an unknown tool.
            TimedOut: if it does not arrive in time. This and any other exception while waiting
                cancels the call.
            CallCancelled: if `cancel` was called.
            ServerGone: if the server ended.
            BrokenRules: if the response is malformed, or asks for what this client did not offer.
        """
        return await self.finish(Deadline(timeout_seconds))

    async def finish(self, deadline: Deadline) -> CallResult:
        if isinstance(self._outcome, ClientError):
            raise self._outcome.again()
        if self._outcome is None:
            self._outcome = CallCancelled(
                "the wait for the call was interrupted"
            )  # replaced below unless it was
            try:
                self._outcome = await self._finish(deadline)
            except ClientError as error:
                self._outcome = error
                raise
        return self._outcome

    async def _finish(self, deadline: Deadline) -> CallResult:
        with self._handle as handle:
            return outcome(await complete(handle, "tools/call", self._params, deadline))


def _is_final(event: object) -> bool:
    return isinstance(event, Result) and not _asks_first(event.result)


def _asks_first(result: Any) -> bool:
    """Return whether *result* is not yet that of the call: a modern server asks the user."""
    return isinstance(result, dict) and result.get("resultType") == "input_required"


async def complete(
    handle: RequestHandle, method: str, params: dict[str, Any], deadline: Deadline
) -> Any:
    """Return the result of the request that *handle* has sent, after all rounds of questions to the
    user.
    """
    for _ in range(_MAX_ROUNDS):
        result = await handle.result(deadline)
        if not _asks_first(result):
            return result
        more = await _answers(handle, result, str(params.get("name", params.get("uri"))), deadline)
        handle.begin(method, {**params, **more})
    raise BrokenRules(f"the server still asks after {_MAX_ROUNDS} rounds of questions")


async def _answers(
    handle: RequestHandle, result: dict[str, Any], name: str, deadline: Deadline
) -> dict[str, Any]:
    """Return the members of the next request that answer *result*, from what is called *name*."""
    requests, state = result.get("inputRequests"), result.get("requestState")
    more: dict[str, Any] = {} if state is None else {"requestState": state}
    if requests is None and state is not None:
        await handle.waiting.sleep(_PAUSE_SECONDS)
        return more
    assert handle.elicitation is not None
    with deadline.stopped():
        return {**more, "inputResponses": await handle.elicitation.responses(requests, name)}
