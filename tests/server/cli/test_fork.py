"""`toolwire ask --fork` and `--resume`: the transcript says which model, protocol and instructions
go on.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.agent_scripts import SCHEMA, act, final
from support.command_line import CommandLine, Done
from support.model_endpoint import StandIn, answered
from toolwire_agent.agent import load
from toolwire_agent.react.messages import ModelReply, ToolCall

TOOLS = '''
from toolwire import tool_api

@tool_api(read_only=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    with open("calls", "a") as file:
        file.write(f"{a} {b}\\n")
    return a + b
'''
KEY = {"OPENAI_API_KEY": "sk-0123456789"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS)
    return tmp_path


def run(command_line: CommandLine, folder: Path, server: StandIn, *words: str) -> Done:
    given = ["--tools", "tools.py", "--base-url", server.url, *words]
    return command_line("ask", *given, cwd=folder, **KEY)


@pytest.fixture
def recorded(command_line: CommandLine, folder: Path) -> Path:
    """The transcript of a run in Chinese, for small models, with instructions."""
    words = [
        "go",
        "--protocol",
        "small",
        "--language",
        "zh",
        "--instructions",
        "Be brief.",
        "--model",
        "openai:first",
    ]
    with StandIn(final("three")) as server:
        server.then(answered(act("add", a=1, b=2)))
        assert (
            run(command_line, folder, server, *words, "--transcript", "run.jsonl").stdout
            == "three\n"
        )
    return folder / "run.jsonl"


def line_of(path: Path, kind: str) -> int:
    return [type(event).__name__ for event in load(path)].index(kind) + 1


@pytest.mark.process
def test_a_fork_goes_on_with_another_model_and_the_protocol_of_the_transcript(
    command_line: CommandLine, folder: Path, recorded: Path
) -> None:
    written, at = recorded.read_bytes(), line_of(recorded, "CallFinished")
    with StandIn(final("3")) as server:
        done = run(
            command_line,
            folder,
            server,
            "--fork",
            "run.jsonl",
            "--at",
            str(at),
            "--model",
            "openai:second",
        )
    assert (done.returncode, done.stdout) == (0, "3\n")
    assert f"run.jsonl 的这个分支写入 run-{at}.jsonl" in done.stderr  # the transcript is Chinese
    (request,) = server.requests
    assert request.body["model"] == "second"
    assert "Be brief." in request.body["messages"][0]["content"]
    started = json.loads((folder / f"run-{at}.jsonl").read_text().splitlines()[0])
    SCHEMA.validate(started)
    assert {name: started[name] for name in ("model", "protocol", "instructions", "fork_of")} == {
        "model": "OpenAIModel second",
        "protocol": "SmallProtocol, zh",
        "instructions": "Be brief.",
        "fork_of": {"events": at, "transcript": "run.jsonl", "line": at},
    }
    assert recorded.read_bytes() == written
    assert (folder / "calls").read_text() == "1 2\n"


@pytest.mark.process
@pytest.mark.parametrize("way", ["--fork", "--resume"])
def test_a_run_that_goes_on_with_a_call_shows_it_before_its_result(
    command_line: CommandLine, folder: Path, recorded: Path, way: str
) -> None:
    at = line_of(recorded, "ActionChosen")
    words = ["--fork", "run.jsonl", "--at", str(at)]
    if way == "--resume":
        lines = recorded.read_text().splitlines(keepends=True)
        recorded.write_text("".join(lines[:at]))
        words = ["--resume", "run.jsonl"]
    with StandIn(final("3")) as server:
        done = run(command_line, folder, server, *words, "--model", "openai:second")
    lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (0, "3\n")
    assert lines.count("> add(a=1, b=2)") == 1
    assert lines[lines.index("> add(a=1, b=2)") + 1] == "  3"


@pytest.mark.process
def test_the_cost_of_a_question_is_shown(command_line: CommandLine, folder: Path) -> None:
    (folder / "prices.toml").write_text('["openai:m"]\ninput = 1000000\noutput = 0\n')
    costs = []
    for price in ("1000000,0", "prices.toml"):
        with StandIn(final("three")) as server:
            done = run(command_line, folder, server, "go", "--model", "openai:m", "--price", price)
        costs.append(
            re.search(r"([\d,]+) tokens read, [\d,]+ written, cost (\d+)\.000000", done.stderr)
        )
    for found in costs:
        assert found is not None
        assert found[1].replace(",", "") == found[2]


@pytest.mark.process
def test_a_price_that_cannot_be_read_is_a_mistake_of_the_command(
    command_line: CommandLine, folder: Path
) -> None:
    done = command_line("ask", "go", "--model", "arithmetic", "--price", "much", cwd=folder)

    assert done.returncode == 2
    assert "--price: " in done.stderr


@pytest.mark.process
def test_a_fork_has_other_instructions_and_can_be_resumed(
    command_line: CommandLine, folder: Path, recorded: Path
) -> None:
    words = [
        "--fork",
        "run.jsonl",
        "--at",
        "3",
        "--instructions",
        "Rhyme.",
        "--transcript",
        "own.jsonl",
    ]
    with StandIn(final("rhymes")) as server:
        assert run(command_line, folder, server, *words, "--model", "openai:m").stdout == "rhymes\n"
        more = ["And again?", "--resume", "own.jsonl", "--model", "openai:m"]
        assert run(command_line, folder, server, *more).stdout == "rhymes\n"
    for request in server.requests:
        system = request.body["messages"][0]["content"]
        assert ("Rhyme." in system, "Be brief." in system) == (True, False)
    assert load(folder / "own.jsonl")[0].fork_of.line == 3


@pytest.mark.process
def test_each_fork_has_a_file_of_its_own(
    command_line: CommandLine, folder: Path, recorded: Path
) -> None:
    with StandIn(final("3")) as server:
        for _ in range(2):
            words = ["--fork", "run.jsonl", "--at", "4", "--model", "openai:m"]
            assert run(command_line, folder, server, *words).stdout == "3\n"
    assert {path.name for path in folder.glob("run*")} == {
        "run.jsonl",
        "run-4.jsonl",
        "run-4-2.jsonl",
    }


@pytest.mark.process
def test_a_native_run_is_resumed_natively(command_line: CommandLine, folder: Path) -> None:
    call = ModelReply(
        tool_calls=(ToolCall(id="call00001", name="add", arguments={"a": 1, "b": 2}),)
    )
    words = [
        "--protocol",
        "native",
        "--model",
        "openai:m",
        "--max-turns",
        "1",
        "--transcript",
        "run.jsonl",
    ]
    with StandIn("3") as server:
        server.then(answered(call))
        assert run(command_line, folder, server, "go", *words).returncode == 0
        assert (
            run(
                command_line, folder, server, "more", "--resume", "run.jsonl", "--model", "openai:m"
            ).stdout
            == "3\n"
        )
        wrong = run(
            command_line,
            folder,
            server,
            "--resume",
            "run.jsonl",
            "--model",
            "openai:m",
            "--protocol",
            "structured",
        )
    assert "tools" in server.requests[-1].body
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert (
        "it was written with NativeProtocol, en, and this is StructuredProtocol, en" in wrong.stderr
    )


@pytest.mark.process
def test_a_fork_needs_no_model_if_its_transcript_names_one(
    command_line: CommandLine, folder: Path
) -> None:
    words = ["--tools", "tools.py"]
    command_line(
        "ask", "1 + 2?", *words, "--model", "arithmetic", "--transcript", "run.jsonl", cwd=folder
    )
    done = command_line("ask", *words, "--fork", "run.jsonl", "--at", "4", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "1 + 2 = 3\n")


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--fork", "run.jsonl", "--at", "99"], "run.jsonl has 11 lines, and no line 99"),
        (["--fork", "run.jsonl", "--at", "0"], "--at takes a whole number of at least 1"),
        (
            ["--fork", "run.jsonl", "--at", "2"],
            "run.jsonl has no open question at line 2; give another one",
        ),
        (["--fork", "run.jsonl"], "run.jsonl has no open question; give another one"),
        (
            ["--fork", "run.jsonl", "--transcript", "./run.jsonl"],
            "a fork needs a transcript of its own",
        ),
        (["--fork", "run.jsonl", "--resume", "run.jsonl"], "leave out one of them"),
        (["x", "--at", "4"], "--at goes with --fork"),
        (["--fork", "none.jsonl"], "cannot open none.jsonl"),
        (["--fork", "tools.py"], "tools.py, line 2, is not an event"),
        (
            ["--fork", "custom.jsonl", "--at", "1"],
            "written with MyProtocol: say which --protocol reads it",
        ),
        (["--fork", "custom.jsonl", "--at", "2"], "no language 'tlh'. Known: en, zh"),
    ],
)
def test_a_mistake_about_a_fork_is_one_sentence_and_writes_nothing(
    command_line: CommandLine, folder: Path, recorded: Path, words: list[str], told: str
) -> None:
    starts = (
        {"type": "Started", "protocol": protocol}
        for protocol in ("MyProtocol, en", "SmallProtocol, tlh")
    )
    (folder / "custom.jsonl").write_text("".join(f"{json.dumps(start)}\n" for start in starts))
    before = {path.name: path.read_bytes() for path in folder.glob("*.jsonl")}
    done = command_line("ask", *words, "--tools", "tools.py", "--model", "arithmetic", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert told in done.stderr
    assert {path.name: path.read_bytes() for path in folder.glob("*.jsonl")} == before
