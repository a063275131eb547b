"""An expression as text -> the steps that calculate it, in the order in which they are done.

Strategy. A parser by precedence (a number on either side of each operator says what binds tighter)
that emits postfix: `1 + 2 * 3` becomes 1, 2, 3, *, +. Whether a name or a count of arguments is
right is seen here too, so that a mistake in an expression is reported before anything is
calculated.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

import msgspec
from toolwire_schemas.did_you_mean import say_unknown_name
from toolwire_schemas.language import say

from .functions import CONSTANTS, FUNCTIONS
from .limits import MAX_BITS, MAX_CHARACTERS, MAX_DEPTH

_AROUND = 30
"""Characters of the expression shown on either side of a fault."""


class Place(msgspec.Struct, frozen=True):
    """A part of the expression, from one character up to another."""

    start: int
    end: int


class Fault(Exception):
    """What keeps an expression from being calculated, and where that is."""

    def __init__(self, problem: str, place: Place) -> None:
        super().__init__(problem)
        self.problem = problem
        self.place = place

    def explain(self, expression: str) -> str:
        """The problem, with the part of the expression that it is about between `>>>` and `<<<`."""
        start, end = self.place.start, self.place.end
        before, part, after = expression[:start], expression[start:end], expression[end:]
        before = "…" + before[-_AROUND:] if len(before) > _AROUND else before
        after = after[:_AROUND] + "…" if len(after) > _AROUND else after
        part = f"{part[:_AROUND]}…{part[-_AROUND:]}" if len(part) > 2 * _AROUND else part
        return say(
            "{problem}, at character {place}: {text}",
            problem=self.problem,
            place=start + 1,
            text=f"{before}>>>{part}<<<{after}",
        )


class Step(msgspec.Struct, frozen=True):
    """One step: `push` the value, or `apply` the operator or function called *value* to the last
    *count* values.

    `list` makes one of them.
    """

    kind: str
    value: Any
    place: Place
    count: int = 0


class Token(msgspec.Struct, frozen=True):
    """A word of the expression. Its kind is `number`, `name`, `mark` or `end`."""

    kind: str
    text: str
    place: Place


_TOKEN = re.compile(
    r"(?P<number>0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+"
    r"|(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-zπτφ][A-Za-z0-9_]*)"
    r"|(?P<mark>\*\*|//|==|!=|<=|>=|[-+*/%^!()\[\],<>=×·÷−≤≥≠])"
    r"|\s+"
)
_SAME = {
    "^": "**",
    "×": "*",
    "·": "*",
    "÷": "/",
    "−": "-",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "π": "pi",
    "τ": "tau",
    "φ": "phi",
}

_BINARY = {
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), (1, 2)),
    **dict.fromkeys(("+", "-"), (3, 4)),
    **dict.fromkeys(("*", "/", "//", "%", "of"), (5, 6)),
    "**": (10, 9),
}
"""How tight each operator holds what is to its left and to its right; the power comes from the
right.
"""

_SIGN = 8
"""How tight a sign holds what is behind it: tighter than a product, less than a power, so that -2^2
is -4.
"""

_COMPARED = 1


def parse(expression: str) -> list[Step]:
    """Return the steps that calculate *expression*.

    Raises:
        Fault: if it is not an expression.
    """
    if len(expression) > MAX_CHARACTERS:
        everything = Place(MAX_CHARACTERS, len(expression))
        raise Fault(
            say(
                "the expression is longer than {max_characters:,} characters",
                max_characters=MAX_CHARACTERS,
            ),
            everything,
        )
    return _Parser(_split_tokens(expression)).read_steps()


def _split_tokens(expression: str) -> list[Token]:
    tokens: list[Token] = []
    at = 0
    while at < len(expression):
        found = _TOKEN.match(expression, at)
        if found is None:
            raise Fault(_explain_letter(expression[at]), Place(at, at + 1))
        if found.lastgroup is not None:
            text = _SAME.get(found[0], found[0])
            tokens.append(Token(found.lastgroup, text, Place(at, found.end())))
        at = found.end()
    return [*tokens, Token("end", "", Place(at, at))]


def _explain_letter(letter: str) -> str:
    remedies = {
        "$": say("leave out currencies"),
        "√": say("write {form}", form="sqrt(...)"),
        "²": say("write {form}", form="^2"),
        "³": say("write {form}", form="^3"),
        "°": say("write {form}", form="sind(...)"),
    }
    remedy = remedies.get(letter)
    if remedy is None:
        remedy = say("only numbers, operators, functions and brackets are understood")
    return say("{letter!r} means nothing here: {remedy}", letter=letter, remedy=remedy)


class _Parser:
    """Reads tokens, and notes steps."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0
        self._steps: list[Step] = []

    def read_steps(self) -> list[Step]:
        if self._next.kind == "end":
            raise Fault(say("the expression is empty"), self._next.place)
        self._read_expression(0)
        if self._next.kind != "end":
            self._refuse_rest()
        return self._steps

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._next
        self._at += 1
        return token

    def _read_expression(self, least: int) -> None:
        """Read as much as is held tighter than *least*."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise Fault(
                say(
                    "brackets, signs and powers are more than {max_depth} deep", max_depth=MAX_DEPTH
                ),
                self._next.place,
            )
        self._read_operand()
        compared = False
        while (token := self._next).text in _BINARY:
            left, right = _BINARY[token.text]
            if left < least:
                break
            if left == _COMPARED and compared:
                raise Fault(say("comparisons cannot be chained; compare two values"), token.place)
            compared = left == _COMPARED
            self._take()
            self._read_expression(right)
            self._steps.append(
                Step("apply", "*" if token.text == "of" else token.text, token.place, 2)
            )
        self._depth -= 1

    def _read_operand(self) -> None:
        token = self._take()
        if token.kind == "number":
            self._steps.append(Step("push", _read_number(token), token.place))
        elif token.kind == "name":
            self._name(token)
        elif token.text in ("+", "-"):
            self._read_expression(_SIGN)
            if token.text == "-":
                self._steps.append(Step("apply", "negative", token.place, 1))
            return
        elif token.text == "(":
            self._read_expression(0)
            self._close(token, ")")
        elif token.text == "[":
            count = self._read_arguments(token, "]")
            self._steps.append(Step("list", None, token.place, count))
        else:
            what = say("the expression ends")
            if token.kind != "end":
                what = say("there is {text!r}", text=token.text)
            raise Fault(say("{what} where a number is expected", what=what), token.place)
        self._read_postfix()

    def _read_postfix(self) -> None:
        """Factorials and percents behind an operand."""
        while self._next.text == "!" or (self._next.text == "%" and self._is_percent()):
            token = self._take()
            self._steps.append(
                Step("apply", "factorial" if token.text == "!" else "percent", token.place, 1)
            )

    def _is_percent(self) -> bool:
        """Whether a `%` is no remainder: no operand follows it. Before a sign, spaces tell:
        `7% - 3` or `7 % -3`.
        """
        operand, mark, after = self._tokens[self._at - 1 : self._at + 2]
        if after.text in ("+", "-"):
            stands_apart = operand.place.end < mark.place.start
            begins_a_number = after.place.end == self._tokens[self._at + 2].place.start
            if after.text == "-" and stands_apart != begins_a_number:
                raise Fault(
                    say("this % may be percent (write 7% - 3) or the remainder (write 7 % (-3))"),
                    mark.place,
                )
            return not (stands_apart and begins_a_number)
        return not (
            after.kind == "number"
            or after.text in ("(", "[")
            or (after.kind == "name" and after.text != "of")
        )

    def _name(self, token: Token) -> None:
        if self._next.text != "(":
            self._steps.append(Step("push", _find_constant(token), token.place))
            return
        if token.text not in FUNCTIONS:
            known = CONSTANTS if token.text in CONSTANTS else FUNCTIONS
            if known is CONSTANTS:
                raise Fault(
                    say("write the multiplication: {text} * (...)", text=token.text), token.place
                )
            raise Fault(say_unknown_name("function", token.text, FUNCTIONS), token.place)
        count = self._read_arguments(self._take(), ")")
        least, most = FUNCTIONS[token.text].takes
        if not least <= count <= most:
            wanted = _describe_counts(least, most)
            raise Fault(
                say(
                    "{text} takes {wanted}, not {count}",
                    text=token.text,
                    wanted=wanted,
                    count=count,
                ),
                token.place,
            )
        self._steps.append(Step("apply", token.text, token.place, count))

    def _read_arguments(self, opening: Token, closing: str) -> int:
        """Read values up to *closing* and return how many there are."""
        if self._next.text == closing:
            self._take()
            return 0
        count = 1
        self._read_expression(0)
        while self._next.text == ",":
            self._take()
            self._read_expression(0)
            count += 1
        self._close(opening, closing)
        return count

    def _close(self, opening: Token, closing: str) -> None:
        if self._next.text == closing:
            self._take()
            return
        if self._next.kind == "end":
            raise Fault(say("this {text!r} is never closed", text=opening.text), opening.place)
        self._refuse_rest()

    def _refuse_rest(self) -> NoReturn:
        """Say what is wrong about a token behind a complete operand."""
        token = self._next
        if token.text in (")", "]"):
            raise Fault(
                say("there is no bracket that this {text!r} closes", text=token.text), token.place
            )
        if token.text == ",":
            raise Fault(
                say("a comma is only for arguments of functions; write 1000 rather than 1,000"),
                token.place,
            )
        if token.text == "=":
            raise Fault(say("there are no variables; == compares"), token.place)
        raise Fault(
            say("an operator is missing before this (a multiplication is written with *)"),
            token.place,
        )


def _describe_counts(least: int, most: int) -> str:
    if least == most == 1:
        return say("1 argument")
    if least == most:
        return say("{count} arguments", count=least)
    if most == least + 1:
        return say("{least} or {most} arguments", least=least, most=most)
    return say("{least} or more arguments", least=least)


def _find_constant(token: Token) -> Any:
    if token.text in CONSTANTS:
        return CONSTANTS[token.text]
    if token.text in FUNCTIONS:
        raise Fault(
            say("{text} is a function; write {text_2}(...)", text=token.text, text_2=token.text),
            token.place,
        )
    raise Fault(
        say_unknown_name("constant or function", token.text, [*CONSTANTS, *FUNCTIONS]), token.place
    )


def _read_number(token: Token) -> Any:
    """The number that *token* writes, exactly."""
    from fractions import Fraction

    text = token.text
    plain = text.replace("_", "")
    if text.endswith("_") or "__" in text or "_." in text or "._" in text or "_e" in text.lower():
        raise Fault(say("underscores stand between digits only"), token.place)
    if plain[:2].lower() in ("0x", "0b", "0o"):
        return Fraction(int(plain, 0))
    digits, _, exponent = plain.lower().partition("e")
    if len(digits) > 1 and digits[:2].isdigit() and digits[0] == "0" and "." not in digits:
        raise Fault(
            say("a number does not begin with 0 (write 1000 rather than 1,000)"), token.place
        )
    if len(exponent) > 8 or abs(int(exponent or 0)) > MAX_BITS * 0.3:
        raise Fault(say("the exponent is beyond {value:,}", value=int(MAX_BITS * 0.3)), token.place)
    whole, _, decimals = digits.partition(".")
    return Fraction(_read_integer(whole + decimals)) * Fraction(10) ** (
        int(exponent or 0) - len(decimals)
    )


def _read_integer(digits: str) -> int:
    # Python refuses to read more than 4,300 digits at once.
    value = 0
    for start in range(0, len(digits), 4000):
        part = digits[start : start + 4000]
        value = value * 10 ** len(part) + int(part)
    return value
