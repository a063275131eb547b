"""Every parser, with a few hundred made-up inputs: it ends, in time, and refuses in its own
words.
"""

from __future__ import annotations

import pytest
from support.parser_fuzzer import Failed, Parser, attempt, made, parsers

FUZZER = "tests/support/parser_fuzzer.py"
SEED = 13
PARSERS = parsers()


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_ends_in_time_and_refuses_in_its_own_words(name: str) -> None:
    for number in range(60):
        try:
            attempt(PARSERS[name], made(PARSERS[name], SEED, number))
        except Failed as failure:
            pytest.fail(
                f"{failure}; repeat it: {FUZZER} --seed {SEED} --only {name!r} --number {number}"
            )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("framing", b"Content-Length: 5\r\nX: " + b"x" * 9000),
        ("framing", b"Content-Length: 99999\r\n\r\nContent-Length:" + b" " * 90_000),
        ("yaml", "{" * 4000),
    ],
)
def test_what_once_took_too_long_does_not(name: str, text: object) -> None:
    attempt(PARSERS[name], text)


@pytest.mark.slow
def test_the_alarm_rings_for_what_never_ends_or_backtracks_for_ever() -> None:
    import re

    def loop(text: str) -> None:
        while text:
            pass

    for run in (loop, lambda text: re.match(r"(a+)+$", text)):
        with pytest.raises(Failed, match="processor time"):
            attempt(Parser(run, ("a",)), "a" * 40 + "b")


def test_another_error_than_a_refusal_is_a_failure() -> None:
    attempt(Parser(int, ("x",), (ValueError,)), "x")

    with pytest.raises(Failed, match="ValueError"):
        attempt(Parser(int, ("x",)), "x")


def test_the_inputs_of_a_seed_are_always_the_same() -> None:
    for parser in PARSERS.values():
        assert [made(parser, 1, number) for number in range(5)] == [
            made(parser, 1, number) for number in range(5)
        ]
