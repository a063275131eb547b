"""Ten times the schema takes ten times the work, by whichever command, and not a hundred times."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support import SUPPORT
from support.expensive_schemas import FIVE_MEGABYTES, KINDS, entries
from toolwire.cli.main import main

pytestmark = [pytest.mark.process, pytest.mark.slow]

SERVER = str(SUPPORT / "expensive_schemas.py")
SECONDS = 240
MODEL = """
class Calls:
    replies = 0

    async def chat(self, messages):
        self.replies += 1
        if self.replies == 1:
            return '{"thought": "", "type": "ACTION", "tool": "t", "params": {"a": "%s"}}' % ("a" * 40 + "b")
        return '{"thought": "", "type": "FINAL_ANSWER", "ok": true, "result": "It is done."}'
"""  # noqa: E501
CHECK = [
    "check",
    "--only",
    "tools/*",
    "--only",
    "calls/*",
    "--fuzz",
    "1",
    "--seed",
    "1",
    "--jobs",
    "1",
]

COMMANDS: dict[str, list[str]] = {
    "list": ["list"],
    "list --json": ["list", "--json"],
    **{
        f"list --as {dialect}": ["list", "--as", dialect]
        for dialect in ("openai", "anthropic", "lagent", "python", "typescript", "markdown")
    },
    "list --strict": ["list", "--as", "openai", "--strict"],
    "list --lint": ["list", "--lint"],
    "call": ["call", "t", "a=" + "a" * 40 + "b"],
    "check": CHECK,
    "ask": ["ask", "go", "--model", "models.py:Calls", "--approve", "all"],
}


class Work(NamedTuple):
    """Calls of functions in all threads of this process, and its processor time."""

    calls: int
    seconds: float


LITTLE = Work(300_000, 0.03)
"""What grows to no more than this is not looked at: a budget of steps may end expensive work at any
size.
"""


def work_of(function: Callable[[], object]) -> Work:
    """Return the work of *function*, which is the same however busy the machine is; children do not
    count.
    """
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    run = threading.Thread.run

    def run_and_count(thread: threading.Thread) -> None:
        profile(count)
        run(thread)

    before = time.process_time()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Thread, "run", run_and_count)
        profile(count)
        try:
            function()
        finally:
            profile(None)
    return Work(calls, time.process_time() - before)


def profile(count: Callable[[Any, str, Any], None] | None) -> None:
    """As `sys.setprofile`, which CPython 3.11 refuses at the moment at which another thread calls
    it.

    `threading.setprofile` lets that refusal end the thread.
    """
    while True:
        try:
            return sys.setprofile(count)
        except RuntimeError:
            continue


def words_of(command: str, kind: str, times: int) -> list[str]:
    """The command line about a server with such a schema, or about two lists in the working
    folder.
    """
    if command == "diff":
        for name, size in (("old", times), ("new", times + 1)):
            Path(f"{name}.json").write_text(json.dumps(entries(kind, size)))
        return ["diff", "old.json", "new.json"]
    return [*COMMANDS[command], "--", sys.executable, SERVER, kind, str(times)]


@pytest.fixture
def folder(tmp_path: Path, own_imports: None) -> Path:
    (tmp_path / "models.py").write_text(MODEL)
    return tmp_path


# To judge values, to read types and to check limits: the three ways into a schema. Other commands
# take the same ones, and 5 MB take each of them some twenty seconds.
WAYS_IN = ("call", "list --as python", "list --lint")
# Every command with a schema of everything and with many tools; every kind with each way in.
GROWTH = [
    *((command, kind) for command in (*COMMANDS, "diff") for kind in ("mixed", "tools")),
    *((command, kind) for command in WAYS_IN for kind in KINDS if kind != "mixed"),
    *((command, kind) for command in ("list --strict", "diff") for kind in ("union", "wide")),
]
# `check --fuzz` calls each tool, so a thousand tools take minutes, and so do the values of "mixed".
GROWTH.remove(("check", "tools"))
GROWTH.remove(("check", "mixed"))
GROWTH.append(("check", "pattern"))


@pytest.mark.parametrize(("command", "kind"), sorted(set(GROWTH)))
def test_ten_times_the_schema_takes_about_ten_times_the_work(
    command: str, kind: str, folder: Path
) -> None:
    main(words_of(command, "wide", 1))  # imports what it needs
    works = []
    for times in (3, 30):
        words = words_of(command, kind, times)
        works.append(work_of(lambda words=words: main(words)))
    before, after = works
    assert after.calls <= 15 * max(before.calls, LITTLE.calls), works
    # Loops that call nothing, and those within C, show only here; a quadratic one takes a hundred
    # times as long.
    assert after.seconds <= 30 * max(before.seconds, LITTLE.seconds), works


@pytest.mark.skipif(os.name != "posix", reason="only POSIX limits processor time")
@pytest.mark.parametrize("command", WAYS_IN)
def test_a_schema_of_five_megabytes_is_done_within_the_time_limit(
    command: str, folder: Path
) -> None:
    assert len(json.dumps(entries("mixed", FIVE_MEGABYTES)[0]["inputSchema"])) > 5_000_000
    words = words_of(command, "mixed", FIVE_MEGABYTES)
    words[1:1] = ["--timeout", str(SECONDS)]
    # The limit is one of processor time, so that a busy machine changes nothing: beyond it, the
    # process is killed.
    limited = [
        "sh",
        "-c",
        f'ulimit -t {SECONDS} && exec "$@"',
        "sh",
        sys.executable,
        "-m",
        "toolwire",
        *words,
    ]
    done = subprocess.run(
        limited, capture_output=True, text=True, timeout=5 * SECONDS, check=False, input=""
    )
    assert done.returncode in (0, 1)
    assert done.stdout or done.stderr
    assert "Traceback" not in done.stderr
