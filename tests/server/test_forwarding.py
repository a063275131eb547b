"""One call of a server, answered by a real process at the other end of a connection."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from msgspec.structs import replace
from support.server_process import PATIENCE_SECONDS, call, request, wait_until
from toolwire import RequestError, Server
from toolwire.forwarding import BLOCKING, forward
from toolwire.protocol.call import Call
from toolwire.protocol.connection_handler import ConnectionHandler
from toolwire_client import connect
from toolwire_client.async_client import AsyncClient
from toolwire_client.session.elicitation import NoAnswer
from toolwire_client.waiting.base import run
from toolwire_schemas.deadline import Deadline
from toolwire_tools import Entry, Tool

THERE = """
import os, sys, threading

import anyio
from dataclasses import dataclass
from toolwire_tools import Context, NotAnswered

@dataclass
class Form:
    name: str

def add(a: int, b: int) -> int:
    return a + b

def count(context: Context) -> str:
    context.progress(1, 2, "half")
    return "counted"

def ask(context: Context) -> str:
    try:
        return context.ask("Who?", Form).name
    except NotAnswered as error:
        return f"cannot ask: {error}"

barrier = threading.Barrier(20)

def meet() -> int:
    return barrier.wait(60)

begun = threading.Semaphore(0)
cancelled = threading.Event()

async def wait() -> None:
    begun.release()
    try:
        await anyio.sleep_forever()
    finally:
        cancelled.set()

def have_begun() -> bool:
    return begun.acquire(timeout=30) and begun.acquire(timeout=30)

def was_cancelled() -> bool:
    return cancelled.wait(60)

def long() -> str:
    return "x" * 10_000

def die() -> None:
    print("famous last words", file=sys.stderr, flush=True)
    os._exit(7)
"""


def forwarding_tool(name: str, client: AsyncClient) -> Tool:
    """Return a tool of the server that *client* has started."""

    async def send(arguments: Any, call: Call) -> dict[str, Any]:
        connection = run(client.ensure_running(Deadline(10))).connection
        return await forward(call, connection, {"name": name, "arguments": arguments})

    entry = Entry(kind="tools", name=name, parts=(name,), shown={"name": name})
    return Tool(entry, ConnectionHandler(send=send, complete=send))


NAMES = (
    "add",
    "count",
    "ask",
    "meet",
    "wait",
    "have_begun",
    "was_cancelled",
    "long",
    "die",
    "unknown",
)


@pytest.fixture(params=["legacy", "modern"])
def here(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A server whose tools another one runs, with fewer threads than calls."""
    (tmp_path / "there.py").write_text(THERE, encoding="utf-8")
    command = [sys.executable, "-m", "toolwire", "serve", str(tmp_path / "there.py")]
    pending = connect(
        command, era=request.param, inherit_env=True, on_ask=lambda _: NoAnswer.DISMISSED
    )
    client = pending.make_client(BLOCKING)
    run(client.__aenter__())
    with Server([forwarding_tool(name, client) for name in NAMES], max_workers=2) as server:
        yield server
    run(client.close())


@pytest.mark.process
def test_a_result_and_progress_arrive(here: Server) -> None:
    seen: list[Any] = []

    assert here.call("add", {"a": 2, "b": 3})["structuredContent"] == {"result": 5}
    assert here.call("count", on_progress=seen.append)["content"][0]["text"] == "counted"
    assert [(each["progress"], each["total"], each["message"]) for each in seen] == [(1, 2, "half")]


@pytest.mark.process
def test_a_json_rpc_error_arrives_as_it_is(here: Server) -> None:
    with pytest.raises(RequestError) as raised:
        here.call("unknown")

    assert (raised.value.code, "unknown" in raised.value.message) == (-32602, True)


@pytest.mark.process
def test_the_end_of_the_process_fails_the_call_with_status_and_stderr(here: Server) -> None:
    result = here.call("die")

    assert result["isError"]
    assert "exit status 7" in result["content"][0]["text"]
    assert "famous last words" in result["content"][0]["text"]


@pytest.mark.process
def test_a_question_that_the_host_cannot_answer_is_the_tools_to_handle(here: Server) -> None:
    assert "cannot ask:" in here.call("ask")["content"][0]["text"]


@pytest.mark.process
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_question_reaches_the_user_of_a_host_of_either_era(here: Server, era: Any) -> None:
    with connect(here, era=era, on_ask=lambda question: {"name": question.message[:3]}) as client:
        assert client.call_tool("ask").text == "Who"


@pytest.mark.process
def test_no_results_are_read_for_a_host_that_reads_far_too_little(here: Server) -> None:
    reads = threading.Event()
    responses: SimpleQueue[bytes] = SimpleQueue()

    def write(data: bytes) -> None:
        reads.wait()
        for line in data.splitlines():
            responses.put(line)

    limit = 100_000
    session = Server(here.tools, max_unsent_bytes=limit).open_session(write)
    session.feed(b"".join(json.dumps(call("long", id=n)).encode() + b"\n" for n in range(100)))
    wait_until(lambda: session.writer.unsent_bytes > 2 * limit)

    assert session.writer.unsent_bytes < 3 * limit
    reads.set()
    answers = [json.loads(responses.get(timeout=PATIENCE_SECONDS)) for _ in range(100)]
    assert {answer["id"] for answer in answers} == set(range(100))
    session.end()


class ManyCalls:
    """A host of *server* that makes calls at once, as lines, and keeps all messages."""

    def __init__(self, server: Server) -> None:
        self.messages: SimpleQueue[Any] = SimpleQueue()
        self.session = server.open_session(self._keep)
        params = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}}
        info = {"clientInfo": {"name": "test", "version": "1"}}
        self.send(request("initialize", {**params, **info}, id="first"))
        assert self.next()["id"] == "first"

    def _keep(self, data: bytes) -> None:
        for line in data.splitlines():
            self.messages.put(json.loads(line))

    def send(self, *messages: Any) -> None:
        """Send *messages* in one piece."""
        self.session.feed(b"".join(json.dumps(each).encode() + b"\n" for each in messages))

    def next(self) -> Any:
        """Return the next message."""
        return self.messages.get(timeout=PATIENCE_SECONDS)


@pytest.fixture
def host(here: Server) -> Iterator[ManyCalls]:
    host = ManyCalls(here)
    yield host
    host.session.end()


@pytest.mark.process
def test_calls_that_wait_for_another_server_hold_no_thread(host: ManyCalls) -> None:
    host.send(*(call("meet", id=number) for number in range(20)))

    answers = [host.next() for _ in range(20)]

    assert {answer["id"] for answer in answers} == set(range(20))
    results = {answer["result"]["structuredContent"]["result"] for answer in answers}
    assert results == set(range(20))


@pytest.mark.process
def test_a_call_that_waits_without_a_thread_is_cancelled_there(host: ManyCalls) -> None:
    host.send(call("wait", id=1), call("wait", id=2), call("have_begun", id=3))
    assert host.next()["result"]["structuredContent"] == {"result": True}

    host.send(request("notifications/cancelled", {"requestId": 1}, id=...))
    host.send(call("was_cancelled", id=4))

    answer = host.next()
    assert (answer["id"], answer["result"]["structuredContent"]) == (4, {"result": True})
    assert host.session._workers._abandoned == set()
    wait_until(lambda: not host.session.in_flight.lingering)


@pytest.mark.process
def test_the_end_of_the_process_fails_all_calls_that_wait_for_it(host: ManyCalls) -> None:
    host.send(*(call("wait", id=number) for number in range(5)), call("die", id=5))

    answers = [host.next() for _ in range(6)]

    assert {answer["id"] for answer in answers} == set(range(6))
    assert all("exit status 7" in answer["result"]["content"][0]["text"] for answer in answers)


@pytest.mark.process
def test_progress_of_one_of_several_calls_precedes_its_result(host: ManyCalls) -> None:
    host.send(call("wait", id=1), call("count", id=2, progressToken="t"))

    progress, answer = host.next(), host.next()

    assert progress["params"]["message"] == "half"
    assert answer["result"]["content"][0]["text"] == "counted"


@pytest.mark.process
def test_a_question_of_one_of_several_calls_reaches_the_user(host: ManyCalls) -> None:
    host.send(call("wait", id=1), call("ask", id=2))

    question = host.next()
    while question.get("method") != "elicitation/create":
        question = host.next()
    host.send(
        {
            "jsonrpc": "2.0",
            "id": question["id"],
            "result": {"action": "accept", "content": {"name": "Ada"}},
        }
    )

    assert host.next()["result"]["content"][0]["text"] == "Ada"


@pytest.mark.process
def test_a_time_limit_ends_a_call_that_waits_without_a_thread(here: Server) -> None:
    [tool] = [tool for tool in here.tools if tool.name == "wait"]
    options = replace(tool.entry.options, timeout_seconds=0.01)
    limited = Tool(replace(tool.entry, options=options), tool.handler)
    host = ManyCalls(Server([limited]))

    host.send(call("wait", id=1), call("wait", id=2))

    texts = [host.next()["result"]["content"][0]["text"] for _ in range(2)]
    assert texts == ["wait did not finish within 0.01 seconds."] * 2
    host.session.end()
