"""Threads that wait for responses and read the output of a real server in turns."""

from __future__ import annotations

import select
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from support.server_process import PATIENCE_SECONDS, wait_until
from toolwire_client import CallCancelled, Closed, ServerGone, TimedOut
from toolwire_client.async_client import AsyncClient, ClientSettings, Running
from toolwire_client.session.request import RequestHandle, is_final
from toolwire_client.transport.child_process import ServerProcess
from toolwire_client.waiting.base import Waiting, run
from toolwire_schemas.deadline import Deadline
from toolwire_schemas.output import Output

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot wait for two pipes"),
]

TOOLS = """
import os, time
from toolwire import Context

def add(a: int, b: int) -> int:
    return a + b

def wait(path: str) -> None:
    while not os.path.exists(path):
        time.sleep(0.005)

def later(path: str, context: Context) -> None:
    context.log("to be read between calls")

def die() -> None:
    os._exit(7)
"""


@contextmanager
def started(folder: Path, **settings: Any) -> Iterator[Running]:
    """A server of the tools."""
    (folder / "tools.py").write_text(TOOLS)
    command = [sys.executable, "-m", "toolwire", "serve", str(folder / "tools.py")]
    client = AsyncClient(
        ClientSettings(launch=lambda: ServerProcess(command, env=None), **settings), Waiting()
    )
    try:
        run(client.__aenter__())
        yield run(client.ensure_running(Deadline(10)))
    finally:
        run(client.close())


def request(running: Running, method: str = "tools/call", **params: Any) -> RequestHandle:
    transport: Any = running.connection.transport
    handle = RequestHandle(running.connection, transport.waiting)
    handle.begin(method, params)
    return handle


def result(handle: RequestHandle, seconds: float | None = None) -> Any:
    return run(handle.wait_for_result(Deadline(seconds)))


def test_each_of_many_threads_gets_its_own_result(tmp_path: Path) -> None:
    with started(tmp_path) as running, ThreadPoolExecutor(16) as pool:

        def added(n: int) -> int:
            answer = result(request(running, name="add", arguments={"a": n, "b": 1}))
            return int(answer["structuredContent"]["result"])

        assert list(pool.map(added, range(1000))) == list(range(1, 1001))


def test_a_thread_that_reads_delivers_to_others_and_hands_the_turn_on(tmp_path: Path) -> None:
    with started(tmp_path) as running, ThreadPoolExecutor(4) as pool:
        files = [tmp_path / str(n) for n in range(4)]
        waiting = [
            pool.submit(result, request(running, name="wait", arguments={"path": str(file)}))
            for file in files
        ]
        for n in (2, 0, 3, 1):
            files[n].touch()
            assert waiting[n].result(10)["isError"] is False


def test_a_cancellation_wakes_the_thread_that_reads(tmp_path: Path) -> None:
    with started(tmp_path) as running, ThreadPoolExecutor(1) as pool:
        result(request(running, name="add", arguments={"a": 1, "b": 1}))
        handle = request(running, name="wait", arguments={"path": str(tmp_path / "never")})
        waiting = pool.submit(result, handle)
        handle.cancel("enough")
        with pytest.raises(CallCancelled):
            waiting.result(10)


def test_a_wait_ends_in_time(tmp_path: Path) -> None:
    with started(tmp_path) as running:
        handle = request(running, name="wait", arguments={"path": str(tmp_path / "go")})
        with pytest.raises(TimedOut), handle:
            result(handle, 0.05)
        (tmp_path / "go").touch()
        assert result(request(running, name="add", arguments={"a": 1, "b": 2}))["isError"] is False


def test_the_end_of_the_server_reaches_all(tmp_path: Path) -> None:
    with started(tmp_path) as running, ThreadPoolExecutor(4) as pool:
        never = {"path": str(tmp_path / "never")}
        waiting = [
            pool.submit(result, request(running, name="wait", arguments=never)) for _ in range(3)
        ]
        waiting.append(pool.submit(result, request(running, name="die", arguments={})))
        for each in waiting:
            with pytest.raises(ServerGone, match="exit status 7"):
                each.result(10)
        with pytest.raises(ServerGone):
            request(running, name="add", arguments={})


def test_messages_between_calls_are_read(tmp_path: Path) -> None:
    came = threading.Event()
    with started(
        tmp_path, on_log=lambda entry: came.set() if entry.source == "server" else None
    ) as running:
        for n in range(3):
            result(request(running, name="add", arguments={"a": n, "b": 1}))
        running.connection.begin(
            running.connection.protocol.request(
                "tools/call", {"name": "later", "arguments": {"path": ""}}
            ),
            Waiting().make_inbox(),
        )
        assert came.wait(60)


def test_closing_the_client_wakes_the_thread_that_reads(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        with started(tmp_path) as running:
            result(request(running, name="add", arguments={"a": 1, "b": 1}))
            handle = request(running, name="wait", arguments={"path": str(tmp_path / "never")})
            waiting = pool.submit(result, handle)
        with pytest.raises(Closed):
            waiting.result(10)
        with pytest.raises(Closed):
            request(running, name="add", arguments={})


LAST_WORDS = """
import sys
for stream in (sys.stdout, sys.stderr):
    print("first", file=stream, flush=True)
sys.stdin.read()
for stream in (sys.stdout, sys.stderr):
    print("last", file=stream, flush=True)
"""


def test_what_a_server_writes_at_its_end_is_read_by_threads_that_are_late() -> None:
    came: dict[str, str] = {"output": "", "stderr": ""}
    both_read = threading.Barrier(3)

    def read(stream: str, text: str) -> None:
        came[stream] += text
        if came[stream] == "first\n":
            both_read.wait(PATIENCE_SECONDS)
            wait_until(
                lambda: bool(select.select([process._stop], [], [], 0)[0])
            )  # `close` is about to join us

    class Shown(StringIO):
        def write(self, text: str) -> int:
            read("stderr", text)
            return len(text)

    process = ServerProcess(
        [sys.executable, "-c", LAST_WORDS], env=None, show_stderr=Output(Shown())
    )
    process.start(lambda data: read("output", data.decode()), lambda _: None)
    both_read.wait(PATIENCE_SECONDS)

    process.close()

    assert came == {"output": "first\nlast\n", "stderr": "first\nlast\n"}


def test_a_request_that_more_follows_is_sent_by_the_flush(tmp_path: Path) -> None:
    with started(tmp_path) as running:
        transport: Any = running.connection.transport
        handle = RequestHandle(running.connection, transport.waiting)
        handle.begin(
            "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}, more_follows=True
        )
        held = bytes(transport._writer._held)

        transport.flush()

        assert held.endswith(b"}\n")
        assert result(handle, PATIENCE_SECONDS)["structuredContent"] == {"result": 3}


def test_requests_that_more_follow_arrive_in_their_order(tmp_path: Path) -> None:
    with started(tmp_path) as running:
        handles = [RequestHandle(running.connection, Waiting()) for _ in range(50)]
        for n, handle in enumerate(handles):
            params = {"name": "add", "arguments": {"a": n, "b": 0}}
            handle.begin("tools/call", params, more_follows=n < 49)

        numbers = [result(handle, PATIENCE_SECONDS) for handle in handles]

        assert [answer["structuredContent"]["result"] for answer in numbers] == list(range(50))
        assert [handle.id for handle in handles] == sorted(handle.id for handle in handles)


def test_the_own_thread_reads_for_callers_that_are_notified(tmp_path: Path) -> None:
    with started(tmp_path) as running:
        result(request(running, name="add", arguments={"a": 1, "b": 1}))  # callers read by turns
        arrived: SimpleQueue[tuple[bool, str]] = SimpleQueue()
        handle = request(running, name="add", arguments={"a": 1, "b": 2})

        def keep(event: object) -> None:
            arrived.put((is_final(event), threading.current_thread().name))

        if handle.notify(keep):
            assert arrived.get(timeout=PATIENCE_SECONDS) == (True, "toolwire-client-read")
        assert result(handle)["structuredContent"] == {"result": 3}
