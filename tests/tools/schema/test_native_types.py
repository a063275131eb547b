"""Types of msgspec for schemas: what they take, jsonschema takes, too."""

from __future__ import annotations

from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_tools.schema.native_types import make_native_type

POINT = {
    "type": "object",
    "title": "Point",
    "properties": {"x": {"type": "integer"}, "label": {"type": "string"}},
    "required": ["x"],
    "additionalProperties": False,
}
SCHEMAS = (
    {"type": "boolean"},
    {"type": "integer", "description": "how many"},
    {"type": "number"},
    {"type": "string"},
    {"type": "null"},
    {"type": "string", "enum": ["red", "blue"]},
    {"type": "array", "items": {"type": "integer"}},
    {"anyOf": [{"type": "number"}, {"type": "null"}]},
    {"anyOf": [POINT, {"type": "null"}]},
    {"type": "object", "additionalProperties": {"type": "integer"}},
    {"type": "array", "items": POINT},
    POINT,
)
UNKNOWN = (
    {},
    {"type": "integer", "minimum": 1},
    {"type": "string", "format": "date-time"},
    {"type": "array"},
    {"type": "object"},
    {"type": "object", "properties": {"x": {"type": "integer"}}},
    {**POINT, "required": ["x", "other"]},
    {**POINT, "minProperties": 2},
    {**POINT, "properties": {"x": {"type": "integer", "maximum": 9}}},
    {"type": "array", "items": {"$ref": "#/$defs/Node"}},
    {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
    {"type": "object", "additionalProperties": {"type": "string", "pattern": "a"}},
    {"type": ["integer", "null"]},
)


def takes(native: Any, value: Any) -> bool:
    try:
        msgspec.convert(value, native)
    except msgspec.ValidationError:
        return False
    return True


scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["red", "", "x"])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["x", "label", "other"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("schema", SCHEMAS)
@given(value=values)
def test_what_a_native_type_takes_is_valid(schema: dict[str, Any], value: Any) -> None:
    if takes(make_native_type(schema), value):
        jsonschema.validate(value, schema)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "number"}, 1),
        ({"type": "string", "enum": ["red", "blue"]}, "blue"),
        ({"anyOf": [POINT, {"type": "null"}]}, None),
        ({"type": "array", "items": POINT}, [{"x": 1}, {"x": 2, "label": "b"}]),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"a": 1}),
    ],
)
def test_valid_values_need_no_jsonschema(schema: dict[str, Any], value: Any) -> None:
    assert takes(make_native_type(schema), value)


@pytest.mark.parametrize("schema", UNKNOWN)
def test_other_schemas_are_left_to_jsonschema(schema: dict[str, Any]) -> None:
    assert make_native_type(schema) is Any
