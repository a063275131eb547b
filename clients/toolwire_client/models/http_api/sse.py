"""Server-sent events as models' APIs use them: the data of each, from bytes in any pieces. No I/O.

httpx2's own reader cannot be left during a stream, as for an oversized event, without leaving generators open; and it
loses a last event without a blank line.
"""

from __future__ import annotations

import re

_LINE_END = re.compile(rb"\r\n|\n|\r(?=[^\n])")  # a CR at the very end may be half of a CRLF
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Events:
    """Takes bytes and returns the data of the events in them."""

    def __init__(self) -> None:
        self._line: list[bytes] = [b""]  # the one that is not complete, in pieces
        self._data: list[bytes] = []
        self._is_first = True

    def feed(self, piece: bytes) -> list[bytes]:
        """Add *piece* and return the data of every event that it completes."""
        if not _has_end(self._line[-1][-1:] + piece):
            self._line.append(piece)
            return []
        *lines, rest = _LINE_END.split(b"".join([*self._line, piece]))
        self._line = [rest]
        return self._events(lines)

    def finish(self) -> list[bytes]:
        """Return the data of an unfinished last event."""
        return self._events([b"".join(self._line).removesuffix(b"\r"), b""])

    def _events(self, lines: list[bytes]) -> list[bytes]:
        events = []
        for line in lines:
            name, _, value = line.partition(b":")
            if self._is_first:
                name, self._is_first = name.removeprefix(_BYTE_ORDER_MARK), False
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
            elif not line and self._data:
                events.append(b"\n".join(self._data))
                self._data = []
        return events


def _has_end(data: bytes) -> bool:
    return b"\n" in data or b"\r" in data
