"""Arithmetic as trees: read from a question, computed one operation at a time, written back as text."""

from __future__ import annotations

import ast
import re
import unicodedata
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

Value = int | float


class Operation(msgspec.Struct, frozen=True):
    """One operation on two operands. *operator* is one of `+ - * / % ^`."""

    operator: str
    left: Expression
    right: Expression


Expression = Value | Operation


class NotUnderstood(ValueError):
    """The question does not contain exactly one arithmetic expression. The text is the start of the question."""


_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "^": 3}
_SIGNS = dict(zip((ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.Pow), "+-*/%^", strict=True))
_MAX_TOKENS = 100
_MAX_DIGITS = 300  # more would be infinite as a float
_WORDS: dict[str, str] = {
    "+": "plus|加上|加",
    "-": "minus|减去|减|−|–",
    "*": "multiplied by|multiply by|times|乘以|乘|×|·",
    "/": "divided by|divide by|除以|÷",
    "%": "modulo|mod|取余",
    "^": "to the power of|**",
    # What follows applies to everything before: "12加3再乘以4" is (12 + 3) * 4.
    ";": "and then|then|再|然后|的和|的差|的积|的商|,",
}
_SIGN_OF = {word: sign for sign, words in _WORDS.items() for word in words.split("|")}
_ANY_WORD = "|".join(
    rf"\b{word}\b" if word[0].isascii() and word[0].isalpha() else re.escape(word)
    for word in sorted(_SIGN_OF, key=len, reverse=True)
)
_NUMBER = r"(?<![a-z\d.])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![a-z\d])"
_TOKEN = re.compile(rf"(?P<number>{_NUMBER})|(?P<word>{_ANY_WORD})|(?P<sign>[-+*/%^()])|(?P<space>\s+)")


def read_question(text: str, previous: Value | None = None) -> Expression:
    """Return the arithmetic expression in an English or Chinese question.

    *previous*, the last answer, is the left operand of a question like "and times 2?".

    Raises:
        NotUnderstood: if the question holds no expression, more than one, or a malformed one.
    """
    try:
        (tokens,) = (run for run in _runs(text) if not _PRECEDENCE.keys().isdisjoint(run))
        if previous is not None and tokens[0] in _PRECEDENCE:
            return _read(["(", str(previous), ")", *tokens])
        return _read(tokens)
    except (ValueError, SyntaxError):
        raise NotUnderstood(text.strip()[:40]) from None


def _runs(text: str) -> list[list[str]]:
    """The sequences of arithmetic tokens in *text* that no other word interrupts, separators at the ends removed."""
    text = unicodedata.normalize("NFKC", text).lower()
    runs: list[list[str]] = [[]]
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        at = found.end() if found else at + 1
        if found is None:
            runs.append([])
        elif found.lastgroup == "number":
            runs[-1].append(found[0].replace(",", ""))
        elif found.lastgroup != "space":
            sign = _SIGN_OF.get(found[0], found[0])
            if sign != ";" or (runs[-1] and runs[-1][-1] != ";"):
                runs[-1].append(sign)
    return [run[:-1] if run[-1] == ";" else run for run in runs if run]


def _read(tokens: list[str]) -> Expression:
    """Read *tokens*, whose precedence is Python's. Raises `ValueError` or `SyntaxError` if they are no expression."""
    if len(tokens) > _MAX_TOKENS or len(max(tokens, key=len)) > _MAX_DIGITS:
        raise ValueError
    text = ""
    for token in tokens:
        if token == ";":
            text = f"({text})"
        elif token[-1].isdecimal():  # without zeros at the start
            text += f" {int(token) if token.isdecimal() else float(token)}"
        else:
            text += " **" if token == "^" else f" {token}"
    return _expression(ast.parse(text.strip(), mode="eval").body)


def _expression(node: ast.expr) -> Expression:
    match node:
        case ast.Constant(value=value) if isinstance(value, int | float):
            return value
        case ast.BinOp(left=left, op=operator, right=right):
            return Operation(_SIGNS[type(operator)], _expression(left), _expression(right))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _expression(operand)
            return Operation("-", 0, inner) if isinstance(inner, Operation) else -inner
    raise ValueError


def first_step(expression: Operation) -> tuple[Operation, Callable[[Value], Expression]]:
    """Return the leftmost operation on two numbers, and a function from its value to what is left of *expression*."""
    operator, left, right = expression.operator, expression.left, expression.right
    if isinstance(left, Operation):
        step, rest = first_step(left)
        return step, lambda value: Operation(operator, rest(value), right)
    if isinstance(right, Operation):
        step, rest = first_step(right)
        return step, lambda value: Operation(operator, left, rest(value))
    return expression, lambda value: value


def write(expression: Expression, signs: dict[str, str] | None = None) -> str:
    """Return *expression* as text with only the parentheses it needs. *signs* replaces operators, as `{"*": "×"}`."""
    if not isinstance(expression, Operation):
        return str(expression).removesuffix(".0")
    own, from_right = _PRECEDENCE[expression.operator], expression.operator == "^"

    def side(operand: Expression, needed: int) -> str:
        binding = _PRECEDENCE[operand.operator] if isinstance(operand, Operation) else 0 if operand < 0 else 9
        return f"({write(operand, signs)})" if binding < needed else write(operand, signs)

    left, right = side(expression.left, own + from_right), side(expression.right, own + (not from_right))
    return f"{left} {(signs or {}).get(expression.operator, expression.operator)} {right}"
