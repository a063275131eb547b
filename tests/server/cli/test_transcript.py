"""`toolwire transcript`, and the page of `toolwire ask --html`."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command_line import CommandLine
from support.parsed_html import Parsed, assert_inert

pytestmark = pytest.mark.process

TOOLS = """
from toolwire import tool_api

@tool_api(read_only=True)
def add(a: int, b: int) -> int:
    return a + b
"""
ASK = ("ask", "How much is 1 + 2 + 4?", "--tools", "tools.py", "--model", "arithmetic")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS, "utf-8")
    return tmp_path


def test_a_transcript_is_shown_as_ask_showed_the_run_with_its_question(
    command_line: CommandLine, folder: Path
) -> None:
    asked = command_line(*ASK, "--transcript", "run.jsonl", cwd=folder)
    shown = command_line("transcript", "run.jsonl", cwd=folder)
    assert (asked.returncode, shown.returncode, shown.stderr) == (0, 0, "")
    question, *lines = shown.stdout.splitlines()
    assert question == "? How much is 1 + 2 + 4?"
    assert asked.stdout.strip() in lines
    assert [line for line in lines if line != asked.stdout.strip()] == asked.stderr.splitlines()


def test_the_page_of_a_transcript_is_that_of_the_run_itself(
    command_line: CommandLine, folder: Path
) -> None:
    command_line(*ASK, "--transcript", "run.jsonl", "--html", "asked.html", cwd=folder)
    done = command_line(
        "transcript", "run.jsonl", "--html", "read.html", "--markdown", "read.md", cwd=folder
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    asked, read = ((folder / name).read_text("utf-8") for name in ("asked.html", "read.html"))
    assert asked == read
    assert_inert(Parsed(read))
    assert "How much is 1 + 2 + 4?" in Parsed(read).text
    assert (folder / "read.md").read_text("utf-8").startswith("### `How much is 1 + 2 + 4?`\n")


def test_a_page_of_a_run_hides_secrets(command_line: CommandLine, folder: Path) -> None:
    secret = "do-not-show-this"
    words = (*ASK[:1], f"How much is 1 + 2? {secret}", *ASK[2:], "--html", "run.html")
    command_line(*words, cwd=folder, MY_API_KEY=secret)
    text = (folder / "run.html").read_text("utf-8")
    assert "How much is 1 + 2? [hidden]" in text
    assert secret not in text


def test_a_page_can_go_to_standard_output(command_line: CommandLine, folder: Path) -> None:
    command_line(*ASK, "--transcript", "run.jsonl", cwd=folder)
    done = command_line("transcript", "run.jsonl", "--markdown", "-", cwd=folder)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "### `How much is 1 + 2 + 4?`")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("transcript",), "name a transcript: toolwire transcript FILE"),
        (("transcript", "none.jsonl"), "cannot open none.jsonl"),
        (("transcript", "tools.py"), "tools.py, line 2, is not an event of a transcript"),
        (
            ("transcript", "tools.py", "--html", "no/run.html"),
            "--html no/run.html: there is no folder no",
        ),
        (
            ("transcript", "tools.py", "--html", "tools.py"),
            "tools.py is a transcript, which the page would overwrite",
        ),
        (("transcript", "tools.py", "--markdown", "."), "--markdown .: this is a folder"),
        ((*ASK, "--html", "no/run.html"), "--html no/run.html: there is no folder no"),
    ],
)
def test_what_cannot_be_read_or_written_is_refused_with_a_reason(
    words: tuple[str, ...], told: str, command_line: CommandLine, folder: Path
) -> None:
    done = command_line(*words, cwd=folder)
    assert (done.returncode, done.stdout, told in done.stderr) == (2, "", True), done.stderr
