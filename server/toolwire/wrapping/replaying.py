"""Answers requests from a recording. No I/O.

Strategy. A recording is read as exchanges: each request with what the server sent for it. A request
is answered by the exchange with the same method and parameters, apart from `_meta`; ids and
progress tokens are those of the new client.
"""

from __future__ import annotations

from collections import deque
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client.redaction.hidden import stands_for
from toolwire_schemas.json_schema.error_text import format_value
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import DecodingError, EncodingError, decode, encode
from toolwire_schemas.wire.messages import META_SERVER_INFO, META_SUBSCRIPTION_ID, Fault

from . import object_in
from .recording import RecordedLine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from toolwire_schemas.wire.messages import Frame, Id

    Object = dict[str, Any]

_ANY_TIME = ("initialize", "server/discover", "ping")
"""Methods that are answered out of order and whatever their parameters: clients differ in them."""

_SHOWN = 3


class Exchange(msgspec.Struct, eq=False):
    """A request in *line* of a recording, and the messages that the server sent for it."""

    line: int
    request: Object
    steps: list[Object] = msgspec.field(default_factory=list)

    @property
    def method(self) -> str:
        return str(self.request["method"])

    @property
    def params(self) -> Object:
        return {
            name: value
            for name, value in object_in(self.request, "params").items()
            if name != "_meta"
        }

    def fits(self, other: Exchange) -> bool:
        """Return whether the request of *other* is the recorded one, apart from secrets."""
        return self.method == other.method and (
            self.method in _ANY_TIME or stands_for(self.params, other.params)
        )

    def __str__(self) -> str:
        return f"{self.method} with {format_value(self.params)}"


def exchanges(entries: Iterable[tuple[int, RecordedLine]]) -> list[Exchange]:
    """Return the exchanges in the *entries* of a recording, which come with their lines."""
    found: list[Exchange] = []
    unanswered: dict[Any, Exchange] = {}
    for line, entry in [*entries, (0, RecordedLine(type="Ended"))]:
        if entry.type in ("Started", "Ended"):
            problem = (
                f"The recording has no response: {entry.reason or 'the recording ends before it'}"
            )
            for exchange in unanswered.values():
                if exchange.method != "subscriptions/listen":  # which ends with the server
                    exchange.steps.append(
                        {"error": {"code": messages.INTERNAL_ERROR, "message": problem}}
                    )
            unanswered = {}
        batch = entry.message if isinstance(entry.message, list) else [entry.message]
        take = _take_from_client if entry.sender == "client" else _take_from_server
        for message in batch:
            if isinstance(message, dict):
                take(message, line, found, unanswered)
    return found


def _take_from_client(
    message: Object, line: int, found: list[Exchange], unanswered: dict[Any, Exchange]
) -> None:
    if message.get("method") == "notifications/cancelled":  # its request gets no response
        unanswered.pop(_id(object_in(message, "params").get("requestId")), None)
    elif "method" in message and (id := _id(message.get("id"))) is not None:
        found.append(Exchange(line, message))
        unanswered[id] = found[-1]


def _take_from_server(
    message: Object, line: int, found: list[Exchange], unanswered: dict[Any, Exchange]
) -> None:
    if "method" not in message:
        owner = unanswered.pop(_id(message.get("id")), None)
    else:
        token = object_in(message, "params").get("progressToken")
        owners = (
            each
            for each in unanswered.values()
            if token is not None and _token(each.request) == token
        )
        # Other messages name no request: they are taken for those of the last one.
        owner = next(owners, found[-1] if found else None)
    if owner is not None:
        owner.steps.append(message)


class Replay:
    """Answers one client from *recorded* exchanges. *strictly*: requests have to come in the
    recorded order.

    *report* receives each request that is refused, in words.
    """

    def __init__(
        self, recorded: list[Exchange], *, strictly: bool, report: Callable[[str], object]
    ) -> None:
        self._recorded = recorded
        self._due = (
            deque(exchange for exchange in recorded if exchange.method not in _ANY_TIME)
            if strictly
            else None
        )
        self._report = report
        self._used: set[Exchange] = set()
        self._asking: dict[Id, Iterator[Object]] = {}
        """What follows each question that the client has not answered."""
        self._ids = map("replay-{}".format, count(1))

    def receive(self, frame: Frame) -> list[bytes]:
        """Return what the server sends after *frame* of the client."""
        try:
            message = frame if isinstance(frame, Fault) else decode(frame)
        except DecodingError as error:
            return [messages.error(None, messages.PARSE_ERROR, f"Parse error: {error}")]
        if not isinstance(message, dict):
            problem = (
                frame.message
                if isinstance(frame, Fault)
                else "a replay takes single messages, each an object"
            )
            return [messages.error(None, messages.INVALID_REQUEST, f"Invalid request: {problem}")]
        if (id := _id(message.get("id"))) is None:
            return []
        try:
            if isinstance(message.get("method"), str):
                return self._answer(message)
            return self._continue(self._asking.pop(id, iter(())))
        except (EncodingError, RecursionError):
            return [
                messages.error(id, messages.INTERNAL_ERROR, "Not replayed: it is nested too deeply")
            ]

    def _answer(self, request: Object) -> list[bytes]:
        exchange = self._find(asked := Exchange(0, request))
        if isinstance(exchange, Exchange):
            return self._continue(_replay(exchange, request))
        result = (
            {}
            if asked.method == "ping"
            else self._welcome(request)
            if asked.method == "initialize"
            else None
        )
        if result is not None:
            return [messages.response(request["id"], result)]
        if asked.method not in _ANY_TIME:  # clients try both eras
            self._report(exchange)
        is_known = any(asked.method == other.method for other in self._recorded)
        code = messages.INVALID_PARAMS if is_known else messages.METHOD_NOT_FOUND
        return [messages.error(request["id"], code, exchange)]

    def _find(self, asked: Exchange) -> Exchange | str:
        """Return the recorded exchange of a request, or why it has no such exchange."""
        if self._due is not None and asked.method not in _ANY_TIME:
            if self._due and self._due[0].fits(asked):
                return self._due.popleft()
            due = (
                f"line {self._due[0].line} has {self._due[0]}"
                if self._due
                else "nothing more was recorded"
            )
            return f"Not recorded in this order: {asked}; {due}"
        fitting = [exchange for exchange in self._recorded if exchange.fits(asked)]
        if not fitting:
            alike = [
                str(exchange) for exchange in self._recorded if exchange.method == asked.method
            ]
            known = alike or list(dict.fromkeys(exchange.method for exchange in self._recorded))
            more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
            return (
                f"Not recorded: {asked}; recorded: {', '.join(known[:_SHOWN]) or 'nothing'}{more}"
            )
        # A repeated request gets the recorded answers in turn, and from then on the last.
        exchange = next(
            (exchange for exchange in fitting if exchange not in self._used), fitting[-1]
        )
        self._used.add(exchange)
        return exchange

    def _welcome(self, request: Object) -> Object | None:
        """Return the result of `initialize` for a server that was recorded in the modern era."""
        discovered = (each for each in self._recorded if each.method == "server/discover")
        for result in (
            object_in(step, "result")
            for each in discovered
            for step in each.steps
            if "result" in step
        ):
            version = object_in(request, "params").get("protocolVersion")
            info = object_in(result, "_meta").get(
                META_SERVER_INFO, {"name": "replay", "version": ""}
            )
            told = {
                name: value
                for name, value in result.items()
                if name in ("capabilities", "instructions")
            }
            known = version if version in messages.LEGACY_VERSIONS else messages.LATEST_LEGACY
            return {**told, "protocolVersion": known, "serverInfo": info}
        return None

    def _continue(self, played: Iterator[Object]) -> list[bytes]:
        """Return what is *played* up to the next question, whose answer continues it."""
        sent: list[bytes] = []
        for message in played:
            if "method" in message and "id" in message:
                self._asking[id := next(self._ids)] = played
                return [*sent, encode({**message, "id": id})]
            sent.append(encode(message))
        return sent


def _replay(exchange: Exchange, request: Object) -> Iterator[Object]:
    """Yield the messages of *exchange* with the ids of *request*, without progress that its client
    does not want.
    """
    token = _token(request)
    for message in exchange.steps:
        params = object_in(message, "params")
        meta = object_in(params, "_meta")
        if "method" not in message:
            yield {"jsonrpc": "2.0", **message, "id": request["id"]}
        elif META_SUBSCRIPTION_ID in meta:
            yield {
                **message,
                "params": {**params, "_meta": {**meta, META_SUBSCRIPTION_ID: request["id"]}},
            }
        elif "progressToken" not in params:
            yield message
        elif token is not None:
            yield {**message, "params": {**params, "progressToken": token}}


def _token(request: Object) -> Any:
    return object_in(object_in(request, "params"), "_meta").get("progressToken")


def _id(value: Any) -> Id | None:
    """Return *value* if it can be the id of a request."""
    return value if type(value) is str or type(value) is int else None
