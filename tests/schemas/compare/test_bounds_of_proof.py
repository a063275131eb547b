"""Bounds of numbers and lengths at their edges: what is proved, and what is shown by a value."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from toolwire_dialects.compare import takes_all
from toolwire_dialects.compare.value_cases import SAFE_INTEGER

LOWER = {"minimum": lambda n, bound: n >= bound, "exclusiveMinimum": lambda n, bound: n > bound}
UPPER = {"maximum": lambda n, bound: n <= bound, "exclusiveMaximum": lambda n, bound: n < bound}
KEYWORDS: dict[str, Callable[[Any, Any], bool]] = {**LOWER, **UPPER}

STEPS = [Fraction(step, 4) for step in range(-8, 21)]
"""Quarters tell all bounds at halves apart; integers are every fourth."""


def values_of(schema: dict[str, Any]) -> set[Fraction]:
    """Return the values on the grid that *schema*, one of numbers, takes."""
    found = set()
    for value in STEPS:
        is_of_type = schema["type"] == "number" or value.denominator == 1
        bounds = [KEYWORDS[word](value, schema[word]) for word in KEYWORDS if word in schema]
        if is_of_type and all(bounds):
            found.add(value)
    return found


SAME_SIDE = [*product(LOWER, repeat=2), *product(UPPER, repeat=2)]


@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize(("word", "other"), SAME_SIDE)
def test_one_bound_takes_another_exactly_if_all_its_values_fit(
    kind: str, word: str, other: str
) -> None:
    for one, two in product((0, 0.5, 1), repeat=2):
        narrow, wide = {"type": kind, word: one}, {"type": kind, other: two}
        answer = takes_all(wide, narrow).answer

        # The value that shows the difference may be one that is not tried.
        assert (answer == "yes") is (values_of(narrow) <= values_of(wide)), (narrow, wide)


@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize("lower", LOWER)
@pytest.mark.parametrize("upper", UPPER)
def test_both_bounds_of_a_range_count(kind: str, lower: str, upper: str) -> None:
    wide = {"type": kind, "minimum": 0, "maximum": 3}
    for one, two in product((-1, 0, 1), (2, 3, 4)):
        narrow = {"type": kind, lower: one, upper: two}
        expected = "yes" if values_of(narrow) <= values_of(wide) else "no"

        assert takes_all(wide, narrow).answer == expected, narrow


def test_the_stricter_of_two_bounds_decides() -> None:
    narrow = {"type": "number", "minimum": 1, "exclusiveMinimum": 1}
    assert takes_all({"type": "number", "exclusiveMinimum": 1}, narrow).answer == "yes"
    assert takes_all({"type": "number", "exclusiveMinimum": 1}, {"minimum": 1}).answer == "no"


@pytest.mark.parametrize(
    ("bound", "is_described", "answer"),
    [
        (-SAFE_INTEGER, True, "yes"),
        (-SAFE_INTEGER - 1, True, "yes"),
        (-SAFE_INTEGER + 1, True, "no"),
        (-SAFE_INTEGER - 1, False, "no"),
    ],
)
def test_described_integers_without_a_bound_are_safe_ones(
    bound: int, is_described: bool, answer: str
) -> None:
    wide = {"type": "integer", "minimum": bound}
    assert takes_all(wide, {"type": "integer"}, is_described=is_described).answer == answer


LENGTHS = [
    ("string", "minLength", "maxLength"),
    ("array", "minItems", "maxItems"),
    ("object", "minProperties", "maxProperties"),
]


@pytest.mark.parametrize(("kind", "least", "most"), LENGTHS)
def test_lengths_take_each_other_exactly_if_the_range_is_within(
    kind: str, least: str, most: str
) -> None:
    for narrow, wide in product([(0, 2), (1, 2), (1, 3), (2, 2), (3, 3)], repeat=2):
        old = {"type": kind, least: narrow[0], most: narrow[1]}
        new = {"type": kind, least: wide[0], most: wide[1]}
        expected = "yes" if wide[0] <= narrow[0] and narrow[1] <= wide[1] else "no"

        assert takes_all(new, old).answer == expected, (narrow, wide)


@pytest.mark.parametrize(
    ("names", "least", "answer"), [(1, 1, "yes"), (2, 1, "yes"), (2, 2, "yes"), (2, 3, "no")]
)
def test_required_members_count_as_a_least_number(names: int, least: int, answer: str) -> None:
    required = ["a", "b", "c"][:names]
    old = {"type": "object", "required": required}
    assert takes_all({"type": "object", "minProperties": least}, old).answer == answer


@pytest.mark.parametrize(
    ("old", "new", "answer"), [(3, 3, "yes"), (4, 2, "unknown"), (2, 4, "no"), (6, 4, "no")]
)
def test_multiples_are_proved_of_the_same_step_alone(old: int, new: int, answer: str) -> None:
    narrow, wide = ({"type": "number", "multipleOf": step} for step in (old, new))
    assert takes_all(wide, narrow).answer == answer
