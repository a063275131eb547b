"""`tool_api` marks a function and checks what is said of it."""

from __future__ import annotations

import math
from collections import deque
from functools import partial
from types import MappingProxyType
from typing import Any

import pytest
from support.recording_caller import RecordingCaller
from toolwire_tools import RegistrationError, make_tool, tool_api


def add(a: int, b: int) -> int:
    return a + b


def test_a_decorated_function_is_the_function_itself() -> None:
    def double(a: int) -> int:
        return 2 * a

    assert tool_api(double) is double
    assert tool_api(read_only=True)(double) is double
    assert double(2) == double(a=2) == 4


def test_every_option_reaches_the_description() -> None:
    icon = {
        "src": "https://example.org/a.png",
        "mimeType": "image/png",
        "sizes": ["48x48"],
        "theme": "dark",
    }

    @tool_api(
        name="plus",
        title="Plus",
        description="Adds.",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
        timeout_seconds=3,
        tags=["maths", "demo"],
        icons=[icon],
        input_schema={"type": "object", "properties": {"a": {"type": "integer"}}},
        output_schema={"type": "object", "properties": {"sum": {"type": "integer"}}},
        meta={"example.org/cost": 1},
    )
    def function(**numbers: int) -> dict[str, int]:
        """Another text."""
        return {"sum": numbers["a"]}

    tool = make_tool(function)
    assert tool.describe() == {
        "name": "plus",
        "title": "Plus",
        "description": "Adds.",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "outputSchema": {"type": "object", "properties": {"sum": {"type": "integer"}}},
        "annotations": {
            "title": "Plus",
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
        "icons": [icon],
        "_meta": {"toolwire/tags": ["demo", "maths"], "example.org/cost": 1},
    }
    assert tool.entry.options.timeout_seconds == 3.0
    assert tool.entry.options.tags == {"maths", "demo"}
    assert tool.call({"a": 2}, RecordingCaller())["structuredContent"] == {"sum": 2}


def test_an_unknown_option_is_answered_with_the_closest_one() -> None:
    with pytest.raises(TypeError, match="no option 'readonly', did you mean 'read_only'") as caught:
        tool_api(readonly=True)  # type: ignore[call-overload]
    assert "timeout_seconds" in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"name": 3},
        {"title": ["x"]},
        {"description": b"x"},
        {"read_only": "yes"},
        {"idempotent": 1},
        {"timeout_seconds": "3"},
        {"timeout_seconds": True},
        {"runs_in": True},
        {"shared": "no"},
        {"memory_limit": 1.5, "runs_in": "process"},
        {"memory_limit": True, "runs_in": "process"},
        {"tags": "files"},
        {"tags": [1]},
        {"tags": 5},
        {"tags": {"files": 1}},
        {"tags": MappingProxyType({"files": 1})},
        {"tags": b"files"},
        {"icons": "https://example.org/a.png"},
        {"icons": ["https://example.org/a.png"]},
        {"icons": [{"src": "https://example.org/a.png", "sizes": "48x48"}]},
        {"icons": [{"src": "https://example.org/a.png", "size": "48x48"}]},
        {"icons": [{"src": 3}]},
        {"input_schema": "object"},
        {"output_schema": True},
        {"meta": {1: 2}},
        {"include_arguments": 3},
        {"include_arguments": [3]},
        {"exclude_arguments": {"a": 1}},
        {"exclude_arguments": b"a"},
        {"explode_param": "no"},
        {"explode_return": 1},
        {"returns_named_value": "yes"},
    ],
)
def test_an_option_of_the_wrong_type_is_refused_where_it_is_written(
    options: dict[str, Any],
) -> None:
    with pytest.raises(TypeError, match=f"tool_api: {next(iter(options))}"):
        tool_api(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"name": ""},
        {"name": " padded"},
        {"name": "two\nlines"},
        {"timeout_seconds": 0},
        {"timeout_seconds": -1},
        {"timeout_seconds": math.inf},
        {"timeout_seconds": math.nan},
        {"runs_in": ""},
        {"runs_in": "a thread"},
        {"memory_limit": 0, "runs_in": "process"},
        {"memory_limit": "1 TB", "runs_in": "process"},
        {"memory_limit": "1 GiB"},
        {"tags": [""]},
        {"icons": [{}]},
        {"icons": [{"src": "a.png"}]},
        {"icons": [{"src": "https://example.org/a", "mimeType": "png"}]},
        {"icons": [{"src": "https://example.org/a", "theme": "blue"}]},
        {"exclude_arguments": [""]},
        {"include_arguments": "a", "input_schema": {"type": "object"}},
        {"exclude_arguments": "a", "input_schema": {"type": "object"}},
    ],
)
def test_an_option_out_of_range_is_refused_where_it_is_written(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="tool_api: "):
        tool_api(**options)


ICON = {"src": "https://example.org/a.png"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"title": 3}, "title: Expected `str | null`, got `int`"),
        ({"read_only": "yes"}, "read_only: Expected `bool | null`, got `str`"),
        ({"timeout_seconds": -1}, "timeout_seconds: Expected `float` > 0.0"),
        (
            {"runs_in": "a thread"},
            "runs_in must be 'process', another name or an executor, not 'a thread'",
        ),
        ({"runs_in": 3}, "runs_in must be 'process', another name or an executor, not 3"),
        ({"memory_limit": 1.5}, "memory_limit: Expected `int | null`, got `float`"),
        ({"tags": "files"}, "tags: Expected `array`, got `str`"),
        ({"tags": ["a", 3]}, "tags[1]: Expected `str`, got `int`"),
        ({"tags": [""]}, "tags: must be printable, without spaces around it, not ''"),
        ({"icons": ICON}, "icons: Expected `array`, got `object`"),
        ({"icons": [3]}, "icons[0]: Expected `object`, got `int`"),
        ({"icons": [ICON, {}]}, "icons[1]: Object missing required field `src`"),
        ({"icons": [ICON | {"size": 1}]}, "icons[0]: Object contains unknown field `size`"),
        (
            {"icons": [{"src": "a.png"}]},
            "icons[0]: src must be an https:, http: or data: URI, not 'a.png'",
        ),
        (
            {"icons": [ICON | {"mimeType": "x"}]},
            "icons[0]: mimeType must be like \"image/png\", not 'x'",
        ),
        ({"icons": [ICON | {"sizes": "4x4"}]}, "icons[0].sizes: Expected `array`, got `str`"),
        ({"icons": [ICON | {"sizes": [4]}]}, "icons[0].sizes[0]: Expected `str`, got `int`"),
        ({"icons": [ICON | {"theme": "x"}]}, "icons[0].theme: Invalid enum value 'x'"),
        ({"meta": {1: 2}}, "meta: Expected `str`, got `int`"),
        ({"exclude_arguments": ["a", 3]}, "exclude_arguments[1]: Expected `str`, got `int`"),
    ],
)
def test_a_refused_option_says_where_and_what_it_takes(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        tool_api(**options)
    assert str(caught.value) == f"tool_api: {message}"


@pytest.mark.parametrize(
    "tags", [["a"], ("a",), {"a"}, frozenset("a"), {"a": 1}.keys(), deque("a")]
)
def test_tags_are_any_collection_of_strings(tags: Any) -> None:
    assert make_tool(tool_api(tags=tags)(lambda: None), name="x").entry.options.tags == {"a"}


def test_a_time_limit_may_be_of_a_subclass_of_float() -> None:
    limit = type("float64", (float,), {})(1.5)  # as numpy's
    tool = make_tool(tool_api(timeout_seconds=limit)(lambda: None), name="x")
    assert tool.entry.options.timeout_seconds == 1.5


def test_memory_is_in_bytes_or_in_units() -> None:
    def limit_of(memory_limit: int | str) -> int | None:
        return make_tool(
            tool_api(runs_in="process", memory_limit=memory_limit)(lambda: None), name="x"
        ).entry.options.memory_limit

    assert [limit_of(limit) for limit in (5, "5", "2KiB", "512 MiB", "1GiB")] == [
        5,
        5,
        2048,
        512 * 1024**2,
        1024**3,
    ]


def test_none_means_not_said() -> None:
    @tool_api(name=None, title=None, timeout_seconds=None, read_only=None)
    def plain() -> str:
        return ""

    assert make_tool(plain).describe() == {
        "name": "plain",
        "inputSchema": make_tool(plain).describe()["inputSchema"],
    }


def test_decorating_twice_keeps_what_was_said_last() -> None:
    @tool_api(name="outer")
    @tool_api(name="inner", title="Inner")
    def function() -> str:
        return ""

    assert "title" not in make_tool(function).describe()
    assert make_tool(function).name == "outer"


@pytest.mark.parametrize(
    "thing", [type("Kit", (), {}), "add", 3, property(repr), str.upper, [].__len__]
)
def test_what_cannot_be_marked_is_refused_with_the_remedy(thing: Any) -> None:
    with pytest.raises(RegistrationError) as caught:
        tool_api(thing)
    assert caught.value.remedy


def test_a_builtin_function_becomes_a_tool() -> None:
    length = tool_api(len)
    assert length([1, 2]) == 2
    assert length.api_description["parameters"] == [
        {"name": "obj", "type": "STRING", "description": ""}
    ]
    tool = make_tool(length)
    assert (tool.name, tool.describe()["description"]) == (
        "len",
        "Return the number of items in a container.",
    )
    assert tool.call({"obj": [1, 2]}, RecordingCaller())["content"] == [
        {"type": "text", "text": "2"}
    ]
    assert not hasattr(len, "api_description")


def test_a_static_method_outside_of_a_class_is_described_and_called() -> None:
    def double(number: int) -> int:
        """Double it."""
        return 2 * number

    static = tool_api(staticmethod(double))
    assert static.api_description["description"] == "Double it."  # type: ignore[attr-defined]
    assert static(number=2) == 4
    assert make_tool(static).call({"number": 2}, RecordingCaller())["structuredContent"] == {
        "result": 4
    }


def test_static_and_class_methods_are_marked_from_either_side() -> None:
    class Kit:
        @staticmethod
        @tool_api(name="a")
        def above() -> str:
            return "a"

        @tool_api(name="b")
        @staticmethod
        def below() -> str:
            return "b"

        @classmethod
        @tool_api(name="c")
        def class_above(cls) -> str:
            return cls.__name__

        @tool_api(name="d")
        @classmethod
        def class_below(cls) -> str:
            return cls.__name__

    assert [Kit.above(), Kit.below(), Kit.class_above(), Kit.class_below()] == [
        "a",
        "b",
        "Kit",
        "Kit",
    ]
    names = [
        make_tool(method).name
        for method in (Kit.above, Kit.below, Kit.class_above, Kit.class_below)
    ]
    assert names == ["a", "b", "c", "d"]


def test_a_partial_can_be_marked_and_else_takes_over_the_options() -> None:
    marked = tool_api(name="increment")(partial(add, b=1))
    assert make_tool(marked).name == "increment"
    assert (
        make_tool(partial(tool_api(title="Sum")(lambda a: a), 1), name="one").describe()["title"]
        == "Sum"
    )


def test_a_bound_method_is_not_marked_behind_the_back_of_its_class() -> None:
    class Kit:
        def method(self) -> str:
            return ""

    with pytest.raises(RegistrationError, match="in its class"):
        tool_api(Kit().method)
