"""From the lists of a mounted server to tools: which of its entries are kept, and what they become.

Strategy. One entry that a host cannot read makes it refuse the whole list, so an entry with a fault
is left out, and the log says why. A wrap has rules of its own (`wrapping/listed_entries.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from toolwire_schemas.output import make_printable
from toolwire_schemas.wire.codec import encode

from .. import log
from .entry_problems import find_problem
from .mounted_entry import mount_entry

if TYPE_CHECKING:
    from toolwire_tools import Tool

    from .mounted_entry import Forward

MAX_LIST_BYTES = 4 * 1024 * 1024
"""Beyond this, entries are left out: all lists together must fit into a response."""


class Kept:
    """What one reading of the lists has kept: the kinds and names, and how many bytes are left."""

    def __init__(self) -> None:
        self.keys: set[tuple[str, str]] = set()
        self.left = MAX_LIST_BYTES


class EntryRules(Protocol):
    """Decides about the entries of a server's lists."""

    def select(self, page: list[Any], kind: str, kept: Kept) -> list[Any]:
        """Return the entries to keep of a page of the list of *kind*, and note them in *kept*."""

    def make_tool(self, entry: Any, kind: str, forward: Forward) -> Tool:
        """Return a kept entry as a tool of *kind*, whose calls *forward* sends to the server."""


class MountedEntries:
    """The rules for the server *name*: all well-formed entries, with *prefix* in their names."""

    def __init__(self, name: str, prefix: str) -> None:
        self._name = name
        self._prefix = prefix

    def select(self, page: list[Any], kind: str, kept: Kept) -> list[Any]:
        """As `EntryRules.select`."""
        entries = []
        for entry in page:
            problem = self._find_problem(entry, kind, kept)
            if problem is None:
                entries.append({name: value for name, value in entry.items() if value is not None})
                continue
            what = f"an entry of {self._name}'s list of {kind} is left out: {problem}"
            log.warn_rarely(f"{self._name} {kind}", make_printable(what))
        return entries

    def _find_problem(self, entry: Any, kind: str, kept: Kept) -> str | None:
        """Return why *entry* is left out; `None` if it is noted in *kept*."""
        problem = find_problem(entry, kind, kept.keys)
        if problem is not None:
            return problem
        size = len(encode(entry))
        if size > kept.left:
            return "the list is too large"
        kept.left -= size
        return None

    def make_tool(self, entry: Any, kind: str, forward: Forward) -> Tool:
        """As `EntryRules.make_tool`."""
        return mount_entry(self._prefix, forward, kind, entry)
