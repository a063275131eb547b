"""The number of examples of a property that needs more, or fewer, than Hypothesis's 100."""

from __future__ import annotations

from hypothesis import settings

_USUAL = 100


def examples(number: int) -> int:
    """Return *number*, reduced as much as the loaded profile reduces the usual 100."""
    return max(3, number * settings.default.max_examples // _USUAL)
