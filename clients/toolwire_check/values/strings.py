"""Strategies for strings of a length, a pattern and a format."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from toolwire_schemas.json_schema.linear_regex import Budget, search

from .formats import FORMATS
from .nasty_values import STRINGS

if TYPE_CHECKING:
    from .demands import Demands

_LONG = 100  # a longer string is made by repeating a shorter one

# One piece repeated any number of times, as in most patterns of tools: it is repeated as the
# lengths demand.
_REPEATED = re.compile(r"\^(\[(?:\\.|[^\]\\])+\]|\\[dws])([*+])\$")
_ENDS_OF_LINES = re.compile("[\n\r\u2028\u2029]")
_MENTIONS_ENDS_OF_LINES = re.compile(r"\\[nr]|\\u202[89]|[\n\r\u2028\u2029]")
_READINGS = (0, re.ASCII)  # Python's and JavaScript's reading of `\w` and `\d`
_CHARACTERS = st.characters(exclude_categories=["Cs"])  # half a character is not JSON


def generate_strings(demands: Demands) -> st.SearchStrategy[str]:
    """Return a strategy for strings with the lengths, the pattern and the format of *demands*."""
    least = int(max(demands.list_all("minLength"), default=0))
    most = min(map(int, demands.list_all("maxLength")), default=None)
    if most is not None and least > most:
        return st.nothing()
    patterns = demands.list_all("pattern")

    def fits(text: str) -> bool:
        if len(text) < least:
            return False
        if most is not None and len(text) > most:
            return False
        return all(matches_everywhere(pattern, text) for pattern in patterns)

    for name in demands.list_all("format"):
        if name in FORMATS:
            return FORMATS[name].filter(fits)
    if patterns:
        return generate_matching_strings(patterns[0], least, most).filter(fits)
    texts = _generate_any_texts(least, most)
    nasty = [text for text in STRINGS if fits(text)]
    return st.one_of(texts, st.sampled_from(nasty)) if nasty else texts


@lru_cache(maxsize=1024)
def generate_matching_strings(
    pattern: str, least: int = 0, most: int | None = None
) -> st.SearchStrategy[str]:
    """Return a strategy for strings that match *pattern*, most of them of a length from *least* to
    *most*.
    """
    found = _REPEATED.fullmatch(pattern)
    if found is not None:
        piece, sign = found.groups()
        if sign == "+":
            least = max(least, 1)
        if most is not None and least > most:
            return st.nothing()
        limit = "" if most is None else most
        pattern = f"^{piece}{{{least},{limit}}}$"
    strings = st.from_regex(re.compile(pattern, re.ASCII))
    # `$` also matches before a newline at the end, in Python only.
    return strings.map(lambda text: text.removesuffix("\n").ljust(least, "a"))


def matches_everywhere(pattern: str, text: str) -> bool:
    """Whether *text* matches *pattern* both in Python and in JavaScript, which also differ on ends
    of lines.
    """
    if _ENDS_OF_LINES.search(text) and not _MENTIONS_ENDS_OF_LINES.search(pattern):
        return False
    return all(search(pattern, text, Budget().spend, flags) for flags in _READINGS)


def matches_somewhere(pattern: str, text: str) -> bool:
    """Whether *text* may match *pattern*, in Python or in JavaScript, to which a byte order mark is
    a space.
    """
    if "\ufeff" in text:
        return True
    return any(search(pattern, text, Budget().spend, flags) for flags in _READINGS)


def _generate_any_texts(least: int, most: int | None) -> st.SearchStrategy[str]:
    if least <= _LONG:
        return st.text(_CHARACTERS, min_size=least, max_size=most)

    def repeat(text: str) -> str:
        return (text * least)[:least]

    return st.text(_CHARACTERS, min_size=1, max_size=20).map(repeat)
