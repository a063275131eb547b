"""Which values a search for a difference tries and keeps, and where it gives up."""

from __future__ import annotations

from typing import Any

import pytest
from toolwire_dialects.compare.nodes import ComparedSchema
from toolwire_dialects.compare.subset import MAX_STEPS, Comparison, takes_all
from toolwire_schemas.json_schema.bounded_validator import Budget, TooExpensive
from toolwire_schemas.json_schema.graph import SchemaNode

INTEGER: dict[str, Any] = {"type": "integer"}
STRING: dict[str, Any] = {"type": "string"}
PAIR = {"type": "object", "properties": {"a": INTEGER, "b": INTEGER}, "required": ["a", "b"]}
LONG_TEXT = "Some text, and more."


def root(schema: Any) -> SchemaNode:
    return ComparedSchema(schema).root


def find_fitting(schema: Any, *hints: Any, depth: int = 0, steps: int = MAX_STEPS) -> list[Any]:
    """Return values of *schema* that a search finds at the edges of *hints*."""
    comparison = Comparison(Budget(steps), is_described=False)
    return comparison.find_fitting_values((root(schema),), tuple(map(root, hints)), depth)


@pytest.mark.parametrize(
    ("schema", "hint", "expected"),
    [
        # A simple value comes first, then one that shows a difference, then two more.
        (STRING, {**STRING, "maxLength": 3}, ["a", LONG_TEXT, "", "A"]),
        # A difference at once is enough.
        (STRING, {**STRING, "minLength": 5}, ["a"]),
        # A listed value that the other schema does not list comes first.
        ({"enum": [1, 2, "a"]}, {"enum": [1, "a"]}, [2]),
        # The same value counts once.
        ({"enum": [1, 2]}, {"enum": [1, 2], "not": {"const": 7}}, [1, 2]),
        # Values that the other schema lists are tried too.
        (
            {**INTEGER, "minimum": 1003, "multipleOf": 77},
            {"enum": [1078, 1155]},
            [1078, 1155],
        ),
        # The members of an object may be equal, and so may elements, but not those of a set.
        (PAIR, {"minProperties": 3}, [{"a": 0, "b": 0}]),
        ({"type": "array", "items": INTEGER, "minItems": 2}, {"minItems": 3}, [[0, 0]]),
        (
            {"type": "array", "items": INTEGER, "minItems": 2, "uniqueItems": True},
            {"minItems": 3},
            [[0, 1]],
        ),
    ],
)
def test_search_keeps_a_simple_value_and_one_at_an_edge(
    schema: Any, hint: Any, expected: list[Any]
) -> None:
    assert find_fitting(schema, hint) == expected


def test_search_within_a_value_keeps_eight_that_show_a_difference() -> None:
    found = find_fitting(STRING, {**STRING, "minLength": 5}, depth=1)

    assert found == ["a", "", "A", "0", "abc", "a b", "1.5", "-"]


def test_search_without_a_hint_ends_at_three_values() -> None:
    assert find_fitting(STRING, steps=20) == ["a", "", "A"]


def test_repeated_search_takes_one_step() -> None:
    budget = Budget(1000)
    comparison = Comparison(budget, is_described=False)
    node = root(STRING)
    first = comparison.find_fitting_values((node,), ())
    left = budget.left

    assert comparison.find_fitting_values((node,), ()) == first
    assert budget.left == left - 1


def test_search_beyond_its_budget_raises() -> None:
    with pytest.raises(TooExpensive):
        find_fitting(STRING, steps=2)


def test_comparison_beyond_its_budget_knows_of_no_equality() -> None:
    comparison = Comparison(Budget(0), is_described=False)

    assert comparison.are_same(root(STRING), root({**STRING, "title": "T"})) is False


def in_arrays(inner: Any, depth: int) -> Any:
    for _ in range(depth):
        inner = {"type": "array", "items": inner, "minItems": 1}
    return inner


def in_objects(inner: Any, depth: int) -> Any:
    for _ in range(depth):
        inner = {"type": "object", "properties": {"a": inner}, "required": ["a"]}
    return inner


@pytest.mark.parametrize("nest", [in_arrays, in_objects])
@pytest.mark.parametrize(("depth", "answer"), [(1, "no"), (6, "no"), (7, "unknown")])
def test_difference_is_found_six_levels_deep(nest: Any, depth: int, answer: str) -> None:
    old, new = nest(INTEGER, depth), nest({**INTEGER, "minimum": 1}, depth)

    assert takes_all(new, old).answer == answer


@pytest.mark.parametrize(("before", "answer"), [(398, "no"), (399, "unknown")])
def test_difference_is_found_among_four_hundred_values(before: int, answer: str) -> None:
    # The default, which is null here, is tried before the examples.
    old = {**STRING, "pattern": "^z$", "examples": [*range(before), "z"]}

    assert takes_all({**old, "maxLength": 0}, old).answer == answer


@pytest.mark.parametrize(
    ("options", "answer"),
    [({}, "no"), ({"is_described": True}, "yes"), ({"is_described": False}, "no")],
)
def test_members_that_the_old_schema_does_not_describe_count_by_default(
    options: dict[str, bool], answer: str
) -> None:
    old = {"type": "object", "properties": {"a": INTEGER}}
    new = {"type": "object", "properties": {"a": INTEGER, "b": STRING}}

    assert takes_all(new, old, **options).answer == answer
