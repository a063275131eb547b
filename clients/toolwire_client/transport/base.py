"""What leads to a server: its process, or memory to a server in this one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import Protocol

from ..errors import ServerGone

OnData = Callable[[bytes], None]
OnEnd = Callable[[ServerGone], None]
Write = Callable[[bytes], None]


class Transport(Protocol):
    """Bytes to a server, which is there already, and from it."""

    def start(self, on_data: OnData, on_end: OnEnd) -> None:
        """Read. *on_data* is given what comes, in pieces and in order, *on_end* why there is no more; on any thread."""

    def send(self, data: bytes) -> None:
        """Have *data* delivered, behind what was sent before. Never waits."""

    def close(self) -> None:
        """End the server, and wait for that. A second time does nothing."""

    def stderr_tail(self) -> str:
        """Return the last lines the server wrote to its stderr."""

    @property
    def pid(self) -> int | None:
        """The server's process id; `None` if it has no process of its own."""


class Embedded(Protocol):
    """A conversation that something in this process carries on: what it says goes to the `Write` it was made with."""

    def feed(self, data: bytes) -> None:
        """Deal with *data*, which may be any part of the stream, without waiting for what it leads to."""

    def end(self) -> None:
        """Say what is still owed, and stop."""


class InProcess(Protocol):
    """A server in this process, such as `toolwire.Server`."""

    def converse(self, write: Write, /) -> Embedded:
        """Begin a conversation; what it says goes to *write*, from any thread, one piece at a time."""


class InMemoryTransport:
    """Leads to a server within this process: *begin* is given what writes to us, and returns the conversation."""

    pid = None

    def __init__(self, begin: Callable[[Write], Embedded]) -> None:
        self._begin = begin
        self._server: Embedded | None = None
        self._outbox: deque[bytes] = deque()
        self._feeding = Lock()

    def start(self, on_data: OnData, on_end: OnEnd) -> None:
        """As `Transport.start`; nothing but `close` ends it."""
        self._server = self._begin(on_data)

    def send(self, data: bytes) -> None:
        """As `Transport.send`."""
        # Its answers may come while it is fed, and lead to more: so it is fed by one at a time, who feeds all there is.
        self._outbox.append(data)
        while self._outbox and self._server is not None and self._feeding.acquire(blocking=False):
            try:
                while self._outbox:
                    self._server.feed(self._outbox.popleft())
            finally:
                self._feeding.release()

    def close(self) -> None:
        """As `Transport.close`."""
        server, self._server = self._server, None
        if server is not None:
            server.end()

    def stderr_tail(self) -> str:
        """As `Transport.stderr_tail`: it has none of its own."""
        return ""
