"""Powers, roots and logarithms, exact where the value is rational."""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

from toolwire_schemas.language import say

from .exact import (
    TOO_LARGE,
    Number,
    TooLarge,
    compute_integer_root,
    is_exact,
    is_too_large,
    make_float,
    read_integer,
)


def raise_to_power(base: Number, exponent: Number) -> Number:
    """*base* to the power of *exponent*, exact if both are and the value is rational."""
    if not (is_exact(base) and is_exact(exponent)):
        return _approximate(make_float(base), make_float(exponent))
    if exponent.denominator != 1:
        if base < 0:
            raise ValueError(
                say(
                    "a negative number has no real power of a fraction; cbrt(-8) and root(-8, 3)"
                    " are -2"
                )
            )
        exact = _find_exact_root(base, exponent.denominator)
        if exact is None:
            return _approximate(make_float(base), make_float(exponent))
        base = exact
    whole = exponent.numerator
    if base == 0 and whole < 0:
        raise ZeroDivisionError(say("0 has no negative power"))
    if abs(base) not in (0, 1):
        larger = max(abs(base.numerator), base.denominator)
        if is_too_large(math.log2(larger) * min(abs(whole), 2**62)):
            return _approximate_or_refuse(base, exponent)
    elif base == -1:
        return Fraction(-1 if whole % 2 else 1)
    elif whole:
        return base
    return base**whole


def _approximate_or_refuse(base: Fraction, exponent: Fraction) -> float:
    """Such as compound interest: (1 + 0.05/365)^10950 has far too many digits as a fraction."""
    with localcontext(
        Context(prec=50, traps=[])
    ):  # floats would lose digits, as many as the exponent has
        power = Decimal(exponent.numerator)
        found = float((Decimal(base.numerator) / Decimal(base.denominator)) ** power)
    if not found or not math.isfinite(found):
        raise TooLarge(TOO_LARGE)
    return found


def _approximate(base: float, exponent: float) -> float:
    if base < 0 and not exponent.is_integer():
        raise ValueError(say("a negative number has no real power that is no integer"))
    if base == 0 and exponent < 0:
        raise ZeroDivisionError(say("0 has no negative power"))
    return float(base**exponent)


def _find_exact_root(value: Fraction, degree: int) -> Fraction | None:
    """The root of a number that is not negative, if it is rational."""
    if degree > 10_000:
        return value if value in (0, 1) else None
    top, bottom = (
        compute_integer_root(value.numerator, degree),
        compute_integer_root(value.denominator, degree),
    )
    found = Fraction(top, bottom)
    return found if top**degree == value.numerator and bottom**degree == value.denominator else None


def compute_root(value: Number, degree: Number) -> Number:
    """The real root of *value*, also of a negative one if the degree is odd."""
    n = read_integer(degree, "the degree of a root")
    if n == 0:
        raise ValueError(say("there is no root of degree 0"))
    if value < 0 and n % 2:
        return -compute_root(-value, degree)
    if value < 0:
        raise ValueError(say("a negative number has no real root of an even degree"))
    if value == 0 and n < 0:
        raise ZeroDivisionError(say("0 has no root of a negative degree"))
    return raise_to_power(value, Fraction(1, n))


def sqrt(value: Number) -> Number:
    """The square root."""
    if value < 0:
        raise ValueError(say("a negative number has no real square root"))
    return compute_root(value, Fraction(2))


def ln(value: Number) -> Number:
    """The natural logarithm."""
    if value <= 0:
        raise ValueError(say("only positive numbers have a logarithm"))
    if value == 1 and is_exact(value):
        return Fraction(0)
    if not is_exact(value):
        return math.log(value)
    if abs(value - 1) < Fraction(1, 2):
        return math.log1p(value - 1)
    # The logarithms of the parts, since these may be larger than any float.
    return math.log(value.numerator) - math.log(value.denominator)


def log(value: Number, base: Number | None = None) -> Number:
    """The logarithm to *base*, or the natural one; an integer if it is one."""
    if base is None:
        return ln(value)
    if base == 1 or base <= 0:
        raise ValueError(say("the base of a logarithm is positive, and not 1"))
    found = float(ln(value)) / float(ln(base))
    nearest = round(found)
    if (
        is_exact(value)
        and is_exact(base)
        and abs(found - nearest) < 1e-9
        and raise_to_power(base, Fraction(nearest)) == value
    ):
        return Fraction(nearest)
    # Python's own for these bases are exact to the last digit; and the other way there is no number
    # too large.
    rounded = {2: math.log2, 10: math.log10}.get(int(base)) if base in (2, 10) else None
    return rounded(value) if rounded and _fits(value) else found


def _fits(value: Number) -> bool:
    return not is_exact(value) or (abs(value) < 1e300 and abs(value) > 1e-300)
