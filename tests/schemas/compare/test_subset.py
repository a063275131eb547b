"""Does a schema take all that another takes? For any two schemas: never a wrong yes, never a no
without a witness.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.examples import examples
from support.schema_pairs import VALUES, moved_into_definitions, pairs, schemas
from toolwire_dialects.compare.nodes import ComparedSchema
from toolwire_dialects.compare.subset import MAX_STEPS, Comparison, takes_all
from toolwire_schemas.json_schema.bounded_validator import Budget, TooExpensive


def fits(schema: Any, value: Any) -> bool | None:
    """None for schemas that contain themselves without end."""
    try:
        return Draft202012Validator(schema).is_valid(value)
    except RecursionError:
        return None


def edges(old: Any, new: Any, *, is_described: bool) -> list[Any]:
    """Values of *old* at the bounds of both, as a search for counterexamples tries them."""
    comparison = Comparison(Budget(MAX_STEPS), is_described)
    try:
        return comparison.find_fitting_values(
            (ComparedSchema(old).root,), (ComparedSchema(new).root,)
        )
    except TooExpensive:
        return []


@settings(max_examples=examples(150))
@given(pairs(), st.lists(VALUES, min_size=5, max_size=20))
def test_what_is_said_to_be_taken_still_is_taken(pair: tuple[Any, Any], values: list[Any]) -> None:
    old, new = pair
    assume(takes_all(new, old).answer == "yes")
    for value in [*values, *edges(old, new, is_described=False)]:
        assert not (fits(old, value) and fits(new, value) is False), value


@settings(max_examples=examples(100))
@given(pairs())
def test_described_values_that_are_said_to_be_taken_are_taken(pair: tuple[Any, Any]) -> None:
    old, new = pair
    assume(takes_all(new, old, is_described=True).answer == "yes")
    for value in edges(old, new, is_described=True):
        assert not (fits(old, value) and fits(new, value) is False), value


@settings(max_examples=examples(80))
@given(pairs())
def test_what_is_said_not_to_be_taken_any_more_is_shown_by_a_value(pair: tuple[Any, Any]) -> None:
    old, new = pair
    verdict = takes_all(new, old)
    assume(verdict.answer == "no")
    assert (fits(old, verdict.witness), fits(new, verdict.witness)) == (True, False)


@settings(max_examples=examples(50))
@given(schemas())
def test_a_schema_takes_all_that_it_takes(schema: Any) -> None:
    assert takes_all(schema, schema).answer == "yes"


@settings(max_examples=examples(50))
@given(schemas())
def test_it_does_not_matter_whether_parts_stand_in_definitions(schema: Any) -> None:
    assume(isinstance(schema, dict))
    moved = moved_into_definitions(schema)
    # A reference to itself has no meaning, but equal texts have the same.
    answer = "yes" if moved == schema or ComparedSchema(schema).is_readable else "unknown"
    assert takes_all(moved, schema).answer == answer
    assert takes_all(schema, moved).answer == answer


@settings(max_examples=examples(80))
@given(pairs(), st.data())
def test_what_takes_all_of_what_takes_all_of_it_takes_all_of_it(
    pair: tuple[Any, Any], data: st.DataObject
) -> None:
    first, second = pair
    third = data.draw(pairs())[1] if data.draw(st.booleans()) else first
    answers = [takes_all(second, first).answer, takes_all(third, second).answer]
    assume(answers == ["yes", "yes"])
    assert takes_all(third, first).answer != "no"


# --- what has to be decided, and what must not be ---

INTEGER, NUMBER, STRING, NULL = ({"type": name} for name in ("integer", "number", "string", "null"))
NARROWER_AND_WIDER: list[tuple[Any, Any]] = [
    (INTEGER, NUMBER),
    ({"enum": [1.0, "a"]}, {"enum": ["a", 1, 2]}),
    ({"const": "a"}, {"enum": ["a", "b"]}),
    ({"type": "integer", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 0}),
    (STRING, {"anyOf": [STRING, NULL]}),
    (STRING, {"type": ["string", "null"]}),
    ({"type": "string", "pattern": "^a"}, STRING),
    (
        {"type": "array", "items": [INTEGER], "additionalItems": False},
        {"prefixItems": [NUMBER], "items": False},
    ),
    ({"properties": {"a": INTEGER}, "required": ["a"]}, {"properties": {"a": NUMBER}}),
    ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, {"maximum": 3}),
    (False, INTEGER),
    (INTEGER, True),
    (
        {
            "$ref": "#/$defs/T",
            "$defs": {"T": {"type": "array", "items": {"$ref": "#/$defs/T"}, "maxItems": 1}},
        },
        {"type": "array", "items": {"$ref": "#"}, "maxItems": 2},
    ),
    (
        {
            "oneOf": [
                {
                    "properties": {"k": {"const": k}, "v": INTEGER},
                    "required": ["k"],
                    "type": "object",
                }
                for k in "ab"
            ]
        },
        {
            "oneOf": [
                {
                    "properties": {"k": {"const": k}, "v": NUMBER},
                    "required": ["k"],
                    "type": "object",
                }
                for k in "abc"
            ]
        },
    ),
]


@pytest.mark.parametrize(("narrower", "wider"), NARROWER_AND_WIDER)
def test_what_tools_say_is_decided_both_ways(narrower: Any, wider: Any) -> None:
    assert (takes_all(wider, narrower).answer, takes_all(narrower, wider).answer) == ("yes", "no")


@pytest.mark.parametrize(
    ("narrower", "wider"),
    [
        (
            {"type": "array", "items": INTEGER, "minItems": 1, "uniqueItems": True},
            {"items": NUMBER, "contains": NUMBER},
        ),
        (
            {"properties": {"a_x": INTEGER}, "additionalProperties": False},
            {"patternProperties": {"^a_": NUMBER}},
        ),
        (
            {"patternProperties": {"^a": INTEGER}, "additionalProperties": False},
            {"propertyNames": {"pattern": "^a"}},
        ),
        ({"required": ["a", "b"]}, {"dependentRequired": {"a": ["b"]}}),
        ({"not": NUMBER, "title": "A."}, {"not": INTEGER, "title": "B."}),
    ],
)
def test_rare_keywords_are_compared_with_the_same_keyword_only(narrower: Any, wider: Any) -> None:
    assert takes_all(wider, narrower).answer == "unknown"
    assert takes_all(narrower, wider).answer != "yes"
    assert takes_all({**wider, "description": "D."}, wider).answer == "yes"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"pattern": "^a{3}$"}, {"pattern": "^aaa$"}),
        (STRING, {"type": "string", "format": "date"}),
        ({"format": "date"}, {"format": "date-time"}),
        (
            {"$schema": "https://example.com/one", "const": 1},
            {"$schema": "https://example.com/other", "const": 1},
        ),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 2}, {"minimum": 1}),
        (
            {"$ref": "https://example.com/other"},
            {"$ref": "https://example.com/other", "title": "T"},
        ),
        ({"$ref": "#"}, {"$ref": "#", "type": "string"}),
        ({"$ref": "#nowhere"}, INTEGER),
        (
            {"items": [INTEGER], "prefixItems": [STRING]},
            {"items": [INTEGER], "prefixItems": [NUMBER]},
        ),
        ({"type": "integer"}, {"type": "no such type"}),
        ({"minLength": 1}, {"minLength": "1"}),
    ],
)
def test_what_readers_may_take_one_way_or_another_is_unknown(old: Any, new: Any) -> None:
    assert takes_all(new, old).answer == "unknown"


def test_tuples_of_older_drafts_are_read_as_these_drafts_do() -> None:
    old = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "array",
        "items": [INTEGER],
    }
    assert takes_all({"items": True}, old).answer == "yes"
    assert takes_all({**old, "additionalItems": STRING}, old).witness == [0, None]
    assert takes_all({**old, "items": [STRING]}, {**old, "prefixItems": [STRING]}).witness == [0]
    assert (
        takes_all({**old, "items": [STRING], "dependencies": {"a": ["b"]}}, old).answer == "unknown"
    )


def test_keywords_next_to_a_reference_are_ignored_in_draft_07() -> None:
    old = {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"N": NUMBER}}
    assert takes_all(INTEGER, {**old, "$ref": "#/definitions/N", "type": "integer"}).answer != "yes"


def test_the_work_for_recursive_schemas_ends() -> None:
    """Alternatives of alternatives, and twenty kinds of nodes of which each may hold any other."""
    wide = {
        "allOf": [
            {"anyOf": [{"properties": {f"{i}{j}": INTEGER}} for j in range(5)]} for i in range(9)
        ]
    }
    assert takes_all(INTEGER, wide).answer in ("no", "unknown")
    assert takes_all({**wide, "minProperties": 1}, wide).answer in ("no", "unknown")

    def tree(leaf: Any) -> Any:
        child = {"$ref": "#/$defs/Any"}
        kinds = {
            f"N{n}": {"properties": {"k": {"const": n}, "l": child}, "required": ["k", "l"]}
            for n in range(20)
        }
        kinds["Leaf"] = {"properties": {"k": {"const": "leaf"}, "v": leaf}, "required": ["k"]}
        kinds = {name: {"type": "object", **kind} for name, kind in kinds.items()}
        return {
            **child,
            "$defs": {"Any": {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in kinds]}, **kinds},
        }

    assert takes_all(tree(NUMBER), tree(INTEGER)).answer == "yes"
    assert takes_all(tree(INTEGER), tree(NUMBER)).witness == {"k": "leaf", "v": 1.5}


@pytest.mark.parametrize(
    ("narrower", "wider", "is_proved"),
    [
        ({"enum": [1]}, {"oneOf": [INTEGER, STRING]}, True),
        ({"enum": [1]}, {"oneOf": [INTEGER, NUMBER]}, False),
        ({"enum": [1, "a"]}, {"oneOf": [INTEGER, STRING]}, True),
        ({"const": 1}, {"oneOf": [STRING, NULL]}, False),
    ],
)
def test_a_listed_value_fits_one_of_several_schemas_exactly_if_one_alone_takes_it(
    narrower: Any, wider: Any, is_proved: bool
) -> None:
    assert (takes_all(wider, narrower).answer == "yes") is is_proved


@pytest.mark.parametrize(("most", "is_proved"), [(0, True), (1, True), (2, False)])
def test_schemas_of_elements_beyond_the_longest_array_do_not_count(
    most: int, is_proved: bool
) -> None:
    narrower = {"type": "array", "items": INTEGER, "maxItems": most}
    wider = {"prefixItems": [NUMBER, STRING]}

    assert (takes_all(wider, narrower).answer == "yes") is is_proved


@pytest.mark.parametrize("inner", [[], [STRING]])
def test_an_alternative_that_leads_back_to_the_schema_itself_proves_nothing_and_ends(
    inner: list[Any],
) -> None:
    circle = {"anyOf": [{"$ref": "#"}, *inner]}

    assert takes_all({"anyOf": [circle, NUMBER]}, INTEGER).answer == "yes"
    assert takes_all({"anyOf": [circle, INTEGER]}, NUMBER).answer != "yes"


def test_a_value_that_fits_two_alternatives_alike_does_not_fit_one_of_them() -> None:
    assert takes_all({"oneOf": [True, True]}, {"type": "object"}).witness == {}
    assert takes_all({"oneOf": [INTEGER, dict(INTEGER)]}, INTEGER).witness == 0


def test_nesting_beyond_reading_is_unknown_and_no_crash() -> None:
    def nested(depth: int, inside: Any) -> Any:
        for _ in range(depth):
            inside = {"properties": {"a": inside}}
        return inside

    assert takes_all(nested(200, INTEGER), nested(200, INTEGER)).answer == "yes"
    assert takes_all(nested(600, INTEGER), nested(600, NUMBER)).answer == "unknown"


@pytest.mark.parametrize(
    "same",
    [
        {"pattern": "^a"},
        {"format": "date"},
        {"not": STRING},
        {"multipleOf": 3},
        {"contains": INTEGER},
        {"contains": INTEGER, "minContains": 2},
        {"contains": INTEGER, "minContains": 2, "maxContains": 3},
        {"if": INTEGER, "then": {"minimum": 1}},
        {"if": INTEGER, "else": {"maxLength": 1}},
        {"if": INTEGER, "then": {"minimum": 1}, "else": {"maxLength": 1}},
    ],
)
def test_keyword_without_a_rule_is_proved_by_the_same_value_of_it(same: dict[str, Any]) -> None:
    narrower = {**same, "title": "N", "maxItems": 5, "maximum": 9}

    assert takes_all({**same, "maxItems": 6, "maximum": 10}, narrower).answer == "yes"
    assert takes_all({**same, "maxItems": 6, "maximum": 8}, narrower).answer != "yes"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"contains": {"type": "string"}}, {"contains": INTEGER}),
        ({"contains": INTEGER}, {"contains": INTEGER, "minContains": 2}),
        ({"contains": INTEGER, "maxContains": 3}, {"contains": INTEGER, "maxContains": 2}),
        ({"if": INTEGER, "then": {"minimum": 1}}, {"if": INTEGER, "then": {"minimum": 2}}),
        ({"if": INTEGER, "then": False}, {"if": INTEGER, "else": False}),
        ({"not": {"type": "string"}}, {"not": INTEGER}),
    ],
)
def test_keyword_without_a_rule_is_not_proved_by_another_value_of_it(old: Any, new: Any) -> None:
    assert takes_all(new, old).answer != "yes"
