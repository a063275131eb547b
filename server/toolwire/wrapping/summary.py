"""The line about what a wrap has done, which stderr gets at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import COUNTED

if TYPE_CHECKING:
    from collections import Counter


def summarize(name: str, counts: Counter[str], *, has_warned: bool) -> str:
    """Return the summary for the server *name*, by the *counts* of each thing in `COUNTED`.

    *has_warned* is whether the log has warnings, which matter more than that nothing was done.
    """
    done = []
    for key, (once, often) in COUNTED.items():
        count = counts[key]
        if count:
            done.append(f"{count} {once if count == 1 else often}")
    if done:
        return f"{name}: {', '.join(done)}"
    if has_warned:
        return f"{name}: nothing had to be changed; see the warnings above"
    return f"{name}: nothing had to be done"
