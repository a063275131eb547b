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
from .exact import Number, approximate, checked, is_exact, total
from .integers import comb, factorial, gcd, lcm, modulo, perm, powmod, rounded, whole
from .powers import ln, log, root, sqrt

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
    """The squares of the distances from the mean, divided by their number, or by one *fewer* for a
    sample.
    """

    def of(*values: Number) -> Any:
        if len(values) <= fewer:
            raise ValueError(
                say("that of a sample needs at least {value} numbers", value=fewer + 1)
            )
        mean = _mean(*values)
        return total([checked((value - mean) ** 2) for value in values]) / (len(values) - fewer)

    return of


def _hypot(*values: Number) -> Number:
    return sqrt(total([checked(value**2) for value in values]))


def _approximately(function: Callable[..., float], domain: str = "") -> Callable[..., Number]:
    """*function* of floats; at 0 it is exact if it is 0 or 1 there. Outside its *domain* that is
    what is said.
    """

    def of(*arguments: Number) -> Number:
        try:
            value = function(*map(approximate, arguments))
        except ValueError:
            raise ValueError(domain) from None
        is_plain = (
            len(arguments) == 1 and arguments[0] == 0 and is_exact(arguments[0]) and value in (0, 1)
        )
        return Fraction(value) if is_plain else value

    return of


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
    "cbrt": _one(lambda value: root(value, Fraction(3))),
    "ceil": _one(whole(math.ceil)),
    "comb": Function(comb, (2, 2)),
    "cos": _one(_approximately(math.cos)),
    "cosd": _one(cosd),
    "cosh": _one(_approximately(math.cosh)),
    "degrees": _one(_approximately(math.degrees)),
    "exp": _one(_approximately(math.exp)),
    "factorial": _one(factorial),
    "floor": _one(whole(math.floor)),
    "gcd": _many(gcd),
    "hypot": _many(_hypot),
    "lcm": _many(lcm),
    "ln": _one(ln),
    "log": Function(log, (1, 2)),
    "log10": _one(lambda value: log(value, Fraction(10))),
    "log2": _one(lambda value: log(value, Fraction(2))),
    "max": _many(lambda *values: max(values)),
    "mean": _many(_mean),
    "median": _many(_median),
    "min": _many(lambda *values: min(values)),
    "mod": Function(modulo, (2, 2)),
    "perm": Function(perm, (1, 2)),
    "powmod": Function(powmod, (3, 3)),
    "product": _many(_product),
    "pstdev": _many(lambda *values: sqrt(_variance(0)(*values))),
    "pvariance": _many(_variance(0)),
    "radians": _one(_approximately(math.radians)),
    "root": Function(root, (2, 2)),
    "round": Function(rounded, (1, 2)),
    "sign": _one(lambda value: Fraction((value > 0) - (value < 0))),
    "sin": _one(_approximately(math.sin)),
    "sind": _one(sind),
    "sinh": _one(_approximately(math.sinh)),
    "sqrt": _one(sqrt),
    "stdev": _many(lambda *values: sqrt(_variance(1)(*values))),
    "sum": _many(lambda *values: total(values)),
    "tan": _one(_approximately(math.tan)),
    "tand": _one(tand),
    "tanh": _one(_approximately(math.tanh)),
    "trunc": _one(whole(math.trunc)),
    "variance": _many(_variance(1)),
}
