"""Encode requests to a server and decode its messages into events. No I/O, no threads, no
waiting.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import DecodingError, EncodingError, decode, encode, encode_plain
from toolwire_schemas.wire.messages import Fault, Frame
from toolwire_schemas.wire.tasks import TASKS_EXTENSION

from ..errors import ECHO, OPENINGS, BrokenRules, RequestFailed
from .events import (
    AutomaticReply,
    ElicitationRequest,
    ElicitationWithdrawn,
    Event,
    Failure,
    LinkCompleted,
    ListChanged,
    LogEntry,
    Progress,
    ResourceChanged,
    Result,
    SubscriptionConfirmed,
    TaskNotified,
)
from .loose_members import as_integer, as_number, as_object, as_text

if TYPE_CHECKING:
    from collections.abc import Mapping

LOG_LEVEL = "debug"
"""The level to request: everything, since the reader of the log can filter."""

LISTS = ("tools", "resources", "prompts")
"""The capabilities of servers that have lists."""
HOST_METHODS = ("elicitation/create", "sampling/createMessage", "roots/list")
"""The requests of servers that a client takes if it has declared their capability."""

_PLAIN_REQUESTS = frozenset(
    (
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "subscriptions/listen",
        "tools/list",
    )
)
"""Requests without values of the caller: a client that only lists does not import orjson, which
takes as long as the rest of it.
"""

LINK_COMPLETED = "notifications/elicitation/complete"

_CHANGES = {f"notifications/{what}/list_changed": what for what in LISTS}

_NOISE_BYTES = 2000
"""The length at which a line that is not a message is cut."""

# Where servers put the id of a response that cannot be decoded: first or last.
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*"?(\d{1,18})"?\s*,')
_ID_LAST = re.compile(rb',\s*"id"\s*:\s*"?(\d{1,18})"?\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


class ClientProtocol:
    """The client's side of one conversation with one server.

    `version` is the MCP revision spoken, `None` until the handshake; `probe` is the id of
    `discover`. *can_ask* declares elicitation and *takes_tasks* the extension for tasks, in
    addition to *capabilities*. The ids of requests count from *first_id*.
    """

    def __init__(
        self,
        name: str,
        client_version: str,
        *,
        can_ask: bool = False,
        takes_tasks: bool = False,
        capabilities: Mapping[str, Any] | None = None,
        first_id: int = 1,
    ) -> None:
        self.version: str | None = None
        self.probe = 0
        self._info = {"name": name, "version": client_version}
        self._modern_meta: dict[str, Any] = {
            messages.META_VERSION: messages.MODERN_VERSIONS[-1],
            messages.META_CLIENT_INFO: self._info,
        }
        self._other_capabilities = capabilities or {}
        self._takes_tasks = takes_tasks
        self.declare(can_ask=can_ask)
        self._ids = itertools.count(
            first_id
        )  # its `next` is atomic, so threads may share this object

    @property
    def is_modern(self) -> bool:
        return self.version in messages.MODERN_VERSIONS

    def declare(self, *, can_ask: bool) -> None:
        """Declare elicitation, or withdraw it: from the next `initialize`, or modern request,
        on.
        """
        self.can_ask = can_ask
        self._capabilities: dict[str, Any] = {}
        if can_ask:
            self._capabilities["elicitation"] = {"form": {}}
        self._capabilities |= self._other_capabilities
        declared = self._capabilities
        if self._takes_tasks:  # only the modern form is an extension
            declared = {**declared, "extensions": {TASKS_EXTENSION: {}}}
        self._modern_meta = {**self._modern_meta, messages.META_CLIENT_CAPABILITIES: declared}

    def set_log_level(self, level: str) -> None:
        """Request the server's log messages of *level* with each request of the modern revision
        from now on.
        """
        self._modern_meta = {**self._modern_meta, messages.META_LOG_LEVEL: level}

    def request(
        self, method: str, params: dict[str, Any] | None, *, progress: bool = False
    ) -> tuple[int, bytes]:
        """Return the id and the bytes of a new request. *progress* requests progress
        notifications.
        """
        number = next(self._ids)
        meta: dict[str, Any] = {}
        if self.is_modern:
            meta = {**self._modern_meta}
        if progress:
            meta["progressToken"] = number
        if meta:
            members = params or {}
            given = members.get("_meta") or {}
            params = {**members, "_meta": {**meta, **given}}
        if method in _PLAIN_REQUESTS:
            return number, _write_plain(number, method, params)
        return number, messages.encode_request(number, method, params)

    def discover(self) -> tuple[int, bytes]:
        self.probe = number = next(self._ids)
        params = {"_meta": self._modern_meta}
        return number, _write_plain(number, "server/discover", params)

    def initialize(self) -> tuple[int, bytes]:
        number = next(self._ids)
        params = {
            "protocolVersion": messages.LATEST_LEGACY,
            "capabilities": self._capabilities,
            "clientInfo": self._info,
        }
        return number, _write_plain(number, "initialize", params)

    def notify_initialized(self) -> bytes:
        return messages.encode_notification("notifications/initialized")

    def listen(self) -> tuple[int, bytes]:
        wanted = {f"{what}ListChanged": True for what in LISTS}
        return self.request("subscriptions/listen", {"notifications": wanted})

    def listen_to_task(self, task_id: str) -> tuple[int, bytes]:
        return self.request("subscriptions/listen", {"notifications": {"taskIds": [task_id]}})

    def cancel(self, number: int, reason: str) -> bytes:
        params: dict[str, Any] = {"requestId": number, "reason": reason}
        if self.is_modern:
            params["_meta"] = self._modern_meta
        return messages.encode_notification("notifications/cancelled", params)

    def receive(self, frame: Frame) -> list[Event]:
        if isinstance(frame, Fault):
            return [_make_too_long(frame)]
        try:
            message = decode(frame)
        except DecodingError as error:
            return [_make_undecodable(frame, error)]
        if isinstance(message, dict):
            event = self._make_event(message)
            return [_make_noise_entry(frame) if event is None else event]
        members = message if isinstance(message, list) else []  # revision 2025-03-26 has batches
        events = [self._make_event(member) for member in members]
        return [event for event in events if event is not None] or [_make_noise_entry(frame)]

    def _make_event(self, message: Any) -> Event | None:
        if not isinstance(message, dict):
            return None
        method = message.get("method")
        if not isinstance(method, str):
            return _read_response(message)
        if "id" in message:
            return self._receive_request(message)
        return _read_notification(method, message.get("params"))

    def _receive_request(self, message: dict[str, Any]) -> Event | None:
        identity, method = message["id"], message["method"]
        if not isinstance(identity, str | int) or isinstance(identity, bool):
            return None
        if method == "ping":
            return AutomaticReply(messages.encode_response(identity, {}))
        number = _read_id(identity)
        if method in OPENINGS and number is not None:
            return Failure(number, BrokenRules(f"the server {ECHO}"))
        if method in HOST_METHODS and method.partition("/")[0] in self._capabilities:
            return ElicitationRequest(identity, message.get("params"), method)
        problem = f"this client has no method {method!r}"
        return AutomaticReply(messages.encode_error(identity, messages.METHOD_NOT_FOUND, problem))


def _read_response(message: dict[str, Any]) -> Event | None:
    """Return the event of a message without a method; `None` if it is no response."""
    number, error = _read_id(message.get("id")), message.get("error")
    if number is not None and error is not None:
        return _make_failure(number, error)
    if number is not None and "result" in message:
        return Result(number, message["result"])
    if "jsonrpc" not in message:  # a log line may be JSON too
        return None
    if number is not None:
        problem = "the server sent a response with neither a result nor an error"
        return Failure(number, BrokenRules(problem))
    if error is not None and message.get("id") is None:
        return _make_failure(None, error)
    return None


def _read_id(identity: Any) -> int | None:
    """The id as an integer: some servers return it as a string or as a float."""
    if isinstance(identity, str) and identity.isdecimal() and len(identity) < 20:
        return int(identity)
    if isinstance(identity, float) and identity.is_integer():
        return int(identity)
    return as_integer(identity)


def _make_failure(number: int | None, error: Any) -> Failure:
    body = as_object(error)
    code = as_integer(body.get("code")) or 0
    message = body.get("message")
    if not isinstance(message, str):
        message = "the server answered with an error without a message"
    return Failure(number, RequestFailed(code, message, body.get("data")))


def _read_notification(method: str, params: Any) -> Event:
    members = as_object(params)
    if method in _CHANGES:
        return ListChanged(_CHANGES[method])
    if method == LINK_COMPLETED:
        return LinkCompleted(params)
    match method:
        case "notifications/progress":
            return _read_progress(members) or log_ignored(method, params)
        case "notifications/cancelled" if isinstance(
            identity := members.get("requestId"), str | int
        ):
            return ElicitationWithdrawn(identity)
        case "notifications/resources/updated" if isinstance(uri := members.get("uri"), str):
            return ResourceChanged(uri)
        case "notifications/subscriptions/acknowledged":
            return _read_confirmation(members)
        case "notifications/tasks" | "notifications/tasks/status" if isinstance(
            identity := members.get("taskId"), str
        ):
            return TaskNotified(identity)
        case "notifications/message":
            return _read_log_message(members)
    return log_ignored(method, params)


def _read_confirmation(members: dict[str, Any]) -> Event:
    granted = as_object(members.get("notifications"))
    if "taskIds" in granted:  # one that says nothing of tools
        return log_ignored("notifications/subscriptions/acknowledged", members)
    return SubscriptionConfirmed(granted.get("toolsListChanged") is True)


def _read_log_message(members: dict[str, Any]) -> LogEntry:
    level = as_text(members.get("level"))
    if level is None:
        level = "info"
    data = members.get("data")
    text = as_text(data)
    if text is None:
        text = _decode_json(data)
    return LogEntry(level, "server", text, data, as_text(members.get("logger")))


def log_ignored(method: str, params: Any) -> LogEntry:
    """Return the log entry of a message without a receiver."""
    return LogEntry("debug", "client", f"ignored: {method}", params)


def _write_plain(number: int, method: str, params: dict[str, Any] | None) -> bytes:
    """Return a request without values of the caller. Imports no encoder for it."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": method}
    if params is not None:
        message["params"] = params
    return encode_plain(message)


def _decode_json(data: Any) -> str:
    try:
        return encode(data).decode()
    except EncodingError as error:  # nested too deeply, maybe even for `repr`
        return f"[not shown: {error}]"


def _read_progress(params: dict[str, Any]) -> Progress | None:
    number = _read_id(params.get("progressToken"))
    done = as_number(params.get("progress"))
    if number is None or done is None:
        return None
    return Progress(number, done, as_number(params.get("total")), as_text(params.get("message")))


def _make_noise_entry(frame: bytes) -> LogEntry:
    return LogEntry("warning", "output", frame[:_NOISE_BYTES].decode(errors="replace").rstrip())


def _make_undecodable(frame: bytes, error: DecodingError) -> Event:
    found = _ID_FIRST.match(frame) or _ID_LAST.search(frame[-_NOISE_BYTES:])
    if found is None or b'"jsonrpc"' not in frame:
        return _make_noise_entry(frame)
    return Failure(
        int(found[1]), BrokenRules(f"the server sent a response that cannot be read: {error}")
    )


def _make_too_long(fault: Fault) -> Event:
    found = _ID_FIRST.match(fault.head) or _ID_LAST.search(fault.tail)
    if found is None and not fault.head.lstrip().startswith(b"{"):
        return _make_noise_entry(fault.head)
    error = BrokenRules(f"the server sent {fault.message}")
    if found is None:
        return Failure(None, error)
    return Failure(int(found[1]), error)
