"""Where one message ends and the next begins: lines (MCP) or `Content-Length` headers (LSP).

Strategy. The first bytes that arrive choose the framing for the whole connection. Each framing
turns chunks, cut anywhere, into *frames*: the bytes of one message, or a `Fault` for other bytes. A
fault never ends the stream: the framing finds the next message by itself. No I/O happens here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .messages import BOM, DEFAULT_MAX_MESSAGE_BYTES, KEPT_BYTES, Frame, make_oversize_fault

if TYPE_CHECKING:
    from .content_length import Headers

_BLANK = b" \t\r\n"

_MAX_BLANK_BYTES = 4 * 1024
"""A peer that sends this many blanks before its first message sends lines; the blanks need not be
kept.
"""


class AutoFraming:
    """The framing the peer chose with its first bytes; lines go out until it has."""

    def __init__(self, max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES) -> None:
        self._max_message_bytes = max_message_bytes
        self._chosen: Lines | Headers | None = None
        self._start = b""
        self.wrap = wrap_line

    def feed(self, data: bytes) -> list[Frame]:
        """Add *data* and return every message it completes, and a fault for bytes that are no
        message.
        """
        if self._chosen is not None:
            return self._chosen.feed(data)
        self._start += data
        chosen = _choose(self._start, self._max_message_bytes)
        if chosen is None:
            return []
        return self._begin(chosen)

    def close(self) -> list[Frame]:
        """Return what the end of the stream completes: a last line needs no newline."""
        first = [] if self._chosen is not None else self._begin(Lines(self._max_message_bytes))
        assert self._chosen is not None
        return first + self._chosen.close()

    def _begin(self, chosen: Lines | Headers) -> list[Frame]:
        self._chosen, self.wrap = chosen, chosen.wrap
        start, self._start = self._start, b""
        return chosen.feed(start)


def _choose(start: bytes, max_message_bytes: int) -> Lines | Headers | None:
    """The framing that *start* belongs to; `None` while that is undecided."""
    if start in (BOM[:1], BOM[:2]):
        return None
    blank = len(start[:_MAX_BLANK_BYTES]) - len(
        start[:_MAX_BLANK_BYTES].removeprefix(BOM).lstrip(_BLANK)
    )
    if blank == _MAX_BLANK_BYTES:
        return Lines(max_message_bytes)
    first = start[blank : blank + 1]
    if not first.isalpha():  # as any JSON text but true, false and null
        if not first:
            return None
        return Lines(max_message_bytes)
    from .content_length import Headers, begins_with_headers  # only editors send them

    headers = begins_with_headers(start[blank:])
    if headers is None:
        return None
    return (Headers if headers else Lines)(max_message_bytes)


def wrap_line(*messages: bytes) -> bytes:
    """Return each of *messages* as one line."""
    return b"\n".join((*messages, b""))


class Lines:
    """Newline-delimited messages: the stdio transport of MCP. Blank lines, CRLF and a BOM are
    tolerated.
    """

    wrap = staticmethod(wrap_line)

    def __init__(self, max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES) -> None:
        self._max = max_message_bytes
        self._parts: list[bytes] = []  # the unfinished line, joined only when it ends
        self._size = 0
        self._head = b""  # the start of a line known to be too long
        self._start: bytes | None = b""  # what may still be the beginning of a BOM

    def feed(self, data: bytes) -> list[Frame]:
        """As `AutoFraming.feed`."""
        if self._start is not None:
            start = self._start + data
            if len(start) < len(BOM) and BOM.startswith(start):
                self._start = start
                return []
            data, self._start = start.removeprefix(BOM), None
        lines = data.split(b"\n")
        rest = lines.pop()
        frames: list[Frame] = []
        if lines:
            if self._parts:
                lines[0] = self._end_line(lines[0], frames)
            for line in lines:
                if len(line) > self._max:
                    frames.append(make_oversize_fault(len(line), self._max, line, line))
                elif line and not line.isspace():
                    frames.append(line)
        if rest:
            self._keep(rest)
        return frames

    def close(self) -> list[Frame]:
        """As `AutoFraming.close`."""
        if self._size or self._start:
            return self.feed(b"\n")
        return []

    def _keep(self, part: bytes) -> None:
        """Add *part* to the unfinished line; of one beyond the limit only the two ends are kept."""
        self._size += len(part)
        self._parts.append(part)
        if self._size > self._max:
            line = b"".join(self._parts)
            self._head = self._head or line[:KEPT_BYTES]
            self._parts = [line[-KEPT_BYTES:]]

    def _end_line(self, last: bytes, frames: list[Frame]) -> bytes:
        """Return the whole line that *last* ends; if that was found too long before, a fault and
        nothing.
        """
        line = b"".join((*self._parts, last)) if self._parts else last
        size, head = self._size + len(last), self._head
        self._parts, self._size, self._head = [], 0, b""
        if head:
            frames.append(make_oversize_fault(size, self._max, head, line))
            line = b""
        return line
