"""Which messages between a host and a wrapped server pass as they came: a table for each direction.

Strategy. By default, a message passes. The tables have the exceptions: methods that this server, or
its client of the wrapped server, answers itself, and those that depend on who the two sides are.
Responses and cancellations go where their requests went, so `PassedRequests` remembers the ids of
those that passed. They cannot be mistaken for ours, which count from `FIRST_ID`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client.protocol.client_protocol import LISTS
from toolwire_schemas.wire.tasks import META_RELATED_TASK

from ..protocol.catalog import LIST_METHODS
from ..protocol.server_protocol import TASK_METHODS

if TYPE_CHECKING:
    from collections.abc import Collection

    from toolwire_schemas.wire.messages import Frame, Id

FIRST_ID = 1 << 40
"""The id of our first request to the wrapped server. Hosts count from 0 or 1."""

MAX_OPEN = 10_000
"""How many requests of one side may have passed and have no response yet."""


class Route(Enum):
    """Where a message goes."""

    PASS = "to the other side, as it came"
    ANSWER = "to this server, or its client of the wrapped server"
    FOLLOW = "where the request went that it is about"
    WAIT = "nowhere until the wrapped server has started; starts it if nothing else has"


class ServerState(Enum):
    """Whether the wrapped server runs."""

    ABSENT = "it has never run"
    STARTING = "it is being started"
    KNOWN = "it is being started, and its lists are those of its last start"
    RUNNING = "it runs"
    ENDED = "it has ended, and can be started again"


class Peers(msgspec.Struct, frozen=True):
    """The facts that a route depends on, apart from the message."""

    has_legacy_host: bool
    """Whether the host has sent `initialize`: only such hosts take requests."""
    has_legacy_server: bool
    has_tasks: bool = False
    """Whether the wrapped server makes calls tasks of MCP 2025-11-25."""
    can_ask: bool = False
    """Whether the wrapped server may ask the user for a form through our client, which asks the
    host in turn.
    """


class Head(msgspec.Struct):
    """What decides where a message goes. The method of a batch, and of what is no message, is
    empty; that of a response is unset.
    """

    method: str | msgspec.UnsetType = msgspec.UNSET
    id: str | int | msgspec.UnsetType = msgspec.UNSET
    params: Any = None

    @property
    def request_id(self) -> Id | None:
        """The id, if it is a request."""
        if not self.method or isinstance(self.id, msgspec.UnsetType):
            return None
        return self.id

    @property
    def members(self) -> dict[str, Any]:
        """The parameters, if they are an object."""
        return self.params if isinstance(self.params, dict) else {}


_NO_MESSAGE = Head(method="")
_decode_head = msgspec.json.Decoder(Head).decode


def read_head(frame: Frame) -> Head:
    """Return the head of the message in *frame*. Never raises."""
    if not isinstance(frame, bytes):
        return _NO_MESSAGE
    try:
        return _decode_head(frame)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _NO_MESSAGE


# The tables

RouteRule = Callable[[Head, Peers], Route]
Table = Mapping[str, Route | RouteRule]


def _pass_calls_as_tasks(head: Head, peers: Peers) -> Route:
    """Let a wrapped server with tasks run calls as such: its list says which can be."""
    return Route.PASS if peers.has_tasks and "task" in head.members else Route.ANSWER


def _pass_tasks(head: Head, peers: Peers) -> Route:
    """Pass requests about tasks of the wrapped server. Those of later revisions are ours: a call
    that is a task there is one of this server, too.
    """
    return Route.PASS if peers.has_tasks and peers.has_legacy_host else Route.ANSWER


def _pass_between_legacy_peers(head: Head, peers: Peers) -> Route:
    if peers.has_legacy_host and peers.has_legacy_server:
        return Route.PASS
    return Route.ANSWER


def _pass_unless_our_form(head: Head, peers: Peers) -> Route:
    meta = head.members.get("_meta")
    if isinstance(meta, dict) and META_RELATED_TASK in meta:  # of a call that passed
        return Route.PASS
    is_form = head.members.get("mode", "form") == "form"
    return Route.ANSWER if is_form and peers.can_ask else Route.PASS


def _pass_unless_our_progress(head: Head, peers: Peers) -> Route:
    token = head.members.get("progressToken")
    is_ours = type(token) is int and token >= FIRST_ID
    return Route.ANSWER if is_ours else Route.PASS


_OF_HANDSHAKE_AND_LISTS = {
    "ping",
    "initialize",
    "server/discover",
    "notifications/initialized",
    "subscriptions/listen",
    *LIST_METHODS,
}

_FROM_HOST: Table = {
    "": Route.ANSWER,
    "notifications/cancelled": Route.FOLLOW,
    "tools/call": _pass_calls_as_tasks,
    **dict.fromkeys(TASK_METHODS, _pass_tasks),
    "resources/subscribe": Route.PASS,
    "resources/unsubscribe": Route.PASS,
    "logging/setLevel": _pass_between_legacy_peers,
}

_REQUESTS_OF_SERVER: Table = {
    "ping": Route.ANSWER,
    "elicitation/create": _pass_unless_our_form,
}

_NOTIFICATIONS_OF_SERVER: Table = {
    "": Route.ANSWER,
    "notifications/cancelled": Route.FOLLOW,
    "notifications/progress": _pass_unless_our_progress,
    "notifications/message": _pass_between_legacy_peers,
    "notifications/tasks": Route.ANSWER,  # the host subscribes to tasks of this server only
    "notifications/tasks/status": _pass_between_legacy_peers,
    "notifications/subscriptions/acknowledged": Route.ANSWER,
    **{f"notifications/{what}/list_changed": Route.ANSWER for what in LISTS},
}


def make_host_table(known_methods: Collection[str]) -> Table:
    """Return the routes of a host's messages to a server that itself has *known_methods*."""
    return {**dict.fromkeys(known_methods, Route.ANSWER), **_FROM_HOST}


def route_from_host(table: Table, head: Head, peers: Peers, server: ServerState) -> Route:
    """Return where a message of the host goes, by its *table*."""
    is_early = server in (ServerState.ABSENT, ServerState.STARTING)
    if is_early and head.method == "ping":
        # It asks whether this process lives, and says nothing of its host: the server starts with
        # the capabilities of the host, which another message has.
        return Route.ANSWER
    if server is ServerState.STARTING:  # in their order
        return Route.WAIT
    if server is ServerState.KNOWN:
        return Route.ANSWER if head.method in _OF_HANDSHAKE_AND_LISTS else Route.WAIT
    if isinstance(head.method, msgspec.UnsetType):
        return Route.FOLLOW
    if server is ServerState.ABSENT and head.method:
        return Route.WAIT
    route = _look_up(table, head.method, head, peers)
    if route is Route.PASS and server is ServerState.ENDED:
        return Route.WAIT
    return route


def route_from_server(head: Head, peers: Peers) -> Route:
    """Return where a message of the wrapped server goes."""
    if isinstance(head.method, msgspec.UnsetType):
        return Route.FOLLOW
    if head.request_id is None:
        return _look_up(_NOTIFICATIONS_OF_SERVER, head.method, head, peers)
    if not peers.has_legacy_host:
        return Route.ANSWER
    return _look_up(_REQUESTS_OF_SERVER, head.method, head, peers)


def _look_up(table: Table, method: str, head: Head, peers: Peers) -> Route:
    rule = table.get(method, Route.PASS)
    if isinstance(rule, Route):
        return rule
    return rule(head, peers)


# What depends on earlier messages


class PassedRequests:
    """The requests of one side that passed and have no response yet."""

    def __init__(self) -> None:
        self._open: dict[Id, None] = {}

    @property
    def is_full(self) -> bool:
        """Whether no further request may pass."""
        return len(self._open) >= MAX_OPEN

    def add(self, id: Id) -> None:
        """Note that a request passes."""
        self._open[id] = None

    def remove(self, id: object) -> bool:
        """Note the end of the request with this *id*; return whether it had passed."""
        if not isinstance(id, (str, int)):
            return False
        return self._open.pop(id, self) is None

    def remove_all(self) -> list[Id]:
        """Note the end of all; return their ids."""
        ids = []
        while self._open:  # another thread may add one
            ids.append(self._open.popitem()[0])
        return ids


def note_passing(head: Head, route: Route, own: PassedRequests, opposite: PassedRequests) -> bool:
    """Return whether a message with this *route* passes, and note in *own*, the passed requests of
    its side, or *opposite*, those of the other side, which request begins or ends by that.
    """
    if route is Route.FOLLOW:
        if isinstance(head.method, msgspec.UnsetType):
            return opposite.remove(head.id)
        return own.remove(head.members.get("requestId"))
    if route is not Route.PASS:
        return False
    id = head.request_id
    if id is None:
        return True
    if own.is_full:
        return False
    own.add(id)
    return True
