"""Python stubs: what is written is Python whatever a server says, and what people write is read
without running it.
"""

from __future__ import annotations

import ast
import copy
import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tool_entry_strategies import ENTRIES
from toolwire_dialects import python_stub as python
from toolwire_dialects.name_mapping import Names

MEASURE = {
    "name": "Map.measure",
    "description": "Measure the way\nbetween points.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "unit": {"type": "string", "enum": ["m", "km"], "default": "m"},
            "points": {
                "type": "array",
                "minItems": 2,
                "items": {"$ref": "#/$defs/Point"},
                "description": "Where to pass,\nin order.",
            },
            "via": {"anyOf": [{"type": "string", "format": "uri"}, {"type": "null"}]},
            "filter[id]": {"type": "integer"},
            "tree": {"$ref": "#/$defs/Tree"},
            "pair": {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "maxItems": 2,
            },
        },
        "required": ["points"],
        "additionalProperties": {"type": "integer"},
        "$defs": {
            "Point": {
                "type": "object",
                "description": "A point.",
                "properties": {
                    "x": {"type": "number", "description": "in metres", "minimum": 0},
                    "y": {},
                },
                "required": ["x"],
            },
            "Tree": {
                "type": "object",
                "properties": {"content-type": {"const": "tree"}, "of": {"$ref": "#/$defs/Tree"}},
                "required": ["content-type"],
            },
        },
    },
    "outputSchema": {
        "type": "object",
        "properties": {"result": {"type": "number", "description": "in *unit*"}},
        "required": ["result"],
    },
}


def test_a_stub_shows_types_limits_defaults_and_real_names() -> None:
    assert python.from_entry(MEASURE).splitlines() == [
        "class Point(TypedDict):",
        '    """A point."""',
        "    x: float  # in metres (minimum: 0)",
        "    y: NotRequired[Any]",
        "",
        'Tree = TypedDict("Tree", {',
        '    "content-type": Literal["tree"],',
        '    "of": NotRequired[Tree],',
        "})",
        "",
        '# tool "Map.measure"',
        "def Map_measure(",
        "    points: list[Point],",
        '    unit: Literal["m", "km"] = "m",',
        "    via: str | None = ...,",
        "    filter_id_: int = ...,",
        "    tree: Tree = ...,",
        "    pair: tuple[int, str] = ...,",
        "    **more: int,",
        ") -> float:",
        '    """Measure the way',
        "    between points.",
        "",
        "    Args:",
        "        points: Where to pass,",
        "            in order. (minItems: 2)",
        '        via: (format: "uri")',
        '        filter_id_: (called "filter[id]")',
        "",
        "    Returns:",
        "        in *unit*",
        '    """',
    ]


def test_a_tool_that_says_little_takes_a_line() -> None:
    tools = [
        {"name": "ping", "inputSchema": {"type": "object"}},
        {"name": "class", "description": "Say so.", "inputSchema": {}},
        {"name": "any"},
    ]
    assert python.from_entries(tools) == (
        'def ping(): ...\n\n# tool "class"\ndef class_():\n    """Say so."""\n\ndef any(): ...'
    )


def test_a_type_is_written_once_however_many_tools_have_it() -> None:
    point = {"type": "object", "properties": {"x": {"type": "integer"}}}
    other = {"type": "object", "properties": {"x": {"type": "string"}}}

    def tool(name: str, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "name": name,
            "inputSchema": {"properties": {"at": {"$ref": "#/$defs/P"}}, "$defs": {"P": schema}},
        }

    stubs = python.from_entries(
        [tool("one", point), tool("two", copy.deepcopy(point)), tool("three", other)]
    )
    assert [line for line in stubs.splitlines() if line.startswith(("class", "def"))] == [
        "class P(TypedDict):",
        "def one(at: P = ...): ...",
        "def two(at: P = ...): ...",
        "class P2(TypedDict):",
        "def three(at: P2 = ...): ...",
    ]


@pytest.mark.parametrize(
    ("schema", "annotation"),
    [
        ({}, "Any"),
        ({"type": "null"}, "None"),
        ({"type": "object"}, "dict[str, Any]"),
        ({"type": "object", "additionalProperties": False}, "dict[str, Never]"),
        ({"type": ["integer", "null"]}, "int | None"),
        ({"oneOf": [{"type": "string"}, {"type": "array"}]}, "str | list[Any]"),
        ({"allOf": [{"type": "string"}, {"minLength": 1}]}, "str"),
        ({"enum": [1, True, None, "a", "'\"\n", 1.5, [1], {"a": None}]}, None),
        ({"enum": []}, "Never"),
        ({"type": "array", "prefixItems": [{"type": "string"}]}, "tuple[str, *tuple[Any, ...]]"),
        ({"type": "array", "items": [{"type": "string"}], "additionalItems": False}, "tuple[str]"),
        ({"type": "array", "prefixItems": [], "items": False}, "tuple[()]"),
        (
            {
                "type": "object",
                "anyOf": [{"required": ["a"]}],
                "properties": {"a": {}},
                "title": "the thing",
            },
            "TheThing",
        ),
        ({"type": ["object", "null"], "properties": {"a": {}}}, "X | None"),
        ({"$ref": "#/$defs/Json"}, "Json"),
        ({"$ref": "#/$defs/Circle"}, "Any"),
        ({"$ref": "#/$defs/nowhere"}, "Any"),
        ({"$ref": 5}, "Any"),
    ],
)
def test_types(schema: dict[str, Any], annotation: str | None) -> None:
    definitions = {
        "Json": {
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/Json"}}]
        },
        "Circle": {"$ref": "#/$defs/Circle"},
    }
    entry = {
        "name": "f",
        "inputSchema": {"properties": {"x": schema}, "required": ["x"], "$defs": definitions},
    }
    stub = python.from_entry(entry)
    expected = annotation or """Literal[1, True, None, "a", '\\'"\\n', 1.5, [1], {"a": None}]"""
    assert stub.endswith(f"def f(x: {expected}): ...")
    if annotation == "Json":
        assert stub.startswith("Json = str | list[Json]\n")


def test_a_definition_of_one_kind_in_a_list_has_one_name() -> None:
    node = {"type": ["object"], "properties": {"next": {"$ref": "#/$defs/Node"}}}
    entry = {
        "name": "f",
        "inputSchema": {"properties": {"x": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}},
    }
    assert python.from_entry(entry).splitlines()[:2] == [
        "class Node(TypedDict):",
        "    next: NotRequired[Node]",
    ]


def test_objects_that_are_said_in_parts_are_put_together() -> None:
    base = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    schema = {"allOf": [{"$ref": "#/$defs/Base"}, {"properties": {"b": {"type": "string"}}}]}
    entry = {"name": "f", "inputSchema": {"properties": {"x": schema}, "$defs": {"Base": base}}}
    assert python.from_entry(entry).splitlines()[:3] == [
        "class X(TypedDict):",
        "    a: int",
        "    b: NotRequired[str]",
    ]


def test_an_object_may_be_a_part_of_its_own_member() -> None:
    member = {"allOf": [{"$ref": "#/$defs/Node"}, {"properties": {"weight": {"type": "number"}}}]}
    node = {"type": "object", "properties": {"child": member}}
    entry = {
        "name": "f",
        "inputSchema": {"properties": {"x": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}},
    }
    assert python.from_entry(entry).splitlines() == [
        "class Child(TypedDict):",
        "    child: NotRequired[Node]",
        "    weight: NotRequired[float]",
        "",
        "class Node(TypedDict):",
        "    child: NotRequired[Child]",
        "",
        "def f(x: Node = ...): ...",
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"type": "string", "description": "a name"}]},
        {"anyOf": [{"type": "string", "description": "a name"}, {"type": "null"}]},
        {"allOf": [{"type": "string", "description": "another"}], "description": "a name"},
    ],
)
def test_a_member_has_the_description_of_its_only_part(schema: dict[str, Any]) -> None:
    point = {"type": "object", "properties": {"label": schema}}
    stub = python.from_entry({"name": "f", "inputSchema": {"properties": {"at": point}}})
    assert stub.splitlines()[1].endswith("]  # a name")


def test_arguments_that_are_said_in_parts_are_put_together() -> None:
    one = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    }
    other = {"properties": {"b": {"type": "integer"}, "c": {}}, "required": ["b"]}
    for word, expected in (
        ("anyOf", "b: int, a: int = ..., c: Any = ..."),
        ("allOf", "a: int, b: int, c: Any = ..."),
    ):
        schema = {"type": "object", word: [{"$ref": "#/$defs/One"}, other], "$defs": {"One": one}}
        assert python.from_entry({"name": "f", "inputSchema": schema}) == f"def f({expected}): ..."


# --- for any input --------------------------------------------------------------------------------


def cleaned(text: str) -> str:
    return "\n".join(line.rstrip() for line in inspect.cleandoc(text).split("\n")).strip("\n")


@given(st.lists(ENTRIES, max_size=2, unique_by=lambda entry: entry["name"]))
def test_any_tools_are_valid_python_that_says_what_they_say_and_can_be_read(
    entries: list[dict[str, Any]],
) -> None:
    given_as = copy.deepcopy(entries)
    stubs = python.from_entries(entries)
    assert entries == given_as
    functions = [node for node in ast.parse(stubs).body if isinstance(node, ast.FunctionDef)]
    called = Names([entry["name"] for entry in entries], "python")
    assert [called.ours[function.name] for function in functions] == [
        entry["name"] for entry in entries
    ]
    compile(
        stubs, "stubs", "exec"
    )  # sees what parsing does not, such as a parameter that is there twice
    for entry, function in zip(entries, functions, strict=True):
        said = ast.get_docstring(function) or ""
        assert said.startswith(cleaned(entry.get("description", "")))
        for schema in entry["inputSchema"]["properties"].values():
            for line in cleaned(schema.get("description", "").strip()).split("\n"):
                assert line in said
        arguments = function.args
        assert len(arguments.args) == len(entry["inputSchema"]["properties"])
        assert len(arguments.args) - len(arguments.defaults) == len(
            set(entry["inputSchema"]["required"])
        )
