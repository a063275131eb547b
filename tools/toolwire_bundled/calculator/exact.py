"""Exact numbers within limits, and the way to approximate ones."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from toolwire_schemas.language import say

from .limits import MAX_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import TypeIs

Number: TypeAlias = Fraction | float

TOO_LARGE = f"the value would be too large: numbers go to about {int(MAX_BITS * 0.3):,} digits here"


class TooLarge(Exception):
    """A number beyond the limits."""


def is_exact(value: object) -> TypeIs[Fraction]:
    """Whether *value* is an exact number."""
    return isinstance(value, Fraction)


def check_size(value: Any) -> Any:
    """*value*, if it is within the limits.

    Raises:
        TooLarge: if it is not.
    """
    if is_exact(value):
        refuse_too_large(max(value.numerator.bit_length(), value.denominator.bit_length()))
    elif isinstance(value, float) and not abs(value) < float("inf"):
        raise TooLarge(say("the value is too large for an approximate number"))
    return value


def refuse_too_large(bits: float) -> None:
    """Raise `TooLarge` if a number of *bits* bits is beyond the limits."""
    if is_too_large(bits):
        raise TooLarge(TOO_LARGE)


def is_too_large(bits: float) -> bool:
    """Return whether a number of *bits* bits is beyond the limits."""
    return bits > MAX_BITS


def make_float(value: Number) -> float:
    """The float next to *value*."""
    try:
        return float(value)
    except OverflowError:
        raise TooLarge(
            say("the number is too large to be used where the value is not exact")
        ) from None


def read_integer(value: Number, what: str, *, least: int | None = None) -> int:
    """*value* as an integer, which *what* wants.

    Raises:
        ValueError: if it is not a number.
    """
    if not is_exact(value) or value.denominator != 1:
        raise ValueError(say("{what} takes whole numbers", what=what))
    if least is not None and value < least:
        raise ValueError(
            say("{what} takes whole numbers of at least {least}", what=what, least=least)
        )
    return value.numerator


def add_up(values: Sequence[Number]) -> Any:
    """The sum of *values*."""
    found: Any = Fraction(0)
    for value in values:
        found = check_size(found + value)
    return found


def compute_integer_root(value: int, degree: int) -> int:
    """The largest integer whose power of *degree* is at most *value*, by Newton's method."""
    if value < 2 or degree == 1:
        return value
    guess = 1 << -(-value.bit_length() // degree)
    while True:
        better = ((degree - 1) * guess + value // guess ** (degree - 1)) // degree
        if better >= guess:
            return guess
        guess = better
