"""The tool list of one running server, read page by page and cached while it is known to be
current.

A list is current while the server promises change notifications and sends none; since MCP
2026-07-28 also for the milliseconds of its `ttlMs`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ..errors import BrokenRules
from ..protocol.events import ElicitationRequest
from ..waiting.base import Inbox

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_schemas.deadline import Deadline

    from .connection import Connection
    from .request import RequestHandle

_MAX_PAGES = 1000
_MAX_SECONDS = 24 * 3600.0
"""The longest `ttlMs` that is honoured, as by the official Python client."""


class CachedToolList:
    """The last list of a server, while it is current."""

    def __init__(self) -> None:
        self._changes = 0
        self._promised = False
        self._subscribed = False
        self._entries: list[Any] = []
        self._changes_before = -1
        self._fresh_until = 0.0
        self._was_promised = False

    def record_change(self) -> None:
        """Record a change notification. From any thread."""
        self._changes += 1

    def promise(self, *, will_notify: bool) -> None:
        """Record whether the server sends change notifications. From any thread."""
        self._promised = will_notify

    def subscribe(self, connection: Connection) -> None:
        """Subscribe once to a modern server's changes. Call it before the list is read, or a change
        may be missed.
        """
        if not self._subscribed:
            self._subscribed = True
            connection.begin(connection.protocol.listen(), _Subscription(self))

    def needs_task(self, name: str) -> bool:
        """Return whether the list, if it was read, says that the tool *name* runs only as a task
        (in MCP 2025-11-25).
        """
        for entry in self._entries:
            if not isinstance(entry, dict) or entry.get("name") != name:
                continue
            execution = entry.get("execution")
            return isinstance(execution, dict) and execution.get("taskSupport") == "required"
        return False

    async def read(self, handle: RequestHandle, deadline: Deadline) -> list[Any]:
        """Return the cached list if it is current, else read all pages."""
        changes, now = self._changes, time.monotonic()
        is_promised = self._was_promised and self._promised
        if self._changes_before != changes or not (is_promised or now < self._fresh_until):
            self._entries, seconds = await fetch_pages(handle, deadline)
            self._changes_before, self._was_promised = changes, self._promised
            self._fresh_until = now + seconds if handle.connection.protocol.is_modern else now
        return list(self._entries)


class _Subscription(Inbox):
    """Receives the end of a subscription: its response, or the end of the server."""

    def __init__(self, listing: CachedToolList) -> None:
        self._listing = listing

    def __len__(self) -> int:
        return 0

    def put(self, arrival: object) -> None:
        if not isinstance(arrival, ElicitationRequest):
            self._listing.promise(will_notify=False)


async def fetch_pages(
    handle: RequestHandle,
    deadline: Deadline,
    method: str = "tools/list",
    member: str = "tools",
    keep: Callable[[list[Any]], list[Any]] = list,
) -> tuple[list[Any], float]:
    """Return all entries, the *member* of each page, and the seconds for which the server declares
    them current.

    *keep* returns the entries of a page to keep, or raises the error to fail with.
    """
    what = f"the server's list of {member}"
    entries: list[Any] = []
    seconds = _MAX_SECONDS
    seen: set[str] = set()
    params: dict[str, Any] = {}
    for _ in range(_MAX_PAGES):
        handle.begin(method, params)
        page = await handle.wait_for_result(deadline)
        if not isinstance(page, dict) or not isinstance(page.get(member), list):
            raise BrokenRules(f"{what} is not a list")
        entries += keep(page[member])
        seconds = min(seconds, _convert_to_seconds(page.get("ttlMs")))
        cursor = page.get("nextCursor")
        if cursor is not None and not isinstance(cursor, str):
            raise BrokenRules(f"{what} has the nextCursor {cursor!r}, which is not a string")
        if cursor is None or cursor in seen:  # some servers repeat cursors for ever
            return entries, seconds
        seen.add(cursor)
        params = {"cursor": cursor}
    raise BrokenRules(f"{what} has more than {_MAX_PAGES} pages")


def _convert_to_seconds(milliseconds: Any) -> float:
    return max(0.0, milliseconds / 1000) if type(milliseconds) is int else 0.0
