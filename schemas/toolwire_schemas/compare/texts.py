"""Whether a text matches a pattern, wherever patterns are read alike."""

from __future__ import annotations

from functools import lru_cache

from ..json_schema.linear_regex import Budget, CannotJudge, search
from ..json_schema.portable_regex import problem


@lru_cache(maxsize=4096)
def matches(pattern: str, text: str) -> bool | None:
    """Return whether a part of *text* matches *pattern*; `None` where Python and JavaScript may differ, or
    where it takes too long.

    Among ASCII they do so only about patterns that one of them cannot compile, and about what ends in a line break.
    """
    if not text.isascii() or not text.isprintable() or problem(pattern) is not None:
        return None
    try:
        return search(pattern, text, Budget().spend)
    except CannotJudge:
        return None
