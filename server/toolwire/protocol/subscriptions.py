"""Who wants to hear that the tools have changed: MCP's `subscriptions/listen`, and the older way.

A modern client asks to be told, by a request that stays open until it is cancelled or the server ends. A legacy one
is told because the server said, at `initialize`, that it would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codes import INVALID_PARAMS, META_SUBSCRIPTION_ID

from ..errors import RequestError

if TYPE_CHECKING:
    from toolwire_schemas.wire.messages import Id

_KIND = "toolsListChanged"
"""The one kind of news there is from a server that has only tools."""


class Subscriptions:
    """The open `subscriptions/listen` requests, by their ids. Used under the protocol's lock."""

    def __init__(self) -> None:
        self.ids: dict[Id, bool] = {}
        """The open requests, each with whether it wants to hear of tools."""

    def open(self, id: Id, params: dict[str, Any]) -> bytes:
        """Return the notification that acknowledges the request: what it will hear of, of all it asked for.

        Raises:
            RequestError: if the params are not those of the method.
        """
        wanted = params.get("notifications")
        if not isinstance(wanted, dict):
            raise RequestError(
                INVALID_PARAMS, "params.notifications must be an object such as {'toolsListChanged': true}"
            )
        self.ids[id] = wanted.get(_KIND) is True
        granted = {_KIND: True} if self.ids[id] else {}
        return _notification("subscriptions/acknowledged", id, {"notifications": granted})

    def close(self, id: Id) -> bool:
        """Forget the request; false if it was not open."""
        return self.ids.pop(id, None) is not None

    def news(self) -> list[bytes]:
        """Return what tells every subscriber that the list of tools has changed."""
        return [_notification("tools/list_changed", id, {}) for id, wanted in self.ids.items() if wanted]

    def close_all(self) -> list[Id]:
        """Forget all requests and return their ids: they are owed an answer."""
        ids = list(self.ids)
        self.ids.clear()
        return ids


def _notification(name: str, id: Id, params: dict[str, Any]) -> bytes:
    return messages.notification(f"notifications/{name}", {**params, "_meta": {META_SUBSCRIPTION_ID: id}})
