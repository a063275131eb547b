"""The server's end of the connections with nodes: a listener for the process, and a transport for
each worker.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import socket
import sys
import threading
import time
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import cache, partial
from queue import SimpleQueue
from typing import TYPE_CHECKING

import msgspec
from toolwire_client.errors import ServerGone
from toolwire_client.waiting.base import Waiting, run_in_daemon_thread
from toolwire_schemas.output import LineOutput, Output
from toolwire_schemas.threads import start_thread

from ... import log
from ...guarded_process import RUNNING, end_all
from ...tasks.kept_jobs import KeptJob
from .node import DATA, KEEP, SECRET_BYTES, STDERR, encode_frame, keep_alive, read_frames, receive

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_client.transport.base import OnData, OnEnd

_MAX_PEERS = 32
"""How many peers may show their secrets at a time; the system keeps further ones waiting, or
refuses them.
"""

_PEER_SECONDS = 5.0
"""How long each may take: much less than a node waits, so that silent peers do not keep a worker
from its turn.
"""

_END_SECONDS = 6.0
"""How long a node may take to kill a worker: the subreaper takes up to five."""


@cache
def get_listener(host: str) -> Listener:
    """Return the listener of this process on *host*; raises an `OSError` if that is no address of
    this machine.
    """
    return Listener(host)


class Listener:
    """Accepts connections from workers, each by a secret that is good for one."""

    def __init__(self, host: str) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, 0), family=family)
        self.address: tuple[str, int] = self._socket.getsockname()[:2]
        self._expected: dict[bytes, tuple[bytes, Callable[[socket.socket], object]]] = {}
        self._admitting = threading.Lock()
        self._places = threading.Semaphore(_MAX_PEERS)
        start_thread(self._accept, "toolwire-listener")

    def expect(self, take: Callable[[socket.socket], object]) -> bytes:
        """Return a new secret: the half that the worker sends, and the one that it receives. *take*
        gets its peer.
        """
        theirs, ours = os.urandom(SECRET_BYTES), os.urandom(SECRET_BYTES)
        self._expected[_make_key(theirs)] = (ours, take)
        return theirs + ours

    def forget(self, secret: bytes) -> None:
        """Refuse *secret* from now on: nothing is taken any more after the return."""
        with self._admitting:
            self._expected.pop(_make_key(secret[:SECRET_BYTES]), None)

    def _accept(self) -> None:
        while True:
            self._places.acquire()
            try:
                peer, address = self._socket.accept()
                start_thread(self._admit, "toolwire-admission", peer, address[0])
            except (OSError, RuntimeError) as error:  # no descriptor is free, or no thread
                self._places.release()
                log.warn_rarely("listener", f"workers on nodes cannot connect: {error}")
                time.sleep(0.1)

    def _admit(self, peer: socket.socket, host: str) -> None:
        try:
            key = _make_key(receive(peer, _PEER_SECONDS))
            with self._admitting:
                ours, take = self._expected.pop(key, (b"", None))
                if take is None:
                    raise PermissionError(
                        "it does not have the secret of a worker that this server waits for"
                    )
                peer.sendall(ours)
                take(keep_alive(peer))
        except OSError as error:
            peer.close()
            log.warn_rarely(f"refused {host}", f"a connection from {host} was refused: {error}")
        finally:
            self._places.release()


def _make_key(secret: bytes) -> bytes:
    """Return what *secret* is looked up by: the time that takes reveals nothing about the
    secrets.
    """
    return hashlib.sha256(secret).digest()


class NodeTransport:
    """The transport over *connection* to a worker on a node; see `ServerProcess`.

    *lost* is called if the connection ends without an exit status. If the node keeps its worker
    then, the transport *is_kept*.
    """

    pid = None
    waiting = Waiting()
    has_lost_input = False
    """Never certain: another machine knows."""

    def __init__(
        self, connection: socket.socket, lost: Callable[[], object], *, is_kept: bool = False
    ) -> None:
        self.was_killed = False
        self._is_kept = is_kept
        self._connection = connection
        self._lost = lost
        self._unsent: SimpleQueue[bytes] = SimpleQueue()
        self._status: int | None = None
        self._ended = threading.Event()
        self._works: list[Future[None]] = []
        RUNNING.add(self)

    def start(self, on_data: OnData, on_end: OnEnd) -> None:
        self._works = [
            run_in_daemon_thread(work)
            for work in (partial(self._read, on_data, on_end), self._write)
        ]

    def send(self, data: bytes, *, more_follows: bool = False) -> None:
        self._unsent.put(encode_frame(DATA, data))

    def flush(self) -> None:
        pass  # nothing is held

    def finish_input(self) -> None:
        """Close the worker's input after all sent data. Never blocks."""
        self._unsent.put(encode_frame())

    def keep(self, request: int, seconds: float) -> KeptJob:
        """Have the node keep the worker, which runs the *request*, if this server ends: for some
        *seconds*, or until `release`. Never blocks.
        """
        host, port = self._connection.getsockname()[:2]
        job = KeptJob(
            host, port, os.urandom(SECRET_BYTES), os.urandom(SECRET_BYTES), request, seconds
        )
        self._is_kept = True
        self._unsent.put(encode_frame(KEEP, msgspec.json.encode(job)))
        return job

    def release(self) -> None:
        """Have the worker end with this server again. Never blocks."""
        if self._is_kept:
            self._unsent.put(encode_frame(KEEP))

    def kill(self) -> None:
        """Have the node kill the worker. Never blocks."""
        self.was_killed = self.was_killed or not self._ended.is_set()
        self._end_input()

    def exit_status(self, wait_seconds: float = 0.0) -> int | None:
        """Return the exit status; `None` if the worker still runs after the wait, or was lost."""
        self._ended.wait(wait_seconds)
        return self._status

    def close(self, patience_seconds: float = 0.0) -> None:
        self.finish_input()
        self._ended.wait(patience_seconds)
        self.kill()
        self._ended.wait(_END_SECONDS)
        self._shut(socket.SHUT_RDWR)
        self._unsent.put(b"")
        wait(self._works, _END_SECONDS)
        self.abandon()

    def abandon(self) -> None:
        """Close the connection: it ends when no process has it any more, so a fork of this one lets
        go of it.
        """
        RUNNING.discard(self)
        self._connection.close()

    def get_stderr_tail(self) -> str:
        return ""  # the log of this server has it all

    def _read(self, on_data: OnData, on_end: OnEnd) -> None:
        lines, text_of = (
            LineOutput(Output(sys.stderr)),
            codecs.getincrementaldecoder("utf-8")("replace").decode,
        )
        for kind, data in read_frames(self._connection):
            if kind == DATA:
                on_data(data)
            elif kind == STDERR:
                with suppress(OSError, ValueError):  # ours may be closed
                    lines.feed(text_of(data))
            else:
                self._status = int(data)
                self._end_input()  # the job waits for that, so that nothing is lost on the way
        self._ended.set()
        if self._status is None:
            self._lost()
        on_end(ServerGone(self._status, self.get_stderr_tail()))

    def _end_input(self) -> None:
        """End the connection towards the node. One that may keep its worker has to know that this
        is no loss, so it gets all that was sent before.
        """
        if not self._is_kept:
            self._shut(socket.SHUT_WR)
            return
        self.release()
        self._unsent.put(b"")

    def _shut(self, how: int) -> None:
        with suppress(OSError):
            self._connection.shutdown(how)

    def _write(self) -> None:
        with suppress(OSError):
            while data := self._unsent.get():
                self._connection.sendall(data)
        self._shut(socket.SHUT_WR)


# First of all, as executors wait for their jobs.
threading._register_atexit(end_all)  # type: ignore[attr-defined]
