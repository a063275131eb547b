"""The names that an expression may use: constants, and functions with how many arguments they take.

A function is given exact numbers (Fraction) and approximate ones (float), and returns one of
either; `ValueError` and `ZeroDivisionError` tell what is wrong with an argument, `TooLarge` that
its value would be beyond the limits.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.language import say

from .angles import cosd, sind, tand
from .exact import Number, add_up, check_size, is_exact, make_float
from .integers import (
    comb,
    compute_modulo,
    factorial,
    gcd,
    lcm,
    make_integer_function,
    perm,
    powmod,
    round_half_up,
)
from .powers import compute_root, ln, log, sqrt

if TYPE_CHECKING:
    from collections.abc import Callable

CONSTANTS: dict[str, float] = {
    "pi": math.pi,
    "e": math.e,
    "tau": math.tau,
    "phi": (1 + math.sqrt(5)) / 2,
}

_ANY = 1_000_000


class Function(msgspec.Struct, frozen=True):
    """A function of expressions with its least and most arguments; with `spread`, elements of lists
    are arguments.
    """

    does: Callable[..., Any]
    takes: tuple[int, int]
    spread: bool = False


def _multiply_all(*values: Number) -> Number:
    found: Number = Fraction(1)
    for value in values:
        found = check_size(found * value)
    return found


def _compute_mean(*values: Number) -> Any:
    return add_up(values) / len(values)


def _compute_median(*values: Any) -> Any:
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _make_variance(fewer: int) -> Callable[..., Any]:
    """The squares of the distances from the mean, divided by their number, or by one *fewer* for a
    sample.
    """

    def compute(*values: Number) -> Any:
        if len(values) <= fewer:
            raise ValueError(
                say("that of a sample needs at least {value} numbers", value=fewer + 1)
            )
        mean = _compute_mean(*values)
        return add_up([check_size((value - mean) ** 2) for value in values]) / (len(values) - fewer)

    return compute


def _compute_hypot(*values: Number) -> Number:
    return sqrt(add_up([check_size(value**2) for value in values]))


def _make_approximate(function: Callable[..., float], domain: str = "") -> Callable[..., Number]:
    """*function* of floats; at 0 it is exact if it is 0 or 1 there. Outside its *domain* that is
    what is said.
    """

    def compute(*arguments: Number) -> Number:
        try:
            value = function(*map(make_float, arguments))
        except ValueError:
            raise ValueError(domain) from None
        is_plain = (
            len(arguments) == 1 and arguments[0] == 0 and is_exact(arguments[0]) and value in (0, 1)
        )
        return Fraction(value) if is_plain else value

    return compute


def _take_many(does: Callable[..., Any]) -> Function:
    return Function(does, (1, _ANY), spread=True)


def _take_one(does: Callable[..., Any]) -> Function:
    return Function(does, (1, 1))


FUNCTIONS: dict[str, Function] = {
    "abs": _take_one(abs),
    "acos": _take_one(_make_approximate(math.acos, "acos is for numbers from -1 to 1")),
    "acosh": _take_one(_make_approximate(math.acosh, "acosh is for numbers of at least 1")),
    "asin": _take_one(_make_approximate(math.asin, "asin is for numbers from -1 to 1")),
    "asinh": _take_one(_make_approximate(math.asinh)),
    "atan": _take_one(_make_approximate(math.atan)),
    "atan2": Function(_make_approximate(math.atan2), (2, 2)),
    "atanh": _take_one(_make_approximate(math.atanh, "atanh is for numbers between -1 and 1")),
    "cbrt": _take_one(lambda value: compute_root(value, Fraction(3))),
    "ceil": _take_one(make_integer_function(math.ceil)),
    "comb": Function(comb, (2, 2)),
    "cos": _take_one(_make_approximate(math.cos)),
    "cosd": _take_one(cosd),
    "cosh": _take_one(_make_approximate(math.cosh)),
    "degrees": _take_one(_make_approximate(math.degrees)),
    "exp": _take_one(_make_approximate(math.exp)),
    "factorial": _take_one(factorial),
    "floor": _take_one(make_integer_function(math.floor)),
    "gcd": _take_many(gcd),
    "hypot": _take_many(_compute_hypot),
    "lcm": _take_many(lcm),
    "ln": _take_one(ln),
    "log": Function(log, (1, 2)),
    "log10": _take_one(lambda value: log(value, Fraction(10))),
    "log2": _take_one(lambda value: log(value, Fraction(2))),
    "max": _take_many(lambda *values: max(values)),
    "mean": _take_many(_compute_mean),
    "median": _take_many(_compute_median),
    "min": _take_many(lambda *values: min(values)),
    "mod": Function(compute_modulo, (2, 2)),
    "perm": Function(perm, (1, 2)),
    "powmod": Function(powmod, (3, 3)),
    "product": _take_many(_multiply_all),
    "pstdev": _take_many(lambda *values: sqrt(_make_variance(0)(*values))),
    "pvariance": _take_many(_make_variance(0)),
    "radians": _take_one(_make_approximate(math.radians)),
    "root": Function(compute_root, (2, 2)),
    "round": Function(round_half_up, (1, 2)),
    "sign": _take_one(lambda value: Fraction((value > 0) - (value < 0))),
    "sin": _take_one(_make_approximate(math.sin)),
    "sind": _take_one(sind),
    "sinh": _take_one(_make_approximate(math.sinh)),
    "sqrt": _take_one(sqrt),
    "stdev": _take_many(lambda *values: sqrt(_make_variance(1)(*values))),
    "sum": _take_many(lambda *values: add_up(values)),
    "tan": _take_one(_make_approximate(math.tan)),
    "tand": _take_one(tand),
    "tanh": _take_one(_make_approximate(math.tanh)),
    "trunc": _take_one(make_integer_function(math.trunc)),
    "variance": _take_many(_make_variance(1)),
}
