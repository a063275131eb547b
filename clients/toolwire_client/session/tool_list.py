"""The tools of one running server: read page by page, and kept while they are known to be the same.

That is so for as long as the server promises to tell of changes and tells of none; and since MCP 2026-07-28 for as many
milliseconds as it says in `ttlMs`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import BrokenRules
from ..protocol.events import Asked

if TYPE_CHECKING:
    from ..waiting.deadline import Limit
    from .connection import Arrival, Connection
    from .request import Exchange

_MAX_PAGES = 1000
_MAX_SECONDS = 24 * 3600.0
"""For which a list is kept on the word of `ttlMs` alone: as long as the official Python client does."""


class Listing:
    """The list that a server gave, if it is still the server's."""

    def __init__(self) -> None:
        self._changes = 0
        self._promised = False
        self._subscribed = False
        self._kept: _Kept | None = None

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
        kept = self._kept
        if kept is None or not self._is_the_same(kept):
            changes, now = self._changes, time.monotonic()
            entries, seconds = await _pages(exchange, limit)
            fresh_until = now + seconds if exchange.connection.session.is_modern else now
            self._kept = kept = _Kept(entries, changes, fresh_until, promised=self._promised)
        return list(kept.entries)

    def _is_the_same(self, kept: _Kept) -> bool:
        is_promised = kept.promised and self._promised
        return kept.changes == self._changes and (is_promised or time.monotonic() < kept.fresh_until)


class _Subscription:
    """Where the end of a subscription arrives: as its answer, or with the server's end."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing

    def __len__(self) -> int:
        return 0

    def put(self, arrival: Arrival) -> None:
        if not isinstance(arrival, Asked):
            self._listing.promise(to_tell=False)


class _Kept(msgspec.Struct, frozen=True):
    """A list, how many changes there had been before it was read, and why it may still be the same."""

    entries: list[Any]
    changes: int
    fresh_until: float
    promised: bool


async def _pages(exchange: Exchange, limit: Limit) -> tuple[list[Any], float]:
    """All of a list, and for how many seconds it is said to be the same."""
    entries: list[Any] = []
    seconds = _MAX_SECONDS
    seen: set[str] = set()
    params: dict[str, Any] = {}
    for _ in range(_MAX_PAGES):
        exchange.begin("tools/list", params)
        page = await exchange.result(limit)
        if not isinstance(page, dict) or not isinstance(page.get("tools"), list):
            raise BrokenRules("the server's list of tools is no list")
        entries += page["tools"]
        seconds = min(seconds, _seconds(page.get("ttlMs")))
        cursor = page.get("nextCursor")
        if cursor is not None and not isinstance(cursor, str):
            raise BrokenRules(f"the server's list of tools goes on at {cursor!r}, which is no text")
        if cursor is None or cursor in seen:  # some servers never stop giving cursors
            return entries, seconds
        seen.add(cursor)
        params = {"cursor": cursor}
    raise BrokenRules(f"the server's list of tools goes on after {_MAX_PAGES} pages")


def _seconds(milliseconds: Any) -> float:
    return max(0.0, milliseconds / 1000) if type(milliseconds) is int else 0.0
