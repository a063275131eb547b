"""Send a request and wait for its result, with all its rounds of elicitation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from toolwire_schemas.deadline import Deadline
from toolwire_schemas.tracing import with_context

from ..errors import BrokenRules, CallCancelled, ClientError, TimedOut
from ..protocol.events import Failure, LogEntry, Progress, Result
from .connection import MAX_UNREAD, TaskWatch

if TYPE_CHECKING:
    from ..protocol.events import OnLog
    from ..protocol.tasks import TaskProgress
    from ..waiting.base import Waiting
    from .connection import Connection
    from .elicitation import ElicitationHandler

_MAX_ROUNDS = 10
"""The limit of the official clients."""

_PAUSE_SECONDS = 0.1
"""Before a retry that only carries `requestState`. The official clients pause for 50 to 250 ms."""

_UNFINISHED = ("input_required", "task")
"""The types of results with which a modern server only begins to answer a call."""

_WAKE = object()

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
        self._token = 0  # of the progress to report
        self._progress: tuple[float, float | None] = (0.0, None)  # the last
        self._watch: TaskWatch | None = None  # of the task that is followed
        self._inbox = waiting.make_inbox()
        self.suspend: Callable[[float | None], Awaitable[None]] | None = None
        """Awaited before each wait of some seconds, for a caller that blocks no thread: returns
        when an event has come.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is not None:  # no effect if the server has answered or ended
            reason = "timed out" if isinstance(error, TimedOut) else "the client stopped waiting"
            self.connection.cancel(self.id, reason)

    def begin(
        self, method: str, params: dict[str, Any] | None = None, *, more_follows: bool = False
    ) -> None:
        """Send a request, and report its progress: with more, if *more_follows*, or at `flush` of
        the transport. Raises `EncodingError` if *params* are not JSON, or the error that ended the
        conversation.
        """
        has_progress = self._on_progress is not None
        request = self.connection.protocol.request(
            method, with_context(params), progress=has_progress
        )
        self._token = request[0]
        self.send(request, more_follows=more_follows)

    def send(self, request: tuple[int, bytes], *, more_follows: bool = False) -> None:
        self.id = request[0]
        self.connection.begin(request, self._inbox, more_follows=more_follows)

    def notify(self, callback: Callable[[object], None]) -> bool:
        """As `Inbox.notify`."""
        return self._inbox.notify(callback)

    def wake(self) -> None:
        """End a wait for the next event, of which nothing follows. From any thread."""
        self._inbox.put(_WAKE)

    def take_event(self) -> Any:
        """Return the first event, which has come already."""
        return self._inbox.take()

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

    async def wait_for_result(self, deadline: Deadline) -> Any:
        """Return the result or raise its `ClientError`; until then, report progress and answer
        elicitations.
        """
        while True:
            arrival = await self._wait_for_next(deadline)
            match arrival:
                case Result(result=result):
                    return result
                case Failure(error=error) | (ClientError() as error):
                    raise error
                case _:
                    self._pass_on(arrival)

    @contextmanager
    def follow(self, task: str) -> Iterator[None]:
        """Receive what the server sends about *task* between requests, which `pause` waits for. The
        progress of the last request, which became the task, is reported as before.
        """
        self._watch = watch = TaskWatch(task, self._inbox, self._token)
        self.connection.watch(watch)
        try:
            yield
        finally:
            self.connection.unwatch(watch)
            self._watch = None

    async def ask(self, method: str, params: dict[str, Any], deadline: Deadline) -> Any:
        """Return the result of a request about a task, which has no progress of its own."""
        self.send(self.connection.protocol.request(method, with_context(params)))
        return await self.wait_for_result(deadline)

    async def pause(self, seconds: float, deadline: Deadline) -> None:
        """Wait *seconds*, or until the server says that the task has changed; report progress and
        answer elicitations until then.

        Raises:
            TimedOut: if the deadline comes first.
            ClientError: if the server ended, or the call was cancelled.
        """
        end = Deadline(seconds)
        while True:
            if deadline.seconds_left == 0:
                raise TimedOut(f"the task has not ended {deadline}")
            if end.seconds_left == 0 or (self._watch is not None and self._watch.has_news):
                break
            await self._serve_elicitation(deadline)
            sooner = end.limit_to(deadline.seconds_left)
            arrival = await self._receive(sooner.seconds_left)
            if isinstance(arrival, ClientError):
                raise arrival
            self._pass_on(arrival)
        if self._watch is not None:
            self._watch.has_news = False

    def report_status(self, message: str, progress: TaskProgress | None) -> None:
        """Report the status message of a task, and its progress if that is known."""
        done, total = progress or self._progress
        self._report(done, total, message or None)

    def _report(self, done: float, total: float | None, message: str | None) -> None:
        self._progress = (done, total)
        if self._on_progress is None:
            return
        returned = self._on_progress(done, total, message)
        if isinstance(returned, Coroutine):
            returned.close()
            raise TypeError("on_progress must be a plain function, not an async one")

    def _pass_on(self, arrival: object) -> None:
        match arrival:
            case Progress(id=self._token):
                self._report(arrival.done, arrival.total, arrival.message)
            case LogEntry() if self._on_log is not None:
                self._on_log(arrival)

    async def _receive(self, seconds: float | None) -> Any:
        if self.suspend is not None and not len(self._inbox):
            await self.suspend(seconds)
        return await self._inbox.receive(seconds)

    async def _serve_elicitation(self, deadline: Deadline) -> None:
        if self.elicitation is None:
            return
        elicitation = self.connection.take_elicitation()
        if elicitation is None:
            return
        with deadline.stop_clock():
            await self.elicitation.serve(self.connection, elicitation)

    async def _wait_for_next(self, deadline: Deadline) -> Any:
        await self._serve_elicitation(deadline)
        left = deadline.seconds_left
        arrival = await self._receive(left)
        if arrival is None or (left == 0 and isinstance(arrival, Progress)):
            raise TimedOut(f"no answer {deadline}")
        return arrival


def is_final(event: object) -> bool:
    """Return whether *event* is the result of a call: no question of a modern server, and no
    task.
    """
    if not isinstance(event, Result):
        return False
    result = event.result
    return not isinstance(result, dict) or result.get("resultType") not in _UNFINISHED


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
        result = await handle.wait_for_result(deadline)
        if not _asks_first(result):
            return result
        name = str(params.get("name", params.get("uri")))
        more = await _collect_answers(handle, result, name, deadline)
        handle.begin(method, {**params, **more})
    raise BrokenRules(f"the server still asks after {_MAX_ROUNDS} rounds of questions")


async def _collect_answers(
    handle: RequestHandle, result: dict[str, Any], name: str, deadline: Deadline
) -> dict[str, Any]:
    """Return the members of the next request that answer *result*, from what is called *name*."""
    requests, state = result.get("inputRequests"), result.get("requestState")
    more: dict[str, Any] = {} if state is None else {"requestState": state}
    if requests is None and state is not None:
        await handle.waiting.sleep(_PAUSE_SECONDS)
        return more
    assert handle.elicitation is not None
    with deadline.stop_clock():
        return {**more, "inputResponses": await handle.elicitation.collect_answers(requests, name)}
