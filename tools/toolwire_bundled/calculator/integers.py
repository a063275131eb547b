"""Functions of integers, and what makes integers of other numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from toolwire_schemas.language import say

from .exact import is_exact, read_integer, refuse_too_large

if TYPE_CHECKING:
    from collections.abc import Callable

    from .exact import Number


def factorial(value: Number) -> Number:
    """The product of the integers from 1 to *value*."""
    n = read_integer(value, "factorial", least=0)
    refuse_too_large(n * n.bit_length())
    return Fraction(math.factorial(n))


def comb(items: Number, chosen: Number) -> Number:
    """Return the number of unordered choices from *items*."""
    n, k = read_integer(items, "comb", least=0), read_integer(chosen, "comb", least=0)
    refuse_too_large(min(n, max(0, min(k, n - k)) * n.bit_length()))
    return Fraction(math.comb(n, k))


def perm(items: Number, chosen: Number | None = None) -> Number:
    """Return the number of ordered choices from *items*, or of all of them."""
    n = read_integer(items, "perm", least=0)
    k = n if chosen is None else read_integer(chosen, "perm", least=0)
    refuse_too_large(min(k, n) * n.bit_length() if k <= n else 0)
    return Fraction(math.perm(n, k))


def powmod(base: Number, exponent: Number, modulus: Number) -> Number:
    """The remainder of a power."""
    x, n, m = (read_integer(value, "powmod") for value in (base, exponent, modulus))
    if m == 0:
        raise ZeroDivisionError(say("the modulus is 0"))
    # The time grows by the square of the modulus and by the exponent.
    refuse_too_large(m.bit_length() ** 2 * n.bit_length() / 10_000)
    try:
        return Fraction(pow(x, n, m))
    except ValueError:
        raise ValueError(say("{value} has no inverse modulo {m}", value=x % m, m=m)) from None


def gcd(*values: Number) -> Number:
    """The greatest common divisor."""
    return Fraction(math.gcd(*(read_integer(value, "gcd") for value in values)))


def lcm(*values: Number) -> Number:
    """The least common multiple."""
    found = 1
    for value in values:
        found = math.lcm(found, read_integer(value, "lcm"))
        refuse_too_large(found.bit_length())
    return Fraction(found)


def round_half_up(value: Number, digits: Number = Fraction(0)) -> Number:
    """Rounded, halves away from zero."""
    places = read_integer(digits, "the number of digits of round")
    if abs(places) > 1000:
        raise ValueError(say("round takes at most 1000 digits"))
    shift = Fraction(10) ** places
    scaled = abs(Fraction(value)) * shift
    nearest = Fraction(math.floor(scaled + Fraction(1, 2))) / shift
    signed = nearest if value >= 0 else -nearest
    return signed if is_exact(value) or places <= 0 else float(signed)


def make_integer_function(function: Callable[[Any], int]) -> Callable[[Number], Number]:
    """*function*, which makes an integer of any number."""
    return lambda value: Fraction(function(value))


def compute_modulo(value: Number, by: Number) -> Number:
    """What remains of *value*, with the sign of *by*."""
    if by == 0:
        raise ZeroDivisionError(say("the remainder of a division by 0"))
    return value % by


def divide_rounding_down(value: Number, by: Number) -> Number:
    """*value* divided by *by*, rounded down."""
    if by == 0:
        raise ZeroDivisionError(say("division by 0"))
    return Fraction(math.floor(value / by)) if is_exact(value) and is_exact(by) else value // by
