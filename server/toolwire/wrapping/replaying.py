"""Answers requests from a recording. No I/O.

Strategy. A recording is read as exchanges: each request with what the server sent for it. A request is answered by the
exchange with the same method and parameters, apart from `_meta`; ids and progress tokens are those of the new client.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client.react.messages import stands_for
from toolwire_schemas.json_schema.error_text import shown
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import DecodingError, EncodingError, decode, encode
from toolwire_schemas.wire.messages import META_SERVER_INFO, META_SUBSCRIPTION_ID, Fault

from . import object_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from toolwire_schemas.wire.messages import Frame, Id

    from .recording import Entry

    Object = dict[str, Any]

_ANY_TIME = ("initialize", "server/discover", "ping")
"""Methods that are answered out of order and whatever their parameters: clients differ in them."""

_SHOWN = 3


class Exchange(msgspec.Struct, eq=False):
    """A request in *line* of a recording, and what the server sent for it.

    `problem` says why there is no response; "" if there is one, or need not be one.
    """

    line: int
    request: Object
    problem: str = "the recording ends before it"
    steps: list[Object] = msgspec.field(default_factory=list)

    @property
    def method(self) -> str:
        return str(self.request["method"])

    @property
    def asked(self) -> Object:
        return {name: value for name, value in object_in(self.request, "params").items() if name != "_meta"}

    def fits(self, other: Exchange) -> bool:
        """Return whether the request of *other* is the recorded one, apart from secrets."""
        return self.method == other.method and (self.method in _ANY_TIME or stands_for(self.asked, other.asked))

    def __str__(self) -> str:
        return f"{self.method} with {shown(self.asked)}"


def exchanges(entries: Iterable[tuple[int, Entry]]) -> list[Exchange]:
    """Return the exchanges in the *entries* of a recording, which come with their lines."""
    found: list[Exchange] = []
    unanswered: dict[Any, Exchange] = {}
    for line, entry in entries:
        if entry.type == "Started":
            unanswered = {}
        for exchange in unanswered.values() if entry.type == "Ended" else ():
            exchange.problem = exchange.problem and entry.reason
        batch = entry.message if isinstance(entry.message, list) else [entry.message]
        for message in (member for member in batch if isinstance(member, dict)):
            (_sent if entry.sender == "client" else _received)(message, line, found, unanswered)
    return found


def _sent(message: Object, line: int, found: list[Exchange], unanswered: dict[Any, Exchange]) -> None:
    if "method" in message and _is_id(message.get("id")):
        found.append(Exchange(line, message))
        unanswered[message["id"]] = found[-1]
    elif message.get("method") == "notifications/cancelled":
        id = object_in(message, "params").get("requestId")
        if _is_id(id) and id in unanswered:
            unanswered[id].problem = ""


def _received(message: Object, line: int, found: list[Exchange], unanswered: dict[Any, Exchange]) -> None:
    if "method" not in message:
        if _is_id(message.get("id")) and (exchange := unanswered.pop(message["id"], None)) is not None:
            exchange.steps.append(message)
            exchange.problem = ""
        return
    token = object_in(message, "params").get("progressToken")
    owners = (exchange for exchange in unanswered.values() if token is not None and _token(exchange.request) == token)
    # Other messages name no request: they are taken for those of the last one.
    if (owner := next(owners, found[-1] if found else None)) is not None:
        owner.steps.append(message)


class Replay:
    """Answers one client from *recorded* exchanges. *strictly*: requests have to come in the recorded order.

    *report* receives each request that is refused, in words.
    """

    def __init__(self, recorded: list[Exchange], *, strictly: bool, report: Callable[[str], object]) -> None:
        self._recorded = recorded
        self._due = deque(exchange for exchange in recorded if exchange.method not in _ANY_TIME) if strictly else None
        self._report = report
        self._used: set[Exchange] = set()
        self._asking: dict[Id, tuple[Object, deque[Object], Exchange]] = {}
        self._questions = 0

    def receive(self, frame: Frame) -> list[bytes]:
        """Return what the server sends after *frame* of the client."""
        try:
            message = frame if isinstance(frame, Fault) else decode(frame)
        except DecodingError as error:
            return [messages.error(None, messages.PARSE_ERROR, f"Parse error: {error}")]
        if not isinstance(message, dict):
            problem = frame.message if isinstance(frame, Fault) else "a replay takes single messages, each an object"
            return [messages.error(None, messages.INVALID_REQUEST, f"Invalid request: {problem}")]
        if not _is_id(id := message.get("id")):
            return []
        try:
            if isinstance(message.get("method"), str):
                return self._answer(message)
            return self._continue(*self._asking.pop(id)) if id in self._asking else []
        except (EncodingError, RecursionError):
            return [messages.error(id, messages.INTERNAL_ERROR, "Not replayed: it is nested too deeply")]

    def _answer(self, request: Object) -> list[bytes]:
        exchange = self._find(asked := Exchange(0, request))
        if isinstance(exchange, Exchange):
            return self._continue(request, deque(exchange.steps), exchange)
        result = {} if asked.method == "ping" else self._welcome(request) if asked.method == "initialize" else None
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
            due = f"line {self._due[0].line} has {self._due[0]}" if self._due else "nothing more was recorded"
            return f"Not recorded in this order: {asked}; {due}"
        fitting = [exchange for exchange in self._recorded if exchange.fits(asked)]
        if not fitting:
            alike = [str(exchange) for exchange in self._recorded if exchange.method == asked.method]
            known = alike or list(dict.fromkeys(exchange.method for exchange in self._recorded))
            more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
            return f"Not recorded: {asked}; recorded: {', '.join(known[:_SHOWN]) or 'nothing'}{more}"
        # A repeated request gets the recorded answers in turn, and from then on the last.
        exchange = next((exchange for exchange in fitting if exchange not in self._used), fitting[-1])
        self._used.add(exchange)
        return exchange

    def _welcome(self, request: Object) -> Object | None:
        """Return the result of `initialize` for a server that was recorded in the modern era."""
        for exchange in self._recorded:
            result = object_in(exchange.steps[-1], "result") if exchange.steps else {}
            if exchange.method == "server/discover" and result:
                version = object_in(request, "params").get("protocolVersion")
                info = object_in(result, "_meta").get(META_SERVER_INFO, {"name": "replay", "version": ""})
                told = {name: value for name, value in result.items() if name in ("capabilities", "instructions")}
                known = version if version in messages.LEGACY_VERSIONS else messages.LATEST_LEGACY
                return {**told, "protocolVersion": known, "serverInfo": info}
        return None

    def _continue(self, request: Object, steps: deque[Object], exchange: Exchange) -> list[bytes]:
        """Return the *steps* of *exchange* up to the next one that the client answers, which continues it."""
        sent: list[bytes] = []
        while steps:
            message = steps.popleft()
            if "method" in message and "id" in message:
                self._questions += 1
                self._asking[id := f"replay-{self._questions}"] = request, steps, exchange
                return [*sent, encode({**message, "id": id})]
            if (translated := _translated(message, request)) is not None:
                sent.append(encode(translated))
        if exchange.problem and exchange.method != "subscriptions/listen":  # which ends with the server
            problem = f"The recording has no response: {exchange.problem}"
            sent.append(messages.error(request["id"], messages.INTERNAL_ERROR, problem))
        return sent


def _translated(message: Object, request: Object) -> Object | None:
    """Return *message* with the ids of *request*; `None` for progress that its client does not want."""
    if "method" not in message:
        return {**message, "id": request["id"]}
    params = object_in(message, "params")
    if "progressToken" in params:
        token = _token(request)
        return None if token is None else {**message, "params": {**params, "progressToken": token}}
    if META_SUBSCRIPTION_ID in (meta := object_in(params, "_meta")):
        return {**message, "params": {**params, "_meta": {**meta, META_SUBSCRIPTION_ID: request["id"]}}}
    return message


def _token(request: Object) -> Any:
    return object_in(object_in(request, "params"), "_meta").get("progressToken")


def _is_id(value: Any) -> bool:
    return type(value) is str or type(value) is int
