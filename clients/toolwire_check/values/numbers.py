"""Strategies for numbers within the bounds of a schema.

Bounds are exact fractions, since arithmetic with floats would miss multiples; the validator checks
what floats make of them.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

from .nasty_values import FRACTIONS, INTEGERS, INTEGRAL_FLOATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .demands import Demands

    Numbers = st.SearchStrategy[int | float]

_MAX_FACTOR = 10**6  # validators that divide in binary recognize this many multiples of a fraction


class _Range(NamedTuple):
    """The numbers from *low* to *high*, either of which may be missing."""

    low: Fraction | None
    high: Fraction | None

    def has(self, number: float) -> bool:
        """Whether *number* is in the range."""
        if self.low is not None and number < self.low:
            return False
        return self.high is None or number <= self.high

    def find_first_factor(self, step: Fraction) -> int | None:
        """Return the least factor whose product with *step* is in the range."""
        return None if self.low is None else math.ceil(self.low / step)

    def find_last_factor(self, step: Fraction) -> int | None:
        """Return the greatest factor whose product with *step* is in the range."""
        return None if self.high is None else math.floor(self.high / step)


def generate_numbers(demands: Demands, *, is_integer: bool) -> Numbers:
    """Return a strategy for numbers within the bounds of *demands*; most that need not be integers
    are fractions.
    """
    bounds = _Range(
        low=max(_read_bounds(demands, "minimum", "exclusiveMinimum"), default=None),
        high=min(_read_bounds(demands, "maximum", "exclusiveMaximum"), default=None),
    )
    steps = [_read_exactly(step) for step in demands.list_all("multipleOf")]
    if not steps and not is_integer:
        return _generate_fractions(bounds)
    step = max(steps, default=Fraction(1))  # the validator demands multiples of the others too
    if is_integer:
        return _generate_integers(bounds, Fraction(step.numerator))
    return _generate_multiples(bounds, step)


def _generate_integers(bounds: _Range, step: Fraction) -> Numbers:
    first, last = bounds.find_first_factor(step), bounds.find_last_factor(step)
    if first is not None and last is not None and first > last:
        return st.nothing()
    multiples = st.integers(first, last).map(lambda factor: int(factor * step))
    edges = []
    for edge in (*INTEGERS, *INTEGRAL_FLOATS):
        if int(edge) % step == 0:
            edges.append(edge)
    return _with_edges(multiples, edges, bounds)


def _generate_fractions(bounds: _Range) -> Numbers:
    least, most = -sys.float_info.max, sys.float_info.max
    try:
        if bounds.low is not None:
            least = float(bounds.low)
        if bounds.high is not None:
            most = float(bounds.high)
    except OverflowError:  # only integers are so large
        return st.nothing()
    if least > most:
        return st.nothing()
    return _with_edges(st.floats(least, most), FRACTIONS, bounds)


def _generate_multiples(bounds: _Range, step: Fraction) -> Numbers:
    first, last = bounds.find_first_factor(step), bounds.find_last_factor(step)
    if first is None:
        first = (last or 0) - _MAX_FACTOR
    if last is None:
        last = first + 2 * _MAX_FACTOR
    if first > last:
        return st.nothing()
    return st.integers(first, last).map(lambda factor: float(factor * step))


def _with_edges(plain: st.SearchStrategy[Any], edges: Sequence[float], bounds: _Range) -> Numbers:
    """Return *plain* and those of *edges* that are within the bounds."""
    within = [edge for edge in edges if bounds.has(edge)]
    if not within:
        return plain
    return st.one_of(plain, st.sampled_from(within))


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
