"""What the page of `inspect` learns of edits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from server.inspect.inspecting import inspected
from support.server_process import wait_until
from toolwire.inspect.edits import Edits, reload_command

FILE = '''
from toolwire import tool_api

@tool_api(read_only=True)
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b
'''


def test_a_failed_reload_has_its_traceback() -> None:
    edits = Edits()
    lines = ["old", "toolwire: ready", '  File "t.py", line 3', "SyntaxError: invalid syntax"]
    reported = [edits.read(line) for line in lines]
    reported.append(
        edits.read(
            "toolwire: error: t.py changed, but the old tools are still served: t.py cannot be"
            " loaded: SyntaxError in t.py, line 3 (traceback above)"
        )
    )
    assert reported == [False, False, False, False, True]
    assert edits.describe() == {
        "number": 1,
        "names": "t.py",
        "problem": "t.py cannot be loaded: SyntaxError in t.py, line 3",
        "trace": '  File "t.py", line 3\nSyntaxError: invalid syntax',
    }


def test_a_reload_ends_the_problem() -> None:
    edits = Edits()
    edits.read("toolwire: error: t.py changed, but the old tools are still served: no")
    assert edits.read("toolwire: t.py, u.py changed; serving 2 tools")
    assert edits.describe() == {"number": 2, "names": "t.py, u.py", "problem": "", "trace": ""}


def test_a_traceback_without_end_is_bounded() -> None:
    edits = Edits()
    for number in range(1000):
        edits.read(f"line {number}")
    edits.read("toolwire: error: t.py changed, but the old tools are still served: no")
    assert edits.trace.splitlines() == [f"line {number}" for number in range(940, 1000)]


def test_the_command_gets_its_options_before_the_targets() -> None:
    command = reload_command(["python", "-m", "toolwire", "serve", "--", "t.py", "--"])
    assert command[3:] == ["serve", "--reload", "--log-level=info", "--", "t.py", "--"]


@pytest.mark.process
def test_a_save_is_followed_and_a_broken_one_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "tools.py"
    file.write_text(FILE, "utf-8")
    with inspected(str(file)) as (browser, _):
        assert browser.ready()["status"] == "ready"
        assert browser.get("state")["edit"] is None
        save(file, FILE.replace("a + b", "a * b"))
        wait_until(lambda: (browser.get("state")["edit"] or {}).get("number") == 1)
        assert browser.call("add", a=3, b=5)[-1]["result"]["structuredContent"] == {"result": 15}
        save(file, FILE.replace("a + b", "a +"))
        wait_until(lambda: browser.get("state")["edit"]["number"] == 2)
        edit = browser.get("state")["edit"]
        assert "SyntaxError" in edit["problem"]
        assert edit["problem"].endswith("line 7")
        assert "return a +" in edit["trace"]
        assert browser.call("add", a=3, b=5)[-1]["result"]["structuredContent"] == {"result": 15}
        save(file, FILE.replace("def add", "def sum"))
        wait_until(lambda: browser.tools() == ["sum"])


@pytest.mark.process
def test_a_file_that_cannot_be_loaded_is_started_when_it_is_saved(tmp_path: Path) -> None:
    file = tmp_path / "tools.py"
    file.write_text("def add(", "utf-8")
    with inspected(str(file)) as (browser, _):
        wait_until(lambda: browser.get("state")["status"] == "ended")
        assert "SyntaxError in" in browser.get("state")["problem"]
        save(file, FILE)
        wait_until(lambda: browser.get("state")["status"] == "ready")
        assert browser.tools() == ["add"]


@pytest.mark.process
def test_without_reload_the_tools_stay(tmp_path: Path) -> None:
    file = tmp_path / "tools.py"
    file.write_text(FILE, "utf-8")
    with inspected("--no-reload", str(file)) as (browser, _):
        state = browser.ready()
        assert (state["status"], state["reloads"]) == ("ready", [])


def save(file: Path, text: str) -> None:
    """Replace *file* at once, as editors do."""
    new = file.with_suffix(".new")
    new.write_text(text, "utf-8")
    os.replace(new, file)
