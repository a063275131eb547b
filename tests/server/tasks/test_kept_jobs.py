"""Jobs that have outlived their server, as the store and the tasks of a later session see them; the
node is a socket of this process.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server.tasks.tasking import Client, code_of
from toolwire import Server, tool_api
from toolwire.tasks.kept_jobs import KeptJob
from toolwire.tasks.store import close_stores, open_store
from toolwire.workers.cluster import found_jobs
from toolwire.workers.cluster import node as node_module
from toolwire.workers.cluster.node import (
    DATA,
    END,
    accept_again,
    encode_frame,
    find_server,
    read_frames,
)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="nodes are POSIX systems")

REQUEST = 7
TEXT = {"content": [{"type": "text", "text": "counted"}], "isError": False}
go = threading.Event()


@tool_api(task="always")
def count() -> str:
    """Count."""
    go.wait(60)
    return "counted"


@pytest.fixture(autouse=True)
def _stop() -> Iterator[None]:
    go.clear()
    yield
    go.set()
    close_stores()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


class Job:
    """A task of a server that is gone, and the later server, whose client has the handle."""

    def __init__(self, folder: Path, *, is_modern: bool = True) -> None:
        self.kept = KeptJob("127.0.0.1", free_port(), b"n" * 32, b"k" * 32, REQUEST, 30.0)
        path = str(folder / "tasks.db")
        server = Server([count], task_store=path, grace_seconds=0.0)
        first = Client(server, is_modern=is_modern)
        self.task = first.begin("count")
        open_store(path).keep_job(self.task, self.kept)
        close_stores()  # as if the process had ended
        self.client = Client(server, is_modern=is_modern)

    def connect(self) -> socket.socket:
        """Return the connection of the node, once the later server looks for it."""
        assert self.client.get(self.task)["status"] == "working"
        connection = find_server(self.kept)
        assert connection is not None
        return connection


def message(**members: Any) -> bytes:
    return encode_frame(DATA, json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n")


def test_status_and_result_of_a_found_job_are_those_of_its_task(tmp_path: Path) -> None:
    job = Job(tmp_path)
    progress = {"progressToken": 1, "progress": 2, "total": 3}
    with job.connect() as node:
        node.sendall(encode_frame(DATA, b'"half a message"}\n'))
        node.sendall(message(method="notifications/progress", params=progress))
        node.sendall(message(id=REQUEST, result=TEXT))
        state = job.client.until(job.task, "completed")

    assert state["statusMessage"] == "2 of 3"
    assert state["result"] == {"resultType": "complete", **TEXT}
    job.client.end()


def test_request_for_the_result_of_a_found_job_waits_for_it(tmp_path: Path) -> None:
    job = Job(tmp_path, is_modern=False)
    with job.connect() as node:
        waiting = job.client.send("tasks/result", taskId=job.task)
        node.sendall(message(id=REQUEST, result=TEXT))
        result = job.client.response(waiting)["result"]

    assert result["content"] == TEXT["content"]
    job.client.end()


def test_error_of_a_found_job_is_that_of_its_task(tmp_path: Path) -> None:
    job = Job(tmp_path)
    error = {"code": -32603, "message": "as told"}
    with job.connect() as node:
        node.sendall(message(id=REQUEST, error=error))
        assert job.client.until(job.task, "failed")["error"] == error
    job.client.end()


def test_found_job_that_ends_without_a_response_was_interrupted(tmp_path: Path) -> None:
    job = Job(tmp_path)
    with job.connect() as node:
        node.sendall(encode_frame(END, b"1"))
    assert job.client.until(job.task, "failed")["error"]["code"] == -31003
    job.client.end()


def test_question_of_a_found_job_is_cancelled_since_its_client_is_gone(tmp_path: Path) -> None:
    job = Job(tmp_path)
    with job.connect() as node:
        node.sendall(message(id=1, method="elicitation/create", params={}))
        kind, data = next(read_frames(node))

    assert kind == DATA
    assert json.loads(data)["result"] == {"action": "cancel"}
    job.client.end()


def test_cancelled_task_releases_the_node_of_its_job(tmp_path: Path) -> None:
    job = Job(tmp_path)
    with job.connect() as node:
        job.client.ask("tasks/cancel", taskId=job.task)
        assert list(read_frames(node)) == [(b"k", b"")]  # and the end of the connection

    assert job.client.get(job.task)["status"] == "cancelled"
    job.client.end()


def test_job_that_is_not_found_in_time_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(found_jobs, "FIND_SECONDS", 0.05)
    job = Job(tmp_path)

    state = job.client.until(job.task, "failed")

    assert state["error"]["code"] == -31003
    assert code_of(job.client.ask("tasks/get", taskId="0" * 32)) == -32602
    job.client.end()


@pytest.mark.parametrize(
    "sent",
    [b"", b"n" * 31, b"n" * 64 + b"x" * 32, b"x" * 96],
    ids=["nothing", "half", "key", "name"],
)
def test_peer_without_the_key_of_a_job_is_refused(sent: bytes) -> None:
    ours, peer = socket.socketpair()
    with ours, peer:
        peer.sendall(sent)
        peer.shutdown(socket.SHUT_WR)
        with pytest.raises(OSError, match=r"job|closed"):
            accept_again(ours, {b"n" * 32: b"k" * 32})


def test_node_takes_no_program_without_the_key_for_its_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(node_module, "_RETRY_SECONDS", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as server:
        job = KeptJob("127.0.0.1", server.getsockname()[1], b"n" * 32, b"k" * 32, 1, 30.0)
        found: list[Any] = []
        node = threading.Thread(target=lambda: found.append(find_server(job)))
        node.start()
        sent = [answer_wrongly(server) for _ in range(10)]
        node.join(30)

    assert found == [None]
    assert {each[:32] for each in sent} == {b"n" * 32}
    assert len(b"".join(sent)) == 640  # names and random bytes: nothing that shows the key


def answer_wrongly(server: socket.socket) -> bytes:
    """Return what the next peer sends in all, after a wrong proof."""
    peer, _ = server.accept()
    with peer, peer.makefile("rb") as file:
        peer.sendall(b"x" * 64)
        return file.read()
