"""No schema of a server hangs a command, and no silent server or model outlives `--timeout`."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from support import SUPPORT
from support.expensive_schemas import SCHEMAS, tool
from toolwire.cli.commands.list import translate_tools

pytestmark = pytest.mark.process

SECONDS = 100
"""For what takes up to 20 on an idle machine where it ends at all: a hundred of these schemas'
siblings took hours.

Processor time where that can be limited, so that a busy machine changes nothing; by the clock, four
times as long."""

SERVER = str(SUPPORT / "expensive_schemas.py")
SILENT = "import sys; list(sys.stdin)"
MODELS = """
import anyio

class Calls:
    replies = 0

    async def chat(self, messages):
        self.replies += 1
        if self.replies == 1:
            return '{"thought": "", "type": "ACTION", "tool": "t", "params": {"a": "%s"}}' % ("a" * 40 + "b")
        return '{"thought": "", "type": "FINAL_ANSWER", "ok": true, "result": "It is done."}'

class Silent:
    async def chat(self, messages):
        await anyio.sleep_forever()
"""  # noqa: E501

COMMANDS = {
    "list": ["list", "--as", "openai", "--strict"],
    "lint": ["list", "--lint"],
    "call": ["call", "t", "a=" + "a" * 40 + "b"],
    "check": [
        *("check", "--only", "tools/*", "--only", "calls/*"),
        *("--timeout", "5", "--fuzz", "1", "--jobs", "1"),
    ],
    "ask": ["ask", "go", "--model", "models.py:Calls", "--approve", "all"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "models.py").write_text(MODELS)
    return tmp_path


def toolwire(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "toolwire", *words]
    if os.name == "posix":
        command = ["sh", "-c", f'ulimit -t {SECONDS} && exec "$@"', "sh", *command]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=4 * SECONDS,
        check=False,
        input="",
    )


@pytest.mark.parametrize("kind", SCHEMAS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_ends_whatever_schemas_a_server_has(
    command: str, kind: str, folder: Path
) -> None:
    done = toolwire(folder, *COMMANDS[command], "--", sys.executable, SERVER, kind, "1")
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["list", "lint", "check", "ask"])
@pytest.mark.parametrize("kind", ["choices", "deep", "wide"])
def test_a_command_ends_however_large_a_schema_is(command: str, kind: str, folder: Path) -> None:
    done = toolwire(folder, *COMMANDS[command], "--", sys.executable, SERVER, kind, "100")
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("times", [1, 10, 100])
@pytest.mark.parametrize("kind", SCHEMAS)
@pytest.mark.parametrize(
    "dialect", ["openai", "anthropic", "lagent", "python", "typescript", "markdown"]
)
def test_every_dialect_is_written_whatever_schemas_there_are(
    dialect: str, kind: str, times: int
) -> None:
    tools, _ = translate_tools([tool(kind, times)], dialect, strict=dialect == "openai")
    assert tools


@pytest.mark.parametrize("kind", SCHEMAS)
def test_a_comparison_ends_whatever_schemas_there_are(kind: str, folder: Path) -> None:
    for name, times in (("old", 1), ("new", 2)):
        (folder / f"{name}.json").write_text(json.dumps([tool(kind, times)]))
    done = toolwire(folder, "diff", "old.json", "new.json")
    assert (done.returncode in (0, 1), done.stderr) == (True, "")


def test_an_over_expensive_schema_is_named_and_its_arguments_are_sent(folder: Path) -> None:
    done = toolwire(folder, *COMMANDS["ask"], "--", sys.executable, SERVER, "doubling", "1")
    assert (done.returncode, done.stdout) == (0, "It is done.\n")
    assert "the schema of t is not checked: it takes more than 50,000 steps to check" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", [*COMMANDS, "diff"])
def test_a_signal_ends_a_command_that_judges_without_end(
    command: str, number: signal.Signals, folder: Path
) -> None:
    kind = {"list": "doubling-below", "lint": "unclear", "call": "unclear"}.get(command, "doubling")
    words = [*COMMANDS.get(command, ()), "--", sys.executable, SERVER, kind, "1"]
    if command == "call":
        words[2] = "a=1.5"
    if command == "diff":
        for name, times in (("old", 1), ("new", 2)):
            (folder / f"{name}.json").write_text(json.dumps([tool("doubling-below", times)]))
        words = ["diff", "old.json", "new.json"]
    program = [sys.executable, str(SUPPORT / "endless_judging.py"), *words]
    process = subprocess.Popen(
        program, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    try:
        # The driver writes this from within a step, which then never ends; so whatever ends the
        # process is the signal.
        assert b"it judges without end\n" in iter(process.stdout.readline, b"")
        process.send_signal(number)
        assert process.wait(SECONDS) in (-number, 128 + number)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize(
    "words",
    [
        ["list"],
        ["list", "--lint"],
        ["call", "t", "a=1"],
        ["ask", "go", "--model", "arithmetic"],
    ],
    ids=lambda words: " ".join(words),
)
def test_a_server_that_says_nothing_is_given_up_in_time(words: list[str], folder: Path) -> None:
    done = toolwire(folder, *words, "--timeout", "1", "--", sys.executable, "-c", SILENT)
    assert done.returncode == 1
    assert "was not ready within 1 s" in done.stderr


def test_a_comparison_gives_up_a_server_that_says_nothing(folder: Path) -> None:
    (folder / "old.json").write_text("[]")
    silent = shlex.join([sys.executable, "-c", SILENT])
    done = toolwire(folder, "diff", "--timeout", "1", "old.json", silent)
    assert (done.returncode, "was not ready within" in done.stderr) == (2, True)


def test_a_model_that_says_nothing_is_given_up_in_time(folder: Path) -> None:
    done = toolwire(folder, "ask", "go", "--model", "models.py:Silent", "--timeout", "4", "--json")
    started, *_, ended = map(json.loads, done.stdout.splitlines())
    took = datetime.fromisoformat(ended["at"]) - datetime.fromisoformat(started["at"])
    assert (done.returncode, ended["status"], took.total_seconds() < 30) == (1, "budget", True)
