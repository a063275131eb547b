"""Decides about each message, in the order of arrival.

Theory of operation. `receive` turns one frame into decisions (`call.py`): send this message, run
this call, stop that one, pass this reply on. It neither reads, writes, blocks nor runs a tool.

A table has a route for each method: a function that takes the request, its params and its origin,
and returns decisions. A single well-formed request takes the fast path in this file: a dict lookup.
Everything else (batches, responses, faulty messages) takes `slow_path.py`, which ends in the same
routes. Whatever in this room finds a fault of the client raises `RequestError`, and `receive`
answers with it.

A route that cannot answer at once begins a call: of a tool, or of a handler that waits until
mounted servers have their lists (`_wait`). `InFlight` holds the calls and ends each once.

`receive` belongs to one thread; the other methods may be called from any.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, UnsetType
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import encode_plain
from toolwire_schemas.wire.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    META_CLIENT_CAPABILITIES,
    META_LOG_LEVEL,
    META_VERSION,
    METHOD_NOT_FOUND,
    OVERLOADED,
    REQUEST_CANCELLED,
)

from .. import log
from ..errors import RequestError
from . import lifecycle
from .call import Call, Cancel, Origin, ProgressReport, Request, Send
from .catalog import LIST_METHODS
from .in_flight import InFlight

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from toolwire_schemas.wire.messages import Frame, Id
    from toolwire_tools import Entry, Handler

    from ..settings import Settings
    from .batch import Batch
    from .call import Decision
    from .catalog import Catalog
    from .elicitation import Elicitations, Response
    from .running import CallServices, Polls, Recipient
    from .slow_path import SlowPath
    from .unlisted_tools import Late

    Route = Callable[[Request, dict[str, Any], Origin], tuple[Decision, ...]]

_decode_request = msgspec.json.Decoder(Request).decode
_encode_any_depth = msgspec.json.Encoder().encode  # for our own use; messages have a limit


class ServerProtocol:
    """The protocol state of one client. *host* is the session that runs the calls.

    `in_flight` holds the calls, and turns their outcomes into messages.
    """

    def __init__(
        self,
        catalog: Catalog,
        identity: lifecycle.Identity,
        settings: Settings,
        *,
        host: CallServices,
    ) -> None:
        self.in_flight = InFlight(settings, identity)
        self._max_batch_elements = settings.max_batch_elements
        self._slow_path: SlowPath | None = None
        self._elicitations: Elicitations | None = None
        self._max_elicitations = settings.max_questions
        self.catalog = catalog
        self._tools = catalog.by_name
        self.identity = identity
        self._host = host
        self._strict_arguments = settings.strict_arguments
        self._max_result_bytes = settings.max_result_bytes
        self.eras = lifecycle.Eras()
        self.polls: Polls | None = None
        """Answers repeated requests for the states of tasks, once there are some."""
        self._keeps_results = settings.on_large_result == "resource"
        self._declared: dict[str, Any] = {}
        self.capabilities = catalog.describe_capabilities(self._keeps_results)
        self._pages: dict[tuple[str, str | None, bool], bytes] = {}
        self._routes_by_method: dict[str, Route] = {
            "tools/call": self._call_tool,
            **dict.fromkeys(LIST_METHODS, self._list),
            "resources/read": self._run_other,
            "prompts/get": self._run_other,
            "completion/complete": self._run_other,
            "ping": self._ping,
            "subscriptions/listen": self._subscribe,
            "resources/subscribe": self._subscribe,
            "resources/unsubscribe": self._subscribe,
            **dict.fromkeys(TASK_METHODS, lambda *given: host.get_tasks().serve(*given)),
            "initialize": self._initialize,
            "server/discover": self._discover,
            "logging/setLevel": self._set_log_level,
            "notifications/cancelled": self._cancel,
            "$/cancelRequest": self._cancel,
            "notifications/initialized": self._accept_notification,
        }
        self._routes = self._routes_by_method
        # Served even under overload: their responses are no longer than a refusal, or they end
        # something.
        served = ("ping", "notifications/cancelled", "$/cancelRequest", "notifications/initialized")
        self._refusing_routes = {
            method: route if method in served else self._refuse
            for method, route in self._routes_by_method.items()
        }

    @property
    def methods(self) -> Collection[str]:
        """All methods that exist here."""
        return self._routes_by_method.keys()

    # In

    def receive(self, frame: Frame) -> tuple[Decision, ...]:
        """Return what to do about one frame. Never raises, whatever the frame holds."""
        if type(frame) is not bytes:
            return self._receive_slowly(frame)
        if self.polls is not None and self._routes is self._routes_by_method:
            response = self.polls.respond(frame)
            if response is not None:
                return (Send(response),)
        try:
            request = _decode_request(frame)
        except (ValueError, RecursionError):
            return self._receive_slowly(frame)
        try:
            return self.handle_request(request, len(frame), None)
        except RequestError as error:
            return self.answer(request.id, error, None)

    def handle_request(
        self, request: Request, size: int, batch: Batch | None
    ) -> tuple[Decision, ...]:
        """Return what to do about one request or notification of *size* bytes."""
        method = request.method
        route = self._routes.get(method)
        if route is None:
            return self._call_plain_method(request, size, batch)
        params = request.params
        if params is None:
            params = {}
        try:
            modern = ("_meta" in params or self.eras.requires_version) and self.eras.is_modern(
                method, params
            )
            return route(request, params, Origin(size, batch, modern))
        except RequestError:
            raise
        except Exception as bug:  # the outer edge of the reading thread, which must continue
            log.traceback(f"{method[:200]} failed; please report this", bug)
            raise RequestError(INTERNAL_ERROR, "Internal error") from bug

    def handle_response(self, response: Response) -> tuple[Decision, ...]:
        """Return what to do about a response: a tool may wait for it. Responses are never
        answered.
        """
        return () if self._elicitations is None else self._elicitations.take(response)

    def refuse_requests(self, refuse: bool) -> None:
        """Refuse requests from now on, or serve them again: the client does not read its
        responses.
        """
        self._routes = self._refusing_routes if refuse else self._routes_by_method

    def find_method_error(self, method: str) -> RequestError | None:
        """Return the error for a *method* that does not exist; `None` if it does."""
        if method in self._routes or method in self.catalog.methods:
            return None
        from .lookup import make_method_error

        return make_method_error(method, self._tools)

    def answer(
        self, id: Id | UnsetType | None, outcome: bytes | RequestError, recipient: Recipient | None
    ) -> tuple[Decision, ...]:
        """Return the decision to send a result, as JSON, or an error.

        An unset *id* is that of a notification, which is not answered; `None` one that could not be
        read.
        """
        if id is UNSET:
            return _send(recipient, None)
        if isinstance(outcome, RequestError):
            return _send(
                recipient, messages.encode_error(id, outcome.code, outcome.message, outcome.data)
            )
        assert id is not None
        return _send(recipient, messages.encode_response_of_json(id, outcome))

    def _receive_slowly(self, frame: Frame) -> tuple[Decision, ...]:
        try:
            from .elicitation import read_response

            response = read_response(frame) if isinstance(frame, bytes) else None
            if response is not None:
                return self.handle_response(response)
            return self.get_slow_path().receive(frame)
        except Exception as bug:  # the outer edge of the reading thread, which must continue
            log.traceback("a message could not be handled; please report this", bug)
            return self.answer(None, RequestError(INTERNAL_ERROR, "Internal error"), None)

    def get_slow_path(self) -> SlowPath:
        """Return the slow path of this protocol, which is imported for the first message that needs
        it.
        """
        if self._slow_path is None:
            from .slow_path import SlowPath

            self._slow_path = SlowPath(
                self.handle_request,
                self.handle_response,
                self.answer,
                self.find_method_error,
                lambda method: method in self.catalog.methods,
                self.in_flight.hold,
                self._max_batch_elements,
            )
        return self._slow_path

    # Methods

    def _call_tool(
        self, request: Request, params: dict[str, Any], origin: Origin
    ) -> tuple[Decision, ...]:
        name = params.get("name")
        if type(name) is not str:
            raise RequestError(
                INVALID_PARAMS, "params.name must be a string: the name of the tool to call"
            )
        arguments = params.get("arguments")
        if arguments is None:
            arguments = {}
        elif type(arguments) is not dict and (self._strict_arguments or type(arguments) is not str):
            raise RequestError(
                INVALID_PARAMS, "params.arguments must be an object of the tool's arguments"
            )
        tool = self._tools.get(name)
        if tool is None:
            return self._call_unlisted(request, params, origin, name, arguments)
        # Spelled here as in `_begin`: one function less for every call.
        id = None if request.id is UNSET else request.id
        call = Call(
            id,
            tool.entry,
            tool.handler,
            arguments,
            origin,
            self.eras.capabilities,
            self._strict_arguments,
            self._host,
        )
        if "_meta" in params or "task" in params:
            return self._call_with_meta(call, params)
        self.in_flight.begin(call, id, origin)
        return (call,)

    def _call_plain_method(
        self, request: Request, size: int, batch: Batch | None
    ) -> tuple[Decision, ...]:
        error = self.find_method_error(request.method)
        if error is not None:
            raise error
        if self._routes is self._refusing_routes:
            raise RequestError(OVERLOADED, _UNREAD)
        tool = self.catalog.methods[request.method]
        origin = Origin(size, batch, modern=False)
        return self._begin(request, {}, origin, tool.entry, tool.handler, request.params)

    def _call_unlisted(
        self, request: Request, params: dict[str, Any], origin: Origin, name: str, arguments: Any
    ) -> tuple[Decision, ...]:
        """Call the tool that a call of `call_tool` means, or wait for mounted servers, one of which
        may have the tool called *name*.
        """
        catalog, tool = self.catalog, None
        if catalog.door is not None and name == catalog.door.name:
            meant = catalog.door.open(arguments, catalog)
            if meant is not None:
                return self._call_tool(request, {**params, **meant}, origin)
            tool = catalog.shown[name]  # says what is wrong with the arguments
        elif name in catalog.only_tasks:
            self._host.get_tasks().require(params, origin)
            tool = catalog.only_tasks[name]
        if tool is not None:
            return self._begin(request, params, origin, tool.entry, tool.handler, arguments)
        if catalog.late is not None:
            return self._wait(request, params, origin, catalog.late)
        from .lookup import make_tool_error

        raise make_tool_error(name, catalog.callable)

    def _call_with_meta(self, call: Call, params: dict[str, Any]) -> tuple[Decision, ...]:
        meta: Any = params.get("_meta")
        if type(meta) is dict:
            call.meta = meta
            id_in_log = meta.get(META_CALL_ID)
            if type(id_in_log) is str or type(id_in_log) is int:
                call.id_in_log = id_in_log
            token = meta.get("progressToken")
            if type(token) is str or type(token) is int:
                call.token, call.last_report = token, ProgressReport(time.monotonic())
            if META_LOG_LEVEL in meta:  # in any era: a server sends it to its worker processes
                from .log_messages import find_level

                call.log_level = find_level(meta[META_LOG_LEVEL], META_LOG_LEVEL)
        if call.origin.modern:
            call.capabilities = meta[META_CLIENT_CAPABILITIES]
            # A client that can answer questions repeats the call with the answer, and has to send
            # the same arguments; the tool may have changed its own by then.
            call.sent = _encode_any_depth(call.arguments) if call.capabilities else b""
        if call.origin.modern and "requestState" in params:
            decisions = self.get_elicitations().resume(call, params)
        else:
            call.early_answers = params.get("inputResponses")
            self.in_flight.begin(call, call.id, call.origin)
            decisions = (call,)
        if "extensions" in call.capabilities or "task" in params:
            decisions = (*self._host.get_tasks().begin(call, params), *decisions)
        if call.token is not None:  # after the call is in flight, where the heartbeat looks for it
            self._host.expect_progress()
        return decisions

    def _run_other(
        self, request: Request, params: dict[str, Any], origin: Origin
    ) -> tuple[Decision, ...]:
        """As `_call_tool`, for a resource, a prompt or a completion."""
        from . import lookup

        self._require(lookup.CAPABILITIES[request.method], request.method)
        catalog, kept = self.catalog, self.in_flight.kept
        try:
            tool, arguments = lookup.find(
                request.method, params, catalog, kept, modern=origin.modern
            )
        except RequestError:
            if catalog.late is None:
                raise
            return self._wait(request, params, origin, catalog.late)
        return self._begin(request, params, origin, tool.entry, tool.handler, arguments)

    def _wait(
        self, request: Request, params: dict[str, Any], origin: Origin, late: Late
    ) -> tuple[Decision, ...]:
        """Answer a request when the lists are complete."""
        arguments = {"method": request.method, "params": params}
        return self._begin(request, params, origin, late.entry, late.handler, arguments)

    def _begin(
        self,
        request: Request,
        params: dict[str, Any],
        origin: Origin,
        entry: Entry,
        handler: Handler,
        arguments: Any,
    ) -> tuple[Decision, ...]:
        """Begin a call, which *handler* runs."""
        id = None if request.id is UNSET else request.id
        call = Call(
            id,
            entry,
            handler,
            arguments,
            origin,
            self.eras.capabilities,
            self._strict_arguments,
            self._host,
        )
        if "_meta" in params or "task" in params:
            return self._call_with_meta(call, params)
        self.in_flight.begin(call, id, origin)
        return (call,)

    def _require(self, capability: str, method: str) -> None:
        if capability not in self.capabilities:
            raise RequestError(
                METHOD_NOT_FOUND, f"Method not found: {method}; this server has no {capability}"
            )

    def _list(
        self, request: Request, params: dict[str, Any], origin: Origin
    ) -> tuple[Decision, ...]:
        self._require(request.method.partition("/")[0], request.method)
        cursor = params.get("cursor")
        if cursor is not None and type(cursor) is not str:
            raise RequestError(INVALID_PARAMS, "params.cursor must be a string")
        late = self.catalog.late
        if late is not None and not late.has_listed(request.method, params, self._host):
            return self._wait(request, params, origin, late)
        kind = LIST_METHODS[request.method]
        key = kind, cursor, origin.modern
        # Read before the catalog: a page of a catalog that `replace` has replaced is not kept.
        pages = self._pages
        page = pages.get(key)
        if page is None:
            result = self.catalog.make_page(kind, cursor, is_modern=origin.modern)
            if origin.modern:
                result = lifecycle.complete_modern_result(self.identity, result)
            page = pages[key] = encode_plain(result)
        if (
            origin.recipient is not None
            and origin.recipient.size + len(page) > self._max_result_bytes
        ):
            raise RequestError(
                OVERLOADED,
                f"The responses of this batch take more than {self._max_result_bytes} bytes",
            )
        return self.answer(request.id, page, origin.recipient)

    def _refuse(
        self, request: Request, params: dict[str, Any], origin: Origin
    ) -> tuple[Decision, ...]:
        raise RequestError(OVERLOADED, _UNREAD)

    def _ping(
        self, request: Request, params: dict[str, Any], origin: Origin
    ) -> tuple[Decision, ...]:
        if origin.modern:
            raise RequestError(METHOD_NOT_FOUND, "Method not found: ping (removed in 2026-07-28)")
        return self.answer(request.id, b"{}", origin.recipient)

    def _set_log_level(
        self, request: Request, params: dict[str, Any], origin: Origin
    ) -> tuple[Decision, ...]:
        from .log_messages import set_level

        set_level(self._host, params, modern=origin.modern)
        return self.answer(request.id, b"{}", origin.recipient)

    def _initialize(
        self, request: Request, params: dict[str, Any], origin: Origin
    ) -> tuple[Decision, ...]:
        if not origin.modern:
            self.eras.record_initialize()
            self.polls = None  # since the revision may change
        result = lifecycle.initialize(
            self.identity, self.capabilities, params, modern=origin.modern
        )
        self.eras.record_agreement(params, result)
        return self.answer(request.id, encode_plain(result), origin.recipient)

    def _discover(
        self, request: Request, params: dict[str, Any], origin: Origin
    ) -> tuple[Decision, ...]:
        if not origin.modern:  # a request of 2026-07-28 only
            raise RequestError(
                INVALID_PARAMS, f"params._meta must name the protocol version as {META_VERSION}"
            )
        result = lifecycle.complete_modern_result(
            self.identity, lifecycle.discover(self.identity, self.capabilities)
        )
        return self.answer(request.id, encode_plain(result), origin.recipient)

    def _subscribe(
        self, request: Request, params: dict[str, Any], origin: Origin
    ) -> tuple[Decision, ...]:
        from .subscriptions import serve

        return serve(self, request, params, origin, self._host)

    def _cancel(
        self, request: Request, params: dict[str, Any], origin: Origin
    ) -> tuple[Decision, ...]:
        """End a call: in MCP without a response, in LSP with an error which says that it was
        cancelled.
        """
        noted = self._accept_notification(request, params, origin)
        is_lsp = request.method == "$/cancelRequest"
        error = RequestError(REQUEST_CANCELLED, "Request cancelled") if is_lsp else None
        id = params.get("id" if is_lsp else "requestId")
        if not (type(id) is str or type(id) is int):
            return noted
        if self.in_flight.subscriptions.pop(id, None) is not None:
            return noted if error is None else (*self.answer(id, error, None), *noted)
        call = self.in_flight.get(id)
        if call is None or not self.in_flight.end(call, given_up=True):
            return noted
        recipient = call.origin.recipient
        ended = _send(recipient, None) if error is None else self.answer(call.id, error, recipient)
        return (Cancel(call), *ended, *noted)

    def _accept_notification(
        self, request: Request, params: dict[str, Any], origin: Origin
    ) -> tuple[Decision, ...]:
        if request.id is not UNSET:
            raise RequestError(
                METHOD_NOT_FOUND, f"{request.method} is a notification: send it without an id"
            )
        return _send(origin.recipient, None)

    # Out

    def get_elicitations(self) -> Elicitations:
        """Return the elicitations of this protocol, whose module is imported for the first of
        them.
        """
        if self._elicitations is None:
            from .elicitation import Elicitations

            with self.in_flight.lock:  # several tools may ask at once
                self._elicitations = self._elicitations or Elicitations(
                    self.in_flight, self, self._max_elicitations
                )
        return self._elicitations

    def replace(self, catalog: Catalog, *, notifies: bool = True) -> list[bytes]:
        """Serve other things from now on; return the notifications of the lists that have changed,
        if it *notifies* of them.

        Calls in flight finish with the tools they were started with.
        """
        before = self.catalog
        self.catalog, self._tools, self._pages = catalog, catalog.by_name, {}
        self._update_capabilities()
        if not notifies:
            return []
        from .subscriptions import encode_changes, find_changes

        changed = find_changes(before, catalog, self._host)
        return encode_changes(self.in_flight, changed, is_legacy=self.eras.version is not None)

    def declare(self, capabilities: dict[str, Any]) -> None:
        """Declare *capabilities* from now on, whatever there is."""
        self._declared = {**self._declared, **capabilities}
        self._update_capabilities()

    def _update_capabilities(self) -> None:
        own = self.catalog.describe_capabilities(self._keeps_results)
        self.capabilities = {**self._declared, **own}

    def end_subscriptions(self) -> list[bytes]:
        """End all subscriptions; return their responses."""
        if not self.in_flight.subscriptions:
            return []
        from .subscriptions import end_all

        return end_all(self.in_flight, self.identity)


TASK_METHODS = ("tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list")

META_CALL_ID = "toolwire/callId"  # the host's id of a call, for the log of a worker process

_UNREAD = (
    "Overloaded: too many responses have not been read; read them, then send the request again"
)


def _send(recipient: Recipient | None, message: bytes | None) -> tuple[Decision, ...]:
    """Return the decision to send *message* or, for a member of a batch, the array that it
    completes.
    """
    if recipient is not None:
        message = recipient.end(message)
    return () if message is None else (Send(message),)
