"""Numbers within bounds. All is worked out in fractions, and what floating point makes of it is checked at the end."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec
from hypothesis import strategies as st

from . import edge_values as nasty

if TYPE_CHECKING:
    from .all_of import Way

_LARGEST = sys.float_info.max
_MANY_STEPS = 10**6  # floating point says reliably of so many multiples that they are some


class Bounds(msgspec.Struct, frozen=True):
    """What numbers are at least and at most, or more and less than, and what they are multiples of (0: of nothing)."""

    least: Fraction | None
    most: Fraction | None
    above: Fraction | None
    below: Fraction | None
    step: Fraction

    def hold(self, number: int | float) -> bool:
        """Whether *number* is within the bounds."""
        return (
            (self.least is None or number >= self.least)
            and (self.most is None or number <= self.most)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )

    def steps(self, step: Fraction) -> tuple[int | None, int | None]:
        """Return the least and the largest factor that brings *step* within the bounds; `None` if there is none."""
        low = [math.ceil(self.least / step)] if self.least is not None else []
        low += [math.floor(self.above / step) + 1] if self.above is not None else []
        high = [math.floor(self.most / step)] if self.most is not None else []
        high += [math.ceil(self.below / step) - 1] if self.below is not None else []
        return max(low, default=None), min(high, default=None)

    def floats(self) -> tuple[float, float]:
        """Return the least and the largest float within the bounds; the first is larger if there is none."""
        low = [_float(self.least, up=True)] if self.least is not None else [-_LARGEST]
        low += [_float_beyond(self.above, math.inf)] if self.above is not None else []
        high = [_float(self.most, up=False)] if self.most is not None else [_LARGEST]
        high += [_float_beyond(self.below, -math.inf)] if self.below is not None else []
        return max(low), min(high)


def bounds(way: Way) -> Bounds:
    """Return the bounds that *way* sets to numbers."""
    step = Fraction(0)
    for multiple in map(_exact, way.all("multipleOf")):
        step = _common(step, multiple) if step else multiple
    return Bounds(
        max(_read(way.all("minimum")), default=None),
        min(_read(way.all("maximum")), default=None),
        max(_read(way.all("exclusiveMinimum")), default=None),
        min(_read(way.all("exclusiveMaximum")), default=None),
        step,
    )


def is_possible(kind: str, within: Bounds) -> bool:
    """Whether there is any number of this *kind*, `integer` or `fraction`."""
    if kind == "integer" or within.step:
        step = _step(kind, within)
        low, high = within.steps(step)
        if kind == "fraction" and step.denominator == 1:
            return False
        if low is None or high is None:
            return True
        factors = range(low, min(high, low + 1) + 1)  # of two that follow each other, one is enough
        return any(kind == "integer" or (step * factor).denominator > 1 for factor in factors)
    low_float, high_float = within.floats()
    return any(not number.is_integer() for number in _between(low_float, high_float))


def numbers(kind: str, within: Bounds) -> st.SearchStrategy[int | float]:
    """Return a strategy for numbers of this *kind*, of which there are some."""
    if kind == "integer":
        return _integers(within)
    if not within.step:
        low, high = within.floats()
        plain = st.sampled_from([number for number in _between(low, high) if not number.is_integer()])
        some = [number for number in nasty.FRACTIONS if within.hold(number)]
        found = st.one_of(plain, *([st.sampled_from(some)] if some else []), st.floats(low, high))
        return found.filter(lambda number: not float(number).is_integer() and within.hold(number))
    factors = st.integers(*_nearest(*within.steps(within.step)))
    multiples = factors.map(lambda factor: float(factor * within.step))
    return multiples.filter(lambda number: not number.is_integer() and within.hold(number))


def _integers(within: Bounds) -> st.SearchStrategy[int | float]:
    step = _step("integer", within).numerator
    low, high = within.steps(Fraction(step))
    some = [n for n in nasty.INTEGERS if within.hold(n) and n % step == 0]
    floats = [n for n in nasty.INTEGRAL_FLOATS if within.hold(n) and int(n) % step == 0]
    plain = st.integers(low, high).map(lambda factor: factor * step)
    choices: list[st.SearchStrategy[int | float]] = [plain]
    choices += [st.sampled_from(some)] if some else []
    choices += [st.sampled_from(floats)] if floats else []
    return st.one_of(*choices)


def _step(kind: str, within: Bounds) -> Fraction:
    if kind == "fraction":
        return within.step
    return _common(within.step, Fraction(1)) if within.step else Fraction(1)


def _common(one: Fraction, other: Fraction) -> Fraction:
    """The least common multiple."""
    whole = math.lcm(one.numerator * other.denominator, other.numerator * one.denominator)
    return Fraction(whole, one.denominator * other.denominator)


def _read(bounds: list[int | float]) -> list[Fraction]:
    """The *bounds* as they were written and as the floats next to that: both are kept, since readers differ."""
    return [*map(_exact, bounds), *map(Fraction, bounds)]


def _exact(number: int | float) -> Fraction:
    """*number* as it was written: 0.1 is a tenth, not the float next to it."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def _nearest(low: int | None, high: int | None) -> tuple[int | None, int | None]:
    """The factors from *low* to *high* that are small, if there are such."""
    small_low = -_MANY_STEPS if low is None else max(low, -_MANY_STEPS)
    small_high = _MANY_STEPS if high is None else min(high, _MANY_STEPS)
    return (small_low, small_high) if small_low <= small_high else (low, high)


def _between(low: float, high: float) -> list[float]:
    """Some floats from *low* to *high*."""
    if low > high:
        return []
    middle = low / 2 + high / 2
    some = (0.5, -0.5, middle, math.floor(low) + 0.5, middle + 0.5, low, high, math.nextafter(low, high))
    return [number for number in some if low <= number <= high]


def _float(bound: Fraction, *, up: bool) -> float:
    """The float nearest to *bound* on the side that is within."""
    try:
        number = float(bound)
    except OverflowError:
        number = math.inf if bound > 0 else -math.inf
    if math.isinf(number):
        return number if (number > 0) == up else (_LARGEST if bound > 0 else -_LARGEST)
    if (up and number < bound) or (not up and number > bound):
        return math.nextafter(number, math.inf if up else -math.inf)
    return number


def _float_beyond(bound: Fraction, towards: float) -> float:
    up = towards > 0
    number = _float(bound, up=up)
    return math.nextafter(number, towards) if number == bound else number
