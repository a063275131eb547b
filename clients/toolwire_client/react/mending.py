"""Changes that make JSON of what almost is, and that cannot change what it says.

They are: Python's `True`, `False` and `None`; its strings in single quotes; a comma behind the last member;
full-width punctuation and quotes around strings (`“…”：`); blanks that JSON does not know. Nothing is added at the
end, no bracket is closed, and within strings nothing changes but the way a quotation mark is written.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

BLANK = r"[\s\ufeff\u200b]"

_TOKEN = re.compile(
    rf"""
      (?P<string>"(?:[^"\\]++|\\.)*+")
    | (?P<single>'(?:[^'\\]++|\\.)*+')
    | (?P<curly>[“”＂][^“”＂"\\]*+[“”＂])
    | (?P<unended>["'“”＂])
    | (?P<word>\b(?:True|False|None)\b)
    | (?P<stray>[{{\[｛［]{BLANK}*+[,，])  # a comma behind nothing; as it stays, this will be no JSON
    | (?P<trailing>[,，](?={BLANK}*+[}}\]｝］]))
    | (?P<wide>[，：｛｝［］])
    | (?P<blank>{BLANK}++)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_WIDE = dict(zip("，：｛｝［］", ",:{}[]", strict=True))
_WORDS = {"True": "true", "False": "false", "None": "null"}


class Mended(msgspec.Struct, frozen=True):
    """An object, mended, and where it ended in the text it was taken from."""

    text: str
    end: int


def mended(text: str, start: int) -> Mended | None:
    """Return what stands in *text* from the brace at *start* to the one that closes it; None if nothing closes it."""
    parts: list[str] = []
    depth = 0
    for token in _TOKEN.finditer(text, start):
        kind = token.lastgroup
        if kind == "unended":
            return None
        change = _CHANGES.get(kind or "")
        part = change(token[0]) if change else token[0]
        parts.append(part)
        depth += (part in ("{", "[")) - (part in ("}", "]"))
        if depth == 0:
            return Mended("".join(parts), token.end())
    return None


def _requoted(string: str) -> str:
    inside = re.sub(r"\\.|\"", lambda found: _ESCAPES.get(found[0], found[0]), string[1:-1], flags=re.DOTALL)
    return f'"{inside}"'


_ESCAPES = {"\\'": "'", '"': '\\"'}
_CHANGES: dict[str, Callable[[str], str]] = {
    "single": _requoted,
    "curly": lambda string: f'"{string[1:-1]}"',
    "word": _WORDS.__getitem__,
    "trailing": lambda comma: "",
    "wide": _WIDE.__getitem__,
    "blank": lambda blank: " ",
}
