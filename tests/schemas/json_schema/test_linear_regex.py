"""Patterns of anybody are searched for with the outcome of `re`, and in linear time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from toolwire_schemas.json_schema.linear_regex import (
    Budget,
    CannotJudge,
    Graph,
    TooExpensive,
    is_cheap,
    search,
)

_PIECES = st.sampled_from(
    ["a", "b", "[ab]", "[^a]", ".", r"\d", r"\w", r"\b", "^", "$", "-", "(?<!a)"]
)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeats = st.sampled_from(
        ["({})*", "({})+?", "(?:{}){{1,3}}", "({})?", "(?={})", "(?!{})", "(?:{}|ab)"]
    )
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.tuples(repeats, inner).map(lambda found: found[0].format(found[1])),
    )


PATTERNS = st.recursive(_PIECES, _larger, max_leaves=6)
TEXTS = st.text("ab-1 \n", max_size=8)

CATASTROPHES = [
    "^(a+)+$",
    "(a|aa)+$",
    "(a*)*$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    r"^(\w+\s?)*$",
    r"(?=a)(a|a)*$",
]


def steps(pattern: str, text: str) -> int:
    budget = Budget(10**9)
    search(pattern, text, budget.spend)
    return 10**9 - budget.left


@settings(max_examples=examples(500))
@given(PATTERNS, TEXTS)
def test_the_graph_of_a_pattern_finds_what_re_finds(pattern: str, text: str) -> None:
    try:
        expected = re.search(pattern, text) is not None
    except re.error:
        return
    assert Graph(pattern).leads_through(text, Budget(10**9).spend) == expected  # whatever it costs


@pytest.mark.parametrize("pattern", CATASTROPHES)
def test_a_pattern_that_backtracks_takes_linear_time(pattern: str) -> None:
    least, more, most = (steps(pattern, "a" * length + "!") for length in (100, 1_000, 10_000))
    assert more <= 13 * least + 100
    assert most <= 13 * more + 100


@pytest.mark.parametrize("pattern", CATASTROPHES)
def test_a_pattern_that_backtracks_is_not_given_to_re(pattern: str) -> None:
    assert not is_cheap(pattern, 100)


@pytest.mark.parametrize(
    "pattern", [r"^\d{4}-\d{2}-\d{2}$", "^[a-z]+$", r"^[^@\s]+@[^@\s]+$", "^https?://"]
)
def test_an_ordinary_pattern_is_searched_for_by_re(pattern: str) -> None:
    assert is_cheap(pattern, 64)


@pytest.mark.parametrize(
    "pattern", [r"^(a+)+\1$", "^((((a{1,99}){1,99}){1,99}){1,99})$", "a" * 30_000]
)
def test_what_has_no_linear_form_is_refused(pattern: str) -> None:
    with pytest.raises(TooExpensive):
        search(pattern, "a" * 500 + "!", Budget().spend)


@pytest.mark.parametrize("pattern", ["(", "*a", "(" * 5_000 + ")" * 5_000, r"\p{L}"])
def test_what_python_cannot_compile_cannot_be_judged(pattern: str) -> None:
    with pytest.raises(CannotJudge, match=r"compile|nested"):
        search(pattern, "a", Budget().spend)
