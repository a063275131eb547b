"""Which tool does which operation, and how it is called for it: found out from what the tools say of themselves.

Strategy. A name tells most (`add`, `calc.minus`, `multiply_numbers`, `两数相加`), a description the rest. Then the
parameters have to fit: two numbers, a list of numbers, an operator with two numbers, or an expression as text. Where
the order matters it is that of the declaration, unless the parameters' names say better (dividend, divisor).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from .expressions import Expression, Number, Operation, Operator, Value, operators_in, written

if TYPE_CHECKING:
    from collections.abc import Callable

Entry = dict[str, Any]
Params = dict[str, Any]

_NAMES: dict[Operator, str] = {
    "add": "add plus sum addition adds adding total 加 加法 相加 求和",
    "subtract": "subtract minus sub subtraction difference subtracts 减 减法 相减",
    "multiply": "multiply times mul multiplication product mult multiplies 乘 乘法 相乘",
    "divide": "divide div division quotient divides divided truediv 除 除法 相除",
    "modulo": "mod modulo modulus remainder 余 取余 求余 余数",
    "power": "pow power exponent exponentiate exponentiation 乘方 次方 幂 幂运算",
}
_DESCRIBED: dict[Operator, str] = {
    "add": r"\badd(s|ing|ition)?\b|\bsum\b|\bplus\b|加|之和|求和",
    "subtract": r"\bsubtract(s|ing|ion)?\b|\bminus\b|\bdifference\b|减|之差",
    "multiply": r"\bmultipl(y|ies|ying|ication)\b|\bproduct\b|\btimes\b|乘(?!方)|之积",
    "divide": r"\bdivi(de|des|ding|ded|sion)\b|\bquotient\b|除",
    "modulo": r"\bmodulo\b|\bmodulus\b|\bremainder\b|余数|取余|求余",
    "power": r"\bpower\b|\bexponent|次方|乘方|幂",
}
_SIGNS: dict[Operator, tuple[str, ...]] = {
    "add": ("+",),
    "subtract": ("-",),
    "multiply": ("*", "×", "x"),
    "divide": ("/", "÷"),
    "modulo": ("%",),
    "power": ("^", "**"),
}
# What stands first, and what second.
_FIRST = re.compile(r"minuend|dividend|numerator|base|被减数|被除数|分子|底数", re.IGNORECASE)
_SECOND = re.compile(r"subtrahend|divisor|denominator|exponent|减数|除数|分母|指数", re.IGNORECASE)
_BACKWARDS = re.compile(r"subtracts? `?(\w+)`? from `?(\w+)`?|从\s*(\w+?)\s*中?减去\s*(\w+)", re.IGNORECASE)
_EXPRESSION = re.compile(r"expr|formula|equation|calculation|表达式|算式|公式", re.IGNORECASE)
_OPERATOR = re.compile(r"^op$|operat|method|运算", re.IGNORECASE)


class Unsuitable(ValueError):
    """The tool does not take these numbers. The text says why."""


class Ability(msgspec.Struct, frozen=True):
    """A tool that does an operation: its name, and the parameters for two numbers.

    `params` raises `Unsuitable` for numbers that the tool does not take.
    """

    tool: str
    params: Callable[[Value, Value], Params]


class Abilities:
    """What a set of tools can do."""

    def __init__(self, tools: list[Entry]) -> None:
        self._of: dict[Operator, Ability] = {}
        self._calculator: tuple[str, str] | None = None
        for operator in _NAMES:
            fitting = [(_fit(tool, operator), place, tool) for place, tool in enumerate(tools)]
            for fit, _, tool in sorted(fitting, key=lambda each: (-each[0], each[1])):
                if fit and operator not in self._of and (params := _call(tool, operator)):
                    self._of[operator] = Ability(tool["name"], params)
        for tool in tools:
            if parameter := _expression_parameter(tool):
                self._calculator = self._calculator or (tool["name"], parameter)

    def has(self, operator: Operator) -> bool:
        """Whether there is a tool for the operation alone."""
        return operator in self._of

    def step(self, operation: Operation) -> tuple[str, Params] | None:
        """How one operation on two numbers is done; `None` if it cannot be.

        Raises:
            Unsuitable: if the tool for it does not take these numbers.
        """
        assert isinstance(operation.left, Number)
        assert isinstance(operation.right, Number)
        ability = self._of.get(operation.operator)
        if ability is None:
            return None
        return ability.tool, ability.params(operation.left.value, operation.right.value)

    def whole(self, expression: Expression) -> tuple[str, Params] | None:
        """How a whole expression is done at once, if that is the only way; else `None`."""
        if self._calculator is None or all(map(self.has, operators_in(expression))):
            return None
        tool, parameter = self._calculator
        return tool, {parameter: written(expression, power="**")}


# --- which operation a tool is for ------------------------------------------------------------------------------------


def _fit(tool: Entry, operator: Operator) -> int:
    """How well the tool fits the operation: by its name, a word of it, a parameter's values, its description."""
    name = str(tool.get("name", ""))
    last = re.split(r"[./:]", name)[-1]
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|[\u4e00-\u9fff]+", last)
    known = _NAMES[operator].split()
    if last.lower() in known:
        return 5
    # 两数相加 is one word, so the known ones are looked for in it.
    if any(word.lower() in known or any(each in word for each in known if not each.isascii()) for word in words):
        return 4
    if _choice(tool, operator) is not None:
        return 3
    others = [other for other in _NAMES if other != operator and _says(tool, other)]
    return 2 if _says(tool, operator) and not others else 0


def _says(tool: Entry, operator: Operator) -> bool:
    said = f"{tool.get('title') or ''} {tool.get('description') or ''}"
    return re.search(_DESCRIBED[operator], said, re.IGNORECASE) is not None


# --- how it is called -------------------------------------------------------------------------------------------------


def _call(tool: Entry, operator: Operator) -> Callable[[Value, Value], Params] | None:
    """How the tool is called for this operation; `None` if its parameters do not fit."""
    properties, required = _parameters(tool)
    choice = _choice(tool, operator)
    numbers = [name for name, schema in properties.items() if _takes(schema, "number", "integer")]
    needed = [name for name in numbers if name in required]
    needed = needed if len(needed) >= 2 else numbers  # a second number may have a default
    others = [name for name in required if name not in numbers and not (choice and name == choice[0])]
    if len(needed) >= 2 and not others and not any(name in required for name in needed[2:]):
        first, second = _ordered(tool, operator, needed[0], needed[1])
        fixed = {} if choice is None else {choice[0]: choice[1]}
        return lambda left, right: {
            **fixed,
            first: _fitting(left, properties[first], first),
            second: _fitting(right, properties[second], second),
        }
    lists = [name for name, schema in properties.items() if _takes(schema, "array")]
    if operator in ("add", "multiply") and len(lists) == 1 and set(required) <= set(lists):
        items = properties[lists[0]].get("items") or {}
        return lambda left, right: {lists[0]: [_fitting(left, items, lists[0]), _fitting(right, items, lists[0])]}
    return None


def _parameters(tool: Entry) -> tuple[dict[str, Any], list[str]]:
    schema = tool.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return {}, []
    required = schema.get("required") if isinstance(schema, dict) else None
    known = {name: inner if isinstance(inner, dict) else {} for name, inner in properties.items()}
    return known, required if isinstance(required, list) else []


def _takes(schema: dict[str, Any], *kinds: str) -> bool:
    """Whether a parameter takes values of one of these types. One without a type may be anything but a list."""
    if "enum" in schema:
        return False
    branches = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(branches, list):
        return any(isinstance(branch, dict) and _takes(branch, *kinds) for branch in branches)
    given = schema.get("type")
    if given is None:
        return "number" in kinds and "$ref" not in schema and "properties" not in schema
    return any(kind in (given if isinstance(given, list) else [given]) for kind in kinds)


def _choice(tool: Entry, operator: Operator) -> tuple[str, str] | None:
    """The parameter that says which operation is meant, and its value for this one."""
    properties, _ = _parameters(tool)
    for name, schema in properties.items():
        values = schema.get("enum")
        if isinstance(values, list) and (_OPERATOR.search(name) or len(values) > 1):
            for value in values:
                if isinstance(value, str) and value.lower() in (*_NAMES[operator].split(), *_SIGNS[operator]):
                    return name, value
    return None


def _ordered(tool: Entry, operator: Operator, one: str, other: str) -> tuple[str, str]:
    """The parameters for the left and for the right operand."""
    if operator in ("add", "multiply"):
        return one, other
    properties, _ = _parameters(tool)
    told = {name: f"{name} {properties[name].get('description') or ''}" for name in (one, other)}
    if _FIRST.search(told[other]) and not _FIRST.search(told[one]):
        return other, one
    backwards = _BACKWARDS.search(str(tool.get("description") or ""))
    if backwards and operator == "subtract":
        taken, whole = (backwards[1], backwards[2]) if backwards[1] else (backwards[4], backwards[3])
        if {taken, whole} == {one, other}:
            return whole, taken
    if _SECOND.search(told[one]) and not _FIRST.search(told[one]) and not _SECOND.search(told[other]):
        return other, one
    return one, other


def _fitting(value: Value, schema: dict[str, Any], name: str) -> Value:
    """The number as the parameter takes it: 6.0 is 6 where whole numbers are wanted."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, float) and not _takes(schema, "number"):
        raise Unsuitable(f"{name}: {value}")
    return value


def _expression_parameter(tool: Entry) -> str | None:
    """The parameter that takes a whole expression as text, if it is all that the tool needs."""
    properties, required = _parameters(tool)
    for name, schema in properties.items():
        if _takes(schema, "string") and schema.get("type") and _EXPRESSION.search(name) and set(required) <= {name}:
            return name
    return None
