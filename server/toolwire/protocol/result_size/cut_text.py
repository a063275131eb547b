"""Cuts texts at a limit in bytes, between what people see as characters."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import category

from toolwire_schemas.wire.codec import DecodingError, decode, encode_plain

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_CHARACTER = 32
"""How many code points of one character stay together at most: there are joke texts with hundreds.
"""

_LONGEST_LINE = 1000
"""A cut moves back to the end of a line by this many code points at most, and by a tenth."""

_JOINED = (("\u1100", "\u11ff"), ("\U0001f1e6", "\U0001f1ff"))
"""Parts of Korean syllables, and the letters of flags: two neighbours may belong together."""

_JOINS = (("\u200d", "\u200d"), ("\U0001f3fb", "\U0001f3ff"), ("\U000e0020", "\U000e007f"))
"""What belongs to the code point before it, in addition to marks: joiners, skin colours, the tags
of regional flags.
"""


def cut_end(text: str, max_bytes: int) -> str:
    """Return the longest beginning of *text* that takes at most *max_bytes* as JSON and does not
    end in a character.

    It ends with a line if one ends nearby. A character is what people see as one, such as an emoji
    of several people.
    """
    max_bytes = max(max_bytes, 0)
    quoted = encode_plain(text[:max_bytes])
    data = quoted[1:-1][:max_bytes]
    while data:
        try:
            end = len(decode(b'"%b"' % data))
        except DecodingError:  # the cut is within an escape or a character of several bytes
            data = data[:-1]
        else:
            return text[: _find_cut(text, end)]
    return ""


def split_text(text: str, max_bytes: int) -> Iterator[str]:
    """Yield the pieces of *text*, each of at most *max_bytes* as JSON."""
    start = 0
    while start < len(text):
        longest = text[start : start + max_bytes + _LONGEST_CHARACTER]
        piece = cut_end(longest, max_bytes)
        yield piece
        start += len(piece)


def _find_cut(text: str, end: int) -> int:
    """Return the best place to cut *text*, at *end* or a little before."""
    if end >= len(text):
        return end
    nearby = end - min(_LONGEST_LINE, end // 10)
    newline = text.rfind("\n", nearby, end)
    if newline >= 0:
        return newline + 1
    for place in range(end, max(end - _LONGEST_CHARACTER, 0), -1):
        if not _are_joined(text[place - 1], text[place]):
            return place
    return end


def _are_joined(before: str, after: str) -> bool:
    """Return whether two code points belong to one character: about the rules of Unicode's annex
    29.
    """
    if before + after == "\r\n" or before == "\u200d" or category(after).startswith("M"):
        return True
    for first, last in _JOINED:
        if first <= before <= last and first <= after <= last:
            return True
    return any(first <= after <= last for first, last in _JOINS)
