"""Plain functions as tools of a toolbox."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import anyio
import pytest
from toolwire_client.toolbox.functions import FunctionTool


def described(function: Any) -> Any:
    return FunctionTool(function).describe()


def called(function: Any, **arguments: Any) -> Any:
    return FunctionTool(function).call(arguments, None)


@dataclass
class Point:
    x: int
    y: int = 0


def test_a_function_is_described_by_its_signature_and_docstring() -> None:
    def search(query: str, limit: int = 10, kind: Literal["a", "b"] = "a", near: Point | None = None) -> list[str]:
        """Search for things.

        Everything is searched.

        Args:
            query: What to look for.
            limit: How many to find.
        """
        return []

    assert described(search) == {
        "name": "search",
        "description": "Search for things.\n\nEverything is searched.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for."},
                "limit": {"type": "integer", "description": "How many to find.", "default": 10},
                "kind": {"enum": ["a", "b"], "default": "a"},
                "near": {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}], "default": None},
            },
            "required": ["query"],
            "additionalProperties": False,
            "$defs": {
                "Point": {
                    "title": "Point",
                    "type": "object",
                    "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
                    "required": ["x"],
                }
            },
        },
    }


def test_a_function_that_says_nothing_takes_anything() -> None:
    def f(x, y=None, *, z=[1]):  # type: ignore[no-untyped-def]  # noqa: B006
        return [x, y, z]

    assert described(f)["inputSchema"]["properties"] == {"x": {}, "y": {"default": None}, "z": {}}
    assert described(f)["description"] == ""
    assert called(f, x="a")["structuredContent"] == {"result": ["a", None, [1]]}


def test_arguments_arrive_as_their_types() -> None:
    def f(day: date, point: Point, numbers: set[int]) -> list[str]:
        return [str(day.year), str(point.y), str(sorted(numbers))]

    result = called(f, day="2026-07-28", point={"x": 1}, numbers=[2, 1])
    assert result["structuredContent"] == {"result": ["2026", "0", "[1, 2]"]}


def test_parameters_by_position_alone_are_passed_so() -> None:
    def f(a: int, /, b: int = 2, *, c: int = 3) -> int:
        return a * 100 + b * 10 + c

    assert called(f, a=1, c=5)["structuredContent"] == {"result": 125}


@pytest.mark.parametrize(
    ("arguments", "said"), [({}, "required field `a`"), ({"a": "x"}, "$.a"), ({"a": 1, "b": 2}, "unknown field `b`")]
)
def test_wrong_arguments_are_refused_before_the_call(arguments: dict[str, Any], said: str) -> None:
    def f(a: int) -> None:
        pytest.fail("it was called")

    with pytest.raises(TypeError, match="f does not take these arguments") as caught:
        called(f, **arguments)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("text", {"content": [{"type": "text", "text": "text"}]}),
        ({"a": 1}, {"content": [{"type": "text", "text": '{"a":1}'}], "structuredContent": {"a": 1}}),
        (None, {"content": [{"type": "text", "text": "null"}], "structuredContent": {"result": None}}),
        (Point(1), {"content": [{"type": "text", "text": '{"x":1,"y":0}'}], "structuredContent": {"x": 1, "y": 0}}),
        (1 + 2j, {"content": [{"type": "text", "text": '"(1+2j)"'}], "structuredContent": {"result": "(1+2j)"}}),
        (2**70, {"content": [{"type": "text", "text": str(2**70)}], "structuredContent": {"result": 2**70}}),
    ],
)
def test_what_a_function_returns_is_presented(value: Any, result: Any) -> None:
    assert called(lambda: value) == result


def test_an_async_function_is_awaited() -> None:
    async def f(a: int) -> int:
        return a

    tool = FunctionTool(f)
    assert tool.is_async
    assert anyio.run(tool.call_async, {"a": 1}, None)["structuredContent"] == {"result": 1}


def test_methods_and_callable_objects_are_functions_too() -> None:
    class Adder:
        def __call__(self, a: int) -> int:
            return a + 1

        def add(self, a: int) -> int:
            return a + 2

    assert called(Adder().add, a=1)["structuredContent"] == {"result": 3}
    assert (FunctionTool(Adder()).name, called(Adder(), a=1)["structuredContent"]) == ("Adder", {"result": 2})


class Opaque:
    pass


def of_opaque(x: Opaque) -> None: ...
def of_nothing_known(x: Unknown) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def of_anything(*x: int) -> None: ...
def of_any_name(**x: int) -> None: ...


@pytest.mark.parametrize("function", [of_opaque, of_nothing_known, of_anything, of_any_name])
def test_what_cannot_be_described_is_refused_with_a_remedy(function: Any) -> None:
    with pytest.raises(TypeError, match=rf"{function.__name__} cannot be described.*tool_api"):
        FunctionTool(function)
