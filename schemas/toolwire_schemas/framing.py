"""Where one message ends and the next begins: lines (MCP) or `Content-Length` headers (LSP).

Strategy. The first bytes that arrive choose the framing for the whole connection. Each framing turns
chunks, cut anywhere, into *frames*: the bytes of one message, or a `Fault` for what is none. A fault never
ends the stream: the framing finds the next message by itself. No I/O happens here.
"""

from __future__ import annotations

import re
from typing import Protocol

import msgspec

DEFAULT_MAX_MESSAGE_BYTES = 64 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"

# The header fields of the base protocol (LSP 3.17) both begin like this, and no JSON text does.
_HEADER_START = b"content-"

# A header field name at the start of a line: where to go on after a header block or a length was wrong.
# Its line end cannot stand inside a JSON string and its text not outside of one, so in the body of a
# message it proves that the length announced for that body was too large.
_NEXT_HEADER = re.compile(rb"content-length[ \t]*:[ \t]*\d+[ \t]*\r?\n", re.IGNORECASE)

_LEADING = re.compile(rb"(?:\xef\xbb\xbf|[ \t\r\n])*")
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_LENGTH = re.compile(rb"(?:^|\n)content-length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)

# What may still become a header when more bytes come, at the end of what is there.
_WORD = b"Content-Length"
_UNFINISHED = re.compile(
    rb"(?:"
    + rb"|".join(_WORD[:size] for size in range(1, len(_WORD)))
    + rb"|Content-Length[ \t]*(?::[ \t]*(?:\d+[ \t]*\r?)?)?)\Z"
)

_MAX_BLANK_BYTES = 4 * 1024
"""Whoever sends so many blanks before the first message sends lines, and they need not be kept."""

_MAX_HEADER_BYTES = 8 * 1024
"""A header block is two short lines; what goes on for longer is something else."""

_KEPT = 512
"""How much of each end of a message that cannot be served is kept, enough to find the id it carried."""


class Fault(msgspec.Struct, frozen=True):
    """What arrived in place of a message.

    `message` is a sentence for the peer. `too_large` tells a well-framed message beyond the limit from bytes
    out of frame. `head` and `tail` are the two ends of an oversize message, for finding its id.
    """

    message: str
    too_large: bool = False
    head: bytes = b""
    tail: bytes = b""


Frame = bytes | Fault


class Framing(Protocol):
    """One way of telling messages apart, incoming and outgoing."""

    def feed(self, data: bytes) -> list[Frame]:
        """Add *data* and return every message it completes, and a fault for whatever is none."""

    def close(self) -> list[Frame]:
        """Return what the end of the stream completes: a last line needs no newline."""

    def wrap(self, *messages: bytes) -> bytes:
        """Return *messages* as they go out."""


class AutoFraming:
    """The framing the peer chose with its first bytes; lines go out until it has."""

    def __init__(self, max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES) -> None:
        self._max_message_bytes = max_message_bytes
        self._chosen: Framing | None = None
        self._start = b""
        self.wrap = wrap_line

    def feed(self, data: bytes) -> list[Frame]:
        """As `Framing.feed`."""
        if self._chosen is not None:
            return self._chosen.feed(data)
        self._start += data
        chosen = _choose(self._start, self._max_message_bytes)
        return [] if chosen is None else self._begin(chosen)

    def close(self) -> list[Frame]:
        """As `Framing.close`."""
        first = [] if self._chosen is not None else self._begin(Lines(self._max_message_bytes))
        assert self._chosen is not None
        return first + self._chosen.close()

    def _begin(self, chosen: Framing) -> list[Frame]:
        self._chosen, self.wrap = chosen, chosen.wrap
        start, self._start = self._start, b""
        return chosen.feed(start)


def _choose(start: bytes, max_message_bytes: int) -> Framing | None:
    """The framing that *start* belongs to; `None` while that cannot be told."""
    if start in (_BOM[:1], _BOM[:2]):
        return None
    blank = len(start[:_MAX_BLANK_BYTES]) - len(start[:_MAX_BLANK_BYTES].removeprefix(_BOM).lstrip(_BLANK))
    if blank == _MAX_BLANK_BYTES:
        return Lines(max_message_bytes)
    lowered = start[blank : blank + len(_HEADER_START)].lower()
    if lowered == _HEADER_START:
        return Headers(max_message_bytes)
    return None if _HEADER_START.startswith(lowered) else Lines(max_message_bytes)


def wrap_line(*messages: bytes) -> bytes:
    """Return each of *messages* as one line."""
    return b"\n".join((*messages, b""))


def wrap_with_header(*messages: bytes) -> bytes:
    """Return each of *messages* behind its `Content-Length` header."""
    return b"".join([b"Content-Length: %d\r\n\r\n%b" % (len(message), message) for message in messages])


class Lines:
    """Newline-delimited messages: the stdio transport of MCP. Blank lines, CRLF and a BOM are tolerated."""

    wrap = staticmethod(wrap_line)

    def __init__(self, max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES) -> None:
        self._max = max_message_bytes
        self._parts: list[bytes] = []  # the unfinished line, joined only when it ends
        self._size = 0
        self._head = b""  # the start of a line known to be too long
        self._start: bytes | None = b""  # what may still be the beginning of a BOM

    def feed(self, data: bytes) -> list[Frame]:
        """As `Framing.feed`."""
        if self._start is not None:
            start = self._start + data
            if len(start) < len(_BOM) and _BOM.startswith(start):
                self._start = start
                return []
            data, self._start = start.removeprefix(_BOM), None
        lines = data.split(b"\n")
        rest = lines.pop()
        frames: list[Frame] = []
        if lines:
            if self._parts:
                lines[0] = self._end_line(lines[0], frames)
            for line in lines:
                if len(line) > self._max:
                    frames.append(_oversize(len(line), self._max, line, line))
                elif line and not line.isspace():
                    frames.append(line)
        if rest:
            self._keep(rest)
        return frames

    def close(self) -> list[Frame]:
        """As `Framing.close`."""
        return self.feed(b"\n") if self._size or self._start else []

    def _keep(self, part: bytes) -> None:
        """Add *part* to the unfinished line; of one beyond the limit only the two ends are kept."""
        self._size += len(part)
        self._parts.append(part)
        if self._size > self._max:
            line = b"".join(self._parts)
            self._head = self._head or line[:_KEPT]
            self._parts = [line[-_KEPT:]]

    def _end_line(self, last: bytes, frames: list[Frame]) -> bytes:
        """Return the whole line that *last* ends; if that was found too long before, a fault and nothing."""
        line = b"".join((*self._parts, last)) if self._parts else last
        size, head = self._size + len(last), self._head
        self._parts, self._size, self._head = [], 0, b""
        if head:
            frames.append(_oversize(size, self._max, head, line))
            line = b""
        return line


class Headers:
    """Messages behind `Content-Length: N` headers: the base protocol of LSP.

    After a fault the next thing served is the next `Content-Length` header, wherever it begins: also inside
    the body of a message whose announced length was too large.
    """

    wrap = staticmethod(wrap_with_header)

    def __init__(self, max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES) -> None:
        self._max = max_message_bytes
        self._buffer = bytearray()
        self._step = self._header  # what the next bytes are: `_header`, `_body` or `_lost`
        self._length = 0  # of the body, as announced
        self._dropped = 0  # how much of a body beyond the limit is gone already
        self._head = b""  # and how that began
        self._searched = 0  # up to where what is looked for is known not to be

    def feed(self, data: bytes) -> list[Frame]:
        """As `Framing.feed`."""
        self._buffer += data
        frames: list[Frame] = []
        while self._step(frames):
            pass
        return frames

    def close(self) -> list[Frame]:
        """As `Framing.close`: a message that the end cuts off is a fault."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        if self._step == self._body:
            told = f"the stream ended after {self._dropped + len(rest)} of {self._length} bytes announced"
            return [Fault(told, head=self._head or rest[:_KEPT], tail=rest[-_KEPT:])]
        if self._step == self._header and rest.strip():
            return [Fault("the stream ended inside a header")]
        return []

    def _header(self, frames: list[Frame]) -> bool:
        leading = _LEADING.match(self._buffer)
        assert leading is not None
        del self._buffer[: leading.end()]
        if self._buffer in (_BOM[:1], _BOM[:2]):
            return False
        if not _HEADER_START.startswith(self._buffer[: len(_HEADER_START)].lower()):
            return self._lose("expected a Content-Length header", frames)
        end = _HEADER_END.search(self._buffer, self._searched)
        if (len(self._buffer) if end is None else end.end()) > _MAX_HEADER_BYTES:
            return self._lose(f"a header of more than {_MAX_HEADER_BYTES} bytes", frames)
        if end is None:
            self._searched = max(0, len(self._buffer) - 3)
            return False
        length = _LENGTH.search(bytes(self._buffer[: end.end()]))
        del self._buffer[: end.end()]
        if length is None:
            return self._lose("a header without a Content-Length that is a whole number of bytes", frames)
        self._length, self._dropped, self._head, self._searched = int(length[1]), 0, b"", 0
        self._step = self._body
        return True

    def _body(self, frames: list[Frame]) -> bool:
        end = self._length - self._dropped
        next_header = self._find_header(end)
        if next_header is not None:
            part = self._take(next_header)
            told = f"Content-Length announced {self._length} bytes, but the next header came after"
            size = self._dropped + len(part)
            frames.append(Fault(f"{told} {size}", head=self._head or part[:_KEPT], tail=part[-_KEPT:]))
        elif len(self._buffer) < end or self._searched < end:
            if self._length > self._max:
                self._drop()
            return False
        elif self._length > self._max:
            part = self._take(end)
            frames.append(_oversize(self._length, self._max, self._head or part, part))
        else:
            frames.append(self._take(end))
        return self._expect_header()

    def _lost(self, frames: list[Frame]) -> bool:
        found = _NEXT_HEADER.search(self._buffer)
        del self._buffer[: max(0, len(self._buffer) - _KEPT) if found is None else found.start()]
        return found is not None and self._expect_header()

    def _expect_header(self) -> bool:
        self._step, self._searched = self._header, 0
        return True

    def _lose(self, problem: str, frames: list[Frame]) -> bool:
        frames.append(Fault(f"out of frame: {problem}; skipped to the next one"))
        self._step = self._lost
        return True

    def _find_header(self, end: int) -> int | None:
        """Where in the body, up to *end*, the next header begins already, which no JSON text can contain.

        `_searched` is *end* once it is certain that there is none.
        """
        at = self._buffer.find(_WORD, self._searched, end + len(_WORD) - 1)
        while 0 <= at < end:
            if _NEXT_HEADER.match(self._buffer, at):
                return at
            if _UNFINISHED.match(self._buffer, at):
                self._searched = at
                return None
            at = self._buffer.find(_WORD, at + 1, end + len(_WORD) - 1)
        self._searched = min(end, len(self._buffer))
        # JSON ends in a bracket nearly always, and then nothing is unfinished.
        if self._searched and not self._buffer.endswith((b"}", b"]")):
            unfinished = _UNFINISHED.search(self._buffer, max(0, len(self._buffer) - len(_WORD)))
            if unfinished is not None:
                self._searched = min(self._searched, unfinished.start())
        return None

    def _take(self, size: int) -> bytes:
        taken = bytes(memoryview(self._buffer)[:size])
        del self._buffer[:size]
        return taken

    def _drop(self) -> None:
        """Forget the middle of a body beyond the limit."""
        surplus = self._searched - _KEPT
        if surplus >= _KEPT:
            self._head = self._head or bytes(self._buffer[:_KEPT])
            del self._buffer[:surplus]
            self._dropped += surplus
            self._searched = _KEPT


def _oversize(size: int, limit: int, head: bytes, tail: bytes) -> Fault:
    problem = f"a message of {size} bytes; the limit is {limit}"
    return Fault(problem, too_large=True, head=head[:_KEPT], tail=tail[-_KEPT:])
