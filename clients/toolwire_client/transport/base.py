"""Transports to a server: their interface, and the one to a server in this process."""

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
    """Carries bytes to a running server, and from it."""

    def start(self, on_data: OnData, on_end: OnEnd) -> None:
        """Start reading. *on_data* receives the chunks in order, then *on_end* why there are no
        more; on any thread.
        """

    def send(self, data: bytes, *, more_follows: bool = False) -> None:
        """Deliver *data* after all data sent before; if *more_follows*, with more, or at `flush`.
        Never blocks.
        """

    def flush(self) -> None:
        """Deliver all data sent before. Never blocks."""

    def close(self) -> None:
        """End the server and wait for its end. A second call does nothing."""

    def get_stderr_tail(self) -> str: ...

    @property
    def pid(self) -> int | None: ...


class Embedded(Protocol):
    """One conversation of a server in this process. Its output goes to the `Write` it was created
    with.
    """

    def feed(self, data: bytes) -> None:
        """Handle *data*, any chunk of the stream, without waiting for the calls it starts."""

    def end(self) -> None:
        """Write the outstanding responses and stop."""


class InProcess(Protocol):
    """A server in this process, such as `toolwire.Server`."""

    def open_session(self, write: Write, /) -> Embedded:
        """Return a session whose output goes to *write*, from any thread, one chunk at a time."""


class InMemoryTransport:
    """The transport to a server in this process; *begin* starts its conversation."""

    pid = None

    def __init__(self, begin: Callable[[Write], Embedded]) -> None:
        self._begin = begin
        self._server: Embedded | None = None
        self._outbox: deque[bytes] = deque()
        self._feeding = Lock()

    def start(self, on_data: OnData, on_end: OnEnd) -> None:
        self._server = self._begin(on_data)

    def send(self, data: bytes, *, more_follows: bool = False) -> None:
        # Feeding may produce responses that lead to more sends, so one thread at a time feeds all
        # that is queued.
        self._outbox.append(data)
        while self._outbox and self._server is not None and self._feeding.acquire(blocking=False):
            try:
                while self._outbox:
                    self._server.feed(self._outbox.popleft())
            finally:
                self._feeding.release()

    def flush(self) -> None:
        pass  # nothing is held

    def close(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.end()

    def get_stderr_tail(self) -> str:
        return ""
