"""Regular expressions that Python and JavaScript both compile.

JSON Schema patterns are ECMA-262 by definition, and clients compile them with the `u` flag, under
which everything unusual is a syntax error; one such error costs some clients the whole tool list.
Python's `re` must compile them too.

Strategy. Read the pattern once, piece by piece, as far as both dialects agree. The tests keep a
corpus of patterns, and CI compiles it in Node to prove this grammar.
"""

from __future__ import annotations

import functools
import re

_ESCAPED = r"u[0-9a-fA-F]{4} | x[0-9a-fA-F]{2} | 0(?![0-9]) | [fnrtv^$\\.*+?()\[\]{}|/]"
_MEMBER = rf"(?: \\(?: {_ESCAPED} | [b-] ) | [^\]\\] )"
_PIECE = re.compile(
    rf"""
    (?P<reference>\\(?P<number>[1-9][0-9]*))
  | (?P<atom>\\(?: {_ESCAPED} | [dDwWsS] ) | [^\\^$*+?()\[\]{{}}|]
      # In a class, a set such as \w is neither end of a range.
      | \[\^?+(?!\])(?: \\[dDwWsS](?!-[^\]]) | {_MEMBER}-{_MEMBER} | {_MEMBER}(?!-[^\]]) )*\] )
  | (?P<quantifier>(?: [*+?] | \{{[0-9]+(?:,[0-9]*)?\}} )\??)
  | (?P<look>\(\?<?[=!])
  | (?P<open>\((?: \?: | (?!\?) ))
  | (?P<close>\))
  | (?P<between>[\^$|] | \\[bB])
    """,
    re.VERBOSE,
)
_ADVICE = {
    "(?P": "named groups are written differently in Python and JavaScript; use a plain group",
    "(?": "JavaScript has no inline flags, comments, atomic or conditional groups",
    "[": (
        "in a class, write a ] that comes first as \\], a hyphen after a set like \\d as \\-, and"
        " no other escape"
    ),
    "\\A": "\\A is Python's; use ^",
    "\\Z": "\\Z is Python's; use $",
    "\\": "JavaScript refuses this escape; write the character alone, or as \\xXX",
    "": "as a literal, it must be written with a backslash",
}
"""What to write instead, by how the rest of the pattern begins; the first one that fits."""


@functools.lru_cache(maxsize=512)
def find_problem(pattern: str) -> str | None:
    """Return why *pattern* is not portable, with what to write instead, or None if it is fine."""
    try:
        groups = re.compile(pattern).groups
    except (re.error, OverflowError, RecursionError) as error:
        return f"Python cannot compile it ({error})"
    position = 0
    may_repeat = False
    are_looks: list[bool] = []
    while position < len(pattern):
        piece = _PIECE.match(pattern, position)
        if piece is None:
            rest = pattern[position:]
            advice = next(advice for start, advice in _ADVICE.items() if rest.startswith(start))
            return f"{rest[:3]} at character {position + 1}: {advice}"
        if piece["number"] and int(piece["number"]) > groups:
            return f"{piece[0]} is an octal number to Python and an error to JavaScript; use \\xXX"
        if piece["quantifier"] and not may_repeat:
            return f"JavaScript cannot repeat what stands before {piece[0]}"
        if piece["look"] or piece["open"]:
            are_looks.append(bool(piece["look"]))
        may_repeat = (
            not are_looks.pop() if piece["close"] else bool(piece["atom"] or piece["reference"])
        )
        position = piece.end()
    return None
