"""Strategies for numbers within the bounds of a schema.

Bounds are exact fractions, since arithmetic with floats would miss multiples; the validator checks
what floats make of them.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from .nasty_values import FRACTIONS, INTEGERS, INTEGRAL_FLOATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .demands import Demands

    Numbers = st.SearchStrategy[int | float]
    Bound = Fraction | None

_MAX_FACTOR = 10**6  # validators that divide in binary recognize this many multiples of a fraction


def numbers(demands: Demands, *, is_integer: bool) -> Numbers:
    """Return a strategy for numbers within the bounds of *demands*; most that need not be integers
    are fractions.
    """
    low = max(_read_bounds(demands, "minimum", "exclusiveMinimum"), default=None)
    high = min(_read_bounds(demands, "maximum", "exclusiveMaximum"), default=None)
    steps = [_read_exactly(step) for step in demands.list_all("multipleOf")]
    step = max(steps, default=None)  # multiples of the others too are left to the validator
    if is_integer:
        return _integers(low, high, 1 if step is None else step.numerator)
    if step is None:
        return _fractions(low, high)
    return _multiples(low, high, step)


def _integers(low: Bound, high: Bound, step: int) -> Numbers:
    first = None if low is None else math.ceil(low / step)
    last = None if high is None else math.floor(high / step)
    if first is not None and last is not None and first > last:
        return st.nothing()
    multiples = st.integers(first, last).map(lambda factor: factor * step)
    edges = [edge for edge in (*INTEGERS, *INTEGRAL_FLOATS) if int(edge) % step == 0]
    return _with_edges(multiples, edges, low, high)


def _fractions(low: Bound, high: Bound) -> Numbers:
    try:
        least = -sys.float_info.max if low is None else float(low)
        most = sys.float_info.max if high is None else float(high)
    except OverflowError:  # only integers are so large
        return st.nothing()
    if least > most:
        return st.nothing()
    return _with_edges(st.floats(least, most), FRACTIONS, low, high)


def _multiples(low: Bound, high: Bound, step: Fraction) -> Numbers:
    last = None if high is None else math.floor(high / step)
    first = (last or 0) - _MAX_FACTOR
    if low is not None:
        first = math.ceil(low / step)
    if last is None:
        last = first + 2 * _MAX_FACTOR
    if first > last:
        return st.nothing()
    return st.integers(first, last).map(lambda factor: float(factor * step))


def _with_edges(
    plain: st.SearchStrategy[Any], edges: Sequence[float], low: Bound, high: Bound
) -> Numbers:
    """Return *plain* and those of *edges* that are within the bounds."""
    within = []
    for edge in edges:
        if (low is None or low <= edge) and (high is None or edge <= high):
            within.append(edge)
    return st.one_of(plain, st.sampled_from(within)) if within else plain


def _read_bounds(demands: Demands, *words: str) -> list[Fraction]:
    """Return the bounds both as written and as floats, since readers differ.

    An excluded bound is among them: the validator refuses it.
    """
    bounds = []
    for word in words:
        for number in demands.list_all(word):
            bounds += [_read_exactly(number), Fraction(number)]
    return bounds


def _read_exactly(number: float) -> Fraction:
    """Return *number* as it was written: 0.1 is a tenth, not the float next to it."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)
