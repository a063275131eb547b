"""A recording as exchanges: each request of the client with what the server sent for it.

Strategy. Both eras of MCP are read into one form. A question to the host is a step of the exchange
during which it came: a request of a legacy server, or a result of a modern one, whose call the
client has repeated with the answers. So a replay can ask a host of either era.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client.protocol.client_protocol import HOST_METHODS
from toolwire_client.redaction.hidden import stands_for
from toolwire_schemas.json_schema.error_text import format_value
from toolwire_schemas.wire import messages

from . import get_object
from .recording import RecordedLine

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolwire_schemas.wire.messages import Id

    Object = dict[str, Any]

HANDSHAKES = ("initialize", "server/discover", "ping")
"""Methods that are answered whatever their parameters: clients differ in them."""

_OF_ROUNDS = ("inputResponses", "requestState")
"""The parameters that a modern client adds when it repeats a call with answers."""


class Questions(msgspec.Struct, frozen=True):
    """Requests to the host, by the keys that the server gave them."""

    requests: dict[str, Object]


class Exchange(msgspec.Struct, eq=False):
    """A request in *line* of a recording, and what the server sent for it, until the line *end*
    with its response.
    """

    line: int
    request: Object
    steps: list[Object | Questions] = msgspec.field(default_factory=list)
    end: float = math.inf

    @property
    def method(self) -> str:
        return str(self.request["method"])

    @property
    def params(self) -> Object:
        members = get_object(self.request, "params")
        return {name: value for name, value in members.items() if name != "_meta"}

    def fits(self, other: Exchange) -> bool:
        """Return whether the request of *other* is the recorded one, apart from secrets."""
        if self.method != other.method:
            return False
        return self.method in HANDSHAKES or stands_for(self.params, other.params)

    def __str__(self) -> str:
        return f"{self.method} with {format_value(self.params)}"


def read_exchanges(entries: Iterable[tuple[int, RecordedLine]]) -> list[Exchange]:
    """Return the exchanges in the *entries* of a recording, which come with their lines."""
    reader = _Reader()
    for line, entry in [*entries, (0, RecordedLine(type="Ended"))]:
        if entry.type in ("Started", "Ended"):
            reader.end(entry.reason or "the recording ends before it")
        batch = entry.message if isinstance(entry.message, list) else [entry.message]
        for message in batch:
            if not isinstance(message, dict):
                continue
            if entry.sender == "client":
                reader.take_from_client(message, line)
            else:
                reader.take_from_server(message, line)
    return reader.found


class _Reader:
    def __init__(self) -> None:
        self.found: list[Exchange] = []
        self._open: dict[Id, Exchange] = {}

    def take_from_client(self, message: Object, line: int) -> None:
        if message.get("method") == "notifications/cancelled":  # its request gets no response
            cancelled = as_id(get_object(message, "params").get("requestId"))
            if cancelled is not None:
                self._open.pop(cancelled, None)
            return
        id = as_id(message.get("id"))
        if id is None or "method" not in message:
            return
        exchange = self._take_next_round(message)
        if exchange is None:
            exchange = Exchange(line, message)
            self.found.append(exchange)
        self._open[id] = exchange

    def take_from_server(self, message: Object, line: int) -> None:
        id = as_id(message.get("id"))
        if "method" not in message:
            owner = None if id is None else self._open.pop(id, None)
            if owner is not None:
                owner.end = line
                owner.steps.append(message)
            return
        owner = self._find_owner(message)
        if owner is None:
            return
        if id is None:
            owner.steps.append(message)
        elif message["method"] in HOST_METHODS:
            owner.steps.append(Questions({"answer": _drop_id(message)}))

    def end(self, reason: str) -> None:
        """Note that nothing open gets a response."""
        error = {
            "code": messages.INTERNAL_ERROR,
            "message": f"The recording has no response: {reason}",
        }
        for exchange in self._open.values():
            if exchange.method != "subscriptions/listen":  # which ends with the server
                exchange.steps.append({"error": error})
        self._open = {}

    def _find_owner(self, message: Object) -> Exchange | None:
        """Return the exchange to which a notification or request of the server belongs."""
        token = get_object(message, "params").get("progressToken")
        if token is not None:
            for exchange in self._open.values():
                if find_progress_token(exchange.request) == token:
                    return exchange
        # Other messages name no request: they are taken for those of the last one.
        return self.found[-1] if self.found else None

    def _take_next_round(self, message: Object) -> Exchange | None:
        """Return the exchange that a modern client continues with this request, if it does."""
        params = get_object(message, "params")
        if not any(name in params for name in _OF_ROUNDS):
            return None
        first = Exchange(0, _drop_rounds(message))
        for exchange in reversed(self.found):
            asked = get_object(exchange.steps[-1], "result") if exchange.steps else {}
            if asked.get("resultType") != "input_required" or not exchange.fits(first):
                continue
            if not stands_for(asked.get("requestState"), params.get("requestState")):
                continue
            del exchange.steps[-1]
            requests = get_object(asked, "inputRequests")
            exchange.steps.append(Questions(_read_requests(requests)))
            exchange.end = math.inf
            return exchange
        return None


def _read_requests(requests: Object) -> dict[str, Object]:
    found = {}
    for name, asked in requests.items():
        if isinstance(asked, dict) and isinstance(asked.get("method"), str):
            found[name] = asked
    return found


def _drop_rounds(message: Object) -> Object:
    params = get_object(message, "params")
    rest = {name: value for name, value in params.items() if name not in _OF_ROUNDS}
    return {**message, "params": rest}


def _drop_id(message: Object) -> Object:
    return {name: value for name, value in message.items() if name not in ("id", "jsonrpc")}


def find_progress_token(request: Object) -> Any:
    """Return the progress token of *request*; `None` if it wants no progress."""
    return get_object(get_object(request, "params"), "_meta").get("progressToken")


def as_id(value: Any) -> Id | None:
    """Return *value* if it can be the id of a request."""
    return value if type(value) is str or type(value) is int else None
