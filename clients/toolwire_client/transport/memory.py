"""The way to a server in this process."""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .base import Embedded, OnData, OnEnd, Write


class Memory:
    """Leads to a server within this process: *begin* is given what writes to us, and returns the conversation."""

    pid = None

    def __init__(self, begin: Callable[[Write], Embedded]) -> None:
        self._begin = begin
        self._server: Embedded | None = None
        self._outbox: deque[bytes] = deque()
        self._feeding = Lock()

    def start(self, on_data: OnData, on_end: OnEnd) -> None:
        """As `Wire.start`; nothing but `close` ends it."""
        self._server = self._begin(on_data)

    def send(self, data: bytes) -> None:
        """As `Wire.send`."""
        # Its answers may come while it is fed, and lead to more: so it is fed by one at a time, who feeds all there is.
        self._outbox.append(data)
        while self._outbox and self._server is not None and self._feeding.acquire(blocking=False):
            try:
                while self._outbox:
                    self._server.feed(self._outbox.popleft())
            finally:
                self._feeding.release()

    def close(self) -> None:
        """As `Wire.close`."""
        server, self._server = self._server, None
        if server is not None:
            server.end()

    def stderr_tail(self) -> str:
        """As `Wire.stderr_tail`: it has none of its own."""
        return ""
