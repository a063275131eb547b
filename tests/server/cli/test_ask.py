"""`toolwire ask` and `toolwire chat`, piped and on a terminal."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from support.command_line import CommandLine, Done
from support.terminal import SECONDS, Terminal, command
from toolwire.cli.agent.agent_options import make_protocol
from toolwire_agent.agent import load
from toolwire_agent.agent.events import FormAnswered, UserAnswered
from toolwire_agent.models import model_from_name
from toolwire_schemas.install_command import install_command

TOOLS = '''
from typing import Literal

from toolwire import Context, tool_api

@tool_api(read_only=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b

@tool_api
def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b

@tool_api(read_only=True)
def wait(context: Context) -> None:
    """Wait for ever, telling how far that is."""
    import os, time
    context.progress(1, 4, "well [bold]begun[/bold] \\x1b[31m")
    if os.path.exists("waiting"):
        with open("waiting", "w") as told:
            told.write(str(os.getpid()))
    while True:
        context.check()
        time.sleep(0.02)

@tool_api(read_only=True)
def book(context: Context) -> str:
    """Book a room."""
    nights = context.ask("How many nights?", int)
    return f"{nights} nights, {context.ask('Which room?', Literal['quiet', 'view'])}"
'''

MODELS = """
import json

import anyio
from toolwire_agent.models import ScriptedModel

QUESTION = {"thought": "Who knows?", "type": "ASK", "content": "Which [bold]colour\\x1b[31m?"}

def acts(tool, **params):
    return {"thought": "Let me see.", "type": "ACTION", "tool": tool, "params": params}

def done(result="It is done.", ok=True):
    return {"thought": "That is all.", "type": "FINAL_ANSWER", "ok": ok, "result": result}

def gives_up(): return ScriptedModel([done("Nobody knows.", ok=False)])
def is_lost(): return ScriptedModel([])
def asks(): return ScriptedModel([QUESTION, done("So be it.")])
def waits(): return ScriptedModel([acts("wait"), done()])
def books(): return ScriptedModel([acts("book"), done()])
def is_evil(): return ScriptedModel([acts("add", a=1, b=1), done("[red]answer[/red] \\x1b]0;title\\x07")])

class WaitsAndThinks:
    "Calls `wait`, and then thinks for ever."
    turns = 0
    async def reply(self, messages, **more):
        self.turns += 1
        if self.turns > 1:
            with open("thinking", "w") as told:
                told.write("yes")
            await anyio.sleep_forever()
        return (await waits().reply(messages))
"""  # noqa: E501

CONTROL = re.compile(
    r"\x1b(?!\[[\d;?]*[A-Za-ln-z]|\[[\d;]*m)|[\x00-\x06\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "models.py").write_text(MODELS)
    return tmp_path


OFFLINE = ("--tools", "tools.py", "--model", "arithmetic")


# --- piped ---


@pytest.mark.process
def test_the_answer_alone_goes_to_standard_output(command_line: CommandLine, folder: Path) -> None:
    done = command_line("ask", "How much is 3 + 4?", *OFFLINE, cwd=folder)
    assert (done.returncode, done.stdout) == (0, "3 + 4 = 7\n")
    assert done.stderr.splitlines()[:3] == ["  I compute 3 + 4.", "> add(a=3, b=4)", "  7"]
    assert re.fullmatch(r"  answered \(2 turns, \d+\.\d s\)", done.stderr.splitlines()[-1])


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "protocol"),
    [
        ((), "StructuredProtocol, en"),
        (("--protocol", "small", "--language", "zh-CN"), "SmallProtocol, zh"),
        (("--protocol", "native"), "NativeProtocol, en"),
    ],
)
def test_the_protocol_can_be_chosen(
    command_line: CommandLine, folder: Path, words: tuple[str, ...], protocol: str
) -> None:
    model = ("--model", "models.py:gives_up", "--transcript", "run.jsonl")
    command_line("ask", "go", *model, *words, cwd=folder)
    assert load(folder / "run.jsonl")[0].protocol == protocol


@pytest.mark.parametrize(
    ("name", "kind"), [("smollm2:135m", "SmallProtocol"), ("llama3.2:1b", "StructuredProtocol")]
)
def test_a_model_with_a_small_size_in_its_name_gets_the_protocol_for_small_models(
    name: str, kind: str
) -> None:
    chosen = make_protocol({"instructions": "Be brief."}, model_from_name(f"ollama:{name}"))
    assert (type(chosen).__name__, chosen.instructions) == (kind, "Be brief.")
    assert (
        type(make_protocol({"protocol": "native"}, model_from_name(f"ollama:{name}"))).__name__
        == "NativeProtocol"
    )


@pytest.mark.process
def test_a_question_can_come_from_standard_input(command_line: CommandLine, folder: Path) -> None:
    assert (
        command_line("ask", "-", *OFFLINE, cwd=folder, stdin="How much\nis 3 + 4?\n").stdout
        == "3 + 4 = 7\n"
    )


@pytest.mark.process
def test_every_event_is_a_line_of_json(command_line: CommandLine, folder: Path) -> None:
    done = command_line(
        "ask", "How much is 3 + 4?", *OFFLINE, "--json", "--transcript", "run.jsonl", cwd=folder
    )
    assert (done.returncode, done.stderr) == (0, "")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["type"] for event in events[-4:]] == [
        "CallFinished",
        "ModelAsked",
        "ModelReplied",
        "Ended",
    ]
    assert (folder / "run.jsonl").read_text() == done.stdout


@pytest.mark.process
def test_an_answer_is_piped_as_the_model_gave_it(command_line: CommandLine, folder: Path) -> None:
    done = command_line(
        "ask", "go", "--tools", "tools.py", "--model", "models.py:is_evil", cwd=folder
    )
    assert done.stdout == "[red]answer[/red] \x1b]0;title\x07\n"
    assert not CONTROL.search(done.stderr)


@pytest.mark.process
@pytest.mark.parametrize(
    ("model", "words", "told"),
    [
        ("models.py:gives_up", [], "unsolvable"),
        ("models.py:is_lost", [], "model_error: "),
        ("models.py:asks", [], "needs_input: "),
        ("models.py:waits", ["--max-turns", "1", "--tool-timeout", "0.1"], "answered"),
        ("arithmetic", ["--max-turns", "1"], "turn_limit: "),
        ("arithmetic", ["--approve", "reads"], "unsolvable"),
        ("arithmetic", ["--deny", "a*"], "unsolvable"),
        ("arithmetic", [], "needs_input: a call waits for approval"),
    ],
)
def test_the_outcome_is_named_and_only_an_answer_is_a_success(
    command_line: CommandLine, folder: Path, model: str, words: list[str], told: str
) -> None:
    done = command_line(
        "ask",
        "How much is 12 * (3 + 4)?",
        "--tools",
        "tools.py",
        "--model",
        model,
        *words,
        cwd=folder,
    )
    is_answered = told == "answered"
    assert (done.returncode == 0, bool(done.stdout)) == (is_answered, is_answered)
    assert re.search(rf"^  {re.escape(told)}", done.stderr, re.MULTILINE)


@pytest.mark.process
def test_a_resumed_run_shows_the_arguments_of_the_call_that_waits(
    command_line: CommandLine, folder: Path
) -> None:
    command_line(
        "ask", "How much is 12 * (3 + 4)?", *OFFLINE, "--transcript", "run.jsonl", cwd=folder
    )
    again = command_line("ask", *OFFLINE, "--resume", "run.jsonl", cwd=folder)
    assert "? Allow multiply(a=12, b=7)? " in again.stderr


@pytest.mark.process
def test_a_run_that_waits_for_its_user_goes_on_in_another_process(
    command_line: CommandLine, folder: Path
) -> None:
    first = command_line(
        "ask", "How much is 12 * (3 + 4)?", *OFFLINE, "--transcript", "run.jsonl", cwd=folder
    )
    assert (first.returncode, first.stdout) == (1, "")
    assert (
        "not a terminal: --allow multiply, or --approve all, says yes beforehand; --resume"
        in first.stderr
    )
    assert "--resume run.jsonl resumes it" in first.stderr
    second = command_line("ask", *OFFLINE, "--resume", "run.jsonl", "--allow", "mult*", cwd=folder)
    assert (second.returncode, second.stdout) == (0, "12 * (3 + 4) = 84\n")
    third = command_line(
        "ask", "And times 2?", *OFFLINE, "--resume", "run.jsonl", "--approve", "all", cwd=folder
    )
    assert (third.returncode, third.stdout) == (0, "84 * 2 = 168\n")
    over = command_line("ask", *OFFLINE, "--resume", "run.jsonl", cwd=folder)
    assert (over.returncode, "run.jsonl has no open question" in over.stderr) == (2, True)


@pytest.mark.process
@pytest.mark.parametrize(
    ("model", "words", "told"),
    [
        (
            "models.py:asks",
            [],
            "  no user can be asked, since this is not a terminal: --answer TEXT, or a line of",
        ),
        (
            "arithmetic",
            ["--json"],
            "  --json asks no user: --allow multiply, or --approve all, says yes beforehand",
        ),
    ],
)
def test_without_a_terminal_the_remedy_is_printed(
    command_line: CommandLine, folder: Path, model: str, words: list[str], told: str
) -> None:
    done = command_line(
        "ask",
        "How much is 12 * (3 + 4)?",
        "--tools",
        "tools.py",
        "--model",
        model,
        *words,
        cwd=folder,
    )
    assert done.stderr.splitlines()[-1].startswith(told)


@pytest.mark.parametrize("words", [(), ("--json",)])
@pytest.mark.parametrize(
    ("given", "stdin"),
    [
        (("--answer", "blue"), ""),
        (("--answer", "blue"), "red\n"),
        ((), "blue\n"),
        ((), "\nblue\nred\n"),
    ],
)
def test_a_question_of_the_model_is_answered_from_the_command_line_or_piped_input(
    command_line: CommandLine,
    folder: Path,
    given: tuple[str, ...],
    stdin: str,
    words: tuple[str, ...],
) -> None:
    asks = ["ask", "go", "--model", "models.py:asks", "--transcript", "run.jsonl", *given, *words]
    done = command_line(*asks, cwd=folder, stdin=stdin)
    assert done.returncode == 0
    assert ("  answer: blue\n" in done.stderr) == bool(given)
    assert [
        event.content for event in load(folder / "run.jsonl") if isinstance(event, UserAnswered)
    ] == ["blue"]


@pytest.mark.process
@pytest.mark.parametrize(
    ("answers", "told"),
    [
        (("3", "view"), "3 nights, view"),
        (("few", "3", "VIEW"), "3 nights, view"),
        (("3",), "The user closed the form"),
        (("3", "/decline"), "declined"),
    ],
)
def test_the_form_of_a_tool_is_filled_in_from_the_command_line(
    command_line: CommandLine, folder: Path, answers: tuple[str, ...], told: str
) -> None:
    given = [word for answer in answers for word in ("--answer", answer)]
    done = command_line(
        "ask", "go", "--tools", "tools.py", "--model", "models.py:books", *given, cwd=folder
    )
    assert (done.returncode, done.stdout) == (0, "It is done.\n")
    assert told in done.stderr
    assert all(f" > {answer}\n" in done.stderr for answer in answers)


def test_several_answers_are_given_in_order_and_then_a_question_waits(
    command_line: CommandLine, folder: Path
) -> None:
    (folder / "models.py").write_text(
        MODELS + "def asks_thrice(): return ScriptedModel([QUESTION] * 3 + [done()])\n"
    )
    given = [
        "--model",
        "models.py:asks_thrice",
        "--transcript",
        "run.jsonl",
        "--answer",
        "blue",
        "--answer",
        "red",
    ]
    first = command_line("ask", "go", *given, cwd=folder)
    assert (first.returncode, "needs_input" in first.stderr) == (1, True)
    resumed = command_line(
        "ask", "--model", "models.py:gives_up", "--resume", "run.jsonl", cwd=folder, stdin="green\n"
    )
    assert "unsolvable" in resumed.stderr
    answers = [
        event.content for event in load(folder / "run.jsonl") if isinstance(event, UserAnswered)
    ]
    assert answers == ["blue", "red", "green"]


@pytest.mark.process
def test_a_resumed_run_needs_no_model_if_its_transcript_names_one(
    command_line: CommandLine, folder: Path
) -> None:
    command_line(
        "ask", "How much is 12 * (3 + 4)?", *OFFLINE, "--transcript", "run.jsonl", cwd=folder
    )
    done = command_line(
        "ask", "--tools", "tools.py", "--resume", "run.jsonl", "--approve", "all", cwd=folder
    )
    assert (done.returncode, done.stdout) == (0, "12 * (3 + 4) = 84\n")


@pytest.mark.parametrize("model", ["evil.py:model", "OpenAIModel mistral:latest", ""])
def test_a_transcript_does_not_say_which_code_to_run_or_whom_to_send_it_to(
    command_line: CommandLine, folder: Path, model: str
) -> None:
    (folder / "evil.py").write_text("open('run', 'w')")
    (folder / "run.jsonl").write_text(json.dumps({"type": "Started", "model": model}) + "\n")
    done = command_line("ask", "x", "--resume", "run.jsonl", cwd=folder)
    assert (done.returncode, "--model NAME" in done.stderr, (folder / "run").exists()) == (
        2,
        True,
        False,
    )


@pytest.mark.process
def test_a_transcript_is_replayed_as_a_model(command_line: CommandLine, folder: Path) -> None:
    words = [
        "ask",
        "How much is 12 * (3 + 4)?",
        "--tools",
        "tools.py",
        "--approve",
        "all",
        "--model",
    ]
    command_line(*words, "arithmetic", "--transcript", "run.jsonl", cwd=folder)
    with (folder / "run.jsonl").open("a") as file:
        file.write('{"type":"Resu')
    done = command_line(*words, "replay:run.jsonl", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "12 * (3 + 4) = 84\n")
    other = command_line("ask", "What?", *words[2:], "replay:run.jsonl", cwd=folder)
    assert (other.returncode, "model_error: run.jsonl has no reply to this" in other.stderr) == (
        1,
        True,
    )


@pytest.mark.process
def test_the_tools_of_all_servers_are_offered(command_line: CommandLine, folder: Path) -> None:
    server = shlex.join(command("serve", "tools.py:add", "--name", "first"))
    entry = {"command": sys.executable, "args": ["-m", "toolwire", "serve", "tools.py:book"]}
    (folder / "servers.json").write_text(
        json.dumps({"mcpServers": {"second": entry, "bad": {"command": "no-such"}}})
    )
    words = [
        "--config",
        "servers.json",
        "--server",
        server,
        "--tools",
        "tools.py:add",
        "--tools",
        "tools.py:wait",
    ]
    multiply = ["--", *command("serve", "tools.py:multiply")]
    done = command_line(
        "ask", "2+3?", *words, "--model", "arithmetic", "--json", *multiply, cwd=folder
    )
    listed = next(
        event
        for event in map(json.loads, done.stdout.splitlines())
        if event["type"] == "ToolsListed"
    )
    names = {tool["name"] for tool in listed["tools"]}
    assert names == {"first_add", "tools_2_add", "wait", "book", "multiply"}
    assert "bad does not start: cannot start 'no-such'" in done.stderr


@pytest.mark.process
def test_patterns_that_match_no_tool_are_named_once(
    command_line: CommandLine, folder: Path
) -> None:
    words = ["--approve", "all", "--allow", "ad*", "--allow", "mul", "--deny", "x?"]
    done = command_line("chat", *OFFLINE, *words, cwd=folder, stdin="3 + 4?\nand times 2?\n")
    assert done.stdout == "3 + 4 = 7\n7 * 2 = 14\n"
    named = [line for line in done.stderr.splitlines() if "matches no tool" in line]
    tools = "the tools are add, multiply, wait, book"
    assert named == [
        f"  --{option} matches no tool; {tools}" for option in ("allow mul", "deny x?")
    ]


@pytest.mark.process
def test_a_conversation_can_be_piped(command_line: CommandLine, folder: Path) -> None:
    done = command_line(
        "chat",
        *OFFLINE,
        "--approve",
        "all",
        cwd=folder,
        stdin="3 + 4?\n\nand times 2?\n/quit\n5 + 5?\n",
    )
    assert (done.returncode, done.stdout) == (0, "3 + 4 = 7\n7 * 2 = 14\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["ask", "x"], "--model NAME. Known: arithmetic, human"),
        (["ask", "x", "--model", "arithmetc"], "did you mean 'arithmetic'"),
        (["ask", "what", "is", "it", *OFFLINE], 'ask "what is it"'),
        (["ask", *OFFLINE], "say what to ask"),
        (["ask", " ", *OFFLINE], "empty"),
        (["chat", "x", *OFFLINE], "`toolwire ask` takes one"),
        (["ask", "x", *OFFLINE, "--approve", "some"], "one of ask, reads, all"),
        (
            ["ask", "x", *OFFLINE, "--trust-hints", "yes", "--trust-hints", "no"],
            "takes servers, or else yes or no",
        ),
        (
            ["ask", "x", *OFFLINE, "--timeout", "0"],
            "--timeout takes more than 0 seconds, such as 30 or 0.5, not '0'",
        ),
        (["ask", "x", *OFFLINE, "--server", "cat 'x"], "no closing quotation"),
        (["ask", "x", *OFFLINE, "--server", ""], "a server's command is missing"),
        (["ask", "x", *OFFLINE, "--config", "none.json"], "cannot open none.json"),
        (["ask", "x", *OFFLINE, "--config", "tools.py"], "tools.py"),
        (["ask", "x", *OFFLINE, "--resume", "a", "--transcript", "b"], "leave out --transcript"),
        (["ask", "x", *OFFLINE, "--"], "command is missing"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_sentence_with_its_remedy(
    command_line: CommandLine, folder: Path, words: list[str], told: str
) -> None:
    done = command_line(*words, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert told in done.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (
            ["ask", "x", *OFFLINE, "--trust-hints", "some"],
            2,
            "a server, not 'some'; the servers are 'toolwire serve",
        ),
        (
            ["ask", "x", *OFFLINE, "--server", "no-such-program"],
            2,
            "cannot start 'no-such-program'",
        ),
        (
            ["ask", "x", *OFFLINE, "--server", "true"],
            1,
            "true does not start: the server ended with exit status 0",
        ),
        (["ask", "x", *OFFLINE, "--tools", "tols.py"], 2, "did you mean 'tools.py'"),
        (["ask", "x", *OFFLINE, "--resume", "none"], 2, "cannot open none: No such file"),
        (["ask", "x", *OFFLINE, "--resume", "tools.py"], 2, "tools.py, line"),
        (["ask", "x", *OFFLINE, "--transcript", "no/folder"], 2, "cannot open no/folder"),
    ],
)
def test_a_mistake_that_is_found_after_the_start_is_one_sentence_with_its_remedy(
    command_line: CommandLine, folder: Path, words: list[str], status: int, told: str
) -> None:
    done = command_line(*words, cwd=folder)
    assert (done.returncode, done.stdout) == (status, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.process
def test_tools_that_cannot_be_imported_end_a_run_before_it_starts(
    command_line: CommandLine, folder: Path
) -> None:
    (folder / "broken.py").write_text("1 / 0\n")
    done = command_line("ask", "x", "--tools", "broken.py", "--model", "arithmetic", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1].startswith("toolwire: broken.py cannot be loaded: ZeroDivisionError")


def test_a_model_of_ones_own_that_fails_is_reported_with_ones_own_traceback(
    command_line: CommandLine, folder: Path
) -> None:
    (folder / "broken.py").write_text("def make():\n    return 1 / 0\n")
    done = command_line("ask", "x", "--tools", "tools.py", "--model", "broken.py:make", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr.splitlines()[-1]
        == "toolwire: broken.py:make cannot be loaded: ZeroDivisionError in broken.py, line 2"
        " (traceback above)"
    )
    assert re.findall(r'File ".*/(.*)"', done.stderr) == ["broken.py"]


@pytest.mark.process
def test_ctrl_c_ends_the_call_and_then_the_run_and_leaves_nothing_behind(folder: Path) -> None:
    os.mkfifo(folder / "waiting")
    os.mkfifo(folder / "thinking")
    words = [
        "--tools",
        "tools.py",
        "--model",
        "models.py:WaitsAndThinks",
        "--transcript",
        "run.jsonl",
    ]
    with subprocess.Popen(
        command("ask", "go", *words),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        server = int((folder / "waiting").read_text())  # waits until the tool writes there
        process.send_signal(signal.SIGINT)
        assert (folder / "thinking").read_text() == "yes"  # the run goes on without the call
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=SECONDS)
    assert (process.returncode, stdout) == (-signal.SIGINT, b"")
    assert b"the call is cancelled; Ctrl-C again ends the run" in stderr
    assert b"  cancelled: Ctrl-C (1 turn" in stderr
    assert not Path(f"/proc/{server}").exists()
    kinds = [type(event).__name__ for event in load(folder / "run.jsonl")]
    assert kinds[-4:] == ["CallStarted", "CallFinished", "ModelAsked", "Ended"]


@pytest.mark.process
def test_a_signal_to_end_does_so_and_leaves_a_transcript(folder: Path) -> None:
    os.mkfifo(folder / "waiting")
    words = ["--tools", "tools.py", "--model", "models.py:waits", "--transcript", "run.jsonl"]
    with subprocess.Popen(
        command("ask", "go", *words), cwd=folder, stdin=subprocess.DEVNULL
    ) as process:
        server = int((folder / "waiting").read_text())
        process.terminate()
        assert process.wait(SECONDS) == -signal.SIGTERM
    assert not Path(f"/proc/{server}").exists()
    assert load(folder / "run.jsonl")[-1].status == "cancelled"


# --- who says what a tool does ---

HINTED = """
from itertools import product
from toolwire import tool_api

def hinted(place, hints):
    @tool_api(name=f"tool_{place}", **hints)
    def tool() -> None:
        with open("calls", "a") as file:
            file.write(f"{place} ")
    return tool

HINTS = [
    {name: value for name, value in zip(("read_only", "destructive", "open_world"), values) if value is not None}
    for values in product((None, True, False), repeat=3)
]
globals().update({f"tool_{place}": hinted(place, hints) for place, hints in enumerate(HINTS)})
"""  # noqa: E501

CALLER = """
from toolwire_agent.models import ScriptedModel
from hinted import HINTS

def done(): return {"thought": "", "type": "FINAL_ANSWER", "ok": True, "result": "done"}

def calls_all():
    acts = [{"thought": "", "type": "ACTION", "tool": f"tool_{place}", "params": {}} for place in range(len(HINTS))]
    return ScriptedModel([*acts, done()])
"""  # noqa: E501


@pytest.mark.process
@pytest.mark.parametrize(
    ("source", "words", "are_trusted"),
    [
        ("own", [], True),
        ("own", ["--trust-hints", "yes"], True),
        ("own", ["--trust-hints", "no"], False),
        ("server", [], False),
        ("server", ["--trust-hints", "yes"], True),
        ("server", ["--trust-hints", "SERVER"], True),
        ("behind --", [], False),
        ("behind --", ["--trust-hints", "SERVER"], True),
        ("config", [], False),
        ("config", ["--trust-hints", "mine"], True),
        ("config", ["--trust-hints", "toolwire"], None),
    ],
)
def test_only_what_is_trusted_and_says_that_it_reads_runs_as_a_read(
    command_line: CommandLine,
    tmp_path: Path,
    source: str,
    words: list[str],
    are_trusted: bool | None,
) -> None:
    (tmp_path / "hinted.py").write_text(HINTED)
    (tmp_path / "caller.py").write_text(CALLER)
    (tmp_path / "calls").touch()
    serve = command("serve", "hinted.py")
    entry = {"command": serve[0], "args": serve[1:]}
    (tmp_path / "servers.json").write_text(json.dumps({"mcpServers": {"mine": entry}}))
    server = {
        "own": ["--tools", "hinted.py"],
        "server": ["--server", shlex.join(serve)],
        "config": ["--config", "servers.json"],
        "behind --": ["--", *serve],
    }[source]
    words = [shlex.join(serve) if word == "SERVER" else word for word in words]
    given = [
        "--model",
        "caller.py:calls_all",
        "--approve",
        "reads",
        "--max-turns",
        "99",
        *words,
        *server,
    ]
    done = command_line("ask", "go", *given, cwd=tmp_path)
    if are_trusted is None:
        assert (done.returncode, (tmp_path / "calls").read_text()) == (2, "")
        assert (
            "--trust-hints takes yes, no or a server, not 'toolwire'; the servers are 'mine'"
            in done.stderr
        )
        return
    assert (done.returncode, done.stdout) == (0, "done\n")
    reads = [place for place, (reads, destroys, reaches) in enumerate(product((None, True, False), repeat=3))  # noqa: E501
             if reads and not destroys and not reaches]  # fmt: skip
    assert [int(place) for place in (tmp_path / "calls").read_text().split()] == (
        reads if are_trusted else []
    )


# --- killed in the middle of a call ---

PAY = '''
import os, time
from toolwire import tool_api

@tool_api
def pay(euros: int, card_token: str = "") -> str:
    """Pay a person."""
    with open("payments", "a") as file:
        file.write(f"{euros}\\n")
    if os.path.exists("paying"):
        with open("paying", "w") as fifo:
            fifo.write("yes")
        time.sleep(3600)
    return "paid"
'''

PAYERS = """
from toolwire_agent.models import ScriptedModel

def acts(**params):
    return {"thought": "So be it.", "type": "ACTION", "tool": "pay", "params": params}

def done(result):
    return {"thought": "That is all.", "type": "FINAL_ANSWER", "ok": True, "result": result}

def pays(): return ScriptedModel([acts(euros=50)])
def pays_secretly(): return ScriptedModel([acts(euros=50, card_token="rosebud-of-course")])
def stops(): return ScriptedModel(lambda asked: done(asked.messages[-1]["content"]))
def repeats(): return ScriptedModel([acts(euros=50), done("paid twice")])
"""


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """The folder of a run that was killed after its call had taken effect."""
    (tmp_path / "pay.py").write_text(PAY)
    (tmp_path / "payers.py").write_text(PAYERS)
    pay_and_die(tmp_path, "pays")
    return tmp_path


def pay_and_die(folder: Path, model: str) -> None:
    os.mkfifo(folder / "paying")
    words = [
        "--tools",
        "pay.py",
        "--model",
        f"payers.py:{model}",
        "--approve",
        "all",
        "--transcript",
        "run.jsonl",
    ]
    with subprocess.Popen(
        command("ask", "Pay!", *words), cwd=folder, stdin=subprocess.DEVNULL
    ) as process:
        assert (folder / "paying").read_text() == "yes"  # waits until it is paid
        process.kill()
    (folder / "paying").unlink()
    assert payments(folder) == 1


def payments(folder: Path) -> int:
    return len((folder / "payments").read_text().splitlines())


def resume(command_line: CommandLine, model: str, *words: str) -> Done:
    given = ["--tools", "pay.py", "--model", f"payers.py:{model}", "--resume", "run.jsonl", *words]
    return command_line("ask", *given)


@pytest.mark.process
def test_resuming_an_interrupted_call_with_everything_allowed_waits_for_a_person(
    command_line: CommandLine, killed: Path
) -> None:
    for _ in range(2):
        waits = resume(command_line, "repeats", "--approve", "all")
        assert (waits.returncode, waits.stdout, payments(killed)) == (1, "", 1)
        assert "needs_input" in waits.stderr
        assert "? Allow pay(euros=50)? it was started before and interrupted" in waits.stderr
        assert (
            "decide at a terminal, or --deny pay goes on without it; --resume run.jsonl"
            in waits.stderr
        )
    goes_on = resume(command_line, "stops", "--approve", "all", "--deny", "pay")
    assert (goes_on.returncode, payments(killed)) == (0, 1)
    assert "it may have taken effect. Do not repeat it without checking" in goes_on.stdout


@pytest.mark.process
@pytest.mark.parametrize(
    "words", [("--approve", "reads"), ("--deny", "pay"), ("--deny", "*", "--approve", "all")]
)
def test_an_interrupted_call_that_may_not_be_made_is_reported_as_possibly_done(
    command_line: CommandLine, killed: Path, words: tuple[str, ...]
) -> None:
    done = resume(command_line, "stops", *words)
    assert (done.returncode, payments(killed)) == (0, 1)
    assert "it may have taken effect. Do not repeat it without checking" in done.stdout
    assert "Nothing was done" not in done.stdout


@pytest.mark.process
def test_an_interrupted_call_with_a_secret_is_reported_as_possibly_done(
    command_line: CommandLine, killed: Path
) -> None:
    (killed / "run.jsonl").unlink()
    (killed / "payments").unlink()
    pay_and_die(killed, "pays_secretly")
    done = resume(command_line, "stops", "--approve", "all")
    assert (done.returncode, payments(killed)) == (0, 1)
    assert "it may have taken effect. Do not repeat it without checking" in done.stdout
    assert "Nothing was done" not in done.stdout


@pytest.mark.process
def test_an_identical_call_waits_for_a_person_although_everything_is_allowed(
    command_line: CommandLine, killed: Path
) -> None:
    resume(command_line, "stops", "--approve", "reads")
    words = [
        "--tools",
        "pay.py",
        "--model",
        "payers.py:repeats",
        "--resume",
        "run.jsonl",
        "--approve",
        "all",
    ]
    waits = command_line("ask", "Pay!", *words, cwd=killed)
    assert (waits.returncode, waits.stdout, payments(killed)) == (1, "", 1)
    assert "needs_input" in waits.stderr


@pytest.mark.process
def test_a_second_writer_and_a_doubled_line_are_one_sentence_each(
    command_line: CommandLine, killed: Path
) -> None:
    (killed / "run.jsonl").unlink()
    (killed / "payments").unlink()
    os.mkfifo(killed / "paying")
    words = ["--tools", "pay.py", "--approve", "all", "--model"]
    started = command("ask", "Pay!", *words, "payers.py:pays", "--transcript", "run.jsonl")
    with subprocess.Popen(started, cwd=killed, stdin=subprocess.DEVNULL) as process:
        assert (killed / "paying").read_text() == "yes"
        for more in (("--resume", "run.jsonl"), ("--transcript", "run.jsonl")):
            done = command_line("ask", "Pay!", *words, "payers.py:stops", *more, cwd=killed)
            assert (done.returncode, done.stdout, payments(killed)) == (2, "", 1)
            assert done.stderr == "toolwire: cannot open run.jsonl: another run is writing it\n"
        process.kill()
    lines = (killed / "run.jsonl").read_text().splitlines(keepends=True)
    (killed / "run.jsonl").write_text("".join([*lines[:4], lines[3], *lines[4:]]))
    done = command_line("ask", *words, "payers.py:stops", "--resume", "run.jsonl", cwd=killed)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "run.jsonl, line 5, cannot follow the event before it, ModelAsked" in done.stderr


# --- on a terminal ---

APPROVAL = "always (for this tool) > "
QUESTION = "How much is 12 * (3 + 4)?"


@pytest.mark.process
@pytest.mark.parametrize(
    ("typed", "status", "shown"),
    [
        ([("y\r", APPROVAL)], 0, "12 * (3 + 4) = 84"),
        ([("what?\r", APPROVAL), ("a\r", APPROVAL)], 0, "12 * (3 + 4) = 84"),
        ([("e\r", APPROVAL), ("\x7f\x7f10}\r", '"b":7}')], 0, "12 * (3 + 4) = 120"),
        (
            [("e\r", APPROVAL), ("}\r", '"b":7}'), ("\x7f\r", '> {"a":12,"b":7}}')],
            0,
            "12 * (3 + 4) = 84",
        ),
        (
            [
                ("e\r", APPROVAL),
                ('\x7f\x7f"x"}\r', '"b":7}'),
                ("n\r", "do not fit"),
                ("\r", "reason"),
            ],
            1,
            "not allowed",
        ),
        ([("n I have no time\r", APPROVAL)], 1, "not allowed: I have no time"),
        ([("\x04", APPROVAL)], 1, "needs_input: a call waits for approval"),
        ([("\x03", APPROVAL)], -signal.SIGINT, "cancelled: Ctrl-C"),
    ],
    ids=[
        "yes",
        "always",
        "edited",
        "edited to what is no JSON",
        "edited to a misfit",
        "no",
        "later",
        "Ctrl-C",
    ],
)
def test_a_person_decides_about_a_call(
    folder: Path, typed: list[tuple[str, str]], status: int, shown: str
) -> None:
    with Terminal("ask", QUESTION, *OFFLINE, cwd=folder) as terminal:
        for text, at in typed:
            terminal.types(text, at=at)
        assert terminal.ends() == status
    assert shown in terminal.shown


@pytest.mark.process
@pytest.mark.parametrize(
    ("model", "typed", "status", "count", "shown"),
    [
        (
            "repeats",
            [("y\r", APPROVAL), ("n not twice\r", APPROVAL)],
            0,
            2,
            "not allowed: not twice",
        ),
        (
            "stops",
            [("n not twice\r", APPROVAL)],
            0,
            1,
            "it may have taken effect. Do not repeat it",
        ),
        ("stops", [("\x04", APPROVAL)], 1, 1, "needs_input"),
    ],
    ids=["yes, and not the identical one", "no", "later"],
)
def test_a_person_decides_about_an_interrupted_call_and_sees_its_arguments(
    killed: Path, model: str, typed: list[tuple[str, str]], status: int, count: int, shown: str
) -> None:
    words = [
        "--tools",
        "pay.py",
        "--model",
        f"payers.py:{model}",
        "--resume",
        "run.jsonl",
        "--approve",
        "all",
    ]
    with Terminal("ask", *words, cwd=killed) as terminal:
        terminal.until("Allow pay(euros=50)? it was started before and interrupted")
        for text, at in typed:
            terminal.types(text, at=at)
        assert terminal.ends() == status
    assert payments(killed) == count
    assert shown in terminal.shown


@pytest.mark.process
def test_always_is_for_all_calls_of_one_tool(folder: Path) -> None:
    with Terminal("chat", *OFFLINE, cwd=folder) as terminal:
        terminal.types("2 * 3?\r", at="\n> ")
        terminal.types("a\r", at=APPROVAL)
        terminal.types("4 * 5?\r", at="2 * 3 = 6")
        terminal.types("/quit\r", at="4 * 5 = 20")
        assert terminal.ends() == 0
    assert terminal.shown.count(APPROVAL) == 1


@pytest.mark.process
def test_a_person_answers_the_model_and_no_text_of_its_steers_the_terminal(folder: Path) -> None:
    with Terminal("ask", "go", "--model", "models.py:asks", cwd=folder) as terminal:
        terminal.types("blue\r", at="Which [bold]colour\\u001b[31m?")
        assert terminal.ends() == 0
    assert "So be it." in terminal.shown
    with Terminal(
        "ask", "go", "--tools", "tools.py", "--model", "models.py:is_evil", cwd=folder
    ) as terminal:
        assert terminal.ends() == 0
    assert "[red]answer[/red] \\u001b]0;title\\u0007" in terminal.shown


@pytest.mark.process
def test_a_person_fills_in_the_forms_of_tools(folder: Path) -> None:
    words = ["--tools", "tools.py", "--model", "models.py:books", "--transcript", "run.jsonl"]
    with Terminal("ask", "go", *words, cwd=folder) as terminal:
        terminal.types("few\r", at="How many nights?")
        terminal.types("3\r", at='"few" is not an integer')
        terminal.types("View\r", at="quiet | view")
        assert terminal.ends() == 0
    assert "3 nights, view" in terminal.shown
    answered = [
        event.content for event in load(folder / "run.jsonl") if isinstance(event, FormAnswered)
    ]
    assert answered == [{"answer": 3}, {"answer": "view"}]


@pytest.mark.process
def test_ctrl_c_at_the_question_of_a_tool_cancels_its_call(folder: Path) -> None:
    words = ["--tools", "tools.py", "--model", "models.py:books", "--transcript", "run.jsonl"]
    with Terminal("ask", "go", *words, cwd=folder) as terminal:
        terminal.types("\x03", at="Answer (integer) > ")
        assert terminal.ends() == 0
    assert "the call is cancelled; Ctrl-C again ends the run" in terminal.shown
    kinds = [type(event).__name__ for event in load(folder / "run.jsonl")]
    assert kinds[-6:-2] == ["CallStarted", "ToolAsked", "CallFinished", "ModelAsked"]


@pytest.mark.process
def test_a_server_that_takes_long_to_start_is_waited_for_visibly(folder: Path) -> None:
    os.mkfifo(folder / "ready")
    server = shlex.join(
        ["sh", "-c", f"read line < ready; exec {shlex.join(command('serve', 'tools.py'))}"]
    )
    words = ["--server", server, "--model", "arithmetic", "--trust-hints", server]
    with Terminal("ask", "3 + 4?", *words, cwd=folder) as terminal:
        terminal.until("starting the servers")
        (folder / "ready").write_text("yes\n")
        assert terminal.ends() == 0
    assert "3 + 4 = 7" in terminal.shown


@pytest.mark.process
def test_progress_is_a_bar_that_ctrl_c_ends(folder: Path) -> None:
    with Terminal(
        "ask", "go", "--tools", "tools.py", "--model", "models.py:waits", cwd=folder
    ) as terminal:
        terminal.types("\x03", at="25%")
        assert terminal.ends() == 0
    assert "wait well [bold]begun[/bold] \\u001b[31m" in terminal.shown
    assert "The user cancelled the call." in terminal.shown


@pytest.mark.process
def test_ctrl_c_does_not_end_a_chat_that_waits_for_a_question(folder: Path) -> None:
    with Terminal("chat", *OFFLINE, cwd=folder) as terminal:
        terminal.types("\x03", at="\n> ")
        terminal.types("/tools\r", at="Ctrl-D or /quit ends the chat")
        terminal.types("/hepl\r", at="multiply")
        terminal.until("did you mean '/help'?")
        terminal.types("\x04", at="\n> ")
        assert terminal.ends() == 0


@pytest.mark.process
def test_a_question_that_was_put_off_is_gone_on_with_in_a_chat(folder: Path) -> None:
    with Terminal("chat", *OFFLINE, cwd=folder) as terminal:
        terminal.types("2 * 3?\r", at="\n> ")
        terminal.types("\x04", at=APPROVAL)
        terminal.types("/continue\r", at="needs_input")
        terminal.types("y\r", at=APPROVAL)
        terminal.types("/quit\r", at="2 * 3 = 6")
        assert terminal.ends() == 0


@pytest.mark.process
def test_prompts_stay_out_of_a_pipe(folder: Path) -> None:
    script = f"{shlex.join(command('ask', QUESTION, *OFFLINE))} > answer.txt"
    with Terminal(program=["/bin/sh", "-c", script], cwd=folder) as terminal:
        terminal.types("y\r", at=APPROVAL)
        assert terminal.ends() == 0
    assert (folder / "answer.txt").read_text() == "12 * (3 + 4) = 84\n"


@pytest.mark.process
def test_without_rich_the_terminal_is_plain_and_a_hint_says_so(folder: Path) -> None:
    (folder / "without").mkdir()
    (folder / "without" / "rich.py").write_text("raise ImportError('as if it were not installed')")
    with Terminal("ask", "3 + 4?", *OFFLINE, cwd=folder, PYTHONPATH="without") as terminal:
        assert terminal.ends() == 0
    assert install_command("toolwire[agent]") in terminal.shown
    assert "\x1b" not in terminal.shown
    assert "3 + 4 = 7\r\n" in terminal.shown


# --- call ---


@pytest.mark.process
def test_a_called_tool_asks_at_the_terminal(folder: Path) -> None:
    with Terminal("call", "tools.py", "book", cwd=folder) as terminal:
        terminal.types("few\r", at="How many nights?")
        terminal.types("3\r", at='"few" is not an integer')
        terminal.types("View\r", at="quiet | view")
        assert terminal.ends() == 0
    assert "3 nights, view" in terminal.shown


@pytest.mark.process
def test_ctrl_c_at_the_question_of_a_called_tool_ends_everything(folder: Path) -> None:
    with Terminal("call", "tools.py", "book", cwd=folder) as terminal:
        terminal.types("\x03", at="Answer (integer) > ")
        assert terminal.ends() == -signal.SIGINT
    assert "Traceback" not in terminal.shown


@pytest.mark.process
def test_a_called_tool_cannot_ask_in_a_pipe(command_line: CommandLine, folder: Path) -> None:
    done = command_line("call", "tools.py", "book", cwd=folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert "does not support elicitation" in done.stderr
