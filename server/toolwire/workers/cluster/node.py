"""The job that an engine runs on a node: it starts a worker process there, connected with the
server.

Strategy. The job holds its place in the engine exactly as long as the server wants: the worker is a
process, which is killed when the server, the network or the engine's own process ends. Frames go
over one connection, both ways.

A call that is a task of a store outlives its server: then the node keeps the worker, and connects
to the same address until a later server listens there. That one gets the last message, in case the
earlier one has not read or not kept it.
"""

from __future__ import annotations

import hmac
import os
import socket
import threading
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client.errors import NotStarted, ServerGone

from ...guarded_process import GuardedProcess
from ...tasks.kept_jobs import KeptJob
from ...version import __version__
from ..worker_spec import WorkerSpec, make_command

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET_BYTES = 32
"""Of each half of a secret."""

DATA, STDERR, END, KEEP = b"d", b"e", b"x", b"k"
"""The kinds of frames: standard input or output, stderr, the end (of the input, or with the exit
status), and a `KeptJob`, or nothing once the job is to end with its server again.
"""

_HANDSHAKE_SECONDS = 30.0
_KILL_SECONDS = 2.0
_RETRY_SECONDS = 1.0
"""How long until a node tries again to find a server."""

_MOST_REFUSALS = 10
"""By programs at the address of the server, until the job ends."""


def run_job(words: dict[str, Any]) -> None:
    """Run a worker process for the server that has submitted *words*, until one of both ends.

    Raises:
        RuntimeError: if that is not possible on this node. Engines can pass it on, since every
            Python has the class.
    """
    here = f"the node {socket.gethostname()}"
    if words["version"] != __version__:
        raise RuntimeError(f"{here} has Toolwire {__version__}, the server {words['version']}")
    try:
        with socket.create_connection(words["address"], _HANDSHAKE_SECONDS) as connection:
            connection.sendall(words["secret"][:SECRET_BYTES])
            if not hmac.compare_digest(
                receive(connection, _HANDSHAKE_SECONDS), words["secret"][SECRET_BYTES:]
            ):
                raise ConnectionRefusedError("another program listens there")
            keep_alive(connection)
            _serve(msgspec.convert(words["spec"], WorkerSpec), connection)
    except (OSError, NotStarted) as error:
        raise RuntimeError(f"{here}: {error} (the server is at {words['address']})") from None


def _serve(spec: WorkerSpec, connection: socket.socket) -> None:
    worker = _Worker(spec, connection)
    try:
        worker.start(worker.pass_on, worker.pass_on_end)
        worker.serve(connection)
        while worker.kept is not None:
            found = find_server(worker.kept)
            if found is None:
                break
            with found:
                worker.serve_again(found)
    finally:
        worker.kill()
        # Before its input is closed: it would end by itself, and log that.
        worker.exit_status(_KILL_SECONDS)
        worker.close()


class _Worker(GuardedProcess):
    """A worker process of *spec*, whose output goes to *connection*."""

    def __init__(self, spec: WorkerSpec, connection: socket.socket) -> None:
        super().__init__(partial(make_command, spec, ""), env=None, cwd=spec.folder)
        self.kept: KeptJob | None = None
        """Where to find a later server, if the job is to outlive this one."""
        self._connection = connection
        self._sending = threading.Lock()
        self._last_line = b""
        self._unfinished = bytearray()
        self._end_frame = b""

    def serve(self, connection: socket.socket) -> None:
        """Pass on what comes on *connection* until it ends."""
        for kind, data in read_frames(connection):
            if kind == DATA:
                self.send(data)
            elif kind == KEEP:
                self.kept = msgspec.json.decode(data, type=KeptJob) if data else None
            else:
                self.finish_input()

    def serve_again(self, connection: socket.socket) -> None:
        """Serve a later server, which gets the last message first."""
        with self._sending, suppress(OSError):
            self._connection = connection
            missed = self._last_line + bytes(self._unfinished)
            connection.sendall(encode_frame(DATA, missed) + self._end_frame)
        self.serve(connection)

    def pass_on(self, data: bytes, kind: bytes = DATA) -> None:
        # If the server is gone, the connection ends, and the job.
        with suppress(OSError), self._sending:
            if self.kept is not None:
                self._remember(data, kind)
            self._connection.sendall(encode_frame(kind, data))

    def _remember(self, data: bytes, kind: bytes) -> None:
        if kind == END:
            self._end_frame = encode_frame(kind, data)
        if kind != DATA:
            return
        ended, newline, rest = data.rpartition(b"\n")
        if not newline:
            self._unfinished += data
            return
        lines = bytes(self._unfinished) + ended
        self._last_line = lines.rpartition(b"\n")[2] + b"\n"
        self._unfinished = bytearray(rest)

    def pass_on_end(self, gone: ServerGone) -> None:
        if gone.exit_status is None:  # it has only closed its output
            self.kill()
        self.pass_on(b"%d" % (self.exit_status(_KILL_SECONDS) or 0), END)

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        for data in self._read_chunks(self._process.stderr.fileno()):
            self.pass_on(data, STDERR)


def find_server(job: KeptJob) -> socket.socket | None:
    """Return a connection with a later server; `None` if the time of *job* passes without one.

    It is any process that listens at the address and has the key of the job. A server that has lost
    the job without a crash listens there, too, but refuses it: its task has failed.
    """
    deadline = time.monotonic() + job.seconds
    refusals = 0
    while time.monotonic() < deadline and refusals < _MOST_REFUSALS:
        with suppress(OSError):
            connection = socket.create_connection((job.host, job.port), _HANDSHAKE_SECONDS)
            try:
                _connect_again(connection, job)
            except OSError:
                refusals += 1
                connection.close()
                raise
            return keep_alive(connection)
        time.sleep(_RETRY_SECONDS)
    return None


def _connect_again(connection: socket.socket, job: KeptJob) -> None:
    """Prove to the server at the other end that this is *job*, and have it prove the same.

    Neither shows the key, since another program may listen at the address of a server that is gone.
    """
    ours = os.urandom(SECRET_BYTES)
    connection.sendall(job.name)
    connection.sendall(ours)
    theirs = _receive_exactly(connection)
    if not hmac.compare_digest(
        _receive_exactly(connection), _make_proof(job.key, b"server", ours, theirs)
    ):
        raise ConnectionRefusedError("another program listens there")
    connection.sendall(_make_proof(job.key, b"node", ours, theirs))


def accept_again(peer: socket.socket, keys: dict[bytes, bytes]) -> bytes:
    """Return the name of the job, one of *keys*, that *peer* proves to be; prove to be its server.

    Raises:
        OSError: if it proves nothing of the kind.
    """
    name = _receive_exactly(peer)
    theirs = _receive_exactly(peer)
    key = keys.get(name)
    if key is None:
        raise PermissionError("it is no job that this server waits for")
    ours = os.urandom(SECRET_BYTES)
    peer.sendall(ours + _make_proof(key, b"server", theirs, ours))
    if not hmac.compare_digest(_receive_exactly(peer), _make_proof(key, b"node", theirs, ours)):
        raise PermissionError("it does not have the key of its job")
    return name


def _make_proof(key: bytes, side: bytes, node: bytes, server: bytes) -> bytes:
    """Return what only a *side* with the *key* can know of the random bytes of both."""
    return hmac.digest(key, side + node + server, "sha256")


def _receive_exactly(peer: socket.socket) -> bytes:
    data = peer.recv(SECRET_BYTES, socket.MSG_WAITALL)
    if len(data) < SECRET_BYTES:
        raise ConnectionRefusedError("the connection was closed")
    return data


def encode_frame(kind: bytes = END, data: bytes = b"") -> bytes:
    """Return one message of a connection between server and node."""
    return kind + len(data).to_bytes(4) + data


def read_frames(connection: socket.socket) -> Iterator[tuple[bytes, bytes]]:
    """Yield the kind and the data of each frame until *connection* ends."""
    with suppress(OSError), connection.makefile("rb") as file:
        while len(head := file.read(5)) == 5:
            yield head[:1], file.read(int.from_bytes(head[1:]))


def receive(connection: socket.socket, seconds: float) -> bytes:
    """Return the half of a secret that the peer sends. Raises an `OSError` if it takes longer than
    *seconds*.
    """
    connection.settimeout(seconds)
    data = connection.recv(SECRET_BYTES)  # less than any packet may hold, so it comes in one piece
    if len(data) < SECRET_BYTES:
        raise ConnectionRefusedError("the connection was closed")
    return data


def keep_alive(connection: socket.socket) -> socket.socket:
    """Have the system notice within a minute if the peer's machine is gone."""
    connection.settimeout(None)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _TCP_OPTIONS.items():
        with suppress(AttributeError, OSError):  # not every system has them all
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return connection


_TCP_OPTIONS = {
    "TCP_NODELAY": 1,
    "TCP_KEEPIDLE": 20,
    "TCP_KEEPINTVL": 10,
    "TCP_KEEPCNT": 3,
    "TCP_USER_TIMEOUT": 50_000,
}
