"""The steps of an expression, done one after the other."""

from __future__ import annotations

import operator
from time import monotonic
from typing import TYPE_CHECKING, Any

from toolwire_schemas.language import say

from .exact import TooLarge, check_size, is_exact, make_float
from .functions import FUNCTIONS, Function
from .integers import compute_modulo, divide_rounding_down
from .limits import MAX_SECONDS
from .parsing import Fault
from .powers import raise_to_power

if TYPE_CHECKING:
    from collections.abc import Callable

    from .parsing import Step


def run(steps: list[Step]) -> Any:
    """Return the value of *steps*: a Fraction if it is exact, a float if not, or a bool.

    Raises:
        Fault: where a step has no value, or one beyond the limits.
    """
    stack: list[Any] = []
    latest = monotonic() + MAX_SECONDS
    for step in steps:
        if monotonic() > latest:
            raise Fault(
                say(
                    "the calculation takes longer than {max_seconds:g} seconds",
                    max_seconds=MAX_SECONDS,
                ),
                step.place,
            )
        if step.kind == "push":
            stack.append(step.value)
            continue
        arguments = stack[len(stack) - step.count :]
        del stack[len(stack) - step.count :]
        stack.append(arguments if step.kind == "list" else _apply(step, arguments))
    if isinstance(stack[0], list):
        raise Fault(
            say("a list is no result; give it to a function such as sum or mean"), steps[-1].place
        )
    return stack[0]


def _apply(step: Step, arguments: list[Any]) -> Any:
    function = FUNCTIONS.get(step.value)
    try:
        values = _unpack_numbers(arguments, function)
        does = function.does if function else _OPERATORS[step.value]
        return check_size(does(*values))
    except (ValueError, ZeroDivisionError, TooLarge) as error:
        raise Fault(str(error), step.place) from None
    except OverflowError:
        raise Fault(say("the value is too large for an approximate number"), step.place) from None


def _unpack_numbers(arguments: list[Any], function: Function | None) -> list[Any]:
    """*arguments*, with the numbers of lists among them where these are welcome, and all of one
    kind.
    """
    spreads = function is not None and function.spread
    values: list[Any] = []
    for argument in arguments:
        if isinstance(argument, list) and not spreads:
            raise ValueError(
                say("a list is only for functions of many numbers, such as sum or mean")
            )
        values += argument if isinstance(argument, list) else [argument]
    if any(isinstance(value, bool | list) for value in values):
        raise ValueError(say("the outcome of a comparison, or a list, is no number"))
    if spreads and not values:
        raise ValueError(say("it needs at least one number"))
    if all(map(is_exact, values)) or len(values) < 2 or (function and not spreads):
        return values
    return list(map(make_float, values))


def _divide(value: Any, by: Any) -> Any:
    if by == 0:
        raise ZeroDivisionError(say("division by 0"))
    return value / by


_OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "//": divide_rounding_down,
    "%": compute_modulo,
    "**": raise_to_power,
    "negative": operator.neg,
    "percent": lambda value: value / 100,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
