"""Which sessions get which log messages and changes of resources of a server that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire_tools.context.context import LEVELS

if TYPE_CHECKING:
    from collections.abc import Hashable


class Listeners:
    """The log level that each session has chosen, and the resources to which it subscribes."""

    def __init__(self) -> None:
        self._levels: dict[Hashable, int] = {}
        self._subscribers: dict[str, set[Hashable]] = {}

    def choose_level(self, session: Hashable, level: str) -> str:
        """Note the *level* of *session*, one of `LEVELS`; return the lowest of all sessions."""
        self._levels[session] = LEVELS.index(level)
        return LEVELS[min(self._levels.values())]

    def subscribe(self, session: Hashable, uri: str) -> None:
        """Note that *session* subscribes to the resource at *uri*."""
        self._subscribers.setdefault(uri, set()).add(session)

    def unsubscribe(self, session: Hashable, uri: str) -> bool:
        """Forget a subscription of *session*; return whether another session still has it."""
        subscribers = self._subscribers.get(uri, set())
        subscribers.discard(session)
        if subscribers:
            return True
        self._subscribers.pop(uri, None)
        return False

    def forget(self, session: Hashable) -> list[str]:
        """Forget *session*; return the URIs to which no session subscribes any more."""
        self._levels.pop(session, None)
        unused = []
        for uri, subscribers in list(self._subscribers.items()):
            subscribers.discard(session)
            if not subscribers:
                del self._subscribers[uri]
                unused.append(uri)
        return unused

    def reads(self, session: Hashable, level: str) -> bool:
        """Return whether *session* gets log messages of *level*: all unless it has chosen one."""
        return self._levels.get(session, 0) <= LEVELS.index(level)

    def find_subscribers(self, changed: str) -> set[Hashable]:
        """Return the sessions that subscribe to the *changed* resource, or to one that contains
        it.
        """
        found: set[Hashable] = set()
        for uri, subscribers in self._subscribers.items():
            if changed.startswith(uri):
                found |= subscribers
        return found
