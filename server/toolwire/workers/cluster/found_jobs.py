"""Finds the jobs of an earlier server, and takes their results.

Strategy. A node that has lost its server connects again and again to the address that this one had.
So the next server with the same store listens there for a while, on the ports of its jobs only, and
lets in who proves to have the key of one. It follows each job as a client would, but for one
response: there is no call any more, whose tool could ask or log.
"""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from toolwire_schemas.threads import start_thread
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import decode, encode_plain

from ... import log
from ...guarded_process import RUNNING
from .connections import NodeTransport
from .node import accept_again, keep_alive

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_schemas.wire.tasks import Status

    from ...tasks.kept_jobs import KeptJob

FIND_SECONDS = 30.0
"""How long a server waits for jobs: a node tries every second."""

_RETRY_SECONDS = 0.5
"""How long until an address that another program has is tried again."""

_PEER_SECONDS = 5.0
"""How long a peer may take to prove what it is."""


class JobOutcome(NamedTuple):
    """The end of a job."""

    status: Status
    member: bytes
    """As `Task.outcome`."""


class FoundJob:
    """One *job* that may be found. Reports its status messages to *report*, and its end to *end*:
    `None` if it has ended without a response, or was not found.
    """

    def __init__(
        self,
        job: KeptJob,
        is_modern: bool,
        report: Callable[[str], None],
        end: Callable[[JobOutcome | None], None],
    ) -> None:
        self.job = job
        self._is_modern = is_modern
        self._report = report
        self._end = end
        self._lock = threading.Lock()
        self._transport: NodeTransport | None = None
        self._is_final = False
        self._unread = bytearray()

    def follow(self, connection: socket.socket) -> None:
        """Take what comes on the *connection* to the node."""
        transport = NodeTransport(connection, lambda: None, is_kept=True)
        RUNNING.discard(transport)  # the job outlives this server, too
        with self._lock:
            self._transport, is_final = transport, self._is_final
        transport.start(self._take, lambda gone: self._lose(transport))
        if is_final:
            transport.kill()

    def finish(self, outcome: JobOutcome | None) -> None:
        """Report the end, if it is the first one, and end the process of the job."""
        with self._lock:
            if self._is_final:
                return
            self._is_final = True
            transport = self._transport
        self._end(outcome)
        if transport is not None:
            transport.kill()

    def cancel(self) -> None:
        """End the process of the job; nothing is reported."""
        with self._lock:
            self._is_final = True
            transport = self._transport
        if transport is not None:
            transport.kill()

    def _lose(self, transport: NodeTransport) -> None:
        self.finish(None)
        transport.abandon()

    def _take(self, data: bytes) -> None:
        self._unread += data
        if b"\n" not in data:
            return
        *lines, rest = self._unread.split(b"\n")
        self._unread = rest
        for line in lines:
            with suppress(ValueError):  # a half of a line that the last server has got
                self._receive(decode(bytes(line)))

    def _receive(self, message: Any) -> None:
        method, id = message.get("method"), message.get("id")
        if method is None and id == self.job.request:
            self.finish(_make_outcome(message, self._is_modern))
        elif method == "notifications/progress":
            self._report(_describe_progress(message["params"]))
        elif method is not None and id is not None:
            self._refuse(id)

    def _refuse(self, id: Any) -> None:
        """Answer a question of the tool: the client that could ask its user has gone."""
        assert self._transport is not None
        self._transport.send(messages.encode_response(id, {"action": "cancel"}) + b"\n")


def _make_outcome(message: dict[str, Any], is_modern: bool) -> JobOutcome:
    if "error" in message:
        return JobOutcome("failed", encode_plain({"error": message["error"]})[1:-1])
    result = message["result"]
    if is_modern:
        result = {"resultType": "complete", **result}
    return JobOutcome("completed", encode_plain({"result": result})[1:-1])


def _describe_progress(params: dict[str, Any]) -> str:
    message = params.get("message")
    if isinstance(message, str):
        return message
    done, total = params["progress"], params.get("total")
    return f"{done:g}" if total is None else f"{done:g} of {total:g}"


def find_jobs(jobs: list[FoundJob]) -> None:
    """Wait for the nodes of *jobs*, in threads; those that do not come have ended."""
    by_address: dict[tuple[str, int], dict[bytes, FoundJob]] = {}
    for found in jobs:
        address = (found.job.host, found.job.port)
        by_address.setdefault(address, {})[found.job.name] = found
    for address, expected in by_address.items():
        start_thread(_wait_for_nodes, "toolwire-found-jobs", address, expected)


def _wait_for_nodes(address: tuple[str, int], expected: dict[bytes, FoundJob]) -> None:
    deadline = time.monotonic() + FIND_SECONDS
    server = _listen(address, deadline)
    if server is not None:
        with server:
            _admit_nodes(server, expected, deadline)
    for found in expected.values():
        found.finish(None)


def _listen(address: tuple[str, int], deadline: float) -> socket.socket | None:
    """Return a listener on *address*; `None` if another program has it until the *deadline*."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    while time.monotonic() < deadline:
        try:
            return socket.create_server(address, family=family)
        except OSError as error:
            log.warn_rarely("found jobs", f"cannot listen for jobs on port {address[1]}: {error}")
            time.sleep(_RETRY_SECONDS)
    return None


def _admit_nodes(server: socket.socket, expected: dict[bytes, FoundJob], deadline: float) -> None:
    """Let each node of *expected* in, one after the other, and remove its job there."""
    while expected and time.monotonic() < deadline:
        server.settimeout(max(deadline - time.monotonic(), 0.01))
        with suppress(OSError):
            peer, _ = server.accept()
            peer.settimeout(_PEER_SECONDS)
            try:
                keys = {name: found.job.key for name, found in expected.items()}
                name = accept_again(peer, keys)
            except OSError:
                peer.close()
                raise
            expected.pop(name).follow(keep_alive(peer))
