"""The names that an expression may use: constants, and functions with how many arguments they take.

A function is given exact numbers (Fraction) and approximate ones (float), and returns one of either; `ValueError` and
`ZeroDivisionError` tell what is wrong with an argument, `TooLarge` that its value would be beyond the limits.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from .exact import (
    TOO_LARGE,
    TooLarge,
    approximate,
    checked,
    estimated,
    integer,
    integer_root,
    is_exact,
    is_too_large,
    total,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Number: TypeAlias = Fraction | float

CONSTANTS: dict[str, float] = {"pi": math.pi, "e": math.e, "tau": math.tau, "phi": (1 + math.sqrt(5)) / 2}

_ANY = 1_000_000


class Function(msgspec.Struct, frozen=True):
    """What a name does, and with how many arguments, least and most; if it is `spread` it takes those of lists."""

    does: Callable[..., Any]
    takes: tuple[int, int]
    spread: bool = False


# --- roots, powers, logarithms ---


def power(base: Number, exponent: Number) -> Number:
    """*base* to the power of *exponent*, exact if both are and the value is rational."""
    if not (is_exact(base) and is_exact(exponent)):
        return _approximate_power(approximate(base), approximate(exponent))
    if exponent.denominator != 1:
        if base < 0:
            raise ValueError("a negative number has no real power of a fraction; cbrt(-8) and root(-8, 3) are -2")
        exact = _exact_root(base, exponent.denominator)
        if exact is None:
            return _approximate_power(approximate(base), approximate(exponent))
        base = exact
    whole = exponent.numerator
    if base == 0 and whole < 0:
        raise ZeroDivisionError("0 has no negative power")
    if abs(base) not in (0, 1):
        larger = max(abs(base.numerator), base.denominator)
        if is_too_large(math.log2(larger) * min(abs(whole), 2**62)):
            return _approximate_or_refused(base, exponent)
    elif base == -1:
        return Fraction(-1 if whole % 2 else 1)
    elif whole:
        return base
    return base**whole


def _approximate_or_refused(base: Fraction, exponent: Fraction) -> float:
    """What compound interest comes to, say: (1 + 0.05/365)^10950 has far too many digits as a fraction."""
    with localcontext(Context(prec=50, traps=[])):  # floats would lose digits, as many as the exponent has
        power = Decimal(exponent.numerator)
        found = float((Decimal(base.numerator) / Decimal(base.denominator)) ** power)
    if not found or not math.isfinite(found):
        raise TooLarge(TOO_LARGE)
    return found


def _approximate_power(base: float, exponent: float) -> float:
    if base < 0 and not exponent.is_integer():
        raise ValueError("a negative number has no real power that is no integer")
    if base == 0 and exponent < 0:
        raise ZeroDivisionError("0 has no negative power")
    return float(base**exponent)


def _exact_root(value: Fraction, degree: int) -> Fraction | None:
    """The root of a number that is not negative, if it is rational."""
    if degree > 10_000:
        return value if value in (0, 1) else None
    top, bottom = integer_root(value.numerator, degree), integer_root(value.denominator, degree)
    found = Fraction(top, bottom)
    return found if top**degree == value.numerator and bottom**degree == value.denominator else None


def _root(value: Number, degree: Number) -> Number:
    n = integer(degree, "the degree of a root")
    if n == 0:
        raise ValueError("there is no root of degree 0")
    if value < 0 and n % 2:
        return -_root(-value, degree)
    if value < 0:
        raise ValueError("a negative number has no real root of an even degree")
    if value == 0 and n < 0:
        raise ZeroDivisionError("0 has no root of a negative degree")
    return power(value, Fraction(1, n))


def _sqrt(value: Number) -> Number:
    if value < 0:
        raise ValueError("a negative number has no real square root")
    return _root(value, Fraction(2))


def _ln(value: Number) -> Number:
    if value <= 0:
        raise ValueError("only positive numbers have a logarithm")
    if value == 1 and is_exact(value):
        return Fraction(0)
    if not is_exact(value):
        return math.log(value)
    if abs(value - 1) < _HALF:
        return math.log1p(value - 1)
    # The logarithms of the parts, since these may be larger than any float.
    return math.log(value.numerator) - math.log(value.denominator)


def _log(value: Number, base: Number | None = None) -> Number:
    if base is None:
        return _ln(value)
    if base == 1 or base <= 0:
        raise ValueError("the base of a logarithm is positive, and not 1")
    found = float(_ln(value)) / float(_ln(base))
    nearest = round(found)
    if is_exact(value) and is_exact(base) and abs(found - nearest) < 1e-9 and power(base, Fraction(nearest)) == value:
        return Fraction(nearest)
    # Python's own for these bases are exact to the last digit; and the other way there is no number too large.
    rounded = {2: math.log2, 10: math.log10}.get(int(base)) if base in (2, 10) else None
    return rounded(value) if rounded and _fits(value) else found


def _fits(value: Number) -> bool:
    return not is_exact(value) or (abs(value) < 1e300 and abs(value) > 1e-300)


# --- angles ---


def _in_degrees(function: Callable[[float], float], known: dict[int, Fraction | None]) -> Callable[[Number], Number]:
    """*function* of an angle in degrees, with the values *known* at some of them; there is none where that is None."""

    def of(angle: Number) -> Number:
        turned = angle % 360
        if is_exact(angle) and turned in known:
            value = known[int(turned)]
            if value is None:
                raise ValueError("the tangent of 90 or 270 degrees is infinite")
            return value
        return function(math.radians(turned))

    return of


_HALF = Fraction(1, 2)
_SINES: dict[int, Fraction | None] = {
    0: Fraction(0),
    30: _HALF,
    90: Fraction(1),
    150: _HALF,
    180: Fraction(0),
    210: -_HALF,
    270: Fraction(-1),
    330: -_HALF,
}
_COSINES = {(90 - angle) % 360: sine for angle, sine in _SINES.items()}
_TANGENTS: dict[int, Fraction | None] = {
    0: Fraction(0),
    45: Fraction(1),
    90: None,
    135: Fraction(-1),
    180: Fraction(0),
    225: Fraction(1),
    270: None,
    315: Fraction(-1),
}


def _approximately(function: Callable[..., float], domain: str = "") -> Callable[..., Number]:
    """*function* of floats; at 0 it is exact if it is 0 or 1 there. Outside its *domain* that is what is said."""

    def of(*arguments: Number) -> Number:
        try:
            value = function(*map(approximate, arguments))
        except ValueError:
            raise ValueError(domain) from None
        is_plain = len(arguments) == 1 and arguments[0] == 0 and is_exact(arguments[0]) and value in (0, 1)
        return Fraction(value) if is_plain else value

    return of


# --- whole numbers ---


def _factorial(value: Number) -> Number:
    n = integer(value, "factorial", least=0)
    estimated(n * n.bit_length())
    return Fraction(math.factorial(n))


def _comb(items: Number, chosen: Number) -> Number:
    n, k = integer(items, "comb", least=0), integer(chosen, "comb", least=0)
    estimated(min(n, max(0, min(k, n - k)) * n.bit_length()))
    return Fraction(math.comb(n, k))


def _perm(items: Number, chosen: Number | None = None) -> Number:
    n = integer(items, "perm", least=0)
    k = n if chosen is None else integer(chosen, "perm", least=0)
    estimated(min(k, n) * n.bit_length() if k <= n else 0)
    return Fraction(math.perm(n, k))


def _powmod(base: Number, exponent: Number, modulus: Number) -> Number:
    x, n, m = (integer(value, "powmod") for value in (base, exponent, modulus))
    if m == 0:
        raise ZeroDivisionError("the modulus is 0")
    # The time grows by the square of the modulus and by the exponent.
    estimated(m.bit_length() ** 2 * n.bit_length() / 10_000)
    try:
        return Fraction(pow(x, n, m))
    except ValueError:
        raise ValueError(f"{x % m} has no inverse modulo {m}") from None


def _gcd(*values: Number) -> Number:
    return Fraction(math.gcd(*(integer(value, "gcd") for value in values)))


def _lcm(*values: Number) -> Number:
    found = 1
    for value in values:
        found = math.lcm(found, integer(value, "lcm"))
        estimated(found.bit_length())
    return Fraction(found)


# --- rounding ---


def _round(value: Number, digits: Number = Fraction(0)) -> Number:
    """Rounded, halves away from zero."""
    places = integer(digits, "the number of digits of round")
    if abs(places) > 1000:
        raise ValueError("round takes at most 1000 digits")
    shift = Fraction(10) ** places
    scaled = abs(Fraction(value)) * shift
    nearest = Fraction(math.floor(scaled + _HALF)) / shift
    signed = nearest if value >= 0 else -nearest
    return signed if is_exact(value) or places <= 0 else float(signed)


def _whole(function: Callable[[Any], int]) -> Callable[[Number], Number]:
    return lambda value: Fraction(function(value))


def modulo(value: Number, by: Number) -> Number:
    """What remains of *value*, with the sign of *by*."""
    if by == 0:
        raise ZeroDivisionError("the remainder of a division by 0")
    return value % by


def floor_divided(value: Number, by: Number) -> Number:
    """*value* divided by *by*, rounded down."""
    if by == 0:
        raise ZeroDivisionError("division by 0")
    return Fraction(math.floor(value / by)) if is_exact(value) and is_exact(by) else value // by


# --- many numbers ---


def _product(*values: Number) -> Number:
    found: Number = Fraction(1)
    for value in values:
        found = checked(found * value)
    return found


def _mean(*values: Number) -> Any:
    return total(values) / len(values)


def _median(*values: Any) -> Any:
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _variance(fewer: int) -> Callable[..., Any]:
    """The squares of the distances from the mean, divided by their number, or by one *fewer* for a sample."""

    def of(*values: Number) -> Any:
        if len(values) <= fewer:
            raise ValueError(f"that of a sample needs at least {fewer + 1} numbers")
        mean = _mean(*values)
        return total([checked((value - mean) ** 2) for value in values]) / (len(values) - fewer)

    return of


def _hypot(*values: Number) -> Number:
    return _sqrt(total([checked(value**2) for value in values]))


def _many(does: Callable[..., Any]) -> Function:
    return Function(does, (1, _ANY), spread=True)


def _one(does: Callable[..., Any]) -> Function:
    return Function(does, (1, 1))


FUNCTIONS: dict[str, Function] = {
    "abs": _one(abs),
    "acos": _one(_approximately(math.acos, "acos is for numbers from -1 to 1")),
    "acosh": _one(_approximately(math.acosh, "acosh is for numbers of at least 1")),
    "asin": _one(_approximately(math.asin, "asin is for numbers from -1 to 1")),
    "asinh": _one(_approximately(math.asinh)),
    "atan": _one(_approximately(math.atan)),
    "atan2": Function(_approximately(math.atan2), (2, 2)),
    "atanh": _one(_approximately(math.atanh, "atanh is for numbers between -1 and 1")),
    "cbrt": _one(lambda value: _root(value, Fraction(3))),
    "ceil": _one(_whole(math.ceil)),
    "comb": Function(_comb, (2, 2)),
    "cos": _one(_approximately(math.cos)),
    "cosd": _one(_in_degrees(math.cos, _COSINES)),
    "cosh": _one(_approximately(math.cosh)),
    "degrees": _one(_approximately(math.degrees)),
    "exp": _one(_approximately(math.exp)),
    "factorial": _one(_factorial),
    "floor": _one(_whole(math.floor)),
    "gcd": _many(_gcd),
    "hypot": _many(_hypot),
    "lcm": _many(_lcm),
    "ln": _one(_ln),
    "log": Function(_log, (1, 2)),
    "log10": _one(lambda value: _log(value, Fraction(10))),
    "log2": _one(lambda value: _log(value, Fraction(2))),
    "max": _many(lambda *values: max(values)),
    "mean": _many(_mean),
    "median": _many(_median),
    "min": _many(lambda *values: min(values)),
    "mod": Function(modulo, (2, 2)),
    "perm": Function(_perm, (1, 2)),
    "powmod": Function(_powmod, (3, 3)),
    "product": _many(_product),
    "pstdev": _many(lambda *values: _sqrt(_variance(0)(*values))),
    "pvariance": _many(_variance(0)),
    "radians": _one(_approximately(math.radians)),
    "root": Function(_root, (2, 2)),
    "round": Function(_round, (1, 2)),
    "sign": _one(lambda value: Fraction((value > 0) - (value < 0))),
    "sin": _one(_approximately(math.sin)),
    "sind": _one(_in_degrees(math.sin, _SINES)),
    "sinh": _one(_approximately(math.sinh)),
    "sqrt": _one(_sqrt),
    "stdev": _many(lambda *values: _sqrt(_variance(1)(*values))),
    "sum": _many(lambda *values: total(values)),
    "tan": _one(_approximately(math.tan)),
    "tand": _one(_in_degrees(math.tan, _TANGENTS)),
    "tanh": _one(_approximately(math.tanh)),
    "trunc": _one(_whole(math.trunc)),
    "variance": _many(_variance(1)),
}
