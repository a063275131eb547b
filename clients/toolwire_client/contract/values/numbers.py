"""Strategies for numbers within bounds. Bounds are exact fractions; the validator checks what floats make of them."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from . import edge_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    Parts = Sequence[dict[str, Any]]

_MANY_STEPS = 10**6  # validators that divide in binary recognize this many multiples of a fraction


def numbers(parts: Parts, *, is_integer: bool) -> st.SearchStrategy[int | float]:
    """Return a strategy for numbers within the bounds of *parts*; most that need not be integers are fractions."""
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
    edges = [n for n in (*edge_values.INTEGERS, *edge_values.INTEGRAL_FLOATS) if int(n) % step == 0]
    return _with_edges(plain.map(int), edges, low, high)


def _fractions(low: Fraction | None, high: Fraction | None) -> st.SearchStrategy[int | float]:
    largest = sys.float_info.max
    try:
        least = -largest if low is None else float(low)
        most = largest if high is None else float(high)
    except OverflowError:  # only integers are so large
        return st.nothing()
    return _with_edges(st.floats(least, most), edge_values.FRACTIONS, low, high) if least <= most else st.nothing()


def _with_edges(
    plain: st.SearchStrategy[Any], edges: Sequence[float], low: Fraction | None, high: Fraction | None
) -> st.SearchStrategy[int | float]:
    found = [n for n in edges if (low is None or low <= n) and (high is None or n <= high)]
    return st.one_of(plain, st.sampled_from(found)) if found else plain


def _bounds(parts: Parts, *words: str) -> list[Fraction]:
    """The bounds both as written and as floats, since readers differ. Whether one is excluded is left to a filter."""
    found = [part[word] for part in parts for word in words if word in part]
    return [*map(_exact, found), *map(Fraction, found)]


def _exact(number: float) -> Fraction:
    """*number* as it was written: 0.1 is a tenth, not the float next to it."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)
