"""Names that a dialect does not take, and the way back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tool_entry_strategies import NAMES
from toolwire_dialects.name_mapping import RULES, Names

# What a dialect takes, said independently of how it is done.
TAKES = {
    "openai": lambda name: bool(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name)),
    "anthropic": lambda name: bool(re.fullmatch("[a-zA-Z0-9_-]{1,128}", name)),
    "anthropic parameters": lambda name: bool(re.fullmatch("[a-zA-Z0-9_.-]{1,64}", name)),
    "bedrock": lambda name: bool(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name)),
    "gemini": lambda name: bool(re.fullmatch("[a-zA-Z_][a-zA-Z0-9_-]{0,63}", name)),
    "python": lambda name: _is_taken_by_python(name),
    "typescript": lambda name: bool(re.fullmatch(r"[a-zA-Z_$][a-zA-Z0-9_$]*", name)),
}
LONG = "x" * 70
SETS = st.lists(
    NAMES
    | st.sampled_from(
        [
            "a.b",
            "a/b",
            "a_b",
            "a b",
            "a_b_",
            "1a",
            "_1a",
            LONG,
            LONG + ".",
            "ﬁ",
            "fi",
            "é",
            "e\u0301",
        ]
    ),
    unique=True,
    max_size=8,
)
DIALECTS = st.sampled_from(sorted(RULES))


def _is_taken_by_python(name: str) -> bool:
    """Whether Python, asked to define such a function, defines one of exactly this name."""
    try:
        scope: dict[str, object] = {}
        exec(f"def {name}(): pass", scope)
    except (SyntaxError, UnicodeEncodeError, ValueError):
        return False
    return name in scope


def test_what_is_allowed_stays_and_the_rest_gets_underscores() -> None:
    names = Names(["Notes.read", "Notes.write", "add", "größe"], "openai")
    assert names.theirs == {
        "Notes.read": "Notes_read",
        "Notes.write": "Notes_write",
        "add": "add",
        "größe": "gr__e",
    }
    assert names.ours["Notes_read"] == "Notes.read"


def test_names_that_would_be_the_same_get_a_piece_of_their_digest() -> None:
    names = Names(["a.b", "a/b", "a_b"], "openai")
    assert names.theirs["a_b"] == "a_b"
    assert re.fullmatch("a_b_[0-9a-f]{8}", names.theirs["a.b"])
    assert names.theirs["a.b"] != names.theirs["a/b"]


def test_long_names_that_begin_alike_stay_apart() -> None:
    names = Names([LONG + "1", LONG + "2"], "openai")
    assert [len(name) for name in names.ours] == [64, 64]


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("class", "class_"),
        ("1st", "_1st"),
        ("ﬁnd", "find"),
        ("加法", "加法"),
        ("a-b", "a_b"),
        ("", "_"),
    ],
)
def test_python_gets_identifiers_that_it_reads_as_they_are_written(name: str, called: str) -> None:
    assert Names([name], "python").theirs == {name: called}


def test_an_unknown_dialect_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="openai, anthropic"):
        Names([], "latin")


@given(SETS, DIALECTS)
def test_any_names_are_called_what_the_dialect_takes_and_lead_back(
    given_names: list[str], dialect: str
) -> None:
    names = Names(given_names, dialect)
    assert list(names.theirs) == given_names
    assert [names.ours[names.theirs[name]] for name in given_names] == given_names
    assert all(TAKES[dialect](called) for called in names.ours)
    assert all(
        names.theirs[name] == name
        for name in given_names
        if TAKES[dialect](name) and dialect != "typescript"
    )


@given(SETS.flatmap(lambda names: st.tuples(st.just(names), st.permutations(names))), DIALECTS)
def test_the_order_of_names_does_not_matter(
    orders: tuple[list[str], list[str]], dialect: str
) -> None:
    one, other = orders
    assert Names(one, dialect).theirs == Names(other, dialect).theirs


@given(SETS, NAMES, DIALECTS)
def test_a_name_that_is_added_changes_another_only_if_it_would_have_taken_it(
    names: list[str], added: str, dialect: str
) -> None:
    before, after = Names(names, dialect).theirs, Names([*names, added], dialect).theirs
    wanted = RULES[dialect].find_nearest(added)
    for name in names:
        if name != added and before[name] != after[name]:
            assert before[name] == wanted or RULES[dialect].find_nearest(name) == wanted


@given(SETS, DIALECTS)
def test_a_name_made_to_look_like_a_digest_takes_nobodys_place(
    given_names: list[str], dialect: str
) -> None:
    traps = [*given_names, *Names(given_names, dialect).ours]
    names = Names(traps, dialect)
    assert len(names.ours) == len(set(traps))
