"""What may grow has a limit: overloaded, it refuses or waits, says so, and works again
afterwards.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from support.server_process import (
    MODERN,
    PATIENCE_SECONDS,
    Process,
    answers,
    call,
    protocol_of,
    request,
    served,
    wait_until,
)
from toolwire import Context, Server
from toolwire.protocol.call import Send
from toolwire.protocol.server_protocol import ServerProtocol
from toolwire_schemas.wire.codec import decode

OVERLOADED = -31001

TOOLS = """
import itertools, os, threading
import anyio
from toolwire import AsyncContext, Context

gate = threading.Event()

def hang() -> str:
    gate.wait()
    return "open"

begun = itertools.count(1)

async def hang_async() -> str:
    os.mkdir(f"begun-{next(begun)}")
    while not gate.is_set():
        try:
            await anyio.sleep(0.01)
        except anyio.get_cancelled_exc_class():
            await anyio.lowlevel.cancel_shielded_checkpoint()
    return "open"

async def open_all() -> str:
    gate.set()
    return "open"

def add(a: int, b: int) -> int:
    return a + b

def note_cancellation(context: Context) -> None:
    os.mkdir("begun")
    while not context.cancelled:
        threading.Event().wait(0.005)
    os.mkdir("cancelled")

def ask(context: Context) -> str:
    return context.ask("Who?", str)

async def ask_async(context: AsyncContext) -> str:
    return await context.ask("Who?", str)
"""

GREETING = request(
    "initialize",
    {
        "protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "t", "version": "1"},
    },
    id="hello",
)


def cancel(id: Any) -> dict[str, Any]:
    return request("notifications/cancelled", {"requestId": id}, id=...)


def threads_of(process: Process) -> int:
    return len(os.listdir(f"/proc/{process.popen.pid}/task"))


def adds(process: Process) -> bool:
    answer = process.ask(call("add", {"a": 1, "b": 2}, id="add"))
    return bool(answer.get("result", {}).get("structuredContent") == {"result": 3})


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")

SEVEN_AND_FIVE_OF_OURS = 7 + 5
"""Four workers, three more for calls given up; the main thread, up to two that read, the clock, the
outbox.
"""


@pytest.mark.process
@on_linux
def test_calls_that_time_out_hold_no_more_threads_than_they_may(tmp_path: Path) -> None:
    limits = ("--limit", "max_workers=4", "--limit", "max_abandoned=3")
    with served(tmp_path, TOOLS, *limits, "--timeout", "0.01") as process:
        process.send(*(call("hang", id=number) for number in range(100)))
        received = {answer["id"]: answer for answer in (process.receive() for _ in range(100))}

        late = [answer for answer in received.values() if "result" in answer]
        refused = [answer["error"] for answer in received.values() if "error" in answer]
        assert (len(late), len(refused)) == (7, 93)
        assert all(answer["result"]["isError"] for answer in late)
        assert {error["code"] for error in refused} == {OVERLOADED}
        assert 'runs_in="process" or --isolate' in refused[0]["message"]
        assert threads_of(process) <= SEVEN_AND_FIVE_OF_OURS

        assert process.ask(request("ping", id="ping"))["id"] == "ping"
        assert process.ask(call("add", {"a": 1, "b": 2}))["error"]["code"] == OVERLOADED
        assert process.ask(call("open_all", id="open"))["id"] == "open"
        wait_until(lambda: adds(process))
        assert process.hang_up() == []
        assert process.stderr().count("were cancelled or timed out but their tools still run") == 1


@pytest.mark.process
@on_linux
def test_cancelled_calls_hold_no_more_threads_than_they_may(tmp_path: Path) -> None:
    with served(
        tmp_path, TOOLS, "--limit", "max_workers=4", "--limit", "max_abandoned=3"
    ) as process:
        for turn in range(20):
            process.send(*(call("hang", id=f"{turn}.{number}") for number in range(50)))
            process.send(*(cancel(f"{turn}.{number}") for number in range(50)))
        while (answer := process.ask(request("ping", id="ping")))["id"] != "ping":
            assert answer["error"]["code"] == OVERLOADED
        assert threads_of(process) <= SEVEN_AND_FIVE_OF_OURS

        process.send(call("open_all", id="open"))
        while (answer := process.receive())["id"] != "open":
            assert answer.get("error", {}).get("code", OVERLOADED) == OVERLOADED
        wait_until(lambda: adds(process))


@pytest.mark.process
@pytest.mark.parametrize("name", ["hang", "hang_async"])
def test_no_more_calls_are_under_way_than_may_be_given_up_or_not(tmp_path: Path, name: str) -> None:
    limits = (
        "--limit",
        "max_pending_calls=10",
        "--limit",
        "max_workers=2",
        "--limit",
        "max_abandoned=1",
    )
    with served(tmp_path, TOOLS, *limits, cwd=tmp_path) as process:
        process.send(*(call(name, id=number) for number in range(12)))
        refused = [process.receive() for _ in range(2)]
        if name == "hang_async":
            wait_until((tmp_path / "begun-10").exists)
        process.send(*(cancel(number) for number in range(8)))

        assert [(answer["id"], answer["error"]["code"]) for answer in refused] == [
            (10, OVERLOADED),
            (11, OVERLOADED),
        ]
        assert "10 calls are in progress" in refused[0]["error"]["message"]
        if name == "hang_async":  # those that were cancelled still run
            assert process.ask(call(name, id="more"))["error"]["code"] == OVERLOADED
            assert process.ask(request("ping", id="ping"))["id"] == "ping"


def test_calls_cancelled_while_they_wait_do_not_pile_up() -> None:
    go = threading.Event()

    def wait() -> None:
        go.wait()

    came: SimpleQueue[Any] = SimpleQueue()
    with_limits: dict[str, Any] = {
        "max_workers": 1,
        "max_abandoned": 1,
        "max_pending_calls": 100,
        "grace_seconds": PATIENCE_SECONDS,
    }

    def write(data: bytes) -> None:
        for each in data.splitlines():
            came.put(decode(each))

    session = Server([wait], **with_limits).open_session(write)
    session.feed(line(call("wait", id="first")))
    for number in range(1000):
        session.feed(line(call("wait", id=number)) + line(cancel(number)))
    refused = [came.get(timeout=PATIENCE_SECONDS) for _ in range(901)]
    assert {answer["error"]["code"] for answer in refused} == {OVERLOADED}

    go.set()
    assert came.get(timeout=PATIENCE_SECONDS)["id"] == "first"
    wait_until(lambda: not session.in_flight.lingering)
    session.feed(line(call("wait", id="last")))
    assert came.get(timeout=PATIENCE_SECONDS)["id"] == "last"
    session.end()
    assert came.empty()


def line(message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


@pytest.mark.process
@on_linux
@pytest.mark.parametrize("name", ["ask", "ask_async"])
def test_no_more_questions_are_open_than_may_be(tmp_path: Path, name: str) -> None:
    with served(
        tmp_path, TOOLS, "--limit", "max_questions=3", "--limit", "max_workers=2"
    ) as process:
        process.ask(GREETING)
        process.send(*(call(name, id=number) for number in range(10)))
        received = [process.receive() for _ in range(10)]
        questions = [
            message for message in received if message.get("method") == "elicitation/create"
        ]
        refused = [message["result"] for message in received if "result" in message]

        assert (len(questions), len(refused)) == (3, 7)
        assert {(answer["isError"], answer["content"][0]["text"]) for answer in refused} == {
            (
                True,
                "3 questions already wait for the user, which is the limit (--limit"
                " max_questions); ask again when some have been answered.",
            )
        }
        assert threads_of(process) <= 3 + 2 + 6

        reply = {"action": "accept", "content": {"answer": "me"}}
        process.send({"jsonrpc": "2.0", "id": questions[0]["id"], "result": reply})
        assert process.receive()["result"]["isError"] is False
        assert process.ask(call(name, id="again"))["method"] == "elicitation/create"


@pytest.mark.process
def test_what_the_host_does_not_read_stays_within_its_limit_and_cancellations_get_through(
    tmp_path: Path,
) -> None:
    limit = 1024 * 1024
    with served(tmp_path, TOOLS, "--limit", f"max_unsent_bytes={limit}", cwd=tmp_path) as process:
        listed = len(
            json.dumps(process.ask(request("tools/list", id="first")), separators=(",", ":"))
        )
        requests = (
            limit + SLACK_BYTES
        ) // listed + 200  # more than can be served, and not so many that reading stops
        process.send(call("note_cancellation", id="noted"))
        wait_until((tmp_path / "begun").exists)

        process.send(*(request("tools/list", id=number) for number in range(requests)))
        process.send(cancel("noted"))
        wait_until((tmp_path / "cancelled").exists)

        received = [process.receive() for _ in range(requests)]
        assert sorted(answer["id"] for answer in received) == list(range(requests))
        served_bytes = listed * sum("result" in answer for answer in received)
        assert limit / 2 < served_bytes < limit + SLACK_BYTES
        assert {answer["error"]["code"] for answer in received if "error" in answer} == {OVERLOADED}
        assert "result" in process.ask(request("tools/list", id="last"))
        assert process.hang_up() == []
        assert process.stderr().count("requests are refused until the host reads") == 1


SLACK_BYTES = 1024 * 1024
"""What is on its way besides: in two pipes, in the write under way, and what came of one read."""


@pytest.mark.process
@pytest.mark.parametrize("when", ["while the tools load", "afterwards"])
def test_a_host_that_only_writes_is_not_read_beyond_twice_the_limit(
    tmp_path: Path, when: str
) -> None:
    limit = 256 * 1024
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    source = TOOLS + f"open({str(gate)!r}).read()\n"
    with served(tmp_path, source, "--limit", f"max_unsent_bytes={limit}") as process:
        assert process.popen.stdin is not None
        if when == "afterwards":
            gate.write_text("")
            process.ask(request("tools/list"))
        message = line(request("tools/list", id="x"))
        written = SimpleQueue[int]()

        def write() -> None:
            for _ in range(30_000):
                process.send(message)
            written.put(30_000)

        threading.Thread(target=write, daemon=True).start()
        wait_until(lambda: b"nothing is read until the host reads" in b"".join(process._stderr))
        assert written.empty()
        if when == "while the tools load":
            gate.write_text("")

        received = Counter("error" in process.receive() for _ in range(30_000))

        assert received[True] + received[False] == written.get(timeout=PATIENCE_SECONDS)
        assert process.ask(request("ping", id="ping"))["id"] == "ping"


def test_async_calls_begin_only_when_the_host_has_read() -> None:
    begun: list[int] = []
    blocked, go = threading.Event(), threading.Event()
    came: SimpleQueue[Any] = SimpleQueue()

    async def large(number: int) -> str:
        begun.append(number)
        return "x" * 10_000

    def write(data: bytes) -> None:
        blocked.set()
        go.wait()
        for each in data.splitlines():
            came.put(decode(each))

    session = Server([large], max_unsent_bytes=100_000).open_session(write)
    session.feed(line(call("large", {"number": -1}, id=-1)))
    assert blocked.wait(PATIENCE_SECONDS)
    session.feed(
        b"".join(line(call("large", {"number": number}, id=number)) for number in range(100))
    )
    wait_until(lambda: session.writer.is_full)
    few = len(begun)
    session.feed(line(call("large", {"number": 0}, id="refused")))

    go.set()
    received = {
        answer["id"]: answer for answer in (came.get(timeout=PATIENCE_SECONDS) for _ in range(102))
    }

    assert few < 20
    assert received["refused"]["error"]["code"] == OVERLOADED
    assert all(received[number]["result"]["isError"] is False for number in range(-1, 100))
    session.end()


def add(a: int, b: int) -> int:
    return a + b


def test_a_batch_of_more_elements_than_may_be_is_refused_as_one() -> None:
    protocol = protocol_of(add, max_batch_elements=3)
    batches = [
        [call("add", {"a": 1, "b": 2}, id=number) for number in range(size)] for size in (3, 4)
    ]

    [accepted, refused, after] = answers(protocol, batches[0], batches[1], request("ping"))

    assert len(accepted) == 3
    assert refused == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {
            "code": -32600,
            "message": "Invalid request: a batch of 4 elements (the limit is 3); split it",
        },
    }
    assert after["result"] == {}


def test_the_answers_of_a_batch_take_no_more_than_a_result_may() -> None:
    def text(size: int) -> str:
        return "x" * size

    protocol = protocol_of(text, max_result_bytes=5000)
    members: list[Any] = [call("text", {"size": 1500}, id=number) for number in range(10)]
    members += [request("tools/list", id=f"list {number}") for number in range(50)]

    [array] = answers(protocol, members)

    results = [
        answer for answer in array if "result" in answer and not answer["result"].get("isError")
    ]
    assert len(array) == 60
    assert 0 < len(json.dumps(results, separators=(",", ":"))) < 5000


def test_partial_answers_of_batches_count_as_input_that_is_held() -> None:
    protocol = protocol_of(add, max_pending_bytes=20_000)
    for number in range(100):
        pings: list[Any] = [request("ping", id=f"{number}.{member}") for member in range(20)]
        waiting = [call("add", {"a": 1, "b": 2}, id=number)]
        out = protocol.receive(json.dumps(pings + waiting).encode())
        if len(out) == 1 and isinstance(out[0], Send):
            break

    [array] = [decode(decision.message) for decision in out]
    assert array[-1]["error"]["code"] == OVERLOADED
    assert 2 < number < 50


def test_no_more_subscriptions_are_open_than_calls_may_be() -> None:
    protocol = protocol_of(add, max_pending_calls=2)
    params = {"notifications": {"toolsListChanged": True}, "_meta": MODERN}

    received = answers(
        protocol, *(request("subscriptions/listen", params, id=number) for number in range(3))
    )

    assert [answer.get("error", {}).get("code") for answer in received] == [None, None, OVERLOADED]


def steps(work: Callable[[], object]) -> int:
    """Return how many functions, of C or Python, are called by *work*."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def cancelling(pending: int) -> int:
    protocol = protocol_of(add)
    for number in range(pending):
        protocol.receive(line(call("add", {"a": 1, "b": 2}, id=number)))
    frames = [line(cancel(number)) for number in range(pending)]
    return steps(lambda: [protocol.receive(frame) for frame in frames])


def deciding_about_a_batch(members: int) -> int:
    protocol: ServerProtocol = protocol_of(add)
    frame = json.dumps(
        [call("add", {"a": 1, "b": 2}, id=number) for number in range(members)]
    ).encode()
    return steps(lambda: protocol.receive(frame))


def cancelling_a_conversation(pending: int) -> int:
    """As `cancelling`, through the session: one call runs, the others wait."""
    begun, go = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        go.wait()

    session = Server([wait], max_workers=1).open_session(lambda data: None)
    session.feed(b"".join(line(call("wait", id=number)) for number in range(pending + 1)))
    assert begun.wait(PATIENCE_SECONDS)
    data = b"".join(line(cancel(number)) for number in range(1, pending + 1))
    taken = steps(lambda: session.feed(data))
    go.set()
    session.end()
    return taken


@pytest.mark.parametrize("work", [cancelling, deciding_about_a_batch, cancelling_a_conversation])
def test_ten_times_as_many_take_ten_times_the_work(work: Callable[[int], int]) -> None:
    deciding_about_a_batch(1)  # so that what is imported then counts for neither
    assert work(5000) < 11 * work(500)


def test_an_unanswered_elicitation_ends() -> None:
    def ask(context: Context) -> str:
        return context.ask("Who?", str)

    came: SimpleQueue[Any] = SimpleQueue()
    session = Server([ask], ask_seconds=0.05).open_session(lambda data: came.put(decode(data)))
    session.feed(line(GREETING) + line(call("ask", id="asks")))
    received = {
        message.get("id", "news"): message
        for message in (came.get(timeout=PATIENCE_SECONDS) for _ in range(4))
    }

    assert (
        received["asks"]["result"]["content"][0]["text"]
        == "The user did not answer within 0.05 seconds."
    )
    session.end()
