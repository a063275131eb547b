"""Server-sent events as models' APIs use them: the data of each, from bytes in any pieces. No I/O.

httpx2's own reader cannot be left during a stream, as for an oversized event, without leaving generators open; and it
loses a last event without a blank line. A lone CR, which the standard allows as the end of a line, is not one here.
"""

from __future__ import annotations


class Events:
    """Takes bytes and returns the data of the events in them."""

    def __init__(self) -> None:
        self._line: list[bytes] = []  # the one that is not complete, in pieces
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[bytes]:
        """Add *piece* and return the data of every event that it completes."""
        if b"\n" not in piece:
            self._line.append(piece)
            return []
        *lines, rest = b"".join([*self._line, piece]).split(b"\n")
        self._line = [rest]
        return self._events(lines)

    def finish(self) -> list[bytes]:
        """Return the data of an unfinished last event."""
        return self._events([b"".join(self._line), b""])

    def _events(self, lines: list[bytes]) -> list[bytes]:
        events = []
        for line in (line.removesuffix(b"\r") for line in lines):
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
            elif not line and self._data:
                events.append(b"\n".join(self._data))
                self._data = []
        return events
