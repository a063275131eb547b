"""Which entries of a wrapped server's lists are served: repaired ones, or all as they came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_dialects.tool_entry import read_text
from toolwire_schemas.wire.codec import encode

from ..mounting.listed_entries import MountedEntries
from ..mounting.mounted_entry import mount_entry
from . import get_object
from .host_rules import adapt, count_readings, repair_entry

if TYPE_CHECKING:
    from collections import Counter

    from toolwire_tools import Tool

    from ..mounting.listed_entries import Kept
    from ..mounting.mounted_entry import Forward


class RepairedEntries:
    """Rules that keep an entry of a tool that clients would refuse, without the members at fault.

    *name* is that of the server in the log.
    """

    def __init__(self, name: str) -> None:
        self._mounted = MountedEntries(name, prefix="")

    def select(self, page: list[Any], kind: str, kept: Kept) -> list[Any]:
        """As `EntryRules.select`."""
        if kind == "tools":
            page = [repair_entry(entry) for entry in page]
        return self._mounted.select(page, kind, kept)

    def make_tool(self, entry: Any, kind: str, forward: Forward) -> Tool:
        """As `EntryRules.make_tool`."""
        return self._mounted.make_tool(entry, kind, forward)


class UnchangedTools:
    """Rules that keep every entry of a tool as it came, which may be anything.

    *name* is that of the server in the log; *counts* gets the calls with corrected arguments.
    """

    def __init__(self, name: str, counts: Counter[str]) -> None:
        self._mounted = MountedEntries(name, prefix="")
        self._counts = counts

    def select(self, page: list[Any], kind: str, kept: Kept) -> list[Any]:
        """As `EntryRules.select`; a page that is too large is left out as a whole."""
        if kind != "tools":
            return self._mounted.select(page, kind, kept)
        kept.left -= len(encode([page]))
        if kept.left < 0:
            return []
        return page

    def make_tool(self, entry: Any, kind: str, forward: Forward) -> Tool:
        """As `EntryRules.make_tool`."""
        if kind != "tools":
            return self._mounted.make_tool(entry, kind, forward)
        listed = entry if isinstance(entry, dict) else {}
        name = read_text(listed.get("name"))
        known = {"name": name, "inputSchema": get_object(listed, "inputSchema")}
        tool = mount_entry("", forward, kind, known)
        return adapt(count_readings(tool, self._counts), name, entry)
