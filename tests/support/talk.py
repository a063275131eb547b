"""A client of a server in this process, which a test drives message by message."""

from __future__ import annotations

import json
from queue import SimpleQueue
from typing import Any

from toolwire import Server


class Talk:
    """A session with *server* that a test drives message by message."""

    def __init__(self, server: Server) -> None:
        self._sent: SimpleQueue[Any] = SimpleQueue()
        self.session = server.open_session(self._write)

    def _write(self, data: bytes) -> None:
        for line in data.splitlines():
            self._sent.put(json.loads(line))

    def send(self, message: dict[str, Any]) -> None:
        self.session.feed(json.dumps(message).encode() + b"\n")

    def next(self) -> Any:
        return self._sent.get(timeout=10)
