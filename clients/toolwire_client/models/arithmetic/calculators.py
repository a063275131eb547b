"""Which tool computes an operation: found by its name or description, if its parameters are two numbers."""

from __future__ import annotations

import ast
import json
import math
import re
from typing import TYPE_CHECKING, Any

import msgspec

from .expressions import first_step, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .expressions import Expression, Operation, Value

_OPERATION_WORDS: dict[str, str] = {
    "+": r"add(ition|s)?|plus|sum|加",
    "-": r"sub(tract(ion|s)?)?|minus|difference|减",
    "*": r"mul(t|tiply|tiplication|tiplies)?|times|product|乘(?!方)",
    "/": r"div(ide|ision|ides)?|quotient|除",
    "%": r"mod(ulo|ulus)?|remainder|余",
    "^": r"pow(er)?|exponent(iate|iation)?|乘方|次方|幂",
}
_STUB = re.compile(
    r'(?:^# tool (?P<name>"(?:[^"\\]|\\.)*")\n)?^(?:async )?def \w+\((?:.|\n)*?\)[^()\n]*:', re.MULTILINE
)


class CalculatorTool(msgspec.Struct, frozen=True):
    """A tool as far as arithmetic needs it. *parameters* maps each required parameter to its type."""

    name: str
    description: str
    parameters: dict[str, str]


class Step(msgspec.Struct, frozen=True):
    """A call that computes *part*; *rest* turns its value into what is left of the whole."""

    tool: str
    arguments: dict[str, Any]
    part: Expression
    rest: Callable[[Value], Expression]


def next_step(expression: Operation, tools: list[CalculatorTool]) -> Step | None:
    """Return the next call for *expression*; `None` if no tool computes its first operation or takes its numbers."""
    part, rest = first_step(expression)
    texts = [(tool, " ".join(re.findall(r"[A-Z]?[a-z]+|[A-Z]+|[\u4e00-\u9fff]+", tool.name))) for tool in tools]
    for tool, text in [*texts, *((tool, tool.description) for tool in tools)]:
        said = {
            sign for sign, words in _OPERATION_WORDS.items() if re.search(rf"(?<![a-z])({words})(?![a-z])", text, re.I)
        }
        if said == {part.operator} and (arguments := _arguments(tool, part)):
            return Step(tool.name, arguments, part, rest)
    for tool in tools:
        parameter = next(iter(tool.parameters), "")
        if list(tool.parameters.values()) in (["str"], ["string"]) and re.search("expr|formula|算式|表达式", parameter):
            return Step(tool.name, {parameter: write(expression, {"^": "**"})}, expression, lambda value: value)
    return None


def _arguments(tool: CalculatorTool, part: Operation) -> dict[str, Any] | None:
    values = [int(v) if isinstance(v, float) and v.is_integer() else v for v in (part.left, part.right)]
    kinds = list(tool.parameters.values())
    if re.search("divisor|denominator|subtrahend|exponent", next(iter(tool.parameters), "")):
        values.reverse()
    if len(kinds) != 2 or not set(kinds) <= {"int", "float", "integer", "number"}:
        return None
    takes = all(kind[:3] != "int" or isinstance(value, int) for kind, value in zip(kinds, values, strict=True))
    return dict(zip(tool.parameters, values, strict=True)) if takes else None


def number_in(result: Any) -> Value | None:
    """Return the number that a tool's result is or contains; `None` if there is not exactly one."""
    match result:
        case int() | float() if not isinstance(result, bool):
            return result if math.isfinite(result) else None
        case str():
            try:
                return int(result) if re.fullmatch(r"\s*[+-]?\d+\s*", result) else number_in(float(result))
            except ValueError:
                return None
        case dict():
            numbers = {number for inner in result.values() if (number := number_in(inner)) is not None}
            return numbers.pop() if len(numbers) == 1 else None
    return None


def listed_tools(entries: list[dict[str, Any]]) -> Iterator[CalculatorTool]:
    """Yield the tools of *entries*, which have the shape of entries of `tools/list`."""
    for entry in entries:
        match entry.get("inputSchema"):
            case {"properties": dict(properties), **others}:
                required = others.get("required")
                names = required if isinstance(required, list) else list(properties)
                types = {str(name): str((properties.get(name) or {}).get("type", "")) for name in names}
                yield CalculatorTool(str(entry.get("name")), str(entry.get("description") or ""), types)


def declared_tools(prompt: str) -> Iterator[CalculatorTool]:
    """Yield the tools that a system prompt declares as Python functions."""
    for found in _STUB.finditer(prompt):
        try:
            (function,) = ast.parse(re.sub(r"^#.*\n", "", found[0]) + " ...").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = function.args.args
            required = arguments[: len(arguments) - len(function.args.defaults)]
            types = {each.arg: ast.unparse(each.annotation).strip("'") if each.annotation else "" for each in required}
            description = prompt[found.end() :].lstrip().partition("\n")[0]
            yield CalculatorTool(json.loads(found["name"]) if found["name"] else function.name, description, types)
