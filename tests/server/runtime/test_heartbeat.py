"""Heartbeats: progress for calls whose tools report none. Each test counts them, and none measures
time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.server_process import MODERN, Process, call, request, served

pytestmark = pytest.mark.process

TOOLS = """
import asyncio, sys
from collections.abc import Iterator
from pathlib import Path
from toolwire import Context, tool_api

# A named pipe: reading waits until the test writes, in whichever process.

def waits(pipe: Path) -> str:
    return pipe.read_text()

async def waits_async(pipe: Path) -> str:
    return await asyncio.to_thread(pipe.read_text)

@tool_api(runs_in="process")
def waits_in_process(pipe: Path) -> str:
    return pipe.read_text()

def streams(pipe: Path) -> Iterator[str]:
    yield pipe.read_text()
    yield pipe.read_text()

def reports(pipe: Path, context: Context) -> str:
    pipe.read_text()
    context.progress(0, 10, "zero")
    context.progress(1, 10, "one")
    return pipe.read_text()

def asks(context: Context) -> str:
    return "yes" if context.ask("Really?") else "no"

def has_heartbeat() -> bool:
    return "toolwire.runtime.heartbeat" in sys.modules

__tools__ = [waits, waits_async, waits_in_process, streams, reports, asks, has_heartbeat]
"""
OPTIONS = (
    "--limit",
    "heartbeat_seconds=0.01",
    "--limit",
    "max_workers=1",
    "--limit",
    "max_processes=1",
)
ASKING = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
STILL = {"message": "still running"}
NEXT = {"message": "waiting for other calls"}
USER = {"message": "waiting for the user's answer"}
MOST = 10_000
"""The number of heartbeats that a call may get before those that a test waits for."""


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    with served(tmp_path, TOOLS, *OPTIONS) as started:
        yield started


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def beats(process: Process, token: object, number: int, expected: dict[str, Any]) -> None:
    """Wait for *number* heartbeats for *token* that are as *expected*; earlier ones may say that it
    has not started.
    """
    last, seen = 0.0, 0
    for _ in range(MOST):
        params = process.receive()["params"]
        if params.pop("progressToken") == token:
            assert last < (last := params.pop("progress")) < 1e-4
            assert params in ([expected] if seen else [expected, NEXT, STILL])
            seen += params == expected
            if seen == number:
                return
    pytest.fail(f"{MOST} heartbeats, and none was {expected}")


def until(process: Process, **members: Any) -> tuple[list[dict[str, Any]], Any]:
    """Return the params of the messages up to the one with these *members*, or params of that kind,
    and that one.
    """
    earlier: list[dict[str, Any]] = []
    while len(earlier) < MOST:
        message = process.receive()
        if (
            members.items() <= message.items()
            or members.items() <= message.get("params", {}).items()
        ):
            return earlier, message
        earlier.append(message["params"])
    pytest.fail(f"{MOST} messages, and none had {members}")


@pytest.mark.parametrize("tool", ["waits", "waits_async", "waits_in_process"])
def test_a_silent_call_reports_progress_until_it_ends(
    process: Process, pipe: Path, tool: str
) -> None:
    process.send(call(tool, {"pipe": str(pipe)}, id=1, progressToken="t"))
    beats(process, "t", 5, STILL)

    pipe.write_text("released")

    assert until(process, id=1)[1]["result"]["content"][0]["text"] == "released"
    assert process.hang_up() == []


@pytest.mark.parametrize("tool", ["waits", "waits_in_process"])
def test_a_call_that_waits_for_another_reports_that(
    process: Process, pipe: Path, tool: str
) -> None:
    process.send(call(tool, {"pipe": str(pipe)}, id=1, progressToken="first"))
    beats(process, "first", 3, STILL)
    process.send(call(tool, {"pipe": str(pipe)}, id=2, progressToken="second"))

    beats(process, "second", 3, NEXT)
    pipe.write_text("")
    until(process, id=1)
    beats(process, "second", 3, STILL)
    pipe.write_text("")
    assert until(process, id=2)[1]["result"]["isError"] is False


def test_the_values_of_the_tool_are_more_and_its_total_stays(process: Process, pipe: Path) -> None:
    process.send(call("reports", {"pipe": str(pipe)}, id=1, progressToken="t"))
    beats(process, "t", 3, STILL)
    pipe.write_text("")
    before, zero = until(process, message="zero")
    between, one = until(process, message="one")
    after = [process.receive()["params"] for _ in range(3)]
    pipe.write_text("")

    reports = [*before, zero["params"], *between, one["params"], *after]
    values = [params["progress"] for params in reports]
    assert values == sorted(set(values))
    assert one["params"] == {"progressToken": "t", "progress": 1, "total": 10, "message": "one"}
    assert 0 < zero["params"]["progress"] < 1e-4
    assert all(
        params.keys() == {"progressToken", "progress", "total"} for params in [*between, *after]
    )


def test_the_text_of_a_generator_stays_as_it_is(process: Process, pipe: Path) -> None:
    process.send(call("streams", {"pipe": str(pipe)}, id=1, progressToken="t"))
    beats(process, "t", 3, {})
    pipe.write_text("Hello, ")
    hello = until(process, message="Hello, ")[1]["params"]
    process.receive()
    pipe.write_text("world")
    progress, answer = until(process, id=1)

    assert "".join(params.get("message", "") for params in [hello, *progress]) == "Hello, world"
    assert answer["result"]["content"][0]["text"] == "Hello, world"


def test_only_a_call_with_a_progress_token_gets_heartbeats(process: Process, pipe: Path) -> None:
    process.send(call("waits_async", {"pipe": str(pipe)}, id=1))
    process.send(call("waits_async", {"pipe": str(pipe)}, id=2, progressToken=0))
    tokens = {process.receive()["params"]["progressToken"] for _ in range(6)}

    assert tokens == {0}


def test_heartbeats_end_with_a_cancellation(process: Process, pipe: Path) -> None:
    for turn in range(3):
        process.send(call("waits_in_process", {"pipe": str(pipe)}, id=turn, progressToken=turn))
        beats(process, turn, 3, STILL)
        process.send(request("notifications/cancelled", {"requestId": turn}, id=...))
        process.send(request("ping", id="p"))
        until(process, id="p")
    assert process.hang_up() == []


def test_an_open_question_keeps_the_call_alive(process: Process) -> None:
    process.ask(
        request(
            "initialize", {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}}
        )
    )
    process.send(call("asks", id=2, progressToken="t"))
    _, question = until(process, method="elicitation/create")

    beats(process, "t", 3, USER)
    process.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
    assert until(process, id=2)[1]["result"]["isError"] is True


def test_a_question_to_a_modern_client_ends_the_request_and_its_heartbeats(
    process: Process, pipe: Path
) -> None:
    process.send(call("asks", id=1, progressToken="first", **{**MODERN, **ASKING}))
    _, asked = until(process, id=1)
    process.send(call("waits_async", {"pipe": str(pipe)}, id=2, progressToken="other", **MODERN))

    assert {process.receive()["params"]["progressToken"] for _ in range(6)} == {"other"}
    assert asked["result"]["resultType"] == "input_required"


@pytest.mark.parametrize(
    ("options", "has"), [((), True), (("--limit", "heartbeat_seconds=0"), False)]
)
def test_a_heartbeat_of_0_seconds_is_off(
    tmp_path: Path, options: tuple[str, ...], *, has: bool
) -> None:
    with served(tmp_path, TOOLS, *options) as process:
        without = process.ask(call("has_heartbeat"))
        with_token = process.ask(call("has_heartbeat", progressToken="t"))

    assert without["result"]["structuredContent"] == {"result": False}
    assert with_token["result"]["structuredContent"] == {"result": has}
