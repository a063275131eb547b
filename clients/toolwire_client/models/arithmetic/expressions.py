"""Arithmetic as trees: numbers, operations on them, and places where a number is missing."""

from __future__ import annotations

from typing import Literal

import msgspec

Operator = Literal["add", "subtract", "multiply", "divide", "modulo", "power"]
Value = int | float


class Number(msgspec.Struct, frozen=True):
    """A number that is known."""

    value: Value


class Missing(msgspec.Struct, frozen=True):
    """A number that nobody has told yet."""


class Operation(msgspec.Struct, frozen=True):
    """An operation on two operands."""

    operator: Operator
    left: Expression
    right: Expression


Expression = Number | Missing | Operation

PRECEDENCE: dict[Operator, int] = {"add": 1, "subtract": 1, "multiply": 2, "divide": 2, "modulo": 2, "power": 3}
_SIGNS: dict[Operator, str] = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "modulo": "%", "power": "^"}
_CHINESE_SIGNS: dict[Operator, str] = {**_SIGNS, "multiply": "×", "divide": "÷"}


def written(expression: Expression, *, in_chinese: bool = False, power: str = "^") -> str:
    """Return the expression with no more parentheses than it needs; what is missing is a question mark."""
    match expression:
        case Number(value):
            return written_number(value)
        case Missing():
            return "?"
        case Operation(operator, left, right):
            sign = power if operator == "power" else (_CHINESE_SIGNS if in_chinese else _SIGNS)[operator]
            own = PRECEDENCE[operator]

            def side(operand: Expression, needed: int) -> str:
                text = written(operand, in_chinese=in_chinese, power=power)
                return f"({text})" if _binding(operand) < needed else text

            # Only powers are grouped from the right: 2 ^ 3 ^ 2 is 2 ^ (3 ^ 2).
            from_right = operator == "power"
            return f"{side(left, own + from_right)} {sign} {side(right, own + (not from_right))}"


def written_number(value: Value) -> str:
    """Return the number as people write it: without `.0`."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def first_missing(expression: Expression) -> Operation | Missing | None:
    """The operation that lacks a number, innermost and leftmost; `Missing` itself if there is nothing but that."""
    if not isinstance(expression, Operation):
        return expression if isinstance(expression, Missing) else None
    for operand in (expression.left, expression.right):
        if found := first_missing(operand):
            return expression if isinstance(found, Missing) else found
    return None


def filled(expression: Expression, value: Expression) -> Expression:
    """The expression with *value* where the first number is missing."""
    if isinstance(expression, Missing):
        return value
    if not isinstance(expression, Operation):
        return expression
    if first_missing(expression.left):
        return Operation(expression.operator, filled(expression.left, value), expression.right)
    return Operation(expression.operator, expression.left, filled(expression.right, value))


def first_step(expression: Expression) -> Operation | None:
    """The operation to do first: the leftmost one whose operands are numbers."""
    if not isinstance(expression, Operation):
        return None
    inner = first_step(expression.left) or first_step(expression.right)
    if inner is None and isinstance(expression.left, Number) and isinstance(expression.right, Number):
        return expression
    return inner


def after(expression: Expression, step: Operation, value: Value) -> Expression:
    """The expression when *step*, its first one, has come to *value*."""
    if expression is step:
        return Number(value)
    assert isinstance(expression, Operation)
    if first_step(expression.left) is step:
        return Operation(expression.operator, after(expression.left, step, value), expression.right)
    return Operation(expression.operator, expression.left, after(expression.right, step, value))


def operators_in(expression: Expression) -> set[Operator]:
    """The operations that it takes."""
    if not isinstance(expression, Operation):
        return set()
    return {expression.operator} | operators_in(expression.left) | operators_in(expression.right)


def _binding(expression: Expression) -> int:
    match expression:
        case Operation(operator):
            return PRECEDENCE[operator]
        case Number(value) if value < 0:
            return 0
    return 9
