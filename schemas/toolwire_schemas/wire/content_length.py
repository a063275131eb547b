"""Messages with `Content-Length: N` headers: the base protocol of LSP 3.17, for editors."""

from __future__ import annotations

import re

from .messages import BOM, DEFAULT_MAX_MESSAGE_BYTES, KEPT_BYTES, Fault, Frame, make_oversize_fault

# A header field name at the start of a line: where to go on after a header block or a length was
# wrong. Its line end cannot stand inside a JSON string and its text not outside of one, so in the
# body of a message it proves that the length announced for that body was too large.
# Every part has a limit, so that a match is shorter than KEPT_BYTES and what may still become one
# is not searched again and again as it grows.
_NEXT_HEADER = re.compile(
    rb"content-length[ \t]{0,64}:[ \t]{0,64}\d{1,18}[ \t]{0,64}\r?\n", re.IGNORECASE
)

_LEADING = re.compile(rb"(?:\xef\xbb\xbf|[ \t\r\n]+)*")
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_LENGTH = re.compile(
    rb"(?:^|\n)" + _NEXT_HEADER.pattern.replace(rb"\d{1,18}", rb"(\d{1,18})"), re.IGNORECASE
)

_FIELD = rb"[A-Za-z][A-Za-z0-9-]*[ \t]{0,64}:"
_FIELD_START = re.compile(_FIELD + rb"|[A-Za-z][A-Za-z0-9-]*[ \t]{0,64}\Z|\Z")
_FIELDS = re.compile(rb"(?:" + _FIELD + rb"[^\r\n]*\r\n)*")
_CONTENT_FIELD = re.compile(rb"^content-", re.IGNORECASE | re.MULTILINE)
_UNFINISHED_FIELD = re.compile(
    rb"(?:" + _FIELD + rb"[^\r\n]*\r?|[A-Za-z][A-Za-z0-9-]*[ \t]{0,64}|)\Z"
)

# What may still become a header when more bytes come, at the end of what is there.
_WORD = b"Content-Length"
_UNFINISHED = re.compile(
    rb"(?:"
    + rb"|".join(_WORD[:size] for size in range(1, len(_WORD)))
    + rb"|Content-Length[ \t]{0,64}(?::[ \t]{0,64}(?:\d{1,18}[ \t]{0,64}\r?)?)?)\Z"
)


_MAX_HEADER_BYTES = 8 * 1024
"""A header block is two short lines; what goes on for longer is something else."""


def begins_with_headers(start: bytes) -> bool | None:
    """Return whether a stream that begins with *start* has headers; `None` while that is undecided.

    A block may begin with any field, but only a `Content-` field distinguishes it from text: a
    first line such as `error: no tools` is a line like any other. The lines before that field must
    end with CRLF, as LSP says.
    """
    head = start[:_MAX_HEADER_BYTES]
    fields = _FIELDS.match(head)
    assert fields is not None  # it may be empty
    if _CONTENT_FIELD.search(head, 0, fields.end() + len("Content-")):
        return True
    unfinished = len(head) < _MAX_HEADER_BYTES and _UNFINISHED_FIELD.match(head, fields.end())
    if unfinished:
        return None
    return False


def wrap_with_header(*messages: bytes) -> bytes:
    """Return each of *messages* after its `Content-Length` header."""
    return b"".join(
        [b"Content-Length: %d\r\n\r\n%b" % (len(message), message) for message in messages]
    )


class Headers:
    """Messages with `Content-Length: N` headers: the base protocol of LSP.

    After a fault the next thing served is the next `Content-Length` header, wherever it begins:
    also inside the body of a message whose announced length was too large.
    """

    wrap = staticmethod(wrap_with_header)

    def __init__(self, max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES) -> None:
        self._max = max_message_bytes
        self._buffer = bytearray()
        self._step = self._read_header  # what the next bytes are: `_header`, `_body` or `_lost`
        self._length = 0  # of the body, as announced
        self._dropped = 0  # how much of a body beyond the limit is gone already
        self._head = b""  # and how that began
        self._searched = 0  # up to where what is looked for is known not to be

    def feed(self, data: bytes) -> list[Frame]:
        """As `AutoFraming.feed`."""
        self._buffer += data
        frames: list[Frame] = []
        while self._step(frames):
            pass
        return frames

    def close(self) -> list[Frame]:
        """As `AutoFraming.close`: a message that the end cuts off is a fault."""
        step, rest = self._step, self._take(len(self._buffer))
        self._expect_header()
        if step == self._read_body:
            problem = (
                f"the stream ended after {self._dropped + len(rest)} of {self._length} bytes"
                " announced"
            )
            return [Fault(problem, head=self._head or rest[:KEPT_BYTES], tail=rest[-KEPT_BYTES:])]
        if step == self._read_header and rest.strip():
            return [Fault("the stream ended inside a header")]
        return []

    def _read_header(self, frames: list[Frame]) -> bool:
        leading = _LEADING.match(self._buffer)
        assert leading is not None
        del self._buffer[: leading.end()]
        if self._buffer in (BOM[:1], BOM[:2]):
            return False
        if (
            _FIELD_START.match(self._buffer, 0, _MAX_HEADER_BYTES) is None
        ):  # a longer name is a header that is too long
            return self._lose("expected a Content-Length header", frames)
        end = _HEADER_END.search(self._buffer, self._searched, _MAX_HEADER_BYTES)
        if end is None:
            if len(self._buffer) < _MAX_HEADER_BYTES:
                self._searched = max(0, len(self._buffer) - 3)
                return False
            skip = _MAX_HEADER_BYTES - KEPT_BYTES
            return self._lose(f"a header of more than {_MAX_HEADER_BYTES} bytes", frames, skip)
        length = _LENGTH.search(bytes(self._buffer[: end.end()]))
        if length is None:
            return self._lose(
                "a header without a Content-Length that is a whole number of bytes", frames
            )
        del self._buffer[: end.end()]
        self._length, self._dropped, self._head, self._searched = int(length[1]), 0, b"", 0
        self._step = self._read_body
        return True

    def _read_body(self, frames: list[Frame]) -> bool:
        end = self._length - self._dropped
        next_header = self._find_header(end)
        if next_header is not None:
            part = self._take(next_header)
            problem = (
                f"Content-Length announced {self._length} bytes, but the next header came after"
            )
            size = self._dropped + len(part)
            frames.append(
                Fault(
                    f"{problem} {size}",
                    head=self._head or part[:KEPT_BYTES],
                    tail=part[-KEPT_BYTES:],
                )
            )
        elif len(self._buffer) < end or self._searched < end:
            if self._length > self._max:
                self._drop()
            return False
        elif self._length > self._max:
            part = self._take(end)
            frames.append(make_oversize_fault(self._length, self._max, self._head or part, part))
        else:
            frames.append(self._take(end))
        return self._expect_header()

    def _give_up(self, frames: list[Frame]) -> bool:
        found = _NEXT_HEADER.search(self._buffer)
        del self._buffer[
            : max(0, len(self._buffer) - KEPT_BYTES) if found is None else found.start()
        ]
        return found is not None and self._expect_header()

    def _expect_header(self) -> bool:
        self._step, self._searched = self._read_header, 0
        return True

    def _lose(self, problem: str, frames: list[Frame], skip: int = 1) -> bool:
        """Skip at least a byte, so that the search for the next header cannot find the same one
        again.
        """
        frames.append(Fault(f"out of frame: {problem}; skipped to the next one"))
        del self._buffer[:skip]
        self._step = self._give_up
        return True

    def _find_header(self, end: int) -> int | None:
        """Where in the body, up to *end*, the next header begins already, which no JSON text can
        contain.

        `_searched` is *end* once the body is known to contain none.
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
        surplus = self._searched - KEPT_BYTES
        if surplus >= KEPT_BYTES:
            self._head = self._head or bytes(self._buffer[:KEPT_BYTES])
            del self._buffer[:surplus]
            self._dropped += surplus
            self._searched = KEPT_BYTES
