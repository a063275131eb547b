"""Subscriptions of modern clients to changes of the tool list. Imported for the first `subscriptions/listen`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.messages import INVALID_PARAMS, INVALID_REQUEST, META_SUBSCRIPTION_ID

from ..errors import RequestError
from .lifecycle import modern_result

if TYPE_CHECKING:
    from toolwire_schemas.wire.messages import Id

    from .call import Batch
    from .in_flight import InFlight
    from .lifecycle import Identity


def begin(in_flight: InFlight, id: object, params: dict[str, Any], batch: Batch | None) -> bytes:
    """Add a subscription; return the notification that names what it includes, of all that the client asked for."""
    if batch is not None or not isinstance(id, str | int):
        raise RequestError(INVALID_REQUEST, "subscriptions/listen must be a request of its own, outside of batches")
    wanted = params.get("notifications")
    if not isinstance(wanted, dict):
        raise RequestError(INVALID_PARAMS, "params.notifications must be an object such as {'toolsListChanged': true}")
    to_tools = wanted.get("toolsListChanged") is True
    in_flight.subscribe(id, to_tools)
    granted = {"toolsListChanged": True} if to_tools else {}
    return _notification("subscriptions/acknowledged", id, {"notifications": granted})


def tools_changed(in_flight: InFlight) -> list[bytes]:
    """Return the notifications that the tool list has changed."""
    subscribed = [id for id, to_tools in list(in_flight.subscriptions.items()) if to_tools]
    return [_notification("tools/list_changed", id, {}) for id in subscribed]


def end_all(in_flight: InFlight, identity: Identity) -> list[bytes]:
    """End all subscriptions; return their responses."""
    ids = list(in_flight.subscriptions)
    in_flight.subscriptions.clear()
    return [messages.response(id, modern_result(identity, {"_meta": {META_SUBSCRIPTION_ID: id}})) for id in ids]


def _notification(name: str, id: Id, params: dict[str, Any]) -> bytes:
    return messages.notification(f"notifications/{name}", {**params, "_meta": {META_SUBSCRIPTION_ID: id}})
