"""Completion of command lines: what may follow, and what real shells make of it."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.server_process import PATIENCE_SECONDS
from toolwire.cli.commands.completion.candidates import (
    Candidate,
    Candidates,
    find_candidates,
    select_words,
)
from toolwire.cli.commands.completion.scripts import SCRIPTS, format_lines, split_line
from toolwire.cli.main import main

TOOLS = '''
import enum

class Colour(enum.Enum):
    dark_red = "dark red"
    green = "green"

def paint(place: str, colour: Colour, glossy: bool = False) -> str:
    """Paint a place.

    Args:
        place: where: inside or outside
        colour: which
    """
    return f"{place}: {colour.value}"

def paper(width: int) -> int:
    return width
'''

WORDS = [
    ("", ["serve", "call", "--help", "--version"]),
    ("se", ["serve"]),
    ("serve --log-l", ["--log-level"]),
    ("serve --log-level w", ["warning"]),
    ("serve --log-level=w", ["--log-level=warning"]),
    ("serve --limit max_w", ["max_workers="]),
    ("config claude", ["claude-desktop", "claude-code"]),
    ("client py", ["python"]),
    ("schema ex", ["export"]),
    ("list --as open", ["openai"]),
    ("check --rule batch/", ["batch/answered", "batch/no-harm"]),
    ("completion f", ["fish"]),
    ("call Cal", ["Calculator"]),
]


@pytest.mark.parametrize(("line", "expected"), WORDS)
def test_words_that_may_follow_are_offered(line: str, expected: list[str]) -> None:
    offered = [candidate.word for candidate in find_candidates(line.split(" ")).words]

    assert [word for word in expected if word not in offered] == []
    assert all(word.startswith(line.split(" ")[-1]) for word in offered)


PATHS = [
    ("serve too", True, ""),
    ("check --html=re", True, "--html="),
    ("diff a.json ", True, ""),
    ("list -- np", True, ""),
    ("schema li", False, ""),
    ("config ", False, ""),
    ("config zed ", True, ""),
    ("nonsense ", False, ""),
    ("serve --nonsense ", False, ""),
]


@pytest.mark.parametrize(("line", "takes_path", "before"), PATHS)
def test_paths_are_offered_where_one_may_stand(line: str, takes_path: bool, before: str) -> None:
    found = find_candidates(line.split(" "))

    assert (found.takes_path, found.before_path) == (takes_path, before)


def test_option_that_was_given_is_offered_again_only_if_it_may_be_repeated() -> None:
    offered = [c.word for c in find_candidates(["list", "--json", "--include", "x", "--"]).words]

    assert "--json" not in offered
    assert "--include" in offered


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("completion")
    (folder / "tools.py").write_text(TOOLS)
    (folder / "broken.py").write_text("raise SystemExit('broken')")
    for shell, script in SCRIPTS.items():
        (folder / f"toolwire.{shell}").write_text(script)
    return folder


OF_CALLS = [
    ("call tools.py ", ["paint", "paper"]),
    ("call tools.py paint ", ["place=", "colour=", "glossy="]),
    ("call tools.py paint place=a ", ["colour=", "glossy="]),
    ("call tools.py paint colour=", ["colour=dark red", "colour=green"]),
    ("call tools.py paint glossy=t", ["glossy=true"]),
    ("call tools.py nothing ", []),
    ("call broken.py ", []),
    ("call missing.py ", []),
]


@pytest.mark.process
@pytest.mark.parametrize(("line", "expected"), OF_CALLS)
def test_tools_and_arguments_of_a_target_are_offered(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    line: str,
    expected: list[str],
) -> None:
    monkeypatch.chdir(folder)

    assert [candidate.word for candidate in find_candidates(line.split(" ")).words] == expected
    assert capfd.readouterr() == ("", "")


LINES = [
    ("toolwire ", ["toolwire", ""]),
    ("toolwire call a", ["toolwire", "call", "a"]),
    ("toolwire call 'a b", ["toolwire", "call", "a b"]),
    ('toolwire call x="a ', ["toolwire", "call", "x=a "]),
    ("toolwire call a\\ b", ["toolwire", "call", "a b"]),
    ("toolwire call a\\ ", ["toolwire", "call", "a "]),
]


@pytest.mark.parametrize(("line", "words"), LINES)
def test_line_of_bash_is_divided_at_blanks_only(line: str, words: list[str]) -> None:
    assert split_line(line) == words


@given(st.text(), st.text(), st.sampled_from(sorted(SCRIPTS)))
def test_any_name_of_a_tool_is_one_line_or_is_left_out(
    name: str, description: str, shell: str
) -> None:
    selected = select_words([Candidate(name, description)], "")

    text = format_lines(Candidates(selected), shell, "")
    lines = text.split("\n")

    assert lines[0] == "words"
    assert len(lines) == 1 + len(selected)


@given(st.lists(st.text(max_size=8), min_size=1, max_size=5))
def test_any_words_have_candidates_or_none(words: list[str]) -> None:
    if words[0] == "call":
        words[0] = "list"  # asks no server
    found = find_candidates(words)

    assert all(candidate.word.startswith(words[-1]) for candidate in found.words)
    assert all("\n" not in candidate.help for candidate in found.words)


def test_unknown_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 2
    assert capsys.readouterr().err == "toolwire: name the shell: bash, zsh, fish\n"


# --- real shells ---

Complete = Callable[[Path, str], list[str]]
"""Returns what a shell offers, or writes, for a line in a folder."""


def environment() -> dict[str, str]:
    programs = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "TERM": "dumb"}


def run_shell(folder: Path, *command: str) -> list[str]:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    return done.stdout.splitlines()


def complete_in_bash(folder: Path, line: str) -> list[str]:
    """Call the function as bash does: it divides words at `=` and `:`, too."""
    words = [word for word in re.split(r"([=:@])|\s", line) if word is not None and word != ""]
    if line.endswith(" "):
        words.append("")
    script = (
        "compopt() { :; }; . ./toolwire.bash; COMP_LINE=$1 COMP_POINT=${#1}; shift;"
        ' COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _toolwire; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    return run_shell(folder, "bash", "-c", script, "bash", line, *words)


def complete_in_fish(folder: Path, line: str) -> list[str]:
    lines = run_shell(folder, "fish", "-c", f"source toolwire.fish; complete -C {line!r}")
    return [line.partition("\t")[0] for line in lines]


IN_BASH = [
    ("toolwire se", ["serve"]),
    ("toolwire call tools.py pap", ["paper"]),
    ("toolwire call tools.py paint pl", ["place="]),
    ("toolwire call tools.py paint colour=", ["'dark red'", "green"]),
    ("toolwire call tools.py paint place=@tool", ["tools.py", "toolwire.bash"]),
    ("toolwire list too", ["tools.py", "toolwire.bash"]),
]


@pytest.mark.process
@pytest.mark.parametrize(("line", "expected"), IN_BASH)
def test_bash_completes(folder: Path, line: str, expected: list[str]) -> None:
    offered = complete_in_bash(folder, line)

    assert [word for word in expected if word not in offered] == []


IN_FISH = [
    ("toolwire se", ["serve"]),
    ("toolwire call tools.py pap", ["paper"]),
    ("toolwire call tools.py paint colour=", ["colour=dark red", "colour=green"]),
    ("toolwire call tools.py paint place=@tool", ["place=@tools.py", "place=@toolwire.bash"]),
    ("toolwire list too", ["tools.py", "toolwire.bash"]),
]


@pytest.mark.process
@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
@pytest.mark.parametrize(("line", "expected"), IN_FISH)
def test_fish_completes(folder: Path, line: str, expected: list[str]) -> None:
    offered = complete_in_fish(folder, line)

    assert [word for word in expected if word not in offered] == []


IN_ZSH = [
    ("toolwire completio", "toolwire completion "),
    ("toolwire call tools.py pap", "toolwire call tools.py paper "),
    ("toolwire call tools.py paint pl", "toolwire call tools.py paint place="),
    ("toolwire call tools.py paint colour=d", r"toolwire call tools.py paint colour=dark\ red "),
    (
        "toolwire call tools.py paint place=@broken",
        "toolwire call tools.py paint place=@broken.py ",
    ),
    ("toolwire list broken", "toolwire list broken.py "),
]

_ZSH_START = r"""
PROMPT=
autoload -U compinit && compinit -D -u
source ./toolwire.zsh
note() { print -r -- "<<$BUFFER>>"; zle -I }
zle -N note
bindkey '^X' note
bindkey '^I' complete-word
print ready
"""


@pytest.mark.process
@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
@pytest.mark.parametrize(("line", "completed"), IN_ZSH)
def test_zsh_completes(folder: Path, line: str, completed: str) -> None:
    (folder / ".zshrc").write_text(_ZSH_START)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe("zsh", ["zsh", "-i"], {**environment(), "ZDOTDIR": str(folder)})
    try:
        _read_until(terminal, b"ready")
        os.write(terminal, f"{line}\t\x18".encode())
        shown = _read_until(terminal, b">>")
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)

    assert f"<<{completed}>>" in shown.decode()


def _read_until(terminal: int, end: bytes) -> bytes:
    data = b""
    while end not in data:
        ready, _, _ = select.select([terminal], [], [], PATIENCE_SECONDS)
        assert ready, data
        data += os.read(terminal, 1 << 16)
    return data
