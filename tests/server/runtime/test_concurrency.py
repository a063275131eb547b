"""Many calls at once, cancelled, repeated, timed out and reporting, in every order that comes
up.
"""

from __future__ import annotations

import gc
import json
import random
import threading
import weakref
from collections import Counter
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from support.server_process import PATIENCE_SECONDS, Process, call, request, served, wait_until
from toolwire import Context, Server, tool_api
from toolwire.protocol.connection_handler import ConnectionHandler
from toolwire.workers.process_pool import ConcurrencyLimit
from toolwire_tools import Tool, find_tools

pytestmark = pytest.mark.process

TOOLS = """
import os, threading, time
import anyio
from toolwire import AsyncContext, Context, tool_api

waiting = 0
gates = threading.Event()

def add(a: int, b: int) -> int:
    return a + b

async def add_async(a: int, b: int) -> int:
    await anyio.sleep(0)
    return a + b

def block() -> str:
    global waiting
    waiting += 1
    gates.wait()
    return "open"

def blocked() -> int:
    return waiting

async def open_all() -> str:
    gates.set()
    return "open"

def linger(milliseconds: int, context: Context) -> str:
    end = time.monotonic() + milliseconds / 1000
    while time.monotonic() < end and not context.cancelled:
        threading.Event().wait(0.001)
    return "done"

async def linger_async(milliseconds: int) -> str:
    await anyio.sleep(milliseconds / 1000)
    return "done"

@tool_api(timeout_seconds=0.01)
def race(milliseconds: int) -> str:
    threading.Event().wait(milliseconds / 1000)
    return "done"

@tool_api(timeout_seconds=0.01)
async def race_async(milliseconds: int) -> str:
    await anyio.sleep(milliseconds / 1000)
    return "done"

def report(times: int, context: Context) -> str:
    for number in range(times):
        context.progress(number, times)
    return "done"

def report_from_threads(times: int, context: Context) -> str:
    def tell():
        for number in range(times):
            context.progress(number)
    threads = [threading.Thread(target=tell) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    return "done"

async def report_async(times: int, context: AsyncContext) -> str:
    for number in range(times):
        context.progress(number, times)
        if number % 100 == 0:
            await anyio.sleep(0)
    return "done"

def text(size: int) -> str:
    return "x" * size

__tools__ = [add, add_async, block, blocked, open_all, linger, linger_async, race, race_async]
__tools__ += [report, report_from_threads, report_async, text]
"""


@pytest.fixture
def process(tmp_path: Path) -> Any:
    with served(tmp_path, TOOLS) as process:
        yield process


def send_while_reading(process: Process, messages: list[Any]) -> threading.Thread:
    """Write *messages* from a thread, so that whoever calls this can read."""
    thread = threading.Thread(target=process.send, args=messages, daemon=True)
    thread.start()
    return thread


def until(process: Process, id: Any) -> list[Any]:
    """Return all that comes up to and including the answer to *id*."""
    received = [process.receive()]
    while received[-1].get("id") != id:
        received.append(process.receive())
    return received


def test_no_call_of_thousands_is_lost_or_answered_twice(process: Process) -> None:
    chosen = random.Random(5)
    kinds = [
        ("add", {"a": 1, "b": 2}),
        ("add_async", {"a": 1, "b": 2}),
        ("linger", {"milliseconds": 3}),
        ("linger_async", {"milliseconds": 3}),
        ("race", {"milliseconds": 10}),
        ("race_async", {"milliseconds": 10}),
        ("add", {"a": "x"}),
        ("none", {}),
    ]
    weights = [60, 30, 3, 10, 1, 3, 1, 1]
    calls = [call(*chosen.choices(kinds, weights)[0], id=number) for number in range(6000)]

    send_while_reading(process, calls)

    received = Counter(process.receive()["id"] for _ in calls)
    assert received == Counter(range(6000))
    assert process.hang_up() == []


def test_a_host_that_writes_in_bursts_of_any_size_is_answered_after_each(process: Process) -> None:
    """No wake-up is lost: each burst is sent only when the one before has been answered."""
    chosen = random.Random(7)
    for burst in range(400):
        calls = [
            call(
                chosen.choice(["add", "add", "add_async"]), {"a": 1, "b": 2}, id=f"{burst}.{number}"
            )
            for number in range(chosen.choice([1, 1, 2, 3, 10]))
        ]
        process.send(*calls)
        assert {process.receive()["id"] for _ in calls} == {message["id"] for message in calls}


@pytest.mark.parametrize("lsp", [False, True])
def test_floods_of_cancellations_leave_each_call_with_one_end(process: Process, lsp: bool) -> None:
    chosen = random.Random(11)
    messages: list[Any] = []
    for number in range(1500):
        name = chosen.choice(["add", "add_async", "linger", "linger_async"])
        arguments = {"milliseconds": 5} if "linger" in name else {"a": 1, "b": 2}
        messages.append(call(name, arguments, id=number))
        victim = chosen.randrange(number + 1)
        if lsp:
            messages.append(request("$/cancelRequest", {"id": victim}, id=...))
        else:
            messages.append(request("notifications/cancelled", {"requestId": victim}, id=...))

    writing = send_while_reading(process, messages)
    if lsp:  # each call has an answer: its own or that it was cancelled
        received = [process.receive() for _ in range(1500)]
        assert sorted(answer["id"] for answer in received) == list(range(1500))
        assert all("result" in a or a["error"]["code"] == -32800 for a in received)
    else:
        writing.join(PATIENCE_SECONDS)
        received = []
    received += process.hang_up()

    assert max(Counter(answer["id"] for answer in received).values()) == 1
    assert process.wait() == 0


def test_with_every_worker_blocked_pings_cancellations_and_async_calls_get_through(
    process: Process,
) -> None:
    process.send(*(call("block", id=number) for number in range(200)))
    assert process.ask(request("ping", id="p"))["id"] == "p"

    # 128 run and 72 wait; a cancelled one makes room for another.
    process.send(*(request("$/cancelRequest", {"id": number}, id=...) for number in range(100)))
    cancelled = [process.receive() for _ in range(100)]
    assert {answer["id"] for answer in cancelled} == set(range(100))
    assert process.ask(call("add", {"a": 1, "b": 2}, id="sync"))["id"] == "sync"
    process.send(call("open_all", id="async"))

    assert {process.receive()["id"] for _ in range(101)} == {*range(100, 200), "async"}
    assert process.hang_up() == []


def test_ids_of_cancelled_calls_can_be_used_again_at_once(process: Process) -> None:
    for turn in range(100):
        process.send(
            call("linger", {"milliseconds": 20}, id="same"),
            request("notifications/cancelled", {"requestId": "same"}, id=...),
            call("add", {"a": turn, "b": 0}, id="same"),
        )
        assert process.receive()["result"]["structuredContent"] == {"result": turn}
    assert process.hang_up() == []


def test_a_duplicate_id_is_refused_and_the_first_call_still_answered(process: Process) -> None:
    process.send(*(call("block", id="same") for _ in range(50)), call("open_all", id="open"))

    received = [process.receive() for _ in range(51)]

    same = [answer for answer in received if answer["id"] == "same"]
    assert sum("result" in answer for answer in same) == 1
    assert {answer["error"]["code"] for answer in same if "error" in answer} == {-32600}


def test_batches_with_cancelled_members_are_answered_by_what_is_left(process: Process) -> None:
    for turn in range(20):
        members = [
            call(name, {"milliseconds": 1000}, id=n)
            for n, name in enumerate(["linger", "linger_async"] * 3)
        ]
        members.append(call("add", {"a": 1, "b": 2}, id="kept"))
        process.send(
            members,
            *(request("notifications/cancelled", {"requestId": n}, id=...) for n in range(5)),
        )
        process.send(request("$/cancelRequest", {"id": 5}, id=...))

        array = process.receive()

        assert {answer["id"] for answer in array} == {5, "kept"}, turn
    assert process.hang_up() == []


@pytest.mark.parametrize("name", ["report", "report_async", "report_from_threads"])
def test_progress_increases_and_never_comes_after_the_answer(process: Process, name: str) -> None:
    tokens = range(8)
    send_while_reading(
        process, [call(name, {"times": 500}, id=token, progressToken=token) for token in tokens]
    )
    # Some are cancelled in the middle of it: nothing at all may come for them any more.
    last = dict.fromkeys(tokens, -1.0)
    ended: set[Any] = set()
    while len(ended) < len(tokens):
        message = process.receive()
        if "method" not in message:
            ended.add(message["id"])
            continue
        token, value = message["params"]["progressToken"], message["params"]["progress"]
        assert token not in ended
        assert value > last[token]
        last[token] = value
    assert process.hang_up() == []


def test_progress_ends_with_a_cancellation(process: Process) -> None:
    for turn in range(3):
        process.send(call("report", {"times": 10**9}, id=turn, progressToken=turn))
        assert process.receive()["params"]["progressToken"] == turn
        process.send(request("$/cancelRequest", {"id": turn}, id=...))
        until(process, turn)
        pong = process.ask(request("ping", id="p"))
        assert pong.get("id") == "p"
    assert process.hang_up() == []


def test_a_host_that_writes_megabytes_before_it_reads_is_served(process: Process) -> None:
    messages = [call("text", {"size": 20_000}, id=number) for number in range(500)]
    messages += [
        call("add_async", {"a": 1, "b": 2}, id=f"{number}{'x' * 2000}") for number in range(2000)
    ]
    messages += [request("$/cancelRequest", {"id": number}, id=...) for number in range(500)]

    process.send(*messages)

    assert Counter(process.receive()["id"] for _ in range(2500)) == Counter(
        m["id"] for m in messages if "id" in m
    )
    assert process.hang_up() == []


def test_cancelling_calls_that_wait_for_their_turn_gives_up_no_worker() -> None:
    begun, go, ended = threading.Event(), threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        go.wait()

    [tool] = find_tools(wait)
    gate = ConcurrencyLimit(1)

    async def run(arguments: Any, caller: Any) -> Any:
        return tool.handler.call(arguments, caller)

    handler = ConnectionHandler(send=run, complete=run, gate=gate)
    session = Server([Tool(tool.entry, handler)]).open_session(lambda data: ended.set())
    session.feed(
        b"".join(json.dumps(call("wait", id=number)).encode() + b"\n" for number in range(5))
    )
    assert begun.wait(PATIENCE_SECONDS)
    wait_until(lambda: len(gate._waiting) == 4)

    for number in range(1, 5):
        session.feed(
            json.dumps(request("notifications/cancelled", {"requestId": number}, id=...)).encode()
            + b"\n"
        )
    go.set()

    assert ended.wait(PATIENCE_SECONDS)
    assert session._workers._abandoned == set()
    session.end()


@pytest.mark.parametrize("times", [300])
def test_threads_that_were_given_up_are_replaced_and_end(tmp_path: Path, times: int) -> None:
    with served(tmp_path, TOOLS, "--limit", "max_workers=2", "--timeout", "0.005") as process:
        for number in range(times // 10):
            process.send(
                *(call("linger", {"milliseconds": 1000}, id=f"{number}.{n}") for n in range(10))
            )
            assert all(process.receive()["result"]["isError"] for _ in range(10))
        assert process.ask(call("add", {"a": 1, "b": 2}))["result"]["isError"] is False

        tasks = Path(f"/proc/{process.popen.pid}/task")
        if tasks.exists():
            wait_until(lambda: len(list(tasks.iterdir())) < 15)


def test_the_in_process_server_may_be_asked_by_many_threads() -> None:
    @tool_api
    def report(number: int, context: Context) -> int:
        context.progress(number)
        return number

    async def wait(number: int) -> int:
        return number

    server = Server([report, wait])
    answers: SimpleQueue[Any] = SimpleQueue()

    def ask(start: int) -> None:
        for number in range(start, start + 50):
            seen: list[Any] = []
            name = "report" if number % 3 else "wait"
            result = server.call(name, {"number": number}, on_progress=seen.append)
            answers.put((number, result["structuredContent"]["result"], len(seen)))

    for thread in range(8):
        threading.Thread(target=ask, args=(thread * 50,), daemon=True).start()

    for _ in range(400):
        number, result, reports = answers.get(timeout=PATIENCE_SECONDS)
        assert number == result
        assert reports == (1 if number % 3 else 0)


def test_a_thread_that_cannot_be_started_is_done_without(tmp_path: Path) -> None:
    source = TOOLS + (
        "\nstart = threading.Thread.start\n"
        "def limited(thread):\n"
        "    if threading.active_count() > 12:\n"
        '        raise RuntimeError("can\'t start new thread")\n'
        "    start(thread)\n"
        "threading.Thread.start = limited\n"
    )
    with served(tmp_path, source) as process:
        assert process.ask(call("add_async", {"a": 1, "b": 2}, id="warm"))["id"] == "warm"
        process.send(*(call("linger", {"milliseconds": 20}, id=number) for number in range(60)))
        assert sorted(process.receive()["id"] for _ in range(60)) == list(range(60))
        assert process.ask(request("ping", id="p"))["id"] == "p"
        assert process.hang_up() == []
        assert process.wait() == 0


def test_idle_workers_end(tmp_path: Path) -> None:
    source = TOOLS + (
        "import toolwire.runtime.worker_pool\n"
        "toolwire.runtime.worker_pool._IDLE_SECONDS = 0.02\n"
        "def workers() -> int:\n"
        "    return sum(thread.name == 'toolwire-worker' for thread in threading.enumerate())\n"
        "__tools__ += [workers]\n"
    )
    with served(tmp_path, source) as process:
        process.send(*[call("block", id=f"block-{number}") for number in range(40)])
        wait_until(
            lambda: process.ask(call("blocked"))["result"]["structuredContent"]["result"] == 40
        )
        many = process.ask(call("workers"))["result"]["structuredContent"]["result"]
        process.send(call("open_all", id="open"))
        ended = {process.receive()["id"] for _ in range(41)}

        # The one that answers, and one that may read meanwhile.
        wait_until(
            lambda: process.ask(call("workers"))["result"]["structuredContent"]["result"] <= 2
        )

        assert many > 40
        assert ended == {"open", *[f"block-{number}" for number in range(40)]}
        sums = [process.ask(call("add", {"a": number, "b": 1}, id=number)) for number in range(100)]
        assert [answer["id"] for answer in sums] == list(range(100))


def test_a_conversation_that_has_ended_is_not_kept_by_its_server() -> None:
    server = Server([lambda_named("first")])
    conversations = []
    for _ in range(3):
        conversation = server.open_session(lambda data: None)
        conversations.append(weakref.ref(conversation))
        conversation.end()
        del conversation

    last = server.open_session(lambda data: None)
    gc.collect()
    server.add(lambda_named("second"))
    last.end()

    assert [reference() for reference in conversations] == [None] * 3


def lambda_named(name: str) -> Any:
    return tool_api(name=name)(lambda: None)
