"""Commands that refuse to start, before anything else happens, with status 2 and one sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import CommandLine
from toolwire.cli.commands import inspect

TOOLS = "def add(a: int) -> int:\n    return a\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["tols.py"],
            "this folder has no file 'tols.py', did you mean 'tools.py'? Known: tools.py",
        ),
        (["tools.py", "no/such.py"], "no file no/such.py: there is no folder no"),
        (
            ["https://example.com/mcp", "tools.py"],
            "a remote server is named alone; with other tools, write --mount",
        ),
        (
            ["--", "no-such-program"],
            "cannot start 'no-such-program': no such program, or it may not be run",
        ),
    ],
)
def test_no_page_is_opened_of_a_server_that_cannot_be_started(
    command_line: CommandLine, monkeypatch: pytest.MonkeyPatch, words: list[str], sentence: str
) -> None:
    def open_page(*_: object, **__: object) -> None:
        raise AssertionError("a page was opened")

    monkeypatch.setattr(inspect, "local_page", open_page)
    command_line.folder.joinpath("tools.py").write_text(TOOLS)
    done = command_line("inspect", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"toolwire: {sentence}")


@pytest.mark.parametrize("words", [["serve", "tools.py"], ["wrap", "--", "cat"]])
def test_a_variable_that_counts_for_sharing_needs_sharing(
    command_line: CommandLine, words: list[str]
) -> None:
    command_line.folder.joinpath("tools.py").write_text(TOOLS)
    command, *rest = words
    done = command_line(command, "--share-env", "A", *rest)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "toolwire: --share-env goes with --share\n"


@pytest.mark.process
@pytest.mark.parametrize(
    ("source", "options", "status"),
    [
        (TOOLS, [], 2),
        (TOOLS, ["--isolate"], 0),
        ("from toolwire import tool_api\n@tool_api(runs_in='process')\n" + TOOLS, [], 0),
    ],
)
def test_a_memory_limit_that_would_hold_for_nothing_is_refused(
    tmp_path: Path, source: str, options: list[str], status: int
) -> None:
    (tmp_path / "tools.py").write_text(source)
    command = [
        sys.executable,
        "-m",
        "toolwire",
        "serve",
        "tools.py",
        "--limit",
        "memory_limit=64MiB",
        *options,
    ]
    done = subprocess.run(
        command, cwd=tmp_path, input="", capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == status
    assert ("--limit memory_limit is for processes of tools: add --isolate" in done.stderr) is (
        status == 2
    )
