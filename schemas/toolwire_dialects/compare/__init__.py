"""What changed between two lists of tools, and whom that breaks.

`compare_lists` compares the entries of two `tools/list` results, and `judge_changes` says what that
asks of a version's number. `takes_all` is the question beneath: does one JSON Schema take every
value that another takes? It says yes if that is proved, no with a value that shows it, and else
that it is unknown; it never guesses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import toolwire_schemas

if TYPE_CHECKING:
    from .subset import SubsetVerdict as SubsetVerdict
    from .subset import takes_all as takes_all
    from .tool_lists import LEVELS as LEVELS
    from .tool_lists import BadList as BadList
    from .tool_lists import Change as Change
    from .tool_lists import Level as Level
    from .tool_lists import compare_lists as compare_lists
    from .tool_lists import judge_changes as judge_changes

_MODULES = toolwire_schemas.map_names_to_modules(
    {
        ".subset": "SubsetVerdict takes_all",
        ".tool_lists": "LEVELS BadList Change Level compare_lists judge_changes",
    }
)
"""Names imported at first use: a lock needs none of them."""
__all__ = sorted(_MODULES)
__getattr__ = toolwire_schemas.make_importer(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
