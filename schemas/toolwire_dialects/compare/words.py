"""The verdict on changes, in words for people."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from .tool_lists import judge_changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .tool_lists import Change, Concerns, Level

WHOM: dict[Concerns, str] = {
    "callers": "who calls it",
    "readers": "who reads results",
    "approval": "who approves by hints",
    "models": "models",
    "people": "people",
}
HEADINGS: dict[Level, str] = {
    "major": "Breaking",
    "unknown": "Perhaps breaking",
    "minor": "Compatible",
    "patch": "Other",
}


def format_verdict(changes: Sequence[Change]) -> str:
    """Return the verdict on all *changes* together, as in `major: 3 changes break users.`"""
    counts: Counter[Level] = Counter()
    for change in changes:
        counts[change.level] += 1 if change.count is msgspec.UNSET else change.count
    match judge_changes(changes):
        case "none":
            return "none: nothing changed."
        case "major":
            verb = "breaks" if counts["major"] == 1 else "break"
            verdict = f"major: {_count_changes(counts['major'])} {verb} users"
            if counts["unknown"]:
                return f"{verdict}, and {counts['unknown']} more may."
            return f"{verdict}."
        case "unknown":
            return f"perhaps major: {_count_changes(counts['unknown'])} may break users."
        case level:
            return f"{level}: {_count_changes(counts.total())}, and none breaks users."


def _count_changes(number: int) -> str:
    if number == 1:
        return "1 change"
    return f"{number} changes"
