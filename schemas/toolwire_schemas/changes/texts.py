"""Whether a text matches a pattern, wherever patterns are read alike."""

from __future__ import annotations

import re
from functools import lru_cache

from ..patterns import problem


@lru_cache(maxsize=4096)
def matches(pattern: str, text: str) -> bool | None:
    """Return whether a part of *text* matches *pattern*; `None` where Python and JavaScript may differ.

    Among ASCII they do so only about patterns that one of them cannot compile, and about what ends in a line break.
    """
    if not text.isascii() or not text.isprintable() or problem(pattern) is not None:
        return None
    return re.search(pattern, text) is not None
