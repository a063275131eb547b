"""The view of a catalog on the entries of its lists."""

from __future__ import annotations

from typing import Any, Protocol


class Described(Protocol):
    """An entry of a list: a tool, or what an earlier start has kept of one."""

    def describe(self) -> dict[str, Any]:
        """Return the entry as clients get it."""
