"""Arguments for tools that nobody told us about."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from toolwire_client.contract import arguments


def of(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), **more}


WORDS = [
    *("type", "properties", "required", "items", "minItems", "enum", "const", "default", "examples", "anyOf", "allOf"),
    *("$ref", "$defs", "minLength", "pattern", "format", "minimum", "maximum", "multipleOf", "additionalProperties"),
]

SCHEMAS = [
    {"type": "object"},
    of({"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "number"}, "d": {"type": "boolean"}}),
    of({"a": {"type": "string", "minLength": 5}, "b": {"type": "string", "format": "date-time"}}),
    of({"a": {"type": "integer", "minimum": 10}, "b": {"type": "integer", "maximum": -3}}),
    of(
        {
            "a": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 3},
            "b": {"multipleOf": 7, "type": "integer"},
        }
    ),
    of({"a": {"enum": ["x", "y"]}, "b": {"const": 7}, "c": {"type": "string", "examples": ["z"]}}),
    of({"a": {"type": "array", "items": {"type": "integer"}, "minItems": 2}}),
    of({"a": {"anyOf": [{"type": "null"}, {"type": "string"}]}, "b": {"type": ["integer", "null"]}}),
    of({"a": {"$ref": "#/$defs/place"}}, **{"$defs": {"place": of({"x": {"type": "number"}})}}),
    of({"a": {"type": "string"}}, additionalProperties=False),
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_plainest_arguments_fit(schema: dict[str, Any]) -> None:
    made = arguments.plain(schema)
    assert made is not None
    assert Draft202012Validator(schema).is_valid(made)
    assert set(made) == set(schema.get("required", ()))


@pytest.mark.parametrize("schema", SCHEMAS)
def test_what_is_to_be_refused_does_not_fit(schema: dict[str, Any]) -> None:
    bad = [*arguments.of_wrong_type(schema), arguments.incomplete(schema), arguments.with_more(schema)]
    for made in bad:
        assert made is None or not Draft202012Validator(schema).is_valid(made)
    assert (arguments.incomplete(schema) is None) == (not schema.get("required"))
    assert (arguments.with_more(schema) is None) == (schema.get("additionalProperties") is not False)


@pytest.mark.parametrize(
    "schema",
    [
        of({"a": {"type": "string", "pattern": "^x{9}$"}}),
        of({"a": {"type": "string", "pattern": "(?<year>[0-9]{4})"}}),
        of({"a": {"$ref": "#/$defs/gone"}}),
        of({"a": {"$ref": "#/properties/a"}}),
        {"type": "string"},
        {"type": 7},
        {"type": "object", "required": 7},
        {"properties": [], "required": ["a"]},
        of({"a": {"enum": []}}),
        of({"a": {"type": "integer", "minimum": "x"}}),
        of({"a": {"type": "string", "minLength": 1e9}}),
        of({"a": {"type": "array", "minItems": 10**12}}),
    ],
)
def test_where_nothing_is_found_or_a_schema_is_none_there_are_no_arguments(schema: Any) -> None:
    assert arguments.plain(schema) is None
    assert list(arguments.of_wrong_type(schema)) == []
    assert arguments.with_more(schema) is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=2), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(WORDS), _JSON) | _JSON)
def test_whatever_a_server_publishes_as_a_schema_there_are_arguments_or_none(schema: Any) -> None:
    made = arguments.plain(schema)
    assert made is None or Draft202012Validator(schema).is_valid(made)
    for bad in [*arguments.of_wrong_type(schema), arguments.incomplete(schema), arguments.with_more(schema)]:
        assert bad is None or not Draft202012Validator(schema).is_valid(bad)
