"""One conversation with a server on behalf of several sessions. Decides, and does no I/O.

Strategy. Each session believes that it has the server for itself. So the ids of requests, and the
progress tokens in them, are replaced by numbers that are unique here, and put back in whatever
names them later: responses, progress, cancellations, notifications of a subscription. The handshake
goes to the server once, and its response answers all sessions. Members of a message that need no
change keep their bytes.

A request of a legacy server does not say which call it belongs to. If one session alone has a
request open, it belongs to that session. Else that is unclear, and `unshareable` says why
each session needs a server of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw
from toolwire_client.errors import OPENINGS
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.messages import INTERNAL_ERROR, META_SUBSCRIPTION_ID
from toolwire_tools.context.context import LEVELS

from .listeners import Listeners
from .numbered_requests import NumberedRequest, NumberedRequests

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

MAX_HELD = 100
"""How many requests of the server may wait until it is clear to which session they belong."""

_ROOTS = (
    "the server asks for the folders of a session (roots/list), so each session has a server of"
    " its own"
)
_UNCLEAR = (
    "the server asks while calls of several sessions run, so each session has a server of its own"
)
_SESSION_HAS_ENDED = "The session has ended."
_NO_SESSION = "It is not clear which session the request belongs to."

_PROGRESS_TOKEN = "progressToken"

Message = dict[str, Raw]


class Delivery(msgspec.Struct, frozen=True):
    """A *line* for a session; for the server if *session* is `None`."""

    session: Hashable | None
    line: bytes


class _Opening(msgspec.Struct):
    """The handshake: sessions with the JSON of their ids that wait for its response, and that."""

    waiting: list[tuple[Hashable, bytes]] = []
    response: Message | None = None


class CommonConversation:
    """The conversation. *on_hold* is called with the JSON of the id of a request of the server that
    waits until it is clear to which session it belongs.
    """

    def __init__(self, on_hold: Callable[[bytes], None]) -> None:
        self.sessions: list[Hashable] = []
        self.unshareable = ""
        """Why no further session may join, and the others are to leave; empty if they may stay."""
        self._on_hold = on_hold
        self._owner: Hashable | None = None
        self._requests = NumberedRequests()
        self._openings: dict[str, _Opening] = {}
        self._is_initialized = False
        self._asked: dict[bytes, Hashable] = {}  # requests of the server, by the JSON of their ids
        self._held: dict[bytes, bytes] = {}
        self._listeners = Listeners()

    @property
    def has_failed(self) -> bool:
        """Whether the server has refused the handshake, so that no further session may join."""
        opening = self._openings.get("initialize")
        return opening is not None and opening.response is not None and "error" in opening.response

    # Sessions

    def join(self, session: Hashable) -> None:
        """Let *session* take part."""
        self.sessions.append(session)

    def leave(self, session: Hashable) -> list[Delivery]:
        """Forget *session*; cancel its requests, and end its subscriptions."""
        self.sessions.remove(session)
        if self._owner is session:
            self._owner = next(iter(self.sessions), None)
        deliveries = self._cancel_requests(session)
        deliveries += self._end_subscriptions(session)
        for id, asked in list(self._asked.items()):
            if asked is session:
                del self._asked[id]
                deliveries.append(_refuse(id, _SESSION_HAS_ENDED))
        return deliveries + self._ask_held()

    def find_idle(self) -> list[Hashable]:
        """Return the sessions that have no request open, of those that are to leave."""
        if not self.unshareable:
            return []
        occupied = {*self._requests.list_busy_sessions(), *self._asked.values(), self._owner}
        return [session for session in self.sessions if session not in occupied]

    def _cancel_requests(self, session: Hashable) -> list[Delivery]:
        deliveries = []
        for number, request in self._requests.list_open(session):
            if request.method in self._openings:  # others need its response
                request.session = None
                continue
            self._requests.remove(number)
            params = {"requestId": number, "reason": _SESSION_HAS_ENDED}
            cancellation = messages.encode_notification("notifications/cancelled", params)
            deliveries.append(Delivery(None, cancellation))
        return deliveries

    def _end_subscriptions(self, session: Hashable) -> list[Delivery]:
        deliveries = []
        for uri in self._listeners.forget(session):
            number = self._requests.take_number()  # whose response is dropped
            request = messages.encode_request(number, "resources/unsubscribe", {"uri": uri})
            deliveries.append(Delivery(None, request))
        return deliveries

    # From a session

    def send(self, session: Hashable, line: bytes) -> list[Delivery]:
        """Take the message in *line* from *session*."""
        message = _decode(line)
        method = _read(message.get("method"))
        if not isinstance(method, str):
            return self._pass_reply(session, message, line)
        if "id" not in message:
            return self._pass_notification(session, method, message, line)
        if method in OPENINGS:
            return self._open(session, method, message)
        if method == "logging/setLevel":
            self._choose_level(session, message)
        elif method == "resources/subscribe":
            self._listeners.subscribe(session, _read_uri(message))
        elif method == "resources/unsubscribe":
            has_others = self._listeners.unsubscribe(session, _read_uri(message))
            if has_others:
                return [Delivery(session, _respond(message["id"]))]
        return [Delivery(None, self._number(session, method, message))]

    def _pass_reply(self, session: Hashable, message: Message, line: bytes) -> list[Delivery]:
        id = bytes(message.get("id", b""))
        if self._asked.get(id) is not session:
            return []
        del self._asked[id]
        return [Delivery(None, line)]

    def _pass_notification(
        self, session: Hashable, method: str, message: Message, line: bytes
    ) -> list[Delivery]:
        if method == "notifications/initialized":
            if self._is_initialized:
                return []
            self._is_initialized = True
            return [Delivery(None, line)]
        if method != "notifications/cancelled":
            return [Delivery(None, line)]
        params = _decode_member(message, "params")
        id = bytes(params.get("requestId", b""))
        number = self._requests.find_number(session, id)
        request = self._requests.find(number)
        if number is None or request is None or request.method in self._openings:
            return []
        self._requests.remove(number)
        params["requestId"] = _to_raw(number)
        _set_member(message, "params", params)
        return [Delivery(None, _encode(message)), *self._ask_held()]

    def _open(self, session: Hashable, method: str, message: Message) -> list[Delivery]:
        opening = self._openings.get(method)
        id = bytes(message["id"])
        if opening is None:
            self._openings[method] = _Opening()
            return [Delivery(None, self._number(session, method, message))]
        if opening.response is None:
            opening.waiting.append((session, id))
            return []
        return [Delivery(session, _encode({**opening.response, "id": Raw(id)}))]

    def _choose_level(self, session: Hashable, message: Message) -> None:
        """Have the server log what any session wants."""
        params = _decode_member(message, "params")
        level = _read(params.get("level"))
        if level not in LEVELS:
            return
        params["level"] = _to_raw(self._listeners.choose_level(session, level))
        _set_member(message, "params", params)

    def _number(self, session: Hashable, method: str, message: Message) -> bytes:
        """Return the request in *message* with a number that is unique here in place of its id."""
        request = NumberedRequest(session, bytes(message["id"]), method)
        number = self._requests.add(request)
        message["id"] = _to_raw(number)
        if _PROGRESS_TOKEN.encode() in bytes(message.get("params", b"")):
            params = _decode_member(message, "params")
            meta = _decode_member(params, "_meta")
            if _PROGRESS_TOKEN in meta:
                request.token = bytes(meta[_PROGRESS_TOKEN])
                meta[_PROGRESS_TOKEN] = _to_raw(number)
                _set_member(params, "_meta", meta)
                _set_member(message, "params", params)
        return _encode(message)

    # From the server

    def receive(self, line: bytes) -> list[Delivery]:
        """Take *line* from the server."""
        try:
            message = _decode(line)
        except msgspec.MsgspecError:
            return self._receive_batch(line)
        method = _read(message.get("method"))
        if isinstance(method, str):
            if "id" in message:
                return self._ask(method, message, line)
            return self._notify(method, message, line)
        number = _read_number(message.get("id"))
        if number is None:
            return self._fail_probe(message, line)
        return self._answer(number, message)

    def _receive_batch(self, line: bytes) -> list[Delivery]:
        """Take a batch of revision 2025-03-26 apart. Another line is noise, for one session."""
        try:
            members = _decode_batch(line)
        except msgspec.MsgspecError:
            return self._deliver_to(self.sessions[:1], line)
        deliveries = []
        for member in members:
            deliveries += self.receive(bytes(member))
        return deliveries

    def _fail_probe(self, message: Message, line: bytes) -> list[Delivery]:
        """Take an error without an id: of the probe, if that is open."""
        number = self._requests.find_number_of_method("server/discover")
        if "error" in message and number is not None:
            return self._answer(number, message)
        return self._deliver_to(self.sessions[:1], line)

    def _answer(self, number: int, message: Message) -> list[Delivery]:
        request = self._requests.remove(number)
        if request is None:  # it was cancelled
            return []
        receivers = [(request.session, request.id)]
        opening = self._openings.get(request.method)
        if opening is not None:
            receivers += opening.waiting
            opening.waiting = []
            opening.response = message
        if "result" in message and META_SUBSCRIPTION_ID.encode() in bytes(message["result"]):
            _rename_subscription(message, "result", request.id)
        deliveries = []
        for session, id in receivers:
            if session is not None:
                line = _encode({**message, "id": Raw(id)})
                deliveries.append(Delivery(session, line))
        return deliveries + self._ask_held()

    def _notify(self, method: str, message: Message, line: bytes) -> list[Delivery]:
        params = _decode_member(message, "params")
        if method == "notifications/progress":
            return self._report_progress(message, params)
        if method == "notifications/cancelled":
            id = bytes(params.get("requestId", b""))
            self._held.pop(id, None)
            session = self._asked.pop(id, None)
            return self._deliver_to([] if session is None else [session], line)
        if META_SUBSCRIPTION_ID.encode() in line:
            return self._notify_subscriber(message, params)
        if method == "notifications/message":
            return self._deliver_to(self._find_readers(params), line)
        if method == "notifications/resources/updated":
            changed = str(_read(params.get("uri")))
            return self._deliver_to(self._listeners.find_subscribers(changed), line)
        return self._deliver_to(self.sessions, line)

    def _report_progress(self, message: Message, params: Message) -> list[Delivery]:
        request = self._requests.find(_read_number(params.get(_PROGRESS_TOKEN)))
        if request is None or not request.token:
            return []
        params[_PROGRESS_TOKEN] = Raw(request.token)
        _set_member(message, "params", params)
        return [Delivery(request.session, _encode(message))]

    def _notify_subscriber(self, message: Message, params: Message) -> list[Delivery]:
        meta = _decode_member(params, "_meta")
        request = self._requests.find(_read_number(meta.get(META_SUBSCRIPTION_ID)))
        if request is None:
            return []
        _rename_subscription(message, "params", request.id)
        return [Delivery(request.session, _encode(message))]

    def _find_readers(self, params: Message) -> list[Hashable]:
        """Return the sessions that want the log message with *params*."""
        level = _read(params.get("level"))
        if level not in LEVELS:
            return self.sessions
        return [each for each in self.sessions if self._listeners.reads(each, level)]

    def _deliver_to(self, sessions: Iterable[Hashable], line: bytes) -> list[Delivery]:
        return [Delivery(session, line) for session in sessions]

    # Requests of the server

    def _ask(self, method: str, message: Message, line: bytes) -> list[Delivery]:
        id = bytes(message["id"])
        if method == "ping":
            return [Delivery(None, _respond(message["id"]))]
        if method in OPENINGS:
            return self._return_echo(message)
        busy = self._requests.list_busy_sessions()
        if method == "roots/list":  # its answer is a state of the connection
            self._stop_sharing(_ROOTS, self.sessions)
            return self._ask_session(self._owner, id, line)
        if len(self.sessions) == 1:
            return self._ask_session(self.sessions[0], id, line)
        if len(busy) == 1:
            return self._ask_session(busy[0], id, line)
        self._stop_sharing(_UNCLEAR, busy or self.sessions)
        if not busy:
            return self._ask_session(self._owner, id, line)
        if len(self._held) >= MAX_HELD:
            return [_refuse(id, _NO_SESSION)]
        self._held[id] = line
        self._on_hold(id)
        return []

    def _return_echo(self, message: Message) -> list[Delivery]:
        """Return a handshake to its session: the server is no server, and repeats what it gets."""
        request = self._requests.find(_read_number(message["id"]))
        if request is None:
            return []
        return [Delivery(request.session, _encode({**message, "id": Raw(request.id)}))]

    def _ask_session(self, session: Hashable | None, id: bytes, line: bytes) -> list[Delivery]:
        if session is None:
            return [_refuse(id, _SESSION_HAS_ENDED)]
        self._asked[id] = session
        return [Delivery(session, line)]

    def _ask_held(self) -> list[Delivery]:
        """Ask what was held, once a single session is left to which it can belong."""
        if not self._held:
            return []
        busy = self._requests.list_busy_sessions()
        if len(busy) > 1:
            return []
        session = busy[0] if busy else self._owner
        held, self._held = self._held, {}
        deliveries = []
        for id, line in held.items():
            deliveries += self._ask_session(session, id, line)
        return deliveries

    def refuse_held(self, id: bytes) -> list[Delivery]:
        """Refuse the request of the server with this *id*, if it is still held."""
        if self._held.pop(id, None) is None:
            return []
        return [_refuse(id, _NO_SESSION)]

    def _stop_sharing(self, reason: str, sessions: list[Hashable]) -> None:
        """Leave the server to the first of *sessions*."""
        if not self.unshareable:
            self.unshareable = reason
            self._owner = next(iter(sessions), None)


_decode = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_batch = msgspec.json.Decoder(list[Raw]).decode
_encode = msgspec.json.encode


def _decode_member(message: Message, name: str) -> Message:
    """Return the members of the object *name* in *message*; none if it is no object."""
    try:
        return _decode(message.get(name, b"{}"))
    except msgspec.MsgspecError:
        return {}


def _set_member(message: Message, name: str, members: Message) -> None:
    message[name] = Raw(_encode(members))


def _read(member: Raw | None) -> Any:
    """Return the value of *member*."""
    return None if member is None else msgspec.json.decode(member)


def _read_number(member: Raw | None) -> int | None:
    """Return a number, which some servers send back as a string or as a float."""
    try:
        return int(_read(member))
    except (TypeError, ValueError, OverflowError):
        return None


def _read_uri(message: Message) -> str:
    return str(_read(_decode_member(message, "params").get("uri")))


def _to_raw(value: int | str) -> Raw:
    return Raw(_encode(value))


def _rename_subscription(message: Message, name: str, id: bytes) -> None:
    """Put *id* in place of the number of a subscription in the member *name*."""
    members = _decode_member(message, name)
    meta = _decode_member(members, "_meta")
    if META_SUBSCRIPTION_ID in meta:
        meta[META_SUBSCRIPTION_ID] = Raw(id)
        _set_member(members, "_meta", meta)
        _set_member(message, name, members)


def _respond(id: Raw) -> bytes:
    return _encode({"jsonrpc": "2.0", "id": id, "result": {}})


def _refuse(id: bytes, problem: str) -> Delivery:
    error = {"code": INTERNAL_ERROR, "message": problem}
    return Delivery(None, _encode({"jsonrpc": "2.0", "id": Raw(id), "error": error}))
