"""`toolwire bench` with real servers: what it calls, what it reports, and how it ends."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from support import SUPPORT
from support.command_line import CommandLine
from toolwire_check.bench.driven_server import DrivenServer, MeasuringFailed, NoAnswer
from toolwire_check.bench.subject import Patience, WantedCall, find_subject
from toolwire_check.facts.server_facts import UnknownTool

pytestmark = pytest.mark.process

SHORT = ("--seconds", "1")
COLUMNS = {"start_seconds", "p50_seconds", "p99_seconds", "calls_per_second", "memory_bytes"}
TOOLS = """
def add(a: int, b: int) -> int:
    "Add."
    return a + b
"""


def command(fault: str = "") -> list[str]:
    return [sys.executable, str(SUPPORT / "measured_server.py"), fault]


@pytest.fixture(autouse=True)
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file to which servers add the names of called tools."""
    path = tmp_path / "calls"
    path.touch()
    monkeypatch.setenv("CALLS", str(path))
    return path


def names_in(calls: Path) -> set[str]:
    return set(calls.read_text("utf-8").split())


# --- what is called ---


def test_only_a_tool_that_reads_and_reaches_nothing_is_called(
    command_line: CommandLine, calls: Path
) -> None:
    done = command_line("bench", *SHORT, "--json", "--", *command())
    assert (done.returncode, done.stderr) == (0, "")
    data = json.loads(done.stdout)
    assert data["call"] == {"tool": "look", "arguments": {}}
    assert names_in(calls) == {"look"}
    bare_loop, measured = data["servers"]
    assert (bare_loop["name"], measured["name"]) == ("bare loop", "measured")
    assert measured["numbers"].keys() == measured["ratios"].keys()
    assert measured["numbers"].keys() | {"p99_seconds", "memory_bytes"} == COLUMNS
    assert measured["failed_calls"] == 0


def test_a_tool_that_changes_something_is_called_only_by_name(
    command_line: CommandLine, calls: Path
) -> None:
    words = ("bench", *SHORT, "--tool", "change", "--arguments", '{"x": 1}', "--json")
    done = command_line(*words, "--", *command())
    assert json.loads(done.stdout)["call"] == {"tool": "change", "arguments": {"x": 1}}
    assert names_in(calls) == {"change"}


@pytest.mark.parametrize(
    ("fault", "reason"), [("no tools", "no tool says that it only reads"), ("fails", "succeeds")]
)
def test_without_a_call_that_succeeds_a_ping_is_measured(
    command_line: CommandLine, fault: str, reason: str
) -> None:
    done = command_line("bench", *SHORT, "--", *command(fault))
    assert done.returncode == 0
    assert "\nping; " in done.stdout
    assert reason in done.stderr


def test_notifications_between_responses_disturb_nothing(command_line: CommandLine) -> None:
    done = command_line("bench", *SHORT, "--json", "--", *command("talks"))
    assert json.loads(done.stdout)["servers"][1]["failed_calls"] == 0


def test_own_file_is_measured_next_to_other_servers(
    command_line: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "tools.py").write_text(TOOLS, "utf-8")
    other = shlex.join([sys.executable, "-m", "toolwire", "serve", str(tmp_path / "tools.py")])
    words = ("tools.py", "--against", other, "--tool", "add", "--markdown", "-")
    done = command_line("bench", *SHORT, *words, "--html", "page.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert "| `tools` |" in done.stdout
    assert "| `tools (2)` |" in done.stdout
    assert "<svg" in (tmp_path / "page.html").read_text("utf-8")


def test_a_modern_server_is_measured(command_line: CommandLine, tmp_path: Path) -> None:
    server = tmp_path / "modern.py"
    server.write_text(MODERN, "utf-8")
    done = command_line("bench", *SHORT, "--json", "--", sys.executable, str(server))
    assert done.returncode == 0
    assert json.loads(done.stdout)["servers"][1]["failed_calls"] == 0


MODERN = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    meta = message.get("params", {}).get("_meta", {})
    answer = {"jsonrpc": "2.0", "id": message.get("id")}
    if "io.modelcontextprotocol/protocolVersion" not in meta:
        answer["error"] = {"code": -32601, "message": "modern clients only"}
    elif message["method"] == "tools/list":
        answer["result"] = {"tools": []}
    else:
        answer["result"] = {}
    print(json.dumps(answer), flush=True)
"""

# --- what is reported ---


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("dies", "measured: it ended with status 7"),
        ("silent", "measured: no answer in 0.5 s"),
        ("endless", "measured: no answer in 0.5 s"),
    ],
)
def test_a_server_that_stops_responding_is_reported(
    command_line: CommandLine, fault: str, sentence: str
) -> None:
    words = ("bench", *SHORT, "--tool", "look", "--timeout", "0.5")
    done = command_line(*words, "--", *command(fault))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"toolwire: {sentence}")


def test_failed_calls_are_counted(command_line: CommandLine) -> None:
    words = ("bench", *SHORT, "--tool", "look")
    done = command_line(*words, "--", *command("fails later"))
    assert done.returncode == 0
    assert "calls of measured failed" in done.stderr


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (["--", "no-such-command"], 2, "cannot start 'no-such-command'"),
        (["--", sys.executable, "-c", "exit(3)"], 1, "it ended with status 3"),
        (["--tool", "lok", "--", *command()], 2, "no tool 'lok', did you mean 'look'?"),
        (["--tool", "look", "--", *command("fails")], 1, "no disk"),
        (["--arguments", "{}", "--", *command()], 2, "--arguments goes with --tool"),
        (["--tool", "look", "--arguments", "[]", "--", *command()], 2, "a JSON object"),
        (["--seconds", "0", "--", *command()], 2, "a whole number of at least 1"),
        (["--html", "no/such/page.html", "--", *command()], 2, "there is no folder"),
        (["missing.py"], 2, "missing.py"),
        (["https://example.com/mcp"], 2, "bench measures servers that it starts"),
        (["--against", "https://a.example", "--", *command()], 2, "servers that it starts"),
        (["--against", "", "--", *command()], 2, "empty"),
        ([], 2, "name a target"),
    ],
)
def test_a_mistake_is_one_sentence(
    command_line: CommandLine, words: list[str], status: int, sentence: str
) -> None:
    done = command_line("bench", *SHORT, *words)
    assert (done.returncode, done.stdout) == (status, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


# --- the pieces ---


def test_a_wanted_tool_that_is_missing_is_named() -> None:
    with pytest.raises(UnknownTool) as caught:
        find_subject(command(), "a name", WantedCall("no"), Patience())
    assert list(caught.value.known) == ["change", "search", "look"]


def test_marks_are_found_across_chunks_and_responses_end_with_their_line() -> None:
    code = (
        "import sys, time\n"
        "for part in ('ab\"to', 'ol\" x', 'yz\\n\"', 't', 'o', 'o', 'l', '\"', '\\n'):\n"
        "    sys.stdin.read(1)\n"
        "    sys.stdout.write(part)\n"
        "    sys.stdout.flush()\n"
    )
    server = DrivenServer([sys.executable, "-c", code], patience_seconds=30)
    try:
        assert server.ask(b"123456789", b'"tool"', count=2) == b'ab"tool" xyz\n"tool"\n'
    finally:
        server.close()


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import time; time.sleep(60)", NoAnswer),
        ("import os; os.kill(os.getpid(), 9)", MeasuringFailed),
        ("import os, time; os.close(1); time.sleep(60)", MeasuringFailed),
    ],
)
def test_every_wait_for_a_server_ends(code: str, error: type[MeasuringFailed]) -> None:
    server = DrivenServer([sys.executable, "-c", code], patience_seconds=0.5)
    try:
        with pytest.raises(error):
            server.ask(b"\n" * 200_000)
    finally:
        server.close()


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_is_that_of_all_processes_of_the_server() -> None:
    size = 40_000_000
    child = f"data = bytearray({size}); print(flush=True); input()"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    server = DrivenServer([sys.executable, "-c", code], patience_seconds=30)
    try:
        server.ask(b"")
        memory = server.measure_peak_memory_bytes()
        assert memory is not None
        assert memory > size
    finally:
        server.close()
