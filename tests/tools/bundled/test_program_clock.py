"""The time of a program, and what a user reads of it."""

from __future__ import annotations

import pytest
from toolwire_bundled.programs import program
from toolwire_bundled.programs.program import Clock, describe_line


def test_time_in_a_pause_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(program.time, "monotonic", lambda: now)
    clock = Clock(10)
    now = 103.0
    with clock.pause():
        now = 150.0
        assert clock.count_seconds_left() == 7
    assert clock.count_seconds_left() == 7
    now = 158.0
    assert clock.count_seconds_left() == -1


CODE = "one\ntwo\nthree\nfour\nfive"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (1, "> 1  one\n  2  two\n  3  three"),
        (3, "  1  one\n  2  two\n> 3  three\n  4  four\n  5  five"),
        (5, "  3  three\n  4  four\n> 5  five"),
        (0, ""),  # a program may say anything
        (6, ""),
        (-1, ""),
    ],
)
def test_line_of_a_program_is_shown_with_those_around_it(line: int, expected: str) -> None:
    assert describe_line(CODE, line) == expected
