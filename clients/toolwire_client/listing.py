"""The tools of one running server: read page by page, kept for as long as it promises to tell when they change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import BrokenRules
from .events import Asked

if TYPE_CHECKING:
    from .connection import Arrival, Connection
    from .exchange import Exchange
    from .limit import Limit

_MAX_PAGES = 1000


class Listing:
    """The list that a server gave, if it is still the server's."""

    def __init__(self) -> None:
        self._changes = 0
        self._promised = False
        self._subscribed = False
        self._kept: tuple[int, list[Any]] | None = None

    def changed(self) -> None:
        """Take note that the list is another one now. From any thread."""
        self._changes += 1

    def promise(self, *, to_tell: bool) -> None:
        """Take note whether the server will tell of changes. From any thread."""
        self._promised = to_tell

    def subscribe(self, connection: Connection) -> None:
        """Ask a modern server, once, to tell of changes: before the list is read, so that none is missed."""
        if not self._subscribed:
            self._subscribed = True
            connection.begin(connection.session.listen(), _Subscription(self))

    async def read(self, exchange: Exchange, limit: Limit) -> list[Any]:
        """Return the list: the one that is known, or else all of the server's pages.

        Raises what `Exchange.result` raises.
        """
        if self._kept is not None and self._promised and self._kept[0] == self._changes:
            return list(self._kept[1])
        changes = self._changes
        entries = await _pages(exchange, limit)
        if self._promised:
            self._kept = changes, entries
        return list(entries)


class _Subscription:
    """Where the end of a subscription arrives: as its answer, or with the server's end."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing

    def __len__(self) -> int:
        return 0

    def put(self, arrival: Arrival) -> None:
        if not isinstance(arrival, Asked):
            self._listing.promise(to_tell=False)


async def _pages(exchange: Exchange, limit: Limit) -> list[Any]:
    entries: list[Any] = []
    seen: set[str] = set()
    params: dict[str, Any] = {}
    for _ in range(_MAX_PAGES):
        exchange.begin("tools/list", params)
        page = await exchange.result(limit)
        if not isinstance(page, dict) or not isinstance(page.get("tools"), list):
            raise BrokenRules("the server's list of tools is no list")
        entries += page["tools"]
        cursor = page.get("nextCursor")
        if cursor is not None and not isinstance(cursor, str):
            raise BrokenRules(f"the server's list of tools goes on at {cursor!r}, which is no text")
        if cursor is None or cursor in seen:  # some servers never stop giving cursors
            return entries
        seen.add(cursor)
        params = {"cursor": cursor}
    raise BrokenRules(f"the server's list of tools goes on after {_MAX_PAGES} pages")
