"""A form has what its controls need to know, once for each node of a schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from support.counted_calls import is_linear
from support.expensive_schemas import SCHEMAS
from support.schema_strategies import documents
from support.tool_entry_strategies import JSON
from toolwire.inspect.form_nodes import write_form
from toolwire_schemas.wire.codec import encode
from toolwire_tools.schema.scalars import ANY_MOMENT, ANY_TIME, DURATION

TEXT = {"type": "string"}
TEXT_FIELD = {"control": "string", "type": "string", "hint": "string"}
ANY_FIELD = {"control": "any", "type": "", "hint": "any"}


def field(schema: Any, **definitions: Any) -> Any:
    """The node of a member with this *schema*, without that of the definition that it has."""
    nodes = write_form({"type": "object", "properties": {"a": schema}, "$defs": definitions})
    root = nodes[0]
    assert root is not None
    node = nodes[root["properties"]["a"]]
    if node is None or "of" not in node:
        return node
    whole = nodes[node.pop("of")]
    assert whole is not None
    return {**whole, **node}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, ANY_FIELD),
        (True, ANY_FIELD),
        ("nonsense", ANY_FIELD),
        (TEXT, TEXT_FIELD),
        ({"type": "thing"}, ANY_FIELD),
        (
            {**TEXT, "minLength": 1, "examples": ["x", "y"], "title": "T", "description": "D"},
            {
                **TEXT_FIELD,
                "minLength": 1,
                "example": "x",
                "title": "T",
                "description": "D",
                "hint": "string · minLength 1",
            },
        ),
        (
            {**TEXT, "format": "date-time"},
            {**TEXT_FIELD, "control": "time", "format": "date-time", "hint": "date-time"},
        ),
        (
            {**TEXT, "pattern": ANY_MOMENT},
            {
                **TEXT_FIELD,
                "control": "time",
                "format": "date-time",
                "zone": "optional",
                "hint": "date-time",
            },
        ),
        (
            {**TEXT, "pattern": ANY_TIME, "default": "12:00"},
            {
                **TEXT_FIELD,
                "control": "time",
                "format": "time",
                "zone": "optional",
                "default": "12:00",
                "hint": 'time · default "12:00"',
            },
        ),
        (
            {**TEXT, "pattern": DURATION},
            {
                **TEXT_FIELD,
                "control": "duration",
                "format": "duration",
                "zone": "none",
                "hint": "duration",
            },
        ),
        (
            {**TEXT, "pattern": "^a$"},
            {**TEXT_FIELD, "pattern": "^a$", "hint": "string · pattern ^a$"},
        ),
        ({**TEXT, "pattern": "a" * 61}, {**TEXT_FIELD, "pattern": "a" * 61}),
        (
            {"contentEncoding": "base64", "contentMediaType": "image/png"},
            {"control": "file", "type": "", "contentMediaType": "image/png", "hint": "file"},
        ),
        (
            {"type": "number", "minimum": 1.0, "default": 2.0},
            {
                "control": "number",
                "type": "number",
                "minimum": 1.0,
                "default": 2.0,
                "hint": "number · minimum 1.0 · default 2.0",
            },
        ),
        (
            {"const": {"a": 1}},
            {
                "control": "choice",
                "type": "",
                "choices": [{"value": {"a": 1}, "label": '{"a":1}'}],
                "hint": "choice",
            },
        ),
        (
            {"enum": ["x", ""], "enumNames": ["An x", ""]},
            {
                "control": "choice",
                "type": "",
                "choices": [{"value": "x", "label": "An x"}, {"value": "", "label": '""'}],
                "hint": "choice",
            },
        ),
        (
            {"oneOf": [{"const": 1, "title": "one"}, {"const": 2}]},
            {
                "control": "choice",
                "type": "",
                "choices": [{"value": 1, "label": "one"}, {"value": 2, "label": "2"}],
                "hint": "choice",
            },
        ),
    ],
)
def test_node_says_which_control_shows_the_values(schema: Any, expected: Any) -> None:
    assert field(schema) == expected


@pytest.mark.parametrize(
    "schema",
    [False, {"$ref": "#/$defs/none"}, {"$ref": "#/$defs/circle"}, {"allOf": [TEXT, False]}],
)
def test_no_form_fits_a_place_that_cannot_be_read(schema: Any) -> None:
    assert field(schema, circle={"$ref": "#/$defs/circle"}) is None


def test_members_and_items_are_numbers_of_nodes() -> None:
    tuple_ = {"type": "array", "prefixItems": [TEXT], "items": False}
    map_ = {"type": "object", "additionalProperties": TEXT}
    assert write_form({"properties": {"list": tuple_, "map": map_}, "required": ["map"]}) == [
        {
            "hint": "object",
            "control": "object",
            "type": "",
            "properties": {"list": 1, "map": 2},
            "required": ["map"],
            "other": None,
            "isClosed": True,
        },
        {
            "hint": "array",
            "control": "array",
            "type": "array",
            "first": [3],
            "other": 4,
            "isClosed": True,
        },
        {
            "hint": "object",
            "control": "object",
            "type": "object",
            "properties": {},
            "required": [],
            "other": 3,
            "isClosed": False,
        },
        TEXT_FIELD,
        None,
    ]


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_tool_that_names_no_parameters_has_none(schema: Any) -> None:
    root = write_form({"type": "object", **schema})[0]
    assert root is not None
    assert root["isClosed"]
    assert not field({"type": "object", **schema})["isClosed"]


def test_circle_is_the_number_of_the_node() -> None:
    nodes = write_form({"properties": {"next": {"$ref": "#", "title": "Next"}}})
    assert nodes[0] is not None
    assert nodes[0]["properties"] == {"next": 1}
    assert nodes[1] == {"title": "Next", "hint": "object", "of": 0}


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        ({"type": ["integer", "null"], "title": "T"}, ["integer", "null"]),
        (
            {"anyOf": [{"$ref": "#/$defs/Circle"}, {"title": "Square", "type": "object"}]},
            ["Circle", "Square"],
        ),
        (
            {
                "properties": {"kind": {}},
                "oneOf": [
                    {"properties": {"kind": {"const": "circle"}}},
                    {"properties": {"kind": {"enum": ["square"]}}},
                ],
            },
            ["kind: circle", "kind: square"],
        ),
    ],
)
def test_kinds_have_the_names_that_distinguish_them(schema: Any, names: list[str]) -> None:
    node = field(schema, Circle={"type": "object"})
    assert node["control"] == "union"
    assert [kind["name"] for kind in node["kinds"]] == names


def test_hint_of_a_nullable_is_that_of_its_other_kind() -> None:
    assert field({"anyOf": [{**TEXT, "maxLength": 3}, {"type": "null"}]})["hint"] == (
        "string · maxLength 3"
    )


def test_nodes_beyond_the_limit_take_any_json() -> None:
    names = [f"p{number}" for number in range(10_000)]
    nodes = write_form({"properties": {name: {"type": "string"} for name in names}})
    assert len(nodes) == 10_000
    assert nodes[0] is not None
    assert list(nodes[0]["properties"].values())[-2:] == [9_999, None]


@given(documents() | JSON)
def test_any_schema_has_a_form(schema: Any) -> None:
    nodes = write_form(schema)
    assert nodes
    encode(nodes)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_work_is_linear_in_the_schema(kind: str) -> None:
    make, size = SCHEMAS[kind]

    def prepare(times: int) -> Callable[[], object]:
        document = make(size * times)
        return lambda: write_form(document)

    assert is_linear(prepare)
