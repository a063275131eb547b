"""Nothing that a terminal obeys is written, whoever wrote it."""

from __future__ import annotations

import io
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_schemas.output import BOLD, PLAIN, LineOutput, Output, make_printable

OBEYED = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@given(st.text())
def test_what_is_printable_steers_nothing_and_stays_so(text: str) -> None:
    made = make_printable(text)
    assert not [
        letter
        for letter in made
        if unicodedata.category(letter) in OBEYED and letter not in "\n\t\u200c\u200d"
    ]
    assert make_printable(made) == made


@pytest.mark.parametrize(
    "text",
    ["plain", "two\nlines\tand a tab", "größer 東京\u3000", "שלום", "👩\u200d👧", "no\u00a0break"],
)
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert make_printable(text) == text


@pytest.mark.parametrize(
    "steering", ["\x1b[2J", "\x9b31m", "\x07", "\u202eevil", "\u2066", "\r", "\x7f", "\u2028"]
)
def test_what_steers_is_shown_as_json_has_it(steering: str) -> None:
    assert json.loads(f'"{make_printable(steering)}"') == steering
    assert make_printable(steering)[0] == "\\"


def test_json_means_the_same_when_it_is_shown() -> None:
    value = {"a\x9b": "\u202eb", "c": "\x1b"}
    assert json.loads(make_printable(json.dumps(value, ensure_ascii=False))) == value


def test_emphasis_is_ours_alone() -> None:
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        Output(stream).write_line(f"{BOLD}a\x1b[2J{PLAIN}")
    assert terminal.getvalue() == "\x1b[1ma\\u001b[2J\x1b[0m\n"
    assert file.getvalue() == "a\\u001b[2J\n"


def test_data_goes_as_it_is_to_what_is_no_terminal() -> None:
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        Output(stream).write_data("a\x1b[2J")
    assert (terminal.getvalue(), file.getvalue()) == ("a\\u001b[2J\n", "a\x1b[2J\n")


@given(st.lists(st.text("ab\x1b\r\n", max_size=5)))
def test_lines_of_another_program_are_written_whole_however_they_come(pieces: list[str]) -> None:
    written = io.StringIO()
    lines = LineOutput(Output(written))
    for piece in pieces:
        lines.feed(piece)
        assert not written.getvalue() or written.getvalue().endswith("\n")
    lines.end()
    told = [line for line in written.getvalue().split("\n") if line]
    assert told == [
        line for line in make_printable("".join(pieces).replace("\r", "\n")).split("\n") if line
    ]


def test_a_line_that_does_not_end_is_not_kept_for_ever() -> None:
    written = io.StringIO()
    lines = LineOutput(Output(written))
    for _ in range(100):
        lines.feed("a" * 1_000)
    assert written.getvalue().count("a") >= 90_000
