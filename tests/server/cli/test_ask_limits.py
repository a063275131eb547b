"""The options of `toolwire ask` that reach the model's endpoint, and its limits, against a stand-in
for an endpoint.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.agent_scripts import act, final
from support.command_line import CommandLine, Done
from support.model_endpoint import (
    Exchange,
    Fault,
    StandIn,
    answered,
    endless,
    refused,
    silent,
    silent_midway,
)
from support.terminal import SECONDS, command
from toolwire_agent.agent import load
from toolwire_agent.agent.events import Started
from toolwire_agent.react.messages import ModelReply

TOOLS = '''
from toolwire import tool_api

@tool_api(read_only=True)
def big() -> str:
    """Return a long text."""
    return "x" * 5000

@tool_api(read_only=True)
def wait() -> str:
    """Wait for ever."""
    import time
    time.sleep(3600)
    return "done"
'''
KEY = {"OPENAI_API_KEY": "sk-0123456789"}
MUTE = [sys.executable, "-c", "import sys; sys.stdin.read()"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS)
    return tmp_path


def words(server: StandIn, *more: str) -> list[str]:
    return ["ask", "go", "--model", "openai:m", "--base-url", server.url, *more]


def script(*replies: str) -> Any:
    """Return each of *replies* after as many replies before."""
    return lambda body: replies[sum(message["role"] == "assistant" for message in body["messages"])]


def test_settings_of_requests_are_given_as_options(command_line: CommandLine, folder: Path) -> None:
    given = ["--temperature", "0", "--extra-body", '{"top_p": 0.5, "n": 1}', "--reply-tokens", "99"]
    with StandIn(final("done")) as server:
        assert command_line(*words(server, *given), cwd=folder, **KEY).stdout == "done\n"
    (request,) = server.requests
    sent = {
        name: request.body[name] for name in ("temperature", "top_p", "n", "max_completion_tokens")
    }
    assert sent == {"temperature": 0, "top_p": 0.5, "n": 1, "max_completion_tokens": 99}


def test_the_size_of_the_context_is_an_option(command_line: CommandLine, folder: Path) -> None:
    with StandIn(final("done")) as server:
        given = words(server, "--context-tokens", "900", "--transcript", "run.jsonl")
        assert command_line(*given, cwd=folder, **KEY).stdout == "done\n"
    started = load(folder / "run.jsonl")[0]
    assert isinstance(started, Started)
    assert started.context_tokens == 900


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--context-tokens", "0"], "--context-tokens takes a"),
        (["--model", "arithmetic", "--context-tokens", "9"], "it takes no context_tokens"),
        (["--temperature", "warm"], "--temperature takes a number such as 0 or 0.7, not 'warm'"),
        (["--temperature", "-1"], "--temperature takes a number"),
        (["--temperature", "nan"], "--temperature takes a number"),
        (["--extra-body", "top_p=1"], "--extra-body takes a JSON object ("),
        (["--extra-body", "[1]"], "--extra-body takes a JSON object such as"),
        (["--start-timeout", "soon"], "--start-timeout takes a number of seconds"),
        (
            ["--model", "arithmetic", "--temperature", "1"],
            "'arithmetic' has no endpoint, so it takes no temperature",
        ),
    ],
)
def test_a_wrong_setting_is_one_sentence(
    command_line: CommandLine, folder: Path, given: list[str], told: str
) -> None:
    done = command_line("ask", "go", "--model", "openai:m", *given, cwd=folder, **KEY)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert told in done.stderr


@pytest.mark.process
def test_results_are_cut_to_the_limit_of_the_command_line(
    command_line: CommandLine, folder: Path
) -> None:
    with StandIn(script(act("big"), final("done"))) as server:
        given = ["--tools", "tools.py", "--result-limit", "100"]
        assert command_line(*words(server, *given), cwd=folder, **KEY).returncode == 0
    result = json.loads(server.requests[-1].body["messages"][-1]["content"])
    assert (len(result["result"]), "5000 characters" in result["note"]) == (99, True)


def test_a_reply_that_was_cut_is_kept_by_its_beginning(
    command_line: CommandLine, folder: Path
) -> None:
    cut = ModelReply(text=final("w" * 5000)[:-3], finish_reason="length")
    with StandIn(final("done")) as server:
        server.then(answered(cut))
        assert command_line(*words(server), cwd=folder, **KEY).stdout == "done\n"
    told = server.requests[-1].body["messages"]
    assert [len(message["content"]) for message in told if message["role"] == "assistant"] == [501]
    assert "shorter" in told[-1]["content"]


@pytest.mark.process
def test_a_context_that_is_exceeded_halves_the_longest_result(
    command_line: CommandLine, folder: Path
) -> None:
    fault = refused(400, body={"error": {"message": "too long", "code": "context_length_exceeded"}})

    def rule(body: dict[str, Any]) -> Fault | None:
        return fault if "x" * 3000 in str(body["messages"]) else None

    with StandIn(script(act("big"), final("done")), rule=rule) as server:
        assert (
            command_line(*words(server, "--tools", "tools.py"), cwd=folder, **KEY).stdout
            == "done\n"
        )
    assert len(server.requests) == 3


@pytest.mark.process
def test_turns_and_tokens_have_limits(command_line: CommandLine, folder: Path) -> None:
    for limit, status in ((("--max-turns", "2"), "turn_limit"), (("--max-tokens", "30"), "budget")):
        with StandIn(act("big")) as server:
            done = command_line(*words(server, "--tools", "tools.py", *limit), cwd=folder, **KEY)
        assert (done.returncode, f"  {status}: " in done.stderr, len(server.requests)) == (
            1,
            True,
            3,
        )


# --- time -----------------------------------------------------------------------------------------


def trickles(exchange: Exchange) -> None:
    """A piece of the reply comes again and again."""
    event = exchange.payload().split(b"\n\n")[0] + b"\n\n"
    exchange.head(200)
    while not exchange.stand_in.released.wait(0.05):
        exchange.write(event)


def run(folder: Path, *given: str) -> Done:
    """Run the command in a process of its own."""
    done = subprocess.run(
        command(*given),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, **KEY},
        timeout=SECONDS,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.process
@pytest.mark.parametrize(
    "fault",
    [silent, silent_midway, trickles, endless, refused(503, "busy", **{"retry-after": "99"})],
)
def test_a_run_ends_by_its_time_limit_whatever_the_endpoint_does(
    folder: Path, fault: Fault
) -> None:
    with StandIn(final("done"), rule=lambda body: fault) as server:
        done = run(folder, *words(server, "--timeout", "3", "--transcript", "run.jsonl"))
    assert (done.returncode, done.stdout) == (1, "")
    assert load(folder / "run.jsonl")[-1].status in ("budget", "model_error")


@pytest.mark.process
def test_a_call_without_end_leaves_time_for_the_final_answer(folder: Path) -> None:
    for limit in (
        "6",
        "24",
        "50",
    ):  # which includes the server's start, however slow the machine is
        with StandIn(script(act("wait"), final("It takes too long."))) as server:
            done = run(folder, *words(server, "--tools", "tools.py", "--timeout", limit))
        if server.requests:
            break
    assert (done.returncode, done.stdout) == (0, "It takes too long.\n")


@pytest.mark.process
@pytest.mark.parametrize(
    "given", [("--start-timeout", "0.5"), ("--timeout", "0.5", "--start-timeout", "99")]
)
def test_a_mute_server_is_not_waited_for_longer_than_allowed(
    folder: Path, given: tuple[str, ...]
) -> None:
    with StandIn(final("done")) as server:
        done = run(folder, *words(server, "--server", shlex.join(MUTE), *given))
    assert (done.returncode, done.stdout, server.requests) == (1, "", [])
    assert "does not start: " in done.stderr
    assert "0.5" in done.stderr


@pytest.mark.process
def test_a_mute_server_of_a_config_file_is_left_out(folder: Path) -> None:
    (folder / "servers.json").write_text(
        json.dumps({"mcpServers": {"mute": {"command": MUTE[0], "args": MUTE[1:]}}})
    )
    with StandIn(final("done")) as server:
        done = run(folder, *words(server, "--config", "servers.json", "--start-timeout", "0.5"))
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert "mute does not start: " in done.stderr
