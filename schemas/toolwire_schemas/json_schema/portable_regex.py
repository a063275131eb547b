"""Regular expressions that Python and JavaScript both compile.

JSON Schema patterns are ECMA-262 by definition, and clients compile them with the `u` flag, under which everything
unusual is a syntax error; one such error costs some clients the whole tool list. Python's `re` must compile them too.

Strategy. Read the pattern once, piece by piece, against what both dialects know; anything else is named. The tests
keep a corpus of patterns, and CI compiles it in Node to prove this list.
"""

from __future__ import annotations

import functools
import re

_PIECE = re.compile(
    r"""
    (?P<escape>\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[0-9]+|.|\Z))
  | (?P<group>\(\?(?:P?<?[=!]|:|.?))
  | (?P<open>\()
  | (?P<close>\))
  | (?P<class>\[\^?)
  | (?P<quantifier>(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})(?P<mode>[?+]?))
  | (?P<anchor>[\^$])
  | (?P<brace>[{}\]])
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_CLASS = re.compile(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[0-9]+|.)|.", re.DOTALL)

_SYNTAX = frozenset("^$\\.*+?()[]{}|/")
_SETS = frozenset("dDwWsS")
_CONTROLS = frozenset("fnrtv")
_LOOK = ("(?=", "(?!", "(?<=", "(?<!")

_GROUPS = {
    "(?P": "named groups are written differently in Python and JavaScript; use a plain group",
    "(?<": "named groups are written differently in Python and JavaScript; use a plain group",
    "(?#": "JavaScript has no comments in patterns",
    "(?>": "JavaScript has no atomic groups",
    "(?(": "JavaScript has no conditional groups",
}
_ESCAPES = {
    "A": "\\A is Python's; use ^",
    "Z": "\\Z is Python's; use $",
    "z": "\\z is unknown to JavaScript; use $",
    "N": "\\N{…} is Python's; use the character or \\uXXXX",
    "U": "\\UXXXXXXXX is Python's; use the character",
    "a": "\\a is Python's; use \\x07",
}


@functools.lru_cache(maxsize=512)
def problem(pattern: str) -> str | None:
    """Return why *pattern* is not portable, with what to write instead, or None if it is fine."""
    try:
        groups = re.compile(pattern).groups
    except (re.error, OverflowError, RecursionError) as error:
        return f"Python cannot compile it ({error})"
    return _read(pattern, groups)


def _read(pattern: str, groups: int) -> str | None:
    position = 0
    repeatable = False  # what the piece before is: a quantifier may follow an atom only
    looks: list[bool] = []
    while piece := _PIECE.match(pattern, position):
        kind, text, position = str(piece.lastgroup), piece[0], piece.end()
        if kind == "mode":
            kind = "quantifier"
        fault: str | None = None
        if kind == "escape":
            fault = _escape(text, groups)
            repeatable = text not in ("\\b", "\\B")
        elif kind == "group":
            fault = None if text in (*_LOOK, "(?:") else _GROUPS.get(text[:3], "JavaScript has no inline flags")
            looks.append(text in _LOOK)
            repeatable = False
        elif kind == "open":
            looks.append(False)
            repeatable = False
        elif kind == "close":
            repeatable = not (looks.pop() if looks else False)
        elif kind == "class":
            position, fault = _class(pattern, position)
            repeatable = True
        elif kind == "quantifier":
            fault = _quantifier(piece, repeatable)
            repeatable = False
        elif kind == "brace":
            fault = f"a literal {text} must be written \\{text}"
        else:
            repeatable = kind == "other" and text != "|"
        if fault:
            return fault
    return None


def _escape(text: str, groups: int) -> str | None:
    body = text[1:]
    if body.isdigit():
        if body == "0" or (body[0] != "0" and int(body) <= groups):
            return None
        return f"{text} is an octal number to Python and an error to JavaScript; use \\xXX"
    if len(body) > 1 or body in _SYNTAX or body in _SETS or body in _CONTROLS or body in "bB":
        return None
    return _ESCAPES.get(body, f"JavaScript refuses the escape {text}; write {body} alone")


def _quantifier(piece: re.Match[str], repeatable: bool) -> str | None:
    if piece["mode"] == "+":
        return "JavaScript has no possessive quantifiers"
    return None if repeatable else f"JavaScript cannot repeat what stands before {piece[0]}"


def _class(pattern: str, position: int) -> tuple[int, str | None]:
    """Read a character class from *position*, just after its bracket; return where it ends, and what is wrong."""
    if pattern.startswith("]", position):
        return position, "a ] that comes first in a class must be written \\]"
    before: str | None = None  # the last member, if a range may start there
    while piece := _IN_CLASS.match(pattern, position):
        text, position = piece[0], piece.end()
        if text == "]":
            return position, None
        if text[0] == "\\" and (fault := _escape_in_class(text)):
            return position, fault
        if text == "-" and before is not None and not pattern.startswith("]", position):
            piece = _IN_CLASS.match(pattern, position)
            end = piece[0] if piece else ""
            position = piece.end() if piece else position
            if end[:1] == "\\" and (fault := _escape_in_class(end)):
                return position, fault
            if _is_set(before) or _is_set(end):
                return position, f"{before}-{end} is no range; write the hyphen as \\-"
            before = None
        else:
            before = text
    return position, None


def _escape_in_class(text: str) -> str | None:
    body = text[1:]
    if body.isdigit():
        return None if body == "0" else f"{text} is an octal number to Python and an error to JavaScript; use \\xXX"
    if body == "-":
        return None
    if body == "B":
        return "\\B has no meaning inside a class"
    return _escape(text, 0)


def _is_set(text: str) -> bool:
    return text[0] == "\\" and text[1:] in _SETS
