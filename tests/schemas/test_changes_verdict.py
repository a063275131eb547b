"""Does a schema take all that another takes? For any two schemas: never a wrong yes, never a no without a witness."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from schema_pairs import VALUES, moved_into_definitions, pairs, schemas
from toolwire_schemas.changes.judge import Judge
from toolwire_schemas.changes.nodes import Document
from toolwire_schemas.changes.samples import Samples
from toolwire_schemas.changes.verdict import takes_all


def fits(schema: Any, value: Any) -> bool | None:
    """None for schemas that contain themselves without end."""
    try:
        return Draft202012Validator(schema).is_valid(value)
    except RecursionError:
        return None


@settings(max_examples=250)
@given(pairs(), st.lists(VALUES, min_size=5, max_size=20))
def test_what_is_said_to_be_taken_still_is_taken(pair: tuple[Any, Any], values: list[Any]) -> None:
    old, new = pair
    assume(takes_all(new, old).answer == "yes")
    edges = Samples(Judge()).of((Document(old).top,), (Document(new).top,))
    for value in [*values, *edges]:
        assert not (fits(old, value) and fits(new, value) is False), value


@settings(max_examples=120)
@given(pairs())
def test_what_is_said_not_to_be_taken_any_more_is_shown_by_a_value(pair: tuple[Any, Any]) -> None:
    old, new = pair
    verdict = takes_all(new, old)
    assume(verdict.answer == "no")
    assert (fits(old, verdict.witness), fits(new, verdict.witness)) == (True, False)


@settings(max_examples=50)
@given(schemas())
def test_a_schema_takes_all_that_it_takes(schema: Any) -> None:
    assert takes_all(schema, schema).answer == "yes"


@settings(max_examples=50)
@given(schemas())
def test_it_does_not_matter_whether_parts_stand_in_definitions(schema: Any) -> None:
    assume(isinstance(schema, dict))
    moved = moved_into_definitions(schema)
    assert takes_all(moved, schema).answer == "yes"
    assert takes_all(schema, moved).answer == "yes"


@settings(max_examples=80)
@given(pairs(), st.data())
def test_what_takes_all_of_what_takes_all_of_it_takes_all_of_it(pair: tuple[Any, Any], data: st.DataObject) -> None:
    first, second = pair
    third = data.draw(pairs())[1] if data.draw(st.booleans()) else first
    answers = [takes_all(second, first).answer, takes_all(third, second).answer]
    assume(answers == ["yes", "yes"])
    assert takes_all(third, first).answer != "no"
