"""The values of the protocol: a request, the call of a tool that it starts, its batch, and what to
do next.

Theory of operation. A call is in one of five states. `InFlight` (in_flight.py) alone moves it from
one to the next, under its lock, so that a call is answered at most once, whichever of a result, a
time limit, a cancellation and the exit comes first.

    state      flags of the call    a request waits   it counts for the limits
    in flight  none                 yes               yes
    parked     lingers              no                yes
    task       lingers, task        no                yes
    given up   ended, given_up      no                until its tool has returned
    ended      ended                no                no

    from       by                                          to         response
    -          begin                                       in flight  -
    in flight  finish, fail, refuse                        ended      the result or an error
    in flight  expire                                      given up   an error
    in flight  a cancellation, the exit (end, given_up)    given up   none, or that of an editor
    in flight  park: the user of a modern client is asked  parked     the question
    parked     unpark: the client's next request           in flight  -
    parked     finish, fail                                ended      none: nothing waits
    parked     a cancellation, the exit                    given up   none
    in flight  park: it becomes a task (tasks/)            task       the handle of the task
    task       finish, fail, refuse                        ended      that of a call, to the task
    task       expire                                      given up   an error, to the task
    task       a cancellation, the exit                    given up   none
    given up   release: its tool has returned              ended      none

A tool that was given up cannot be stopped in a thread. It goes on, and everything that it reports
is dropped.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType
from toolwire_schemas.wire import messages
from toolwire_tools import Cancelled, NotAnswered

from .. import log

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from anyio import CancelScope
    from toolwire_schemas.wire.messages import Id
    from toolwire_tools import Entry, Handler

    from ..timers import Timer
    from .lifecycle import Capabilities
    from .running import CallServices, Question, Recipient, RunningTask, Suspension, Worker


STATUS_PROGRESS = 1e-9
"""The progress that a status message reports: less than any tool does."""


class Request(msgspec.Struct, gc=False):
    """One well-formed request or, if `id` is unset, notification (JSON-RPC 2.0, section 4).

    Unknown members are allowed and ignored.
    """

    jsonrpc: Literal["2.0"]
    method: str
    id: str | int | UnsetType = UNSET
    params: dict[str, Any] | None = None


class Origin(msgspec.Struct, frozen=True, gc=False):
    """The request a call comes from: its size in bytes, what takes the response in place of the
    client (a batch, or the task that the call has become), and whether it is of MCP's modern era.
    """

    size: int
    recipient: Recipient | None
    modern: bool


class ProgressReport(msgspec.Struct):
    """The latest progress of a call, `at` a monotonic time. `by_tool`: the tool has reported some,
    now or earlier.
    """

    at: float
    done: float | None = None
    total: float | None = None
    by_tool: bool = False


class Call(msgspec.Struct, eq=False):
    """One call of a tool. The tool uses it as its `Caller`."""

    id: Id | None
    """That of its request; `None` for a notification, which is never answered."""
    entry: Entry
    handler: Handler
    arguments: Any
    origin: Origin
    capabilities: Capabilities
    """Those of the client."""
    strict_arguments: bool
    """As in `Settings`."""
    host: CallServices
    token: Id | None = None
    """The client's progress token; `None` if it wants no progress."""
    ended: bool = False
    """Set once, under the lock of `InFlight`."""
    given_up: bool = False
    """Set with `ended` by a time limit, a cancellation or the exit."""
    lingers: bool = False
    """Whether it was given up, parked or made a task, and its tool still runs."""
    task: RunningTask | None = None
    """The task that it has become."""
    status_message: str | None = None
    """What its tool does just now, if that says so."""
    worker: Worker | None = None
    """The thread that runs it; `None` before that, and for asynchronous tools."""
    scope: CancelScope | None = None
    """Cancels it on the event loop."""
    stop: Callable[[], None] | None = None
    """Ends it in another process."""
    rest: Coroutine[Suspension, None, dict[str, Any]] | None = None
    """The rest of it, while it waits for another process without a thread."""
    limit: Timer | None = None
    """The timer of its time limit."""
    slot: int = 0
    """The place of an asynchronous tool on the board of the watchdog."""
    elicitation: Question | None = None
    """The elicitation that its tool waits for."""
    sent: bytes = b""
    """The arguments as JSON, if a modern client may be asked."""
    last_report: ProgressReport | None = None
    """The latest progress; `None` without a token."""
    log_level: int | None = None
    """The least severe level of log messages that this request asks for."""
    id_in_log: Id | None = None
    """In a worker process, the id that the host gave to the call."""
    meta: dict[str, Any] | None = None
    """The `_meta` of its request."""
    early_answers: Any = None
    """The `inputResponses` of a client that answers before it is asked."""

    def take_result(self, result: dict[str, Any]) -> None:
        """Take the *result* of a call without an id: a notification has no use for it."""

    @property
    def cancelled(self) -> bool:
        """Whether the call was cancelled, ran out of time, or the server is shutting down."""
        return self.ended

    @property
    def is_silent(self) -> bool:
        """Whether its client expects no progress (any more)."""
        return self.ended or (self.lingers and (self.task is None or self.origin.modern))

    @property
    def state(self) -> Any:
        """The value of the tool's lifespan."""
        return self.host.get_state(self.entry)

    @property
    def session_state(self) -> dict[str, Any]:
        """Values that tools keep for each other during the session."""
        return self.host.session_state

    @property
    def session_id(self) -> str:
        """The text that all calls of the session have in common."""
        return self.host.session_id

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Report progress to the client; does nothing if it did not ask for it or the call has
        ended.
        """
        if self.task is not None:
            self.task.report(done, total, message)
        if self.token is not None and not self.ended:
            # Made under the writer's lock: progress never follows the response, and its values
            # never go backwards.
            self.host.send_notification(
                self, lambda: self.progress_message(done, total, message), len(message or "")
            )

    def progress_message(
        self, done: float, total: float | None, message: str | None, *, by_tool: bool = True
    ) -> bytes | None:
        """Return the progress notification; `None` if the client expects none (any more).

        A task of 2025-11-25 goes on to report progress; in later revisions, its state has it.

        MCP requires increasing values. One that does not exceed the last is raised by the least
        possible amount, so that its message still arrives.
        """
        last = self.last_report
        if last is None or self.is_silent:
            return None
        if last.done is not None and done <= last.done:
            done = _step_above(last.done)
        self.last_report = ProgressReport(time.monotonic(), done, total, by_tool)
        params: dict[str, Any] = {"progressToken": self.token, "progress": done}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        return messages.encode_notification("notifications/progress", params)

    def status(self, message: str) -> None:
        """Report what the call does just now: as the message of its task or of its progress."""
        self.status_message = message
        total = None if self.last_report is None else self.last_report.total
        # Raised above the last value: a text says nothing about how far the call is.
        self.progress(STATUS_PROGRESS, total, message)

    def resource_changed(self, uri: str) -> None:
        """Notify the clients that watch the resource at *uri*."""
        self.host.resource_changed(uri)

    def log(self, level: str, message: str, fields: dict[str, Any], logger: str | None) -> None:
        """Write a line about this call to stderr, and send it to a client that wants it."""
        log.write(
            level,
            message,
            {"tool": self.entry.name, "id": self.id_in_log or self.id, "logger": logger, **fields},
        )
        if self.log_level is not None or self.host.log_level is not None:
            data = {**fields, "message": message} if fields else message
            from .log_messages import send

            send(self, {"level": level, "logger": logger or self.entry.name, "data": data})

    def ask(self, message: str, schema: dict[str, Any], key: str = "answer") -> dict[str, Any]:
        """Ask the user; blocks until the reply."""
        params = {"message": message, "requestedSchema": schema}
        return self.host.get_elicitations().ask(self, params, key)

    async def ask_async(
        self, message: str, schema: dict[str, Any], key: str = "answer"
    ) -> dict[str, Any]:
        """Ask the user, on the event loop."""
        params = {"message": message, "requestedSchema": schema}
        return await self.host.get_elicitations().ask_async(self, params, key)


Reply = dict[str, Any] | NotAnswered | Cancelled


class Send(msgspec.Struct, frozen=True):
    """Write this message."""

    message: bytes


class Cancel(msgspec.Struct, frozen=True):
    """Stop the tool of this call, which has ended already."""

    call: Call


class ElicitationReply(msgspec.Struct, frozen=True):
    """Pass the reply to what waits for it: the tool of *call*, if there is one."""

    wake: Callable[[Reply], None]
    reply: Reply
    call: Call | None = None


Decision = Call | Send | Cancel | ElicitationReply
"""A `Call` is to be run, and its outcome passed to `InFlight`."""


def _step_above(number: float) -> float:
    try:
        above = math.nextafter(number, math.inf)
    except OverflowError:  # an integer beyond the range of floats
        above = math.inf
    return above if math.isfinite(above) else int(number) + 1
