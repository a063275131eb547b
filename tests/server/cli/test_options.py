from __future__ import annotations

import pytest
from toolwire.cli.option_values import read_seconds
from toolwire.cli.options import LIMIT, Option, Words, accept_one_of, parse
from toolwire.errors import UsageError
from toolwire_tools.byte_sizes import parse_size

OPTIONS = (
    Option("--name NAME", ""),
    Option("--page-size NUMBER", ""),
    Option("--include PATTERN", "", many=True),
    Option("--keep-going", ""),
    Option("-o, --output FILE", ""),
    Option("--level LEVEL", "", accept_one_of("low", "high")),
    Option("--write [FILE]", "", endings=(".json",)),
)


def test_options_stand_anywhere_and_words_keep_their_order() -> None:
    assert parse(["a", "--name", "x", "b", "--keep-going", "-o", "f", "c"], OPTIONS) == Words(
        {"name": "x", "keep_going": True, "output": "f"}, ["a", "b", "c"]
    )


def test_a_value_may_be_joined_by_an_equals_sign() -> None:
    assert parse(["--name=a=b", "--page-size=3"], OPTIONS).options == {
        "name": "a=b",
        "page_size": 3,
    }


def test_an_option_given_several_times_collects_or_the_last_one_counts() -> None:
    given = ["--include", "a*", "--include=b*", "--name", "x", "--name", "y"]
    assert parse(given, OPTIONS).options == {"include": ["a*", "b*"], "name": "y"}


def test_what_follows_two_dashes_is_left_alone() -> None:
    assert parse(["x", "--", "npx", "-y", "--", "z"], OPTIONS) == Words(
        {}, ["x"], ["npx", "-y", "--", "z"]
    )
    assert parse(["x", "--"], OPTIONS) == Words({}, ["x"], [])
    assert parse(["-"], OPTIONS) == Words({}, ["-"])


def test_an_optional_value_is_recognized_by_its_ending() -> None:
    for words, value in (
        (["--write"], ""),
        (["--write=x"], "x"),
        (["--write", "a.json"], "a.json"),
    ):
        assert parse(words, OPTIONS) == Words({"write": value}, [])
    assert parse(["--write", "a.py"], OPTIONS) == Words({"write": ""}, ["a.py"])
    assert parse(["--write", "--keep-going"], OPTIONS).options == {"write": "", "keep_going": True}


def test_an_option_for_another_program_is_checked_and_kept_as_typed() -> None:
    assert parse(["--page-size", "007"], (), as_text=OPTIONS).options == {"page_size": "007"}
    with pytest.raises(UsageError, match="whole number"):
        parse(["--page-size", "x"], (), as_text=OPTIONS)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--nmae", "x"], "did you mean '--name'"),
        (["-x"], "no option '-x'"),
        (["--name"], "--name NAME"),
        (["--keep-going=yes"], "leave out =yes"),
        (["--page-size", "0"], "whole number"),
        (["--level", "middle"], "one of low, high"),
        (["--write", "."], "--write takes a file that ends in .json, or nothing"),
    ],
)
def test_a_mistake_is_named_with_its_remedy(words: list[str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        parse(words, OPTIONS)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("max_wrokers=3", "--limit: no limit 'max_wrokers', did you mean 'max_workers'? Known: "),
        ("max-workers=3", "--limit: no limit 'max-workers', did you mean 'max_workers'? Known: "),
        ("timeout_seconds=3", "--limit: no limit 'timeout_seconds'"),
        ("max_workers", "--limit max_workers needs a value: max_workers=NUMBER"),
        ("max_workers=0", "--limit max_workers takes a whole number of at least 1, not '0'"),
        ("max_kept_bytes=1 MB", "--limit max_kept_bytes takes a number of bytes such as 500000"),
        ("ask_seconds=0", "--limit ask_seconds takes more than 0 seconds, such as 30 or 0.5"),
        ("grace_seconds=-1", "--limit grace_seconds takes a number of seconds such as 30 or 0.5"),
    ],
)
def test_a_wrong_limit_is_named_with_its_remedy(text: str, advice: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(["--limit", text], (LIMIT,))
    assert str(caught.value).startswith(advice)


def test_limits_are_kept_as_text() -> None:
    options = parse(["--limit", "max_workers=8", "--limit=grace_seconds=0"], (LIMIT,)).options
    assert options == {"limit": ["max_workers=8", "grace_seconds=0"]}


def test_sizes_have_units() -> None:
    assert [parse_size("5"), parse_size("2KiB"), parse_size("64 MiB"), parse_size("1GiB")] == [
        5,
        2048,
        64 * 1024**2,
        1024**3,
    ]


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "MiB", "10 apples", "٣"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="number of bytes"):
        parse_size(text)


@pytest.mark.parametrize("text", ["-1", "soon", "nan", "inf"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="number of seconds"):
        read_seconds(text)
