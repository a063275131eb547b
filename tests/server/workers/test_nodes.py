"""Workers on nodes and the connections that they make: who is let in, and what a node refuses."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from support.server_process import wait_until
from toolwire import __version__
from toolwire.workers.cluster import node
from toolwire.workers.cluster.connections import Listener, NodeTransport
from toolwire.workers.cluster.engines import Connected, Engine
from toolwire.workers.worker_spec import WorkerSpec

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="nodes are POSIX systems"),
    pytest.mark.process,
]

PATIENCE_SECONDS = 60

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
PONG = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'


@pytest.fixture
def door() -> Listener:
    return Listener("127.0.0.1")


@pytest.fixture
def executor() -> Iterator[Executor]:
    with ThreadPoolExecutor() as executor:
        yield executor


class Arrivals:
    """The connections that a listener lets in."""

    def __init__(self) -> None:
        self._came = threading.Event()
        self._connection: socket.socket | None = None

    def take(self, connection: socket.socket) -> None:
        self._connection = connection
        self._came.set()

    def wait(self) -> socket.socket:
        assert self._came.wait(PATIENCE_SECONDS)
        assert self._connection is not None
        return self._connection

    @property
    def any(self) -> bool:
        return self._came.is_set()


class Worker:
    """The worker at the other end of *connection*, and whether its connection was lost."""

    def __init__(self, connection: socket.socket) -> None:
        self.lost = False
        self.ended = threading.Event()
        self.status: int | None = None
        self._data = b""
        self._changed = threading.Condition()
        self.transport = NodeTransport(connection, self._lose)
        self.transport.start(self._read, self._end)

    def ask(self, message: bytes, size: int) -> bytes:
        """Send *message* and return the *size* bytes that come back."""
        self.transport.send(message)
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._data) >= size, PATIENCE_SECONDS)
            data, self._data = self._data, b""
        return data

    def _lose(self) -> None:
        self.lost = True

    def _read(self, data: bytes) -> None:
        with self._changed:
            self._data += data
            self._changed.notify()

    def _end(self, gone: Any) -> None:
        self.status = gone.exit_status
        self.ended.set()


def words(folder: Path, door: Listener, secret: bytes, **more: Any) -> dict[str, Any]:
    (folder / "tools_file.py").write_text(
        "import os\ndef leave(status: int) -> None:\n    os._exit(status)\n"
    )
    spec = WorkerSpec(loading={"targets": [str(folder / "tools_file.py")]}, folder=str(folder))
    address = {"version": __version__, "address": door.address, "secret": secret}
    return {**address, "spec": msgspec.to_builtins(spec), **more}


def refused(door: Listener, sent: bytes) -> bool:
    """Whether the listener closes a connection on which *sent* is all that comes."""
    with socket.create_connection(door.address, PATIENCE_SECONDS) as peer:
        peer.sendall(sent)
        try:
            return peer.recv(1) == b""
        except ConnectionResetError:
            return True


def test_a_worker_serves_until_its_input_ends(
    tmp_path: Path, door: Listener, executor: Executor
) -> None:
    arrivals = Arrivals()
    job = executor.submit(node.run_job, words(tmp_path, door, door.expect(arrivals.take)))
    worker = Worker(arrivals.wait())

    assert worker.ask(PING, len(PONG)) == PONG
    worker.transport.finish_input()

    assert worker.ended.wait(PATIENCE_SECONDS)
    assert (worker.status, worker.lost) == (0, False)
    assert job.result(PATIENCE_SECONDS) is None
    worker.transport.close()


def test_a_killed_worker_frees_its_place(
    tmp_path: Path, door: Listener, executor: Executor
) -> None:
    arrivals = Arrivals()
    job = executor.submit(node.run_job, words(tmp_path, door, door.expect(arrivals.take)))
    worker = Worker(arrivals.wait())
    worker.ask(PING, len(PONG))

    worker.transport.kill()

    assert job.result(PATIENCE_SECONDS) is None
    assert worker.ended.wait(PATIENCE_SECONDS)
    assert (worker.status, worker.lost) == (-9, False)
    worker.transport.close()


def test_a_large_message_arrives_whole_both_ways(
    tmp_path: Path, door: Listener, executor: Executor
) -> None:
    arrivals = Arrivals()
    executor.submit(node.run_job, words(tmp_path, door, door.expect(arrivals.take)))
    worker = Worker(arrivals.wait())
    id = b'"' + b"x" * (8 << 20) + b'"'

    answer = worker.ask(PING.replace(b"1", id, 1), len(PONG) - 1 + len(id))

    assert answer == PONG.replace(b":1,", b":" + id + b",", 1)
    worker.transport.close()


def test_a_peer_without_a_secret_is_refused_and_logged(
    door: Listener, capfd: pytest.CaptureFixture[str]
) -> None:
    arrivals = Arrivals()
    secret = door.expect(arrivals.take)

    assert refused(door, b"x" * node.SECRET_BYTES)
    assert refused(door, secret[node.SECRET_BYTES :])  # the server's half

    # The thread that refuses closes the connection before it writes the line.
    wait_until(lambda: "a connection from 127.0.0.1 was refused" in capfd.readouterr().err)
    assert not arrivals.any


def test_a_secret_opens_one_connection(tmp_path: Path, door: Listener, executor: Executor) -> None:
    arrivals = Arrivals()
    given = words(tmp_path, door, door.expect(arrivals.take))
    first = executor.submit(node.run_job, given)
    worker = Worker(arrivals.wait())

    with pytest.raises(RuntimeError, match="the connection was closed"):
        executor.submit(node.run_job, given).result(PATIENCE_SECONDS)

    assert worker.ask(PING, len(PONG)) == PONG
    worker.transport.close()
    first.result(PATIENCE_SECONDS)


def test_a_forgotten_secret_opens_none(door: Listener) -> None:
    arrivals = Arrivals()
    secret = door.expect(arrivals.take)
    door.forget(secret)

    assert refused(door, secret[: node.SECRET_BYTES])
    assert not arrivals.any


class LateExecutor:
    """Has a worker connect for a call as soon as that does not wait for it any more."""

    def __init__(self) -> None:
        self.call: Any = SimpleNamespace(ended=False, stop=None)

    def submit(self, function: Any, words: dict[str, Any]) -> Future[None]:
        self.call.stop()
        self.worker = socket.create_connection(words["address"], PATIENCE_SECONDS)
        self.worker.sendall(words["secret"][: node.SECRET_BYTES])
        assert node.receive(self.worker, PATIENCE_SECONDS) == words["secret"][node.SECRET_BYTES :]
        return Future()


def test_a_worker_that_connects_when_its_call_does_not_wait_any_more_does_not_keep_its_place(
    tmp_path: Path,
) -> None:
    executor = LateExecutor()
    spec = WorkerSpec(loading={"targets": ["tools.py"]}, folder=str(tmp_path))
    engine = Engine("late", {}, lambda: Connected(executor, ""))

    with pytest.raises(InterruptedError):
        engine.start(spec, executor.call, SimpleQueue())

    with executor.worker:
        assert executor.worker.recv(1) == b""


def test_silent_peers_do_not_keep_a_worker_away(
    tmp_path: Path, door: Listener, executor: Executor
) -> None:
    silent = [socket.create_connection(door.address, PATIENCE_SECONDS) for _ in range(40)]
    arrivals = Arrivals()
    executor.submit(node.run_job, words(tmp_path, door, door.expect(arrivals.take)))

    worker = Worker(arrivals.wait())

    assert worker.ask(PING, len(PONG)) == PONG
    worker.transport.close()
    for peer in silent:
        peer.close()


def test_a_job_talks_to_no_other_program_at_the_address_of_its_server(
    tmp_path: Path, executor: Executor
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        given = words(tmp_path, Listener("127.0.0.1"), b"s" * 64, address=other.getsockname())
        job = executor.submit(node.run_job, given)
        peer, _ = other.accept()
        with peer:
            assert peer.recv(64) == b"s" * 32
            peer.sendall(b"x" * 32)
            with pytest.raises(RuntimeError, match="another program listens there"):
                job.result(PATIENCE_SECONDS)


def test_a_node_with_another_version_says_so(tmp_path: Path, door: Listener) -> None:
    with pytest.raises(RuntimeError, match=f"has Toolwire {__version__}, the server 9.9"):
        node.run_job(words(tmp_path, door, b"s" * 64, version="9.9"))


def test_a_node_without_the_folder_says_so(tmp_path: Path, door: Listener) -> None:
    given = words(tmp_path, door, door.expect(lambda peer: None))
    given["spec"]["folder"] = str(tmp_path / "missing")

    with pytest.raises(RuntimeError, match=r"the node .*missing"):
        node.run_job(given)


def test_a_node_that_does_not_reach_the_server_says_so(tmp_path: Path, door: Listener) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = closed.getsockname()

    with pytest.raises(RuntimeError, match=r"the node .* refused .*127\.0\.0\.1"):
        node.run_job(words(tmp_path, door, b"s" * 64, address=address))


def test_a_worker_that_is_lost_has_no_exit_status() -> None:
    ours, theirs = socket.socketpair()
    worker = Worker(ours)

    theirs.close()

    assert worker.ended.wait(PATIENCE_SECONDS)
    assert (worker.status, worker.lost) == (None, True)
    worker.transport.close()
