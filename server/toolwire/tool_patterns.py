"""Patterns that choose tools by name or tag: those of `--include`, `--exclude` and `--pin`."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolwire_tools import Tool

TAG = "tag:"
"""Stands before a pattern of tags."""


def matches(tool: Tool, patterns: Iterable[str]) -> bool:
    """Return whether a name, or a tag, of *tool* matches one of *patterns*."""
    tags = [f"{TAG}{tag}" for tag in tool.entry.options.tags]
    for pattern in patterns:
        names = tags if pattern.startswith(TAG) else (tool.name, *tool.entry.spellings)
        if any(fnmatchcase(name, pattern) for name in names):
            return True
    return False
