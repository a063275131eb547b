"""The event loop and the clock, whatever the tools that use them do."""

from __future__ import annotations

import math
import os
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from support.server_process import PATIENCE_SECONDS, call, request, served
from toolwire import Server
from toolwire.timers import Timers

TOOLS = """
import asyncio, sys, threading
from toolwire import AsyncContext, Context

async def stops() -> str:
    asyncio.get_running_loop().stop()
    await asyncio.sleep(100)

async def exits_in_a_task_of_its_own() -> str:
    async def leave():
        sys.exit(3)
    task = asyncio.ensure_future(leave())
    await asyncio.sleep(100)

async def exits() -> str:
    sys.exit(3)

async def interrupts() -> str:
    raise KeyboardInterrupt

async def cancels_itself() -> str:
    asyncio.current_task().cancel()
    await asyncio.sleep(100)

async def overflows() -> str:
    return await overflows()

async def reports(context: AsyncContext) -> str:
    context.progress(10**5000)
    return "reported"

async def cleans_up_badly(how: str, context: AsyncContext) -> None:
    try:
        context.progress(1)
        await asyncio.sleep(100)
    finally:
        if how == "exits":
            sys.exit(3)
        context.check()

async def waits() -> str:
    for _ in range(100):
        await asyncio.sleep(0.001)
    return "waited"

gate = threading.Event()

async def blocks() -> str:
    gate.wait()
    return "unblocked"

def unblock() -> None:
    gate.set()

async def echo(text: str) -> str:
    return text
"""
DESTRUCTIVE = [
    "stops",
    "exits_in_a_task_of_its_own",
    "exits",
    "interrupts",
    "cancels_itself",
    "overflows",
]


@pytest.mark.process
def test_an_async_tool_that_breaks_the_event_loop_fails_alone(tmp_path: Path) -> None:
    with served(tmp_path, TOOLS) as process:
        for name in DESTRUCTIVE * 2:
            assert process.ask(call(name, id=name))["result"]["isError"] is True
            answer = process.ask(call("echo", {"text": "hello"}, id=name))
            assert answer["result"]["content"][0]["text"] == "hello"

        assert process.hang_up() == []
        assert process.wait() == 0


@pytest.mark.process
def test_calls_that_come_while_the_loop_breaks_are_answered_too(tmp_path: Path) -> None:
    calls = [
        call("stops", id=number) if number % 10 == 0 else call("echo", {"text": "hello"}, id=number)
        for number in range(100)
    ]
    with served(tmp_path, TOOLS) as process:
        process.send(*calls)

        assert sorted(process.receive()["id"] for _ in calls) == list(range(100))
        assert (
            process.ask(call("echo", {"text": "after"}, id="after"))["result"]["isError"] is False
        )


@pytest.mark.process
@pytest.mark.parametrize("how", ["exits", "checks"])
def test_whatever_a_cancelled_async_tool_raises_ends_only_itself(tmp_path: Path, how: str) -> None:
    with served(tmp_path, TOOLS) as process:
        for turn in range(3):
            begun = process.ask(
                call("cleans_up_badly", {"how": how}, id=f"bad{turn}", progressToken="t")
            )
            assert begun["method"] == "notifications/progress"
            process.send(
                call("waits", id=turn),
                request("notifications/cancelled", {"requestId": f"bad{turn}"}, id=...),
            )

            answer = process.receive()

            assert (answer["id"], answer["result"]["isError"]) == (turn, False)
        assert process.hang_up() == []
        assert process.stderr() == ""


@pytest.mark.process
def test_while_an_async_tool_blocks_the_event_loop_everything_else_gets_through(
    tmp_path: Path,
) -> None:
    with served(tmp_path, TOOLS) as process:
        assert (
            process.ask(call("echo", {"text": "the loop has begun"}))["result"]["isError"] is False
        )
        process.send(
            call("blocks", id="blocks"),
            *(call("echo", {"text": "hello"}, id=number) for number in range(3)),
        )

        assert process.ask(request("ping", id="ping"))["id"] == "ping"
        assert process.ask(request("$/cancelRequest", {"id": 1}, id=...))["id"] == 1
        process.send(call("unblock", id="unblock"))

        assert {process.receive()["id"] for _ in range(4)} == {"unblock", "blocks", 0, 2}
        assert process.hang_up() == []
        assert process.wait() == 0


@pytest.mark.process
def test_progress_that_cannot_be_sent_is_dropped(tmp_path: Path) -> None:
    with served(tmp_path, TOOLS) as process:
        for number in range(2):
            answer = process.ask(call("reports", id=number, progressToken="t"))
            assert answer["result"]["content"][0]["text"] == "reported"


async def echo(text: str) -> str:
    return text


def test_a_loop_that_cannot_begin_is_an_error_answer(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    import anyio

    def refuse(function: Any) -> None:
        raise OSError(24, os.strerror(24))

    server = Server([echo])
    with monkeypatch.context() as patch:
        patch.setattr(anyio, "run", refuse)
        assert server.call("echo", {"text": "x"})["isError"] is True

    assert server.call("echo", {"text": "x"})["isError"] is False


def test_what_is_due_is_run_in_order_and_what_is_forgotten_is_not() -> None:
    timers = Timers()
    ran: SimpleQueue[str] = SimpleQueue()
    all_are_set = threading.Event()
    timers.after(0, all_are_set.wait)  # holds up the others until all of them are set
    forgotten = timers.after(0.01, lambda: ran.put("forgotten"))
    timers.after(0.3, lambda: ran.put("second"))
    timers.after(0.02, lambda: ran.put("first"))

    timers.cancel(forgotten)
    timers.cancel(forgotten)
    all_are_set.set()

    assert [ran.get(timeout=PATIENCE_SECONDS) for _ in range(2)] == ["first", "second"]
    assert ran.empty()


@pytest.mark.parametrize("seconds", [1e10, 1e300, math.inf])
def test_a_time_beyond_what_the_system_can_wait_for_does_not_stop_the_clock(seconds: float) -> None:
    timers = Timers()
    ran = threading.Event()

    timers.after(seconds, ran.set)
    timers.after(0.001, ran.set)

    assert ran.wait(PATIENCE_SECONDS)


def test_forgotten_tasks_are_not_kept() -> None:
    timers = Timers()
    kept = timers.after(PATIENCE_SECONDS, lambda: None)

    for _ in range(10_000):
        timers.cancel(timers.after(PATIENCE_SECONDS, lambda: None))

    assert len(timers._due) < 300
    assert kept in [timer for *_, timer in timers._due]
