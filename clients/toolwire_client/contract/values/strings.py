"""Strings of a length, a pattern and a format."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING

from hypothesis import reject
from hypothesis import strategies as st
from toolwire_schemas.json_schema.linear_regex import Graph, graph, is_cheap

from . import edge_values as nasty
from .document import matches

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

    from .all_of import Way


# All hosts are of the domain that is reserved for examples: a tool that asks one of them reaches nobody.
_LABEL = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=8)
_HOST = st.lists(_LABEL, min_size=1, max_size=3).map(lambda labels: ".".join([*labels, "example"]))
_PATH = st.lists(st.text("abcXYZ019-._~", max_size=5), max_size=3).map("/".join)
_OFFSET = st.sampled_from(("Z", "+00:00", "-00:00", "+05:45", "-23:59"))
_DATES = st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)).map(dt.date.isoformat)
_TIMES = st.builds("{}{}".format, st.times().map(dt.time.isoformat), _OFFSET)
_DURATIONS = st.builds("P{}DT{}H{}S".format, *[st.integers(0, 400)] * 3)
_URIS = st.builds("https://{}/{}".format, _HOST, _PATH)
_POINTERS = st.lists(st.sampled_from(("", "a", "0", "~0", "~1", "é"))).map(
    lambda steps: "".join("/" + step for step in steps)
)

FORMATS: dict[str, st.SearchStrategy[str]] = {
    "date": _DATES,
    "date-time": st.builds("{}T{}".format, _DATES, _TIMES),
    "time": _TIMES,
    "duration": _DURATIONS,
    "email": st.builds("{}@{}".format, _LABEL, _HOST),
    "idn-email": st.builds("{}é@{}".format, _LABEL, _HOST),
    "hostname": _HOST,
    "idn-hostname": _HOST,
    "ipv4": st.ip_addresses(v=4).map(str),
    "ipv6": st.ip_addresses(v=6).map(str),
    "uri": _URIS,
    "iri": _URIS,
    "uri-reference": st.one_of(_PATH, _URIS),
    "iri-reference": st.one_of(_PATH, _URIS),
    "uri-template": st.builds("{}{{?q}}".format, _URIS),
    "uuid": st.uuids().map(str),
    "json-pointer": _POINTERS,
    "relative-json-pointer": st.builds("{}{}".format, st.integers(0, 20), _POINTERS),
    "regex": st.sampled_from(("", "a", "^[a-z]+$", "(a|b)*")),
}


_SOME = 500
"""Characters of a text that Hypothesis makes for a pattern, and many times the usual."""
_MAX_SPELT = 300
_LONG = 100  # a longer string is made by repeating a shorter one

# One piece repeated, from the first character to the last: what most patterns of tools are. Its count is our choice.
_REPEATED = re.compile(r"\^(\[(?:\\.|[^\]\\])+\]|\\[dws])(?:([*+])|\{(\d+)(,?)(\d*)\})\$")

_ENDS_OF_LINES = re.compile("[\n\r\u2028\u2029]")
_MENTIONS_THEM = re.compile(r"\\[nr]|\\u202[89]|[\n\r\u2028\u2029]")

_CHARACTERS = st.characters(exclude_categories=["Cs"])  # half a character is none, and no JSON


def lengths(way: Way) -> tuple[int, int | None]:
    """Return how many characters a string has at least and, if that is said, at most."""
    most = way.smallest("maxLength")
    return int(way.largest("minLength")), None if most is None else int(most)


def is_possible(way: Way) -> bool:
    """Whether there is any string that long. Whether one of them has the pattern is found out when it is made."""
    least, most = lengths(way)
    return most is None or least <= most


def strings(way: Way) -> st.SearchStrategy[str]:
    """Return a strategy for strings that *way* allows."""
    least, most = lengths(way)
    patterns, formats = way.all("pattern"), [name for name in way.all("format") if name in FORMATS]

    def fits(text: str) -> bool:
        return (
            least <= len(text)
            and (most is None or len(text) <= most)
            and all(matches_everywhere(pattern, text) for pattern in patterns)
        )

    if formats:
        return FORMATS[formats[0]].filter(fits)
    if patterns:
        return matching(patterns[0], least, most).filter(fits)
    some = [text for text in nasty.STRINGS if fits(text)]
    return st.one_of(_texts(least, most), *([st.sampled_from(some)] if some else []))


def matching(pattern: str, least: int = 0, most: int | None = None) -> st.SearchStrategy[str]:
    """Return a strategy for strings that match *pattern*, most of them of a length from *least* to *most*."""
    if found := _REPEATED.fullmatch(pattern):
        piece, sign, first, comma, last = found.groups()
        low = int(first) if first else int(sign == "+")
        high = (int(last) if last else None) if sign or comma else low
        low, high = max(low, least), min((bound for bound in (high, most) if bound is not None), default=None)
        if high is not None and low > high:
            return st.nothing()
        pattern = f"^{piece}{{{low},{'' if high is None else high}}}$"
    if is_cheap(pattern, _SOME):
        made = st.from_regex(re.compile(pattern, re.ASCII))
    else:  # Hypothesis would search what it made
        made = _spelt(graph(pattern, re.ASCII))
    return made.map(lambda text: text.removesuffix("\n")).map(lambda text: text.ljust(least, "a"))


def matches_everywhere(pattern: str, text: str) -> bool:
    r"""Whether *text* matches *pattern* both in Python and in JavaScript.

    They do not agree on which letters `\\w` and digits `\\d` are, nor on ends of lines before `$` and for `.`
    """
    if _ENDS_OF_LINES.search(text) and not _MENTIONS_THEM.search(pattern):
        return False
    return matches(pattern, text) and matches(pattern, text, re.ASCII)


def matches_somewhere(pattern: str, text: str) -> bool:
    """Whether *text* may match *pattern*, in Python or in JavaScript, to which a byte order mark is a space."""
    return "\ufeff" in text or matches(pattern, text) or matches(pattern, text, re.ASCII)


@st.composite
def _spelt(draw: DrawFn, pattern: Graph) -> str:
    """Draw what a way through *pattern* spells. Tests of what is around are left to who uses it."""
    text, node = "", pattern.start
    for _ in range(_MAX_SPELT):
        test, following = pattern.steps[node]
        if test is not None and (letters := [letter for letter in _LETTERS if test.fullmatch(letter)]):
            text += draw(st.sampled_from(letters))
        if node == pattern.end:
            return text
        node = draw(st.sampled_from(following))
    return reject()


_LETTERS = [chr(number) for number in range(256)]


def _texts(least: int, most: int | None) -> st.SearchStrategy[str]:
    if least <= _LONG:
        return st.text(_CHARACTERS, min_size=least, max_size=most)
    return st.text(_CHARACTERS, min_size=1, max_size=20).map(lambda text: (text * least)[:least])
