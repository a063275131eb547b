"""Arguments for tools that nobody told us about."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from toolwire_check.cases.sample_arguments import Samples


def of(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
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

ENDLESS = of({name: {"$ref": "#/$defs/tree"} for name in "abcdefghij"})


def full_lists(levels: int) -> dict[str, Any]:
    """Lists of a hundred lists, and so on."""
    return (
        {"type": "array", "minItems": 100, "items": full_lists(levels - 1)}
        if levels
        else {"type": "null"}
    )


SCHEMAS = [
    {"type": "object"},
    of(
        {
            "a": {"type": "string"},
            "b": {"type": "integer"},
            "c": {"type": "number"},
            "d": {"type": "boolean"},
        }
    ),
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
    of(
        {"a": {"anyOf": [{"type": "null"}, {"type": "string"}]}, "b": {"type": ["integer", "null"]}}
    ),
    of({"a": {"$ref": "#/$defs/place"}}, **{"$defs": {"place": of({"x": {"type": "number"}})}}),
    of({"a": {"type": "string"}}, additionalProperties=False),
    of(
        {
            "a": {
                "type": "array",
                "prefixItems": [{"type": "integer"}],
                "items": {"type": "null"},
                "minItems": 2,
            }
        }
    ),
    of({"a": {"anyOf": [{"type": "string", "pattern": "^x{9}$"}, {"enum": ["y"]}]}}),
    of({"a": {"type": "string"}}, allOf=[{"properties": {"a": {"const": "b"}}}]),
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_plainest_arguments_fit(schema: dict[str, Any]) -> None:
    made = Samples(schema).plain
    assert made is not None
    assert Draft202012Validator(schema).is_valid(made)
    assert set(made) == set(schema.get("required", ()))


def test_all_that_is_demanded_in_several_places_is_there() -> None:
    either = [
        {"required": ["a"], "properties": {"a": {"type": "integer", "minimum": 5}}},
        {"required": ["b"]},
    ]
    schema = {"type": "object", "allOf": [of({"c": {"type": "null"}})], "oneOf": either}
    assert Samples(schema).plain == {"c": None, "a": 5}


def test_a_schema_is_read_in_the_dialect_it_names() -> None:
    pair = {
        "type": "array",
        "items": [{"type": "integer"}, {"type": "boolean"}],
        "minItems": 3,
        "additionalItems": True,
    }
    draft_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}
    assert Samples({**of({"pair": pair}), **draft_7}).plain == {"pair": [1, True, None]}
    assert Samples(of({"pair": pair})).plain is None  # which is no schema without it


@pytest.mark.parametrize("schema", SCHEMAS)
def test_what_is_to_be_refused_does_not_fit(schema: dict[str, Any]) -> None:
    bad = [
        Samples(schema).of_wrong_type(),
        Samples(schema).incomplete(),
        Samples(schema).with_more(),
    ]
    for made in bad:
        assert made is None or not Draft202012Validator(schema).is_valid(made)
    assert (Samples(schema).incomplete() is None) == (not schema.get("required"))
    assert (Samples(schema).with_more() is None) == (
        schema.get("additionalProperties") is not False
    )


@pytest.mark.slow
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
        of({"a": {"$ref": "#/$defs/full"}}, **{"$defs": {"full": full_lists(6)}}),
        of({"a": {"$ref": "#/$defs/tree"}}, **{"$defs": {"tree": ENDLESS}}),
        of(
            {"a": {"$ref": "#/$defs/all"}},
            **{"$defs": {"all": {"allOf": [{"$ref": "#/$defs/all"}] * 9}}},
        ),
        of({"a": {"type": "number", "multipleOf": 1e-300, "minimum": 1e308}}),
    ],
)
def test_without_examples_or_with_an_invalid_schema_there_are_no_arguments(schema: Any) -> None:
    assert Samples(schema).plain is None
    assert Samples(schema).of_wrong_type() is None
    assert Samples(schema).with_more() is None


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
def test_whatever_a_server_publishes_as_a_schema_there_are_arguments_or_none(schema: Any) -> None:
    made = Samples(schema).plain
    assert made is None or Draft202012Validator(schema).is_valid(made)
    for bad in [
        Samples(schema).of_wrong_type(),
        Samples(schema).incomplete(),
        Samples(schema).with_more(),
    ]:
        assert bad is None or not Draft202012Validator(schema).is_valid(bad)
