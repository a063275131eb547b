"""Nasty values, and strategies for numbers within bounds and for strings of a length, a pattern and
a format.

Bounds of numbers are exact fractions; the validator checks what floats make of them.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import sys
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from toolwire_schemas.json_schema.linear_regex import Budget, search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .document import Parts

# Values that programs stumble over, for wherever a schema allows them; the simplest first.

# The edges of 32 and 64 bits, of what a double holds exactly (2^53), and what only exact arithmetic
# holds.
_EDGES = (2**31, 2**32, 2**53, 2**63, 2**64, 10**30)
INTEGERS = (
    0,
    1,
    -1,
    *(edge + more for edge in _EDGES for more in (-1, 0, 1)),
    *(-edge for edge in _EDGES),
)
INTEGRAL_FLOATS = (0.0, -0.0, 1.0, 1e16, 1e23, 1e308, -1e308)
FRACTIONS = (0.5, -0.5, 0.1, 0.1 + 0.2, 3.141592653589793, 1e-7, 5e-324, -2.2250738585072014e-308)

STRINGS = (
    *("", " ", "0", "1.0", "true", "null", "[]", '"', "\\", "-h", "x" * 10_000),
    *("'; DROP TABLE tools; --", "$(true) `true` %s {0} ${x} {{x}}", "../../etc/passwd"),
    *("a\nb\r\nc", "a\tb\x00c\x1b[31md\x7f", "\u2028\u2029\u0085", "\ufeffa"),
    *(
        "é",
        "e\u0301",
        "a" + "\u0301" * 40,
    ),  # the first two are the same, in one and in two code points
    *("𝒳", "𝒳" * 3_000, "👩‍👩‍👧‍👦", "\U0010ffff\ufffe", "\u05e9\u05dc\u05d5\u05dd \u202eabc"),
    "İıſß",  # these change length or meaning with their case
)

# Taken for a value of another type where types are lax.
LOOKALIKES = [
    None,
    False,
    True,
    0,
    1,
    1.5,
    "",
    "0",
    "1",
    "-1",
    "1.5",
    "1e3",
    " 1",
    "true",
    "false",
    "null",
    "[]",
    "{}",
]

NAMES = (
    *(
        "x",
        "",
        "__proto__",
        "constructor",
        "toString",
        "__class__",
        "self",
        "a b",
        "a.b",
        "$ref",
        "/",
        "1",
        "é",
    ),
    *("e\u0301", "𝒳", "a\nb", "n" * 300),
)

# --- numbers ---

_MANY_STEPS = 10**6  # validators that divide in binary recognize this many multiples of a fraction


def numbers(parts: Parts, *, is_integer: bool) -> st.SearchStrategy[int | float]:
    """Return a strategy for numbers within the bounds of *parts*; most that need not be integers
    are fractions.
    """
    low = max(_bounds(parts, "minimum", "exclusiveMinimum"), default=None)
    high = min(_bounds(parts, "maximum", "exclusiveMaximum"), default=None)
    steps = [_exact(part["multipleOf"]) for part in parts if "multipleOf" in part]
    if not is_integer and not steps:
        return _fractions(low, high)
    step = max(steps, default=Fraction(1))
    step = Fraction(step.numerator) if is_integer else step
    first = None if low is None else math.ceil(low / step)
    last = None if high is None else math.floor(high / step)
    if not is_integer:
        first = (last or 0) - _MANY_STEPS if first is None else first
        last = first + 2 * _MANY_STEPS if last is None else last
    if first is not None and last is not None and first > last:
        return st.nothing()
    plain = st.integers(first, last).map(lambda factor: factor * step)
    if not is_integer:
        return plain.map(float)
    edges = [n for n in (*INTEGERS, *INTEGRAL_FLOATS) if int(n) % step == 0]
    return _with_edges(plain.map(int), edges, low, high)


def _fractions(low: Fraction | None, high: Fraction | None) -> st.SearchStrategy[int | float]:
    largest = sys.float_info.max
    try:
        least = -largest if low is None else float(low)
        most = largest if high is None else float(high)
    except OverflowError:  # only integers are so large
        return st.nothing()
    return (
        _with_edges(st.floats(least, most), FRACTIONS, low, high) if least <= most else st.nothing()
    )


def _with_edges(
    plain: st.SearchStrategy[Any],
    edges: Sequence[float],
    low: Fraction | None,
    high: Fraction | None,
) -> st.SearchStrategy[int | float]:
    found = [n for n in edges if (low is None or low <= n) and (high is None or n <= high)]
    return st.one_of(plain, st.sampled_from(found)) if found else plain


def _bounds(parts: Parts, *words: str) -> list[Fraction]:
    """The bounds both as written and as floats, since readers differ. Whether one is excluded is
    left to a filter.
    """
    found = [part[word] for part in parts for word in words if word in part]
    return [*map(_exact, found), *map(Fraction, found)]


def _exact(number: float) -> Fraction:
    """*number* as it was written: 0.1 is a tenth, not the float next to it."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


# --- strings ---

# All hosts are of the domain that is reserved for examples: a tool that connects to one of them
# reaches no host.
_LABEL = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=8)
_HOST = st.lists(_LABEL, min_size=1, max_size=3).map(lambda labels: ".".join([*labels, "example"]))
_PATH = st.lists(st.text("abcXYZ019-._~", max_size=5), max_size=3).map("/".join)
_OFFSET = st.sampled_from(("Z", "+00:00", "-00:00", "+05:45", "-23:59"))
_DATES = st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)).map(dt.date.isoformat)
_TIMES = st.builds("{}{}".format, st.times().map(dt.time.isoformat), _OFFSET)
_URIS = st.builds("https://{}/{}".format, _HOST, _PATH)
FORMATS: dict[str, st.SearchStrategy[str]] = {
    "date": _DATES,
    "date-time": st.builds("{}T{}".format, _DATES, _TIMES),
    "time": _TIMES,
    "email": st.builds("{}@{}".format, _LABEL, _HOST),
    "hostname": _HOST,
    "ipv4": st.ip_addresses(v=4).map(str),
    "ipv6": st.ip_addresses(v=6).map(str),
    "uri": _URIS,
    "uri-reference": st.one_of(_PATH, _URIS),
    "uuid": st.uuids().map(str),
    "regex": st.sampled_from(("", "a", "^[a-z]+$", "(a|b)*")),
}
_LONG = 100  # a longer string is made by repeating a shorter one

# One piece repeated any number of times, as in most patterns of tools: it is repeated as the
# lengths demand.
_REPEATED = re.compile(r"\^(\[(?:\\.|[^\]\\])+\]|\\[dws])([*+])\$")
_ENDS_OF_LINES = re.compile("[\n\r\u2028\u2029]")
_MENTIONS_THEM = re.compile(r"\\[nr]|\\u202[89]|[\n\r\u2028\u2029]")
_READINGS = (0, re.ASCII)  # Python's and JavaScript's reading of `\w` and `\d`
_CHARACTERS = st.characters(exclude_categories=["Cs"])  # half a character is not JSON


def strings(parts: Parts) -> st.SearchStrategy[str]:
    """Return a strategy for strings with the lengths, the pattern and the format that *parts*
    demand.
    """
    least = int(max((part["minLength"] for part in parts if "minLength" in part), default=0))
    bounds = [int(part["maxLength"]) for part in parts if "maxLength" in part]
    most = min(bounds, default=None)
    if most is not None and least > most:
        return st.nothing()
    patterns = [part["pattern"] for part in parts if "pattern" in part]
    formats = [part["format"] for part in parts if part.get("format") in FORMATS]

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
    some = [text for text in STRINGS if fits(text)]
    return st.one_of(_texts(least, most), *([st.sampled_from(some)] if some else []))


@lru_cache(maxsize=1024)
def matching(pattern: str, least: int = 0, most: int | None = None) -> st.SearchStrategy[str]:
    """Return a strategy for strings that match *pattern*, most of them of a length from *least* to
    *most*.
    """
    if found := _REPEATED.fullmatch(pattern):
        piece, sign = found.groups()
        least = max(least, 1 if sign == "+" else 0)
        if most is not None and least > most:
            return st.nothing()
        pattern = f"^{piece}{{{least},{'' if most is None else most}}}$"
    return st.from_regex(re.compile(pattern, re.ASCII)).map(
        lambda text: text.removesuffix("\n").ljust(least, "a")
    )


def matches_everywhere(pattern: str, text: str) -> bool:
    """Whether *text* matches *pattern* both in Python and in JavaScript, which also differ on ends
    of lines.
    """
    if _ENDS_OF_LINES.search(text) and not _MENTIONS_THEM.search(pattern):
        return False
    return all(search(pattern, text, Budget().spend, flags) for flags in _READINGS)


def matches_somewhere(pattern: str, text: str) -> bool:
    """Whether *text* may match *pattern*, in Python or in JavaScript, to which a byte order mark is
    a space.
    """
    return "\ufeff" in text or any(
        search(pattern, text, Budget().spend, flags) for flags in _READINGS
    )


def _texts(least: int, most: int | None) -> st.SearchStrategy[str]:
    if least <= _LONG:
        return st.text(_CHARACTERS, min_size=least, max_size=most)
    return st.text(_CHARACTERS, min_size=1, max_size=20).map(lambda text: (text * least)[:least])
