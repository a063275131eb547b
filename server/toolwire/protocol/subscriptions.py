"""Requests that stay open: subscriptions of modern clients to changes of lists and of tasks, and
requests that wait for the result of a task. Imported for the first of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    META_SUBSCRIPTION_ID,
    METHOD_NOT_FOUND,
    SHUTTING_DOWN,
)

from ..errors import RequestError
from .lifecycle import modern_result
from .overload import too_many_calls

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from toolwire_schemas.wire.messages import Id

    from .call import Origin
    from .in_flight import InFlight
    from .lifecycle import Identity
    from .running import CallServices


TASK = "task:"
"""Before the handle of a task in the set of a subscription."""
RESULT = "result:"
"""Before the handle of a task whose result an open request waits for."""


def begin(
    in_flight: InFlight,
    id: object,
    params: dict[str, Any],
    origin: Origin,
    lists: Collection[str],
    host: CallServices,
) -> bytes:
    """Add a subscription to some of *lists*, and of the tasks of *host*.

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
    tasks: list[str] = []
    if "taskIds" in wanted:
        tasks = host.tasks().subscribe(wanted["taskIds"], params)
        granted["taskIds"] = tasks
    open_request(in_flight, id, frozenset((*chosen, *(TASK + task for task in tasks))))
    return _notification("subscriptions/acknowledged", id, {"notifications": granted})


def open_request(in_flight: InFlight, id: Id, topics: frozenset[str]) -> None:
    """Keep the request *id* open for *topics*.

    Raises:
        RequestError: if the id is in use, or too many requests are open.
    """
    in_flight.check_unused(id)
    if len(in_flight.subscriptions) >= in_flight.max_calls:
        raise too_many_calls(in_flight.max_calls)
    in_flight.subscriptions[id] = topics


def find_subscriptions(in_flight: InFlight, topic: str) -> list[Id]:
    """Return the ids of the open requests for *topic*."""
    return [id for id, topics in list(in_flight.subscriptions.items()) if topic in topics]


def take_open_requests(in_flight: InFlight, topic: str) -> list[Id]:
    """Remove the open requests for *topic*, and return their ids."""
    found = find_subscriptions(in_flight, topic)
    return [id for id in found if in_flight.subscriptions.pop(id, None) is not None]


def changes(before: Any, after: Any, host: CallServices) -> list[str]:
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


def notifications(in_flight: InFlight, changed: Iterable[str], *, is_legacy: bool) -> list[bytes]:
    """Return the notifications of the lists that have *changed*; one of them for a legacy
    client.
    """
    news = []
    for name in changed:
        subscribed = find_subscriptions(in_flight, name)
        news += [_notification(f"{name}/list_changed", id, {}) for id in subscribed]
        if is_legacy:
            news.append(messages.notification(f"notifications/{name}/list_changed"))
    return news


def end_all(in_flight: InFlight, identity: Identity) -> list[bytes]:
    """End all subscriptions, and requests that wait for a task; return their responses."""
    ended = dict(in_flight.subscriptions)
    in_flight.subscriptions.clear()
    return [_end(id, topics, identity) for id, topics in ended.items()]


def _end(id: Id, topics: frozenset[str], identity: Identity) -> bytes:
    if any(topic.startswith(RESULT) for topic in topics):
        return messages.error(id, SHUTTING_DOWN, "The server exits before the task has ended")
    return messages.response(id, modern_result(identity, {"_meta": {META_SUBSCRIPTION_ID: id}}))


def _notification(name: str, id: Id, params: dict[str, Any]) -> bytes:
    return messages.notification(
        f"notifications/{name}", {**params, "_meta": {META_SUBSCRIPTION_ID: id}}
    )
