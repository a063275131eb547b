"""The batches of JSON-RPC, which only MCP 2025-03-26 has."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from toolwire_schemas.wire import messages

if TYPE_CHECKING:
    from collections.abc import Callable


class Batch:
    """The responses of one batch: a single array, sent when the last member has ended.

    `size` is their total in bytes; *hold* is called with each change of it.
    """

    def __init__(self, members: int, hold: Callable[[int], None]) -> None:
        self._lock = threading.Lock()
        self._open = members
        self._responses: list[bytes] = []
        self._hold = hold
        self.size = 0

    def end(self, response: bytes | None) -> bytes | None:
        """Record the *response* of one member (`None`: it has none); return the array if it was the
        last member.

        A batch without any response is not answered at all (JSON-RPC 2.0, section 6).
        """
        with self._lock:
            self._open -= 1
            if response is not None:
                self._responses.append(response)
                self.size += len(response)
            complete = self._open == 0 and self._responses
        if response is not None:
            self._hold(len(response))
        if complete:
            self._hold(-self.size)
        return messages.encode_batch(self._responses) if complete else None
