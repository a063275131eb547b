"""A dialect: `toolwire list tools.py --as names` prints one name a line."""

from __future__ import annotations

from typing import Any


def from_entries(entries: list[dict[str, Any]]) -> str:
    """Return the text for the *entries* of `tools/list`; another JSON value is printed as JSON."""
    return "\n".join(entry["name"] for entry in entries)
