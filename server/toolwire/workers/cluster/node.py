"""The job that an engine runs on a node: it starts a worker process there, connected with the
server.

Strategy. The job holds its place in the engine exactly as long as the server wants: the worker is a
process, which is killed when the server, the network or the engine's own process ends. Frames go
over one connection, both ways.
"""

from __future__ import annotations

import hmac
import socket
import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client.errors import NotStarted, ServerGone

from ...guarded_process import GuardedProcess
from ...version import __version__
from ..worker_spec import WorkerSpec, command

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET_BYTES = 32
"""Of each half of a secret."""

DATA, STDERR, END = b"d", b"e", b"x"
"""The kinds of frames: standard input or output, stderr, and the end: of the input, or with the
exit status.
"""

_HANDSHAKE_SECONDS = 30.0
_KILL_SECONDS = 2.0


def job(words: dict[str, Any]) -> None:
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
        for kind, data in frames(connection):
            worker.send(data) if kind == DATA else worker.finish_input()
    finally:
        worker.kill()
        worker.exit_status(
            _KILL_SECONDS
        )  # before its input is closed: it would end by itself, and log that
        worker.close()


class _Worker(GuardedProcess):
    """A worker process of *spec*, whose output goes to *connection*."""

    def __init__(self, spec: WorkerSpec, connection: socket.socket) -> None:
        super().__init__(partial(command, spec, ""), env=None, cwd=spec.folder)
        self._connection = connection
        self._sending = threading.Lock()

    def pass_on(self, data: bytes, kind: bytes = DATA) -> None:
        with (
            suppress(OSError),
            self._sending,
        ):  # if the server is gone, the connection ends, and the job
            self._connection.sendall(frame(kind, data))

    def pass_on_end(self, gone: ServerGone) -> None:
        if gone.exit_status is None:  # it has only closed its output
            self.kill()
        self.pass_on(b"%d" % (self.exit_status(_KILL_SECONDS) or 0), END)

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        for data in self._read_chunks(self._process.stderr.fileno()):
            self.pass_on(data, STDERR)


def frame(kind: bytes = END, data: bytes = b"") -> bytes:
    """Return one message of a connection between server and node."""
    return kind + len(data).to_bytes(4) + data


def frames(connection: socket.socket) -> Iterator[tuple[bytes, bytes]]:
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
