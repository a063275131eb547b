"""What changed between two lists of tools, and whom that breaks.

`between` compares the entries of two `tools/list` results, and `verdict` says what that asks of a
version's number. `takes_all` is the question beneath: does one JSON Schema take every value that
another takes? It says yes if that is proved, no with a value that shows it, and else that it is
unknown; it never guesses.
"""

from __future__ import annotations

from .subset import SubsetVerdict, takes_all
from .tool_lists import LEVELS, BadList, Change, Level, between, verdict

__all__ = [
    "LEVELS",
    "BadList",
    "Change",
    "Level",
    "SubsetVerdict",
    "between",
    "takes_all",
    "verdict",
]
