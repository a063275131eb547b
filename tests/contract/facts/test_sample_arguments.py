"""Sample arguments for tools with any input schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from toolwire_check.facts.sample_arguments import SampleArguments


def object_of(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), **more}


WORDS = [
    *(
        "type",
        "properties",
        "required",
        "items",
        "minItems",
        "enum",
        "const",
        "default",
        "examples",
        "anyOf",
        "allOf",
    ),
    *(
        "$ref",
        "$defs",
        "minLength",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "multipleOf",
        "additionalProperties",
    ),
]

ENDLESS = object_of({name: {"$ref": "#/$defs/tree"} for name in "abcdefghij"})


def full_lists(levels: int) -> dict[str, Any]:
    """Lists of a hundred lists, and so on."""
    return (
        {"type": "array", "minItems": 100, "items": full_lists(levels - 1)}
        if levels
        else {"type": "null"}
    )


SCHEMAS = [
    {"type": "object"},
    object_of(
        {
            "a": {"type": "string"},
            "b": {"type": "integer"},
            "c": {"type": "number"},
            "d": {"type": "boolean"},
        }
    ),
    object_of(
        {"a": {"type": "string", "minLength": 5}, "b": {"type": "string", "format": "date-time"}}
    ),
    object_of({"a": {"type": "integer", "minimum": 10}, "b": {"type": "integer", "maximum": -3}}),
    object_of(
        {
            "a": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 3},
            "b": {"multipleOf": 7, "type": "integer"},
        }
    ),
    object_of(
        {"a": {"enum": ["x", "y"]}, "b": {"const": 7}, "c": {"type": "string", "examples": ["z"]}}
    ),
    object_of({"a": {"type": "array", "items": {"type": "integer"}, "minItems": 2}}),
    object_of(
        {"a": {"anyOf": [{"type": "null"}, {"type": "string"}]}, "b": {"type": ["integer", "null"]}}
    ),
    object_of(
        {"a": {"$ref": "#/$defs/place"}},
        **{"$defs": {"place": object_of({"x": {"type": "number"}})}},
    ),
    object_of({"a": {"type": "string"}}, additionalProperties=False),
    object_of(
        {
            "a": {
                "type": "array",
                "prefixItems": [{"type": "integer"}],
                "items": {"type": "null"},
                "minItems": 2,
            }
        }
    ),
    object_of({"a": {"anyOf": [{"type": "string", "pattern": "^x{9}$"}, {"enum": ["y"]}]}}),
    object_of({"a": {"type": "string"}}, allOf=[{"properties": {"a": {"const": "b"}}}]),
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_valid_arguments_have_only_the_required_names(schema: dict[str, Any]) -> None:
    made = SampleArguments(schema).valid
    assert made is not None
    assert Draft202012Validator(schema).is_valid(made)
    assert set(made) == set(schema.get("required", ()))


def test_valid_arguments_meet_demands_of_all_of_and_one_of() -> None:
    either = [
        {"required": ["a"], "properties": {"a": {"type": "integer", "minimum": 5}}},
        {"required": ["b"]},
    ]
    schema = {"type": "object", "allOf": [object_of({"c": {"type": "null"}})], "oneOf": either}
    assert SampleArguments(schema).valid == {"c": None, "a": 5}


def test_a_schema_is_read_in_the_dialect_it_names() -> None:
    pair = {
        "type": "array",
        "items": [{"type": "integer"}, {"type": "boolean"}],
        "minItems": 3,
        "additionalItems": True,
    }
    draft_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}
    assert SampleArguments({**object_of({"pair": pair}), **draft_7}).valid == {
        "pair": [1, True, None]
    }
    assert SampleArguments(object_of({"pair": pair})).valid is None  # which is no schema without it


@pytest.mark.parametrize("schema", SCHEMAS)
def test_invalid_arguments_do_not_fit_the_schema(schema: dict[str, Any]) -> None:
    bad = [
        SampleArguments(schema).make_wrong_type(),
        SampleArguments(schema).make_incomplete(),
        SampleArguments(schema).make_unknown(),
    ]
    for made in bad:
        assert made is None or not Draft202012Validator(schema).is_valid(made)
    assert (SampleArguments(schema).make_incomplete() is None) == (not schema.get("required"))
    assert (SampleArguments(schema).make_unknown() is None) == (
        schema.get("additionalProperties") is not False
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "schema",
    [
        object_of({"a": {"type": "string", "pattern": "^x{9}$"}}),
        object_of({"a": {"type": "string", "pattern": "(?<year>[0-9]{4})"}}),
        object_of({"a": {"$ref": "#/$defs/gone"}}),
        object_of({"a": {"$ref": "#/properties/a"}}),
        {"type": "string"},
        {"type": 7},
        {"type": "object", "required": 7},
        {"properties": [], "required": ["a"]},
        object_of({"a": {"enum": []}}),
        object_of({"a": {"type": "integer", "minimum": "x"}}),
        object_of({"a": {"type": "string", "minLength": 1e9}}),
        object_of({"a": {"type": "array", "minItems": 10**12}}),
        object_of({"a": {"$ref": "#/$defs/full"}}, **{"$defs": {"full": full_lists(6)}}),
        object_of({"a": {"$ref": "#/$defs/tree"}}, **{"$defs": {"tree": ENDLESS}}),
        object_of(
            {"a": {"$ref": "#/$defs/all"}},
            **{"$defs": {"all": {"allOf": [{"$ref": "#/$defs/all"}] * 9}}},
        ),
        object_of({"a": {"type": "number", "multipleOf": 1e-300, "minimum": 1e308}}),
    ],
)
def test_invalid_or_expensive_schema_has_no_arguments(schema: Any) -> None:
    assert SampleArguments(schema).valid is None
    assert SampleArguments(schema).make_wrong_type() is None
    assert SampleArguments(schema).make_unknown() is None


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=2), inner)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(WORDS), _JSON) | _JSON)
def test_any_json_as_a_schema_has_arguments_that_fit_or_none(schema: Any) -> None:
    made = SampleArguments(schema).valid
    assert made is None or Draft202012Validator(schema).is_valid(made)
    for bad in [
        SampleArguments(schema).make_wrong_type(),
        SampleArguments(schema).make_incomplete(),
        SampleArguments(schema).make_unknown(),
    ]:
        assert bad is None or not Draft202012Validator(schema).is_valid(bad)
