"""Requests that stay open: subscriptions of modern clients to changes of lists, resources and
tasks, and requests that wait for the result of a task. Imported for the first of them.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import encode_plain
from toolwire_schemas.wire.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    META_SUBSCRIPTION_ID,
    METHOD_NOT_FOUND,
    OVERLOADED,
    RESOURCE_NOT_FOUND,
    SHUTTING_DOWN,
)

from .. import log
from ..errors import RequestError
from .call import Send
from .lifecycle import complete_modern_result

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from msgspec import UnsetType
    from toolwire_schemas.wire.messages import Id

    from .call import Decision, Origin, Request
    from .catalog import Catalog
    from .in_flight import InFlight
    from .lifecycle import Identity
    from .running import CallServices, Outbox, Watched


RESOURCE = "resource:"
"""Before the URI of a resource in the set of a subscription."""
TASK = "task:"
"""Before the handle of a task in the set of a subscription."""
RESULT = "result:"
"""Before the handle of a task whose result an open request waits for."""


class Answerer(Protocol):
    """What subscriptions need of the protocol of their client."""

    in_flight: InFlight
    catalog: Catalog
    capabilities: dict[str, Any]
    """Those that the server declares."""

    def answer(
        self, id: Id | UnsetType | None, outcome: bytes | RequestError, recipient: Any
    ) -> tuple[Decision, ...]:
        """Return the decision to send the response with *outcome*."""


def serve(
    protocol: Answerer,
    request: Request,
    params: dict[str, Any],
    origin: Origin,
    host: CallServices,
) -> tuple[Decision, ...]:
    """Return what to do about a request that begins or ends a subscription."""
    in_flight, catalog = protocol.in_flight, protocol.catalog
    capabilities = protocol.capabilities
    if request.method == "subscriptions/listen":
        begun = begin(in_flight, request.id, params, origin, capabilities, catalog, host)
        return (Send(begun),)
    if "resources" not in capabilities:
        raise RequestError(
            METHOD_NOT_FOUND, f"Method not found: {request.method}; this server has no resources"
        )
    _get_watched(in_flight).change(request, params, origin, catalog)
    return protocol.answer(request.id, b"{}", origin.recipient)


def begin(
    in_flight: InFlight,
    id: object,
    params: dict[str, Any],
    origin: Origin,
    lists: Collection[str],
    catalog: Catalog,
    host: CallServices,
) -> bytes:
    """Add a subscription to some of *lists*, of the resources of *catalog* and the tasks of
    *host*.

    Return the notification that names what it includes, of all that the client asked for.
    """
    if not origin.modern:
        raise RequestError(
            METHOD_NOT_FOUND, "Method not found: subscriptions/listen (new in 2026-07-28)"
        )
    if origin.recipient is not None or not isinstance(id, str | int):
        raise RequestError(
            INVALID_REQUEST, "subscriptions/listen must be a request of its own, outside of batches"
        )
    wanted = params.get("notifications")
    if not isinstance(wanted, dict):
        raise RequestError(
            INVALID_PARAMS,
            "params.notifications must be an object such as {'toolsListChanged': true}",
        )
    chosen = sorted(name for name in lists if wanted.get(f"{name}ListChanged") is True)
    granted: dict[str, Any] = {f"{name}ListChanged": True for name in chosen}
    topics = set(chosen)
    if "resourceSubscriptions" in wanted and "resources" in lists:
        uris = _get_watched(in_flight).choose(wanted["resourceSubscriptions"], catalog)
        granted["resourceSubscriptions"] = uris
        topics.update(RESOURCE + uri for uri in uris)
    if "taskIds" in wanted:
        tasks = host.get_tasks().subscribe(wanted["taskIds"], params)
        granted["taskIds"] = tasks
        topics.update(TASK + task for task in tasks)
    open_request(in_flight, id, frozenset(topics))
    return _encode_notification("subscriptions/acknowledged", id, {"notifications": granted})


def _get_watched(in_flight: InFlight) -> Watched:
    if in_flight.watched is None:
        in_flight.watched = WatchedResources(in_flight)
    return in_flight.watched


def open_request(in_flight: InFlight, id: Id, topics: frozenset[str]) -> None:
    """Keep the request *id* open for *topics*.

    Raises:
        RequestError: if the id is in use, or too many requests are open.
    """
    in_flight.check_unused(id)
    if len(in_flight.subscriptions) >= in_flight.max_calls:
        from .overload import make_calls_error

        raise make_calls_error(in_flight.max_calls)
    in_flight.subscriptions[id] = topics


def find_subscriptions(in_flight: InFlight, topic: str) -> list[Id]:
    """Return the ids of the open requests for *topic*."""
    return [id for id, topics in list(in_flight.subscriptions.items()) if topic in topics]


def take_open_requests(in_flight: InFlight, topic: str) -> list[Id]:
    """Remove the open requests for *topic*, and return their ids."""
    found = find_subscriptions(in_flight, topic)
    return [id for id in found if in_flight.subscriptions.pop(id, None) is not None]


def find_changes(before: Any, after: Any, host: CallServices) -> list[str]:
    """Return the capabilities of which a list differs between two catalogs, as far as the client of
    *host* cares.
    """
    lists = {
        "tools": ["tools"],
        "resources": ["resources", "resourceTemplates"],
        "prompts": ["prompts"],
    }
    old, new = (
        {name: [*map(one.describe, kinds)] for name, kinds in lists.items()}
        for one in (before, after)
    )
    changed = [name for name in lists if new[name] != old[name]]
    return changed if after.late is None else after.late.select_news(host, changed)


def encode_changes(in_flight: InFlight, changed: Iterable[str], *, is_legacy: bool) -> list[bytes]:
    """Return the notifications of the lists that have *changed*; one of them for a legacy
    client.
    """
    news = []
    for name in changed:
        subscribed = find_subscriptions(in_flight, name)
        news += [_encode_notification(f"{name}/list_changed", id, {}) for id in subscribed]
        if is_legacy:
            news.append(messages.encode_notification(f"notifications/{name}/list_changed"))
    return news


def end_all(in_flight: InFlight, identity: Identity) -> list[bytes]:
    """End all subscriptions, and requests that wait for a task; return their responses."""
    ended = dict(in_flight.subscriptions)
    in_flight.subscriptions.clear()
    return [_end(id, topics, identity) for id, topics in ended.items()]


def _end(id: Id, topics: frozenset[str], identity: Identity) -> bytes:
    if any(topic.startswith(RESULT) for topic in topics):
        return messages.encode_error(
            id, SHUTTING_DOWN, "The server exits before the task has ended"
        )
    result = complete_modern_result(identity, {"_meta": {META_SUBSCRIPTION_ID: id}})
    return messages.encode_response(id, result, is_plain=True)


def _encode_notification(name: str, id: Id, params: dict[str, Any]) -> bytes:
    tagged = {**params, "_meta": {META_SUBSCRIPTION_ID: id}}
    return encode_plain({"jsonrpc": "2.0", "method": f"notifications/{name}", "params": tagged})


MAX_URI_CHARACTERS = 4096
"""Longer URIs are not watched: each is kept as long as its client is there."""
MAX_WATCHED = 10_000
"""How many resources one client may watch: with the longest URIs, they take 40 MiB."""


class WatchedResources:
    """The resources that the client of *in_flight* watches: a legacy one by requests for each, a
    modern one by its subscriptions.
    """

    def __init__(self, in_flight: InFlight) -> None:
        self._in_flight = in_flight
        self._of_legacy_client: set[str] = set()
        self._lock = threading.Lock()
        self._announced: set[tuple[str, Id | None]] = set()  # waiting to be written

    def change(
        self, request: Request, params: dict[str, Any], origin: Origin, catalog: Catalog
    ) -> None:
        """Watch the resource of a legacy client's `resources/subscribe` from now on, or that of
        `resources/unsubscribe` no longer.
        """
        if origin.modern:
            raise RequestError(
                METHOD_NOT_FOUND,
                f"Method not found: {request.method} (since 2026-07-28: subscriptions/listen)",
            )
        uri = params.get("uri")
        if type(uri) is not str:
            raise RequestError(
                INVALID_PARAMS, "params.uri must be a string: the URI of the resource to watch"
            )
        if request.method == "resources/unsubscribe":
            self._of_legacy_client.discard(uri)
            return
        if not self._can_watch(uri, catalog):
            raise RequestError(
                RESOURCE_NOT_FOUND,
                f"This server has no resource {uri[:200]} whose changes it reports",
                {"uri": uri[:200]},
            )
        self._check_room(1)
        self._of_legacy_client.add(uri)

    def choose(self, uris: Any, catalog: Catalog) -> list[str]:
        """Return those of *uris*, whatever it is, that a modern client can watch."""
        if not isinstance(uris, list):
            raise RequestError(
                INVALID_PARAMS, "params.notifications.resourceSubscriptions must be a list of URIs"
            )
        chosen: dict[str, None] = {}
        for uri in uris:
            if isinstance(uri, str) and self._can_watch(uri, catalog):
                chosen[uri] = None
        self._check_room(len(chosen))
        return list(chosen)

    def announce(self, uri: str, outbox: Outbox) -> None:
        """Notify the client of a change of the resource at *uri*, if it watches that."""
        for make in self.list_news(uri):
            outbox.enqueue_made(make, len(uri))

    def list_news(self, uri: str) -> list[Callable[[], bytes | None]]:
        """Return functions that make the notifications of a change of the resource at *uri*.

        One that waits to be written is enough, however often the resource changes before.
        """
        found: list[Id | None] = [*find_subscriptions(self._in_flight, RESOURCE + uri)]
        if uri in self._of_legacy_client:
            found.append(None)
        news: list[Callable[[], bytes | None]] = []
        with self._lock:
            for id in found:
                if (uri, id) in self._announced:
                    continue
                self._announced.add((uri, id))
                news.append(partial(self._make, uri, id))
        return news

    def _make(self, uri: str, id: Id | None) -> bytes | None:
        with self._lock:
            self._announced.discard((uri, id))
        params: dict[str, Any] = {"uri": uri}
        if id is None:
            is_watched = uri in self._of_legacy_client
        else:
            is_watched = id in self._in_flight.subscriptions
            params["_meta"] = {META_SUBSCRIPTION_ID: id}
        if not is_watched:  # the client has ended it since
            return None
        return messages.encode_notification("notifications/resources/updated", params)

    def _can_watch(self, uri: str, catalog: Catalog) -> bool:
        if len(uri) > MAX_URI_CHARACTERS:
            return False
        from .lookup import find_resource  # few clients watch resources

        found = find_resource(uri, catalog, self._in_flight.kept)
        if found is None:  # lists of an earlier start show what will be there
            return not (catalog.resources or catalog.templates)
        return found.entry.function is not None  # those of mounted servers report nothing here

    def _check_room(self, more: int) -> None:
        """Raise a `RequestError` if the client would watch too many resources."""
        watched = len(self._of_legacy_client)
        for topics in self._in_flight.subscriptions.values():
            for topic in topics:
                watched += topic.startswith(RESOURCE)
        if watched + more > MAX_WATCHED:
            problem = f"a client watches no more than {MAX_WATCHED} resources"
            log.warn_rarely("watched resources", f"subscriptions are refused: {problem}")
            raise RequestError(OVERLOADED, f"Overloaded: {problem}")
