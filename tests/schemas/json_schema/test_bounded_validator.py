"""Schemas of anybody are judged by as jsonschema does, within a budget of steps."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft201909Validator, Draft202012Validator
from support.examples import examples
from support.expensive_schemas import SCHEMAS, tool
from toolwire_schemas.json_schema.bounded_validator import (
    MAX_DEPTH,
    Budget,
    CannotJudge,
    SchemaValidator,
    TooExpensive,
    find_faults_of_schema,
)
from toolwire_schemas.json_schema.fast_schema_check import is_well_formed
from toolwire_schemas.json_schema.subschemas import LISTS, NAMED, ONE

_MANY = 10**9
LONG = "a" * 40 + "b"
DRAFTS = (Draft7Validator, Draft201909Validator, Draft202012Validator)

_WORDS = st.sampled_from(
    [
        *ONE,
        *LISTS,
        *NAMED,
        "type",
        "enum",
        "const",
        "required",
        "minLength",
        "minimum",
        "uniqueItems",
        "pattern",
    ]
)
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 2),
    st.just(1.0),
    st.sampled_from(["string", "a", "x"]),
)
JSON = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.dictionaries(_WORDS | st.just("a"), inner, max_size=3), st.lists(inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(_WORDS, JSON, max_size=4)


def refusal(schema: Any, value: Any) -> str:
    """Why *value* is not judged by *schema*; empty if it is."""
    try:
        SchemaValidator(schema).find_errors(value)
    except CannotJudge as error:
        return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 10, 100])
@pytest.mark.parametrize("kind", SCHEMAS)
def test_no_schema_takes_more_steps_than_the_budget_has(kind: str, times: int) -> None:
    schema = tool(kind, times)["inputSchema"]
    total = Budget(_MANY)
    with suppress(CannotJudge):
        SchemaValidator(schema).find_errors({"a": LONG}, total=total)
    assert _MANY - total.left < 200_000  # what goes beyond the budget is one step


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("doubling", "more than 50,000 steps"),
        ("doubling-below", "more than 50,000 steps"),
        ("circle", "refers to itself in a circle"),
    ],
)
def test_a_schema_that_is_not_judged_by_says_why(kind: str, reason: str) -> None:
    assert reason in refusal(tool(kind)["inputSchema"], {"a": LONG})


def test_a_circle_is_noticed_wherever_the_stack_ends() -> None:
    definitions = {"A": {"not": {"$ref": "#/$defs/B"}}, "B": {"allOf": [{"$ref": "#/$defs/A"}]}}
    circle = {"$ref": "#/$defs/A", "$defs": definitions}

    def refused_from(depth: int) -> str:
        return refused_from(depth - 1) if depth else refusal(circle, {})

    assert all("in a circle" in refused_from(depth) for depth in range(40))


def test_a_schema_that_is_nested_too_deeply_is_refused_at_once() -> None:
    with pytest.raises(TooExpensive, match=f"more than {MAX_DEPTH} levels"):
        SchemaValidator(tool("deep", 10)["inputSchema"])


def test_a_pattern_that_backtracks_is_judged() -> None:
    schema = tool("pattern")["inputSchema"]
    assert [error.validator for error in SchemaValidator(schema).find_errors({"a": LONG})] == [
        "pattern"
    ]
    assert SchemaValidator(schema).is_valid({"a": "aaa", "bbb": 1})


def test_a_part_that_names_another_dialect_is_counted_too() -> None:
    schema = tool("doubling")["inputSchema"]
    schema["$defs"] = {
        name: {"$schema": "http://json-schema.org/draft-07/schema#", **inner}
        for name, inner in schema["$defs"].items()
    }
    assert "steps" in refusal(schema, {})


def test_unevaluated_members_are_counted_too() -> None:
    assert "steps" in refusal(
        {**tool("doubling")["inputSchema"], "unevaluatedProperties": False}, {"a": "b"}
    )
    evil = {"type": "object", "patternProperties": {"^(a+)+$": {}}, "unevaluatedProperties": False}
    assert "unevaluatedProperties" in refusal(evil, {LONG: 1})


def test_the_text_of_errors_is_counted_too() -> None:
    branches = {"anyOf": [{"type": "integer"}] * 2_000}
    assert "steps" in refusal(branches, "a" * 100_000)


@pytest.mark.parametrize(
    "items", [[1, 1.0], [{"a": [1]}, {"a": [1.0]}], [None, None], ["a", "b", "a"]]
)
def test_equal_items_are_found(items: list[Any]) -> None:
    assert not SchemaValidator({"uniqueItems": True}).is_valid(items)


@pytest.mark.parametrize(
    "items", [[1, True], [0, False], ["1", 1], [None, "null"], [[], {}], [["a"], "a"]]
)
def test_items_that_differ_in_kind_are_not_equal(items: list[Any]) -> None:
    assert SchemaValidator({"uniqueItems": True}).is_valid(items)


@given(OBJECTS, JSON)
def test_what_is_judged_is_judged_as_by_jsonschema(schema: dict[str, Any], value: Any) -> None:
    try:
        judged = SchemaValidator(schema).is_valid(value)
    except CannotJudge:
        return
    assert judged == Draft202012Validator(schema).is_valid(value)


@settings(max_examples=examples(500))
@given(OBJECTS)
def test_what_is_well_formed_at_a_glance_is_so_by_every_metaschema(schema: dict[str, Any]) -> None:
    if is_well_formed(schema):
        assert all(draft(draft.META_SCHEMA).is_valid(schema) for draft in DRAFTS)


@given(OBJECTS)
def test_faults_of_a_schema_are_those_of_its_metaschema(schema: dict[str, Any]) -> None:
    expected = {
        error.message
        for error in Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema)
    }
    assert {error.message for error in find_faults_of_schema(schema)} == expected
