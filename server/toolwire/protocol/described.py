"""The entries of the lists of a catalog, and what the newer form of a list changes."""

from __future__ import annotations

from typing import Any, Protocol

from .lifecycle import UNCACHED


class Described(Protocol):
    """An entry of a list: a tool, or what an earlier start has kept of one."""

    def describe(self) -> dict[str, Any]:
        """Return the entry as clients get it."""


def complete_page(page: dict[str, Any], kind: str) -> None:
    """Change a *page* of the list of *kind* into one of 2026-07-28.

    Tools have no `execution` there: the server alone decides which calls become tasks.
    """
    entries = [dict(entry) for entry in page[kind]]
    for entry in entries:
        entry.pop("execution", None)
    page[kind] = entries
    page.update(UNCACHED)
