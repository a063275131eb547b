from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from toolwire.cli.commands.demo import EXAMPLE
from toolwire.loading.targets import load

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.process
def test_the_demo_shows_everything_without_any_extra_and_ends_by_itself(tmp_path: Path) -> None:
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    for extra in ("rich", "httpx2"):
        (tmp_path / f"{extra}.py").write_text("raise ImportError('as if it were not installed')")
    environment["PYTHONPATH"] = str(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "toolwire", "demo"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    for shown in (
        "Notes_write",  # the table
        "18446744073709551617",  # a result
        "From then on, everybody who asked got tea.",  # a stream
        "168 primes so far",  # progress
        "There is no note called 'coffee'.",  # a tool that fails
        "arguments.a",  # arguments that are wrong
        "cancelled; the server answers",
        "> multiply(a=12, b=7)",  # a question, and its answer
        "12 * (3 + 4) = 84",
    ):
        assert shown in done.stdout
    assert len(re.findall(r"\d ms", done.stdout)) > 5
    lines = done.stdout.splitlines()
    assert len(lines) <= 2 * 24  # two screens
    assert max(len(line) for line in lines if line != EXAMPLE) <= 80
    assert "\x1b" not in done.stdout


def test_the_example_file_shows_the_range() -> None:
    tools = {tool.name: tool for tool in load([EXAMPLE])}
    assert tools["tell_story"].is_async
    assert not tools["add"].is_async
    assert tools["count_words"].describe()["outputSchema"]["properties"]["words"] == {
        "type": "integer"
    }
    assert {"find_primes", "draw_square", "Notes_write", "Notes_read"} < set(tools)
