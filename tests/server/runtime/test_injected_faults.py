"""In a real server, the first, the second, the third … start of a thread or write fails."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from support.server_process import Process, call, filtered_environment, request, served

pytestmark = [pytest.mark.process, pytest.mark.slow]

FAULT = """
import os, threading

def fail_once(owner, name, error):
    real = getattr(owner, name)
    first, times = int(os.environ["FIRST"]), int(os.environ["TIMES"])
    number = 0

    def counted(*arguments, **more):
        nonlocal number
        number += 1
        if first <= number < first + times:
            os.makedirs(os.environ["NOTE"], exist_ok=True)
            raise error
        return real(*arguments, **more)

    setattr(owner, name, counted)

match os.environ["FAIL"]:
    case "start":
        fail_once(threading.Thread, "start", RuntimeError("can't start new thread"))
    case "constructor":
        fail_once(threading.Thread, "__init__", RuntimeError("threading.excepthook is None"))
    case "write":
        fail_once(os, "write", OSError(12, "Cannot allocate memory"))
    case "open":
        fail_once(os, "open", OSError(24, "Too many open files"))
"""

TOOLS = """
import anyio, sys, threading
from toolwire import AsyncContext, Context, tool_api

gate = threading.Barrier(3)

def meet() -> str:
    gate.wait()
    return "met"

async def sleep(context: AsyncContext) -> str:
    context.progress(1)
    await anyio.sleep(0.001)
    return "slept"

def fail() -> str:
    raise ValueError("as it should")

@tool_api(timeout_seconds=0.01)
def hang() -> None:
    threading.Event().wait()

def add(a: int, b: int) -> int:
    return a + b

def break_hooks(how: str) -> str:
    for module in (threading, sys):
        if how == "None":
            module.excepthook = None
        else:
            del module.excepthook
    return how

__tools__ = [meet, sleep, fail, hang, add, break_hooks]
"""

TRAFFIC: list[Any] = [
    request("ping", id="ping"),
    call("add", {"a": 1, "b": 2}, id="add"),
    [call("add", {"a": 1, "b": 2}, id="in a batch"), request("ping", id="beside it")],
    *(call("meet", id=f"meet {number}") for number in range(3)),
    call("hang", id="hang"),
    *(call("sleep", id=f"sleep {number}", progressToken="t") for number in range(3)),
    call("fail", id="fail"),
    request("tools/list", id="list"),
]
EXPECTED = ["ping", "add", "in a batch", "beside it", *(f"meet {n}" for n in range(3)), "hang"]
EXPECTED += [*(f"sleep {n}" for n in range(3)), "fail", "list"]


@pytest.mark.parametrize(
    ("fault", "times"),
    [
        ("start", 1),
        ("start", 20),
        ("constructor", 1),
        ("constructor", 20),
        ("write", 1),
        ("write", 5),
    ],
)
def test_whichever_fails_each_request_is_answered_once_and_the_server_goes_on(
    tmp_path: Path, fault: str, times: int
) -> None:
    number = 0
    has_failed = True
    while has_failed:
        number += 1
        with faulty(tmp_path, fault, number, times) as process:
            process.send(*TRAFFIC)
            answered = [id for _ in range(len(TRAFFIC)) for id in next_answers(process)]
            assert (number, sorted(answered)) == (number, sorted(EXPECTED))
            for turn in range(3):
                assert process.ask(call("add", {"a": 1, "b": turn}))["result"][
                    "structuredContent"
                ] == {"result": 1 + turn}
            assert process.hang_up() == []
            assert process.wait() == 0
        has_failed = (tmp_path / f"failed-{number}").exists()
    assert number > 5


@pytest.mark.parametrize("how", ["None", "deleted"])
def test_a_tool_that_takes_the_hooks_for_exceptions_away_disturbs_no_other_call(
    tmp_path: Path, how: str
) -> None:
    with served(tmp_path, TOOLS) as process:
        assert process.ask(call("break_hooks", {"how": how}))["result"]["isError"] is False

        process.send(*TRAFFIC)

        answered = [id for _ in range(len(TRAFFIC)) for id in next_answers(process)]
        assert sorted(answered) == sorted(EXPECTED)
        assert process.hang_up() == []
        assert process.wait() == 0


def test_a_server_that_gets_no_null_device_says_so_and_ends(tmp_path: Path) -> None:
    with faulty(tmp_path, "open", 1) as process:
        assert process.wait() == 2
        assert (
            process.stderr()
            == "toolwire: the null device cannot be opened: [Errno 24] Too many open files\n"
        )


def test_a_server_that_gets_no_thread_says_so_and_ends(tmp_path: Path) -> None:
    with faulty(tmp_path, "start", 1, times=1_000_000) as process:
        assert process.wait() == 1
        assert "the system does not allow a thread for reading" in process.stderr()


def faulty(
    folder: Path, fault: str, number: int, times: int = 1
) -> AbstractContextManager[Process]:
    """Serve with calls *number* to *number* + *times* of what *fault* names failing."""
    (folder / "sitecustomize.py").write_text(FAULT)
    environment = {
        "PYTHONPATH": str(folder),
        "FAIL": fault,
        "FIRST": str(number),
        "TIMES": str(times),
    }
    return served(
        folder,
        TOOLS,
        env={**filtered_environment(), **environment, "NOTE": str(folder / f"failed-{number}")},
    )


def next_answers(process: Process) -> list[Any]:
    """Return the ids that the next message answers, which may be a batch's; progress is skipped."""
    message = process.receive()
    while isinstance(message, dict) and "id" not in message:
        message = process.receive()
    return [answer["id"] for answer in (message if isinstance(message, list) else [message])]
