"""Runs one call of this server on a connection to another one.

Strategy. The thread of a single call waits for the response as any caller of the client does
(`RequestHandle`), which is quickest. With other calls in flight, a call of another server leaves
its thread until the first message about it (`ThreadlessWait`): the result in most cases, and then
the thread that reads from the server runs the rest of the call. After another message, such as
progress, a worker continues it and waits, since the host may be slow to read, or to answer.

Progress and questions of the other server go through the `Call` to its host, in whichever era of
MCP each side speaks.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from toolwire_client.errors import CallCancelled, ClientError, RequestFailed
from toolwire_client.session.elicitation import ElicitationHandler, NoAnswer
from toolwire_client.session.request import RequestHandle, complete, is_final
from toolwire_client.waiting.base import Waiting
from toolwire_schemas.deadline import Deadline
from toolwire_schemas.meta_tools import META_PROGRAM
from toolwire_schemas.tracing import trace_members
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import EncodingError, encode
from toolwire_schemas.wire.messages import INTERNAL_ERROR, META_CLIENT_CAPABILITIES, META_LOG_LEVEL
from toolwire_schemas.wire.tasks import (
    MISSING_CLIENT_CAPABILITY,
    TASKS_EXTENSION,
    declares_tasks,
)
from toolwire_tools import NotAnswered, ToolError
from toolwire_tools.context.context import LEVELS

from .errors import UpstreamError
from .polled_outputs import deliver, flush_soon, has_next
from .protocol import log_messages
from .protocol.elicitation import COULD_NOT_ASK, ClientFailed
from .protocol.in_flight import make_cancelled_error
from .protocol.lifecycle import can_elicit

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from toolwire_client.protocol.events import LogEntry
    from toolwire_client.session.connection import Connection
    from toolwire_client.session.elicitation import Elicitation, ElicitationObserver
    from toolwire_client.waiting.base import OpenElicitation

    from .protocol.call import Call
    from .protocol.lifecycle import Capabilities
    from .protocol.running import Suspension
    from .timers import Timers

METHODS = {
    "tools": "tools/call",
    "prompts": "prompts/get",
    "resources": "resources/read",
    "resourceTemplates": "resources/read",
    "completions": "completion/complete",
}
"""The method that calls a thing of each kind."""

BLOCKING = Waiting()


async def forward(
    call: Call,
    connection: Connection,
    params: dict[str, Any],
    open_requests: dict[Call, RequestHandle] | None = None,
) -> dict[str, Any]:
    """Send the request with *params* that runs *call* over there, and return its
    result as it came.

    Only for the threads that run the call, which may suspend this (`ThreadlessWait`,
    `ThreadlessPause`).
    *open_requests* has the request, which may log, while it is open.

    Raises:
        UpstreamError: if the response is a JSON-RPC error.
        ToolError: if there is no usable response: the text says why, for example how the process
            ended.
        Cancelled: if the call has ended.
    """
    open_requests = {} if open_requests is None else open_requests
    handle = _open_request(call, connection, open_requests)
    open_requests[call] = handle
    # A worker process has one call at a time, and so at most one thread.
    is_threadless = call.handler.gate is None and (len(open_requests) > 1 or has_next(call))
    try:
        with handle:
            call.stop = partial(handle.cancel, "the call was cancelled or ran out of time")
            if call.ended:
                raise make_cancelled_error(call)
            params = _with_meta(call, connection, params)
            result = await _send_or_run_task(call, handle, params, is_threadless=is_threadless)
    except CallCancelled as error:
        if not call.ended:  # the other server has cancelled its task
            raise ToolError(f"{call.entry.name}: {error}") from None
        raise make_cancelled_error(call) from None
    except RequestFailed as error:
        raise UpstreamError(error.code, error.message, error.data) from None
    except EncodingError as error:
        raise ToolError(f"The arguments of {call.entry.name} cannot be sent: {error}.") from None
    except ClientError as error:
        raise ToolError(f"{call.entry.name}: {error}") from None
    finally:
        call.stop = None
        del open_requests[call]
    if not isinstance(result, dict) or result.pop("resultType", "complete") != "complete":
        raise ToolError(f"{call.entry.name}: the server's result is not an object of a known type")
    return result


async def _send_or_run_task(
    call: Call, handle: RequestHandle, params: dict[str, Any], *, is_threadless: bool
) -> Any:
    """Return the result of the request with *params*, as a task if the tool runs in no other way,
    or if the server makes it one.

    A list of 2025-11-25 says that a tool runs only as a task; later servers refuse the call, of
    which nothing has run then.
    """
    is_modern = handle.connection.protocol.is_modern
    if not is_modern and _runs_only_as_task(call):
        params = {**params, "task": {}}
        is_threadless = False
    try:
        result = await _send(call, handle, params, is_threadless=is_threadless)
    except RequestFailed as error:
        if not (is_modern and _demands_tasks(error)):
            raise
        result = await _send(call, handle, _with_tasks(params), is_threadless=False)
    if call.entry.kind != "tools":
        return result
    return await _finish(call, handle, result)


def _with_tasks(params: dict[str, Any]) -> dict[str, Any]:
    """Return *params* of a request that declares tasks."""
    meta = params["_meta"]
    capabilities = {**meta[META_CLIENT_CAPABILITIES], "extensions": {TASKS_EXTENSION: {}}}
    return {**params, "_meta": {**meta, META_CLIENT_CAPABILITIES: capabilities}}


def _runs_only_as_task(call: Call) -> bool:
    """Return whether a mounted server says so of the tool; processes of our own take any call."""
    if call.entry.function is not None:
        return False
    execution = call.entry.shown.get("execution")
    return isinstance(execution, dict) and execution.get("taskSupport") == "required"


def _demands_tasks(error: RequestFailed) -> bool:
    """Return whether a modern server refuses a call since the client has not declared tasks."""
    if error.code != MISSING_CLIENT_CAPABILITY or not isinstance(error.data, dict):
        return False
    required = error.data.get("requiredCapabilities")
    return isinstance(required, dict) and declares_tasks(required)


async def _finish(call: Call, handle: RequestHandle, result: Any) -> Any:
    """Return the *result* of a call, or that of the task that the call has become there.

    Such a call is a task here, too, if its client can have one. The task there ends with the call.
    """
    if not isinstance(result, dict) or "content" in result:  # most have, and need no more modules
        return result
    from toolwire_client.protocol.tasks import find_task, read_status
    from toolwire_client.session.task_wait import finish_task

    members = find_task(result, is_modern=handle.connection.protocol.is_modern)
    if members is None:
        return result
    status = read_status(members)
    if _takes_tasks(call):
        call.host.get_tasks().make_task(call)
    if call.handler.gate is None:  # there may be more tasks than threads
        handle.suspend = partial(ThreadlessPause, handle, call.host.timers)
    return await finish_task(handle, status, call.entry.name, Deadline(None))


def _takes_tasks(call: Call) -> bool:
    """Return whether the client that made *call* can have a task in place of its result."""
    return (
        call.origin.modern
        and call.id is not None
        and call.entry.kind == "tools"
        and call.entry.options.task != "never"
        and declares_tasks(call.capabilities)
    )


async def _send(
    call: Call, handle: RequestHandle, params: dict[str, Any], *, is_threadless: bool
) -> Any:
    """Send the request with *params*, and return its result."""
    method = METHODS[call.entry.kind]
    handle.begin(method, params, more_follows=is_threadless)
    if is_threadless:
        flush_soon(call, handle.connection.transport)
        if await ThreadlessWait(handle):
            return handle.take_event().result
    return await complete(handle, method, params, Deadline(None))


def _open_request(
    call: Call, connection: Connection, open_requests: dict[Call, RequestHandle]
) -> RequestHandle:
    """Return the request that is to run *call* over there, as one of *open_requests*."""
    waiting = getattr(connection.transport, "waiting", BLOCKING)
    # A modern client may repeat a call with a token. A task shows progress as its status.
    wants_progress = call.token is not None or call.sent or call.task is not None
    on_progress = call.progress if wants_progress else None
    questions = _Questions(call, connection, open_requests)
    return RequestHandle(connection, waiting, questions, on_progress, partial(pass_on_log, call))


class ThreadlessWait:
    """Suspends a call until the first message about the request of *handle*; awaiting it returns
    whether that is the result.
    """

    def __init__(self, handle: RequestHandle) -> None:
        self._handle = handle
        self._is_result = False

    def __await__(self) -> Generator[Suspension, None, bool]:
        yield self
        return self._is_result

    def notify(self, resume: Callable[[bool], None]) -> bool:
        """As `Suspension.notify`."""

        def resume_after(event: object) -> None:
            self._is_result = is_final(event)
            resume(self._is_result)

        return self._handle.notify(resume_after)

    def deliver(self, call: Call, outcome: dict[str, Any] | BaseException) -> None:
        """As `Suspension.deliver`."""
        deliver(call, outcome)


class ThreadlessPause:
    """Suspends a call until the next message about the request of *handle*, for some seconds at
    most if they are not `None`.
    """

    def __init__(self, handle: RequestHandle, timers: Timers, seconds: float | None) -> None:
        self._handle = handle
        self._timers = timers
        self._seconds = seconds

    def __await__(self) -> Generator[Suspension, None, None]:
        yield self

    def notify(self, resume: Callable[[bool], None]) -> bool:
        """As `Suspension.notify`."""
        timer = None
        if self._seconds is not None:
            timer = self._timers.after(self._seconds, self._handle.wake)

        def resume_after(event: object) -> None:
            if timer is not None:
                self._timers.cancel(timer)
            resume(False)  # the rest sends further requests

        return self._handle.notify(resume_after)

    def deliver(self, call: Call, outcome: dict[str, Any] | BaseException) -> None:
        """As `Suspension.deliver`."""
        deliver(call, outcome)


def pass_on_log(call: Call, entry: LogEntry) -> None:
    """Send a log message of another server to the client that made *call*, unless the client does
    not want it.
    """
    level = entry.level if entry.level in LEVELS else "info"
    log_messages.send(
        call, {"level": level, "logger": entry.logger or call.entry.name, "data": entry.data}
    )


def select_capabilities(capabilities: Capabilities) -> Capabilities:
    """Return those of a client's *capabilities* to declare to another server on its behalf."""
    passed: Capabilities = {}
    for name in ("elicitation", "roots", "sampling"):
        members = capabilities.get(name)
        if isinstance(members, dict):
            passed[name] = members
    if can_elicit(capabilities):
        passed["elicitation"] = {"form": {}, **passed["elicitation"]}
    return passed


def _with_meta(call: Call, connection: Connection, params: dict[str, Any]) -> dict[str, Any]:
    meta: dict[str, Any] = dict(params.get("_meta", ()))
    if call.meta:
        meta.update(trace_members(call.meta))
        if call.id is None and META_PROGRAM in call.meta:  # so that a recording names it
            meta[META_PROGRAM] = call.meta[META_PROGRAM]
    if connection.protocol.is_modern:
        capabilities = select_capabilities(call.capabilities)
        # Processes of our own make no tasks: theirs are those of this server.
        if call.handler.gate is None and _takes_tasks(call):
            capabilities["extensions"] = {TASKS_EXTENSION: {}}
        meta[META_CLIENT_CAPABILITIES] = capabilities
    if (level := log_messages.find_wanted_level(call)) is not None:
        meta[META_LOG_LEVEL] = LEVELS[level]
    return {**params, "_meta": meta} if meta else params


SEVERAL_CLIENTS = NotAnswered(
    "several clients use this server now, and servers before MCP 2026-07-28 do not say which of"
    " them they ask"
)


def refuse_request(connection: Connection, asked: OpenElicitation, why: NotAnswered) -> None:
    """Answer what a legacy server *asked* with an error: that of the client, if it sent one."""
    if isinstance(why, ClientFailed):
        body = {"jsonrpc": "2.0", "id": asked.id, "error": why.error}
        connection.answer(asked, encode(body))
        return
    # A Toolwire server adds both again.
    reason = str(why).removeprefix(COULD_NOT_ASK).removesuffix(".")
    connection.answer(asked, messages.encode_error(asked.id, INTERNAL_ERROR, reason))


def _dismiss(question: Elicitation) -> NoAnswer:
    return NoAnswer.DISMISSED


class _Questions(ElicitationHandler):
    """Passes questions that arrive on *connection* to the client that made *call*."""

    def __init__(
        self, call: Call, connection: Connection, open_requests: dict[Call, RequestHandle]
    ) -> None:
        super().__init__(_dismiss, BLOCKING)
        self._call = call
        self._connection = connection
        self._open_requests = open_requests

    async def serve(self, connection: Connection, asked: OpenElicitation) -> None:
        """Answer a request of a legacy server, which does not say to which call it belongs."""
        hosts = {call.host for call in list(self._open_requests)}
        if len(hosts) > 1:
            refuse_request(connection, asked, SEVERAL_CLIENTS)
            return
        params = asked.params if isinstance(asked.params, dict) else {}
        if asked.method == "elicitation/create" and params.get("mode", "form") == "form":
            await super().serve(connection, asked)
            return
        asked.on_closed = self._withdraw
        if not asked.is_open:
            return
        elicitations = self._call.host.get_elicitations()
        try:
            reply = elicitations.ask(self._call, params, method=asked.method)
        except NotAnswered as error:
            refuse_request(connection, asked, error)
            return
        connection.answer(asked, messages.encode_response(asked.id, reply))

    async def ask(
        self,
        question: Elicitation,
        *,
        elicitation: OpenElicitation | None = None,
        observer: ElicitationObserver | None = None,
    ) -> dict[str, Any] | None:
        """Return the reply of the client; `None` if the other server wants none, or received an
        error.
        """
        if elicitation is not None:
            elicitation.on_closed = self._withdraw
            if not elicitation.is_open:
                return None
        try:
            return self._call.ask(question.message, question.schema, question.key)
        except NotAnswered as error:
            # A modern server's call ends with the error: no response can express it.
            if elicitation is None:
                raise
            refuse_request(self._connection, elicitation, error)
            return None

    async def collect_answers(self, requests: Any, tool: str) -> dict[str, Any]:
        """Return the client's answers to the `inputRequests` of a modern server, of whatever
        method.
        """
        responses: dict[str, Any] = {}
        for name, request in requests.items() if isinstance(requests, dict) else [("", None)]:
            match {"params": {}, **request} if isinstance(request, dict) else request:
                case {"method": str(method), "params": dict(params)} if (
                    "requestedSchema" not in params
                ):
                    elicitations = self._call.host.get_elicitations()
                    responses[name] = elicitations.ask(self._call, params, name, method=method)
                case _:  # a form, or nothing that can be asked, which raises
                    responses |= await super().collect_answers({name: request}, tool)
        return responses

    def _withdraw(self) -> None:
        """Wake the call if it still waits for the user. Never blocks."""
        pending = self._call.elicitation
        # A modern client's request has been answered with the question, so only its next one can
        # report the end.
        if pending is not None and not self._call.origin.modern:
            pending.wake(NotAnswered("The question was withdrawn."))
