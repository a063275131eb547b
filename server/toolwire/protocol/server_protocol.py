"""What to do with each message, decided in the order they arrive.

Strategy. `receive` turns one frame into decisions and `finish` turns a tool's outcome into the bytes that answer
it; neither reads, writes, waits nor runs a tool, so a shell of any kind can stand around them. A single well-formed
request takes the fast lane right here: a dict lookup. Whatever else arrives takes the strict lane (`strict.py`).

`receive` belongs to one thread; what tools turn to may be called from any. What is under way is kept by the ledger,
where every call ends once; what comes later from it is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, UnsetType
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import EncodingError, encode
from toolwire_schemas.wire.codes import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    META_CLIENT_CAPABILITIES,
    METHOD_NOT_FOUND,
    OVERLOADED,
    REQUEST_CANCELLED,
)
from toolwire_tools import ArgumentsError, CannotAsk, ToolError, failure

from .. import log
from ..errors import RequestError
from . import lifecycle
from .call import Batch, Call, Host, Origin, Request
from .elicitation import Asked, Reply, Response, can_ask, check_can_ask, input_response
from .in_flight import Ledger

if TYPE_CHECKING:
    from toolwire_schemas.wire.frames import Frame
    from toolwire_schemas.wire.messages import Id

    from .catalog import Catalogue

DEFAULT_MAX_RESULT_BYTES = 10 * 1024 * 1024 - 64 * 1024
"""The TypeScript clients give up at 10 MiB in their buffer, which may hold the start of the next message too."""

DEFAULT_MAX_PENDING_BYTES = 256 * 1024 * 1024

DEFAULT_MAX_PENDING_CALLS = 100_000
"""A waiting call of a synchronous tool takes half a kilobyte, a running one of an `async` tool two to three."""

DEFAULT_MAX_BATCH_ELEMENTS = 10_000
"""To decide about so many takes a tenth of a second, in which nothing else is read."""

DEFAULT_MAX_QUESTIONS = 128


class Send(msgspec.Struct, frozen=True):
    """Write this message."""

    message: bytes


class Cancel(msgspec.Struct, frozen=True):
    """Stop working for this call; it has ended already."""

    call: Call


class Wake(msgspec.Struct, frozen=True):
    """Hand a tool the reply to its question."""

    asked: Asked
    reply: Reply


Decision = Call | Send | Cancel | Wake
"""A `Call` is to be run, and the outcome handed to `Protocol.finish` or `Protocol.fail`."""

Handler = Callable[[Request, dict[str, Any], Origin], tuple[Decision, ...]]

_decode_request = msgspec.json.Decoder(Request).decode
_decode_response = msgspec.json.Decoder(Response).decode
_encode_as_deep_as_it_is = msgspec.json.Encoder().encode  # since it goes to nobody else


class Protocol:
    """The conversation with one client.

    *host* is what running calls turn to: the shell, which calls back here and sends what comes of it.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        identity: lifecycle.Identity,
        *,
        host: Host,
        coerce: bool = False,
        mask_errors: bool = False,
        max_result_bytes: int = DEFAULT_MAX_RESULT_BYTES,
        max_pending_bytes: int = DEFAULT_MAX_PENDING_BYTES,
        max_pending_calls: int = DEFAULT_MAX_PENDING_CALLS,
        max_batch_elements: int = DEFAULT_MAX_BATCH_ELEMENTS,
        max_questions: int = DEFAULT_MAX_QUESTIONS,
    ) -> None:
        self._catalogue = catalogue
        self._tools = catalogue.by_name
        self._identity = identity
        self._host = host
        self._ledger = Ledger(max_pending_calls, max_pending_bytes, max_questions)
        self._coerce = coerce
        self._mask_errors = mask_errors
        self._max_result_bytes = max_result_bytes
        self.max_batch_elements = max_batch_elements
        self._eras = lifecycle.Eras()
        self._pages: dict[tuple[str | None, bool], bytes] = {}
        self._all_handlers: dict[str, Handler] = {
            "tools/call": self._call_tool,
            "tools/list": self._list_tools,
            "ping": self._ping,
            "subscriptions/listen": self._listen,
            "initialize": self._initialize,
            "server/discover": self._discover,
            "notifications/cancelled": self._cancelled,
            "$/cancelRequest": self._cancel_request,
            "notifications/initialized": self._notified,
        }
        self._handlers = self._all_handlers
        # Those whose answers take no more than a refusal would, or that end something, are served all the same.
        served = ("ping", "notifications/cancelled", "$/cancelRequest", "notifications/initialized")
        self._refusing_handlers = {
            method: handler if method in served else self._refuse for method, handler in self._all_handlers.items()
        }

    # In

    def receive(self, frame: Frame) -> tuple[Decision, ...]:
        """Return what to do about one frame. Never raises, whatever the frame holds."""
        if type(frame) is not bytes:
            return self._receive_strictly(frame)
        try:
            request = _decode_request(frame)
        except (ValueError, RecursionError):
            return self._receive_strictly(frame)
        try:
            return self.decide(request, len(frame), None)
        except RequestError as error:
            return self.answer(request.id, error, None)

    def decide(self, request: Request, size: int, batch: Batch | None) -> tuple[Decision, ...]:
        """Return what to do about one request of *size* bytes, or notification, of a *batch* or alone.

        Raises:
            RequestError: if the request cannot be served.
        """
        method = request.method
        handler = self._handlers.get(method)
        if handler is None:
            raise self.no_method(method)
        params = request.params
        if params is None:
            params = {}
        try:
            modern = ("_meta" in params or self._eras.insists) and self._eras.is_modern(method, params)
            return handler(request, params, Origin(size, batch, modern))
        except RequestError:
            raise
        except Exception as bug:  # the outer edge of the thread that reads, which must go on
            log.traceback(f"{method[:200]} failed; please report this", bug)
            raise RequestError(INTERNAL_ERROR, "Internal error") from bug

    def refuse_requests(self, refuse: bool) -> None:
        """Refuse requests from now on, or serve them again: the client does not read what it is answered."""
        self._handlers = self._refusing_handlers if refuse else self._all_handlers

    def new_batch(self, members: int) -> Batch:
        """Return what collects the answers of a batch of *members* requests and notifications."""
        return Batch(members, self._ledger.hold)

    def no_method(self, method: str) -> RequestError:
        """Return what a request for a *method* that does not exist is told."""
        is_tool = method in self._tools  # in JSON-RPC without MCP, a function would be a method
        hint = f'; it is a tool: the method is tools/call, with params {{"name": "{method}"}}' if is_tool else ""
        return RequestError(METHOD_NOT_FOUND, f"Method not found: {method[:200]}{hint}")

    def knows(self, method: str) -> bool:
        """Return whether there is such a method."""
        return method in self._handlers

    def answer(
        self,
        id: Id | UnsetType | None,
        outcome: bytes | RequestError,
        batch: Batch | None,
    ) -> tuple[Decision, ...]:
        """Return the decision to answer at once, with a result that is JSON already or an error.

        An unset *id* is that of a notification, which is not answered; `None` one that could not be read.
        """
        if id is UNSET:
            return _send(batch, None)
        if isinstance(outcome, RequestError):
            return _send(batch, messages.error(id, outcome.code, outcome.message, outcome.data))
        assert id is not None
        return _send(batch, messages.response_of_json(id, outcome))

    def answered(self, response: Response) -> tuple[Decision, ...]:
        """Return what to do about a response: a tool may wait for it. Responses are never answered."""
        asked = self._ledger.answered(response)
        return () if asked is None else (Wake(asked, response.reply()),)

    def _receive_strictly(self, frame: Frame) -> tuple[Decision, ...]:
        try:
            response = _decode_response(frame) if isinstance(frame, bytes) else None
        except (ValueError, RecursionError):
            response = None
        if response is not None and response.is_one():
            return self.answered(response)
        try:
            from . import slow_path as strict

            return strict.receive(frame, self)
        except Exception as bug:  # the outer edge of the thread that reads, which must go on
            log.traceback("a message could not be judged; please report this", bug)
            return self.answer(None, RequestError(INTERNAL_ERROR, "Internal error"), None)

    # Methods

    def _call_tool(self, request: Request, params: dict[str, Any], origin: Origin) -> tuple[Decision, ...]:
        name = params.get("name")
        if type(name) is not str:
            raise RequestError(INVALID_PARAMS, "params.name must be a string: the name of the tool to call")
        tool = self._tools.get(name)
        if tool is None:
            raise self._catalogue.unknown(name)
        arguments = params.get("arguments")
        if arguments is None:
            arguments = {}
        elif type(arguments) is not dict and not (self._coerce and type(arguments) is str):
            raise RequestError(INVALID_PARAMS, "params.arguments must be an object of the tool's arguments")
        id = None if request.id is UNSET else request.id
        call = Call(id, tool, arguments, origin, self._eras.capabilities, self._coerce, self._host)
        if "_meta" in params:
            call.token = _progress_token(params["_meta"])
            if origin.modern:
                call.capabilities = params["_meta"][META_CLIENT_CAPABILITIES]
                call.sent = _encode_as_deep_as_it_is(arguments) if can_ask(call.capabilities) else b""
                if "requestState" in params:
                    return self._resume(call, params)
        self._ledger.begin(call, id, origin)
        return (call,)

    def _resume(self, again: Call, params: dict[str, Any]) -> tuple[Decision, ...]:
        """A modern client calls again with the user's answer: the call that waits for it goes on under the new id."""
        key, reply = params["requestState"], input_response(params)
        if reply is not None:
            return (Wake(self._ledger.resume(key, again), reply),)
        if not can_ask(again.capabilities):
            raise RequestError(INVALID_PARAMS, "params.inputResponses has no answer, and this client cannot be asked")
        # Without an answer to what was asked, it is asked again.
        id = UNSET if again.id is None else again.id
        result = lifecycle.modern_result(self._identity, self._ledger.repeat(key, again))
        return self.answer(id, encode(result), again.origin.batch)

    def _list_tools(self, request: Request, params: dict[str, Any], origin: Origin) -> tuple[Decision, ...]:
        cursor = params.get("cursor")
        if cursor is not None and type(cursor) is not str:
            raise RequestError(INVALID_PARAMS, "params.cursor must be a string")
        key = cursor, origin.modern
        pages = self._pages  # looked up before the catalogue: what `replace` has changed since is not kept here
        page = pages.get(key)
        if page is None:
            result = self._catalogue.page(cursor)
            if origin.modern:
                result = lifecycle.modern_result(self._identity, {**result, **lifecycle.UNCACHED})
            page = pages[key] = encode(result)
        if origin.batch is not None and origin.batch.size + len(page) > self._max_result_bytes:
            raise RequestError(OVERLOADED, f"The answers of this batch take more than {self._max_result_bytes} bytes")
        return self.answer(request.id, page, origin.batch)

    def _refuse(self, request: Request, params: dict[str, Any], origin: Origin) -> tuple[Decision, ...]:
        raise RequestError(OVERLOADED, _UNREAD)

    def _ping(self, request: Request, params: dict[str, Any], origin: Origin) -> tuple[Decision, ...]:
        if origin.modern:
            raise RequestError(METHOD_NOT_FOUND, "Method not found: ping (removed in 2026-07-28)")
        return self.answer(request.id, b"{}", origin.batch)

    def _initialize(self, request: Request, params: dict[str, Any], origin: Origin) -> tuple[Decision, ...]:
        if not origin.modern:
            self._eras.greet()
        result = lifecycle.initialize(self._identity, params, modern=origin.modern)
        self._eras.greeted(params, result)
        return self.answer(request.id, encode(result), origin.batch)

    def _discover(self, request: Request, params: dict[str, Any], origin: Origin) -> tuple[Decision, ...]:
        result = lifecycle.modern_result(self._identity, lifecycle.discover(self._identity))
        return self.answer(request.id, encode(result), origin.batch)

    def _listen(self, request: Request, params: dict[str, Any], origin: Origin) -> tuple[Decision, ...]:
        if not origin.modern:
            raise RequestError(METHOD_NOT_FOUND, "Method not found: subscriptions/listen (new in 2026-07-28)")
        if origin.batch is not None or request.id is UNSET:
            raise RequestError(INVALID_REQUEST, "subscriptions/listen must be a request of its own, outside of batches")
        return _send(None, self._ledger.listen(request.id, params))

    def _cancelled(self, request: Request, params: dict[str, Any], origin: Origin) -> tuple[Decision, ...]:
        """MCP: the call ends without an answer."""
        noted = self._notified(request, params, origin)
        return (*self._cancel(params.get("requestId"), None), *noted)

    def _cancel_request(self, request: Request, params: dict[str, Any], origin: Origin) -> tuple[Decision, ...]:
        """LSP: the call is answered with an error that says it was cancelled."""
        noted = self._notified(request, params, origin)
        return (*self._cancel(params.get("id"), RequestError(REQUEST_CANCELLED, "Request cancelled")), *noted)

    def _cancel(self, id: object, error: RequestError | None) -> tuple[Decision, ...]:
        if not (type(id) is str or type(id) is int):
            return ()
        if self._ledger.stop_listening(id):
            return () if error is None else self.answer(id, error, None)
        call = self._ledger.get(id)
        if call is None or not self._ledger.end(call, given_up=True):
            return ()
        if error is None:
            return (Cancel(call), *_send(call.origin.batch, None))
        return (Cancel(call), *self.answer(call.id, error, call.origin.batch))

    def _notified(self, request: Request, params: dict[str, Any], origin: Origin) -> tuple[Decision, ...]:
        if request.id is not UNSET:
            raise RequestError(METHOD_NOT_FOUND, f"{request.method} is a notification: send it without an id")
        return _send(origin.batch, None)

    # Out

    def finish(self, call: Call, result: dict[str, Any]) -> bytes | None:
        """Return what answers *call*, whose tool gave *result*; `None` if nothing is to be sent (any more)."""
        return self._deliver(call, result) if self._ledger.end(call) else None

    def fail(self, call: Call, error: BaseException) -> bytes | None:
        """As `finish`, for a tool that raised. The traceback of whatever has no text for the caller goes to stderr."""
        if not self._ledger.end(call):
            return None
        if self._mask_errors and isinstance(error, ArgumentsError) and error.private:
            log.traceback(f"{call.tool.name} refused its arguments", error.__cause__ or error, id=call.id)
        elif not isinstance(error, ToolError):
            log.traceback(f"{call.tool.name} failed", error, id=call.id)
        return self._deliver(call, failure(error, mask=self._mask_errors, tool=call.tool.name))

    def refuse(self, call: Call, error: RequestError) -> bytes | None:
        """As `fail`, for a call that cannot be run: an error answer instead of a result."""
        if not self._ledger.end(call):
            return None
        message = None if call.id is None else messages.error(call.id, error.code, error.message)
        batch = call.origin.batch
        return message if batch is None else batch.end(message)

    def let_go(self, call: Call) -> None:
        """Count *call*, which has ended, no more: its tool has returned, or will never be run."""
        self._ledger.let_go(call)

    def excuse(self, call: Call) -> bytes | None:
        """Return what answers *call*, which has ended, if nothing better could be made."""
        message = None if call.id is None else messages.error(call.id, INTERNAL_ERROR, "Internal error")
        batch = call.origin.batch
        return message if batch is None else batch.end(message)

    def expire(self, call: Call, seconds: float) -> bytes | None:
        """As `fail`, for a tool that has taken longer than *seconds*."""
        if not self._ledger.end(call, given_up=True):
            return None
        late = ToolError(f"{call.tool.name} did not finish within {seconds:g} seconds.")
        return self._deliver(call, failure(late, mask=self._mask_errors, tool=call.tool.name))

    def progress(self, call: Call, done: float, total: float | None, message: str | None) -> bytes:
        """Return the notification that tells the client how far *call* is.

        MCP requires each value to exceed the one before; one that does not is raised by as little as possible, so
        that its message still arrives.
        """
        if call.last_progress is not None and done <= call.last_progress:
            done = _just_above(call.last_progress)
        call.last_progress = done
        params: dict[str, Any] = {"progressToken": call.token, "progress": done}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        return messages.notification("notifications/progress", params)

    def ask(self, asked: Asked) -> bytes | None:
        """Return what puts a tool's question to the client. `None`: it answers a batch that still waits for others.

        Raises:
            CannotAsk: if the client has no way to ask.
            Cancelled: if the call has ended.
            RuntimeError: if the same call is asking already.
        """
        call = asked.call
        check_can_ask(call.capabilities)
        if call.id is None:
            raise CannotAsk("This tool needs to ask the user, and a notification has no answer that could.")
        if not call.origin.modern:
            return self._ledger.ask(asked, self._eras.version)
        id, batch = call.id, call.origin.batch
        message = messages.response(id, lifecycle.modern_result(self._identity, self._ledger.park(asked)))
        return message if batch is None else batch.end(message)

    def resume(self, asked: Asked) -> bytes | None:
        """Take note that the tool goes on; return what tells a client to which the question is still open.

        Nobody waits for a modern client's call any more if its tool goes on without an answer.
        """
        call = asked.call
        call.asked = None
        if not self._ledger.close(asked):
            return None
        if call.origin.modern:
            # It has stopped waiting by itself, and the request that led to it has been answered: by the question.
            self._ledger.end(call, given_up=True)
            return None
        return messages.notification("notifications/cancelled", {"requestId": asked.key})

    def replace(self, catalogue: Catalogue) -> list[bytes]:
        """Serve other tools from now on; return what tells the client if their list has changed.

        Calls under way finish with the tools they were begun with.
        """
        before = self._catalogue
        self._catalogue, self._tools, self._pages = catalogue, catalogue.by_name, {}
        if catalogue.describe() == before.describe():
            return []
        news = self._ledger.news()
        if self._eras.version is not None:
            news.append(messages.notification("notifications/tools/list_changed"))
        return news

    def end_subscriptions(self) -> list[bytes]:
        """Return the answers owed to clients that listen for news: there will be none."""
        ids = self._ledger.stop_all_listening()
        return [messages.response(id, lifecycle.end_of_subscription(self._identity, id)) for id in ids]

    def hang_up(self) -> list[Asked]:
        """Return the questions nobody will answer any more, since the client has gone; end the calls parked for it."""
        open_questions = self._ledger.close_all()
        for asked in open_questions:
            if asked.call.origin.modern:
                self._ledger.end(asked.call, given_up=True)
        return open_questions

    def give_up(self, asked: Asked) -> bool:
        """End the call that waits for *asked* if nobody has answered by now; return whether that was so."""
        if not self._ledger.close(asked):
            return False
        self._ledger.end(asked.call, given_up=True)
        return asked.call.given_up

    def abandon_all(self) -> list[Call]:
        """End every call that is under way, without answers, and return them: the server is leaving."""
        return [call for call in self._ledger.calls() if self._ledger.end(call, given_up=True)]

    def is_idle(self) -> bool:
        """Whether no call is under way."""
        return self._ledger.is_idle()

    def notify_when_idle(self, callback: Callable[[], None]) -> None:
        """Call *callback* as soon as no call is under way, which may be now, and may be more than once."""
        self._ledger.notify_when_idle(callback)

    def _deliver(self, call: Call, result: dict[str, Any], instead: bool = False) -> bytes | None:
        batch = call.origin.batch
        if call.id is None:
            return None if batch is None else batch.end(None)
        if call.origin.modern:
            result = lifecycle.modern_result(self._identity, result)
        replaced: list[str] = []
        try:
            message = messages.response(call.id, result, replaced)
        except EncodingError as error:
            return self._deliver_instead(call, f"{call.tool.name} returned what JSON cannot carry: {error}")
        if replaced:
            log.warning(
                f"{call.tool.name} returned half a character (a lone surrogate), sent as U+FFFD: {replaced[-1]}",
                id=call.id,
            )
        size = len(message) if batch is None else len(message) + batch.size
        if size > self._max_result_bytes and not instead:
            what = f"The result of {call.tool.name} takes" if size == len(message) else "The answers of this batch take"
            return self._deliver_instead(
                call, f"{what} {size} bytes, and this server sends at most {self._max_result_bytes}. Ask for less."
            )
        return message if batch is None else batch.end(message)

    def _deliver_instead(self, call: Call, problem: str) -> bytes | None:
        log.error(problem, id=call.id)
        return self._deliver(call, failure(ToolError(problem), mask=False, tool=call.tool.name), instead=True)


_UNREAD = "Overloaded: too much of what was answered has not been read; read it, and then call again"


def _send(batch: Batch | None, message: bytes | None) -> tuple[Decision, ...]:
    """The decision to send *message* or, for a member of a batch, the array that it completes."""
    if batch is not None:
        message = batch.end(message)
    return () if message is None else (Send(message),)


def _just_above(number: float) -> float:
    try:
        above = math.nextafter(number, math.inf)
    except OverflowError:  # an integer that no float comes near to
        above = math.inf
    return above if math.isfinite(above) else int(number) + 1


def _progress_token(meta: object) -> Id | None:
    token = meta.get("progressToken") if type(meta) is dict else None
    return token if type(token) is str or type(token) is int else None
