"""What mounted and wrapped servers write to stderr: limited, named and escaped."""

from __future__ import annotations

import pytest
from toolwire.mounting import foreign_stderr
from toolwire.mounting.foreign_stderr import MAX_LINE_CHARACTERS, MAX_LINES, ForeignStderr
from toolwire_schemas.output import LineOutput


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(foreign_stderr, "time", clock)
    return clock


def test_each_line_names_its_server_and_no_character_of_it_is_obeyed(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = LineOutput(ForeignStderr("git\x1b[2J"))

    lines.feed("ready\n\x1b]0;title\x07\n\u202eleft\nlast")
    lines.end()

    assert capsys.readouterr().err.splitlines() == [
        r"git\u001b[2J: ready",
        r"git\u001b[2J: \u001b]0;title\u0007",
        r"git\u001b[2J: \u202eleft",
        r"git\u001b[2J: last",
    ]


@pytest.mark.parametrize("extra", [0, 1, 700])
def test_lines_over_the_limit_of_a_second_are_left_out_and_counted(
    clock: Clock, capsys: pytest.CaptureFixture[str], extra: int
) -> None:
    stderr = ForeignStderr("git")
    for number in range(MAX_LINES + extra):
        stderr.write_line(str(number))
    clock.now += 1.0

    stderr.write_line("next")

    expected = [f"git: {number}" for number in range(MAX_LINES)]
    if extra:
        expected.append(
            f"git: (more than {MAX_LINES} lines in a second: the next ones are left out)"
        )
        expected.append(f"git: ({extra} lines were left out)")
    assert capsys.readouterr().err.splitlines() == [*expected, "git: next"]


def test_the_count_is_written_at_the_end_of_the_server(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = LineOutput(ForeignStderr("git"))

    lines.feed("again\n" * (MAX_LINES + 3))
    lines.end()

    assert capsys.readouterr().err.splitlines()[-1] == "git: (3 lines were left out)"


@pytest.mark.parametrize("extra", [0, 1, 500])
def test_what_a_line_has_over_its_limit_is_left_out_and_counted(
    clock: Clock, capsys: pytest.CaptureFixture[str], extra: int
) -> None:
    line = "x" * MAX_LINE_CHARACTERS

    ForeignStderr("git").write_line(line + "y" * extra)

    end = f" … ({extra} more characters)" if extra else ""
    assert capsys.readouterr().err == f"git: {line}{end}\n"
