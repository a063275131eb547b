"""Keeps the events that the page shows live: messages, stderr, changes of state, events of a call,
a check or a run.

Strategy. Events are kept once, as lines, up to a limit; a reader only has a place among them. So a
slow reader, or many of them, take no memory, and a page that comes back continues where it was.
"""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
from toolwire_client.waiting.event_loop import make_loop_scheduler
from toolwire_schemas.output import Output

from ..wrapping.recording import Entries

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Container

MAX_EVENTS, MAX_BYTES = 10_000, 32 * 1024 * 1024
MAX_MESSAGE_BYTES = 8 * 1024 * 1024
"""The longest message that is kept: one must not push out all others."""

_BATCH_BYTES = 64 * 1024  # that are written at once, about

encode = msgspec.json.Encoder(enc_hook=str).encode
"""Writes what was read, and `Html` as text."""


class _Kind(msgspec.Struct):
    type: str


_decode_kind = msgspec.json.Decoder(_Kind).decode


class Feed:
    """The last events, at most *max_events* and, beyond the last, *max_bytes*. It belongs to one
    event loop.
    """

    def __init__(self, max_events: float = MAX_EVENTS, max_bytes: float = MAX_BYTES) -> None:
        self._max_events, self._max_bytes = max_events, max_bytes
        self._lines: deque[bytes] = deque()
        self._first, self._bytes, self._is_closed = 1, 0, False
        self._changed = anyio.Event()

    def add(self, kind: str, **members: Any) -> None:
        """Add an event with these *members*; a message has an *entry* of a recording."""
        number = self._first + len(self._lines)
        line = encode({"number": number, "type": kind, "at": datetime.now(UTC), **members}) + b"\n"
        self._lines.append(line)
        self._bytes += len(line)
        while len(self._lines) > self._max_events or (
            self._bytes > self._max_bytes and len(self._lines) > 1
        ):
            self._first += 1
            self._bytes -= len(self._lines.popleft())
        self._wake()

    def close(self) -> None:
        """End all readers, after what is there."""
        self._is_closed = True
        self._wake()

    async def follow(self, after: int) -> AsyncGenerator[bytes, None]:
        """Yield all events with a number above *after*, and those to come, as lines, until the feed
        is closed.
        """
        while True:
            start = min(after + 1 - self._first, len(self._lines))
            count = 1 + _BATCH_BYTES * len(self._lines) // max(1, self._bytes)
            if start < 0:
                after -= start
                yield encode({"number": after, "type": "gap", "dropped": -start}) + b"\n"
            elif lines := list(islice(self._lines, start, start + count)):
                after += len(lines)
                yield b"".join(lines)
            elif self._is_closed:
                return
            else:
                await self._changed.wait()

    def format_recording(self) -> bytes:
        """Return the messages among the events as a recording."""
        events = map(msgspec.json.decode, self._lines)
        return b"".join(
            encode(event["entry"]) + b"\n" for event in events if event["type"] == "message"
        )

    def list_events(self, kinds: Container[str]) -> list[msgspec.Raw]:
        """Return the events of these *kinds* that are kept, as JSON."""
        lines = list(self._lines)
        return [msgspec.Raw(line) for line in lines if _decode_kind(line).type in kinds]

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


class Traffic(Entries, Output):
    """Adds the messages and the stderr of a recorded server to *feed*, from any thread.

    *on_line* receives each line of the stderr, in the thread of the event loop.
    """

    def __init__(self, feed: Feed, on_line: Callable[[str], object] = lambda text: None) -> None:
        super().__init__(MAX_MESSAGE_BYTES)
        self._feed, self._soon, self._on_line = feed, make_loop_scheduler(), on_line

    def _keep(self, line: bytes) -> None:
        self._soon(partial(self._feed.add, "message", entry=msgspec.Raw(line)))

    def write_line(self, text: str) -> None:
        """Add a line of the server's stderr."""
        shown = self._redactor.redact_text(text)
        self._soon(partial(self._feed.add, "stderr", text=shown))
        self._soon(partial(self._on_line, shown))
