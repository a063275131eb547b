"""Keeps the events that the page shows live: messages, stderr, changes of state, events of a run.

Strategy. Events are kept once, as lines, up to a limit; a reader only has a place among them. So a slow reader, or many
of them, take no memory, and a page that comes back continues where it was.
"""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
from toolwire_client.waiting.event_loop import loop_scheduler
from toolwire_schemas.output import Output

from ..wrapping.recording import Entries, Entry

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

MAX_EVENTS, MAX_BYTES = 10_000, 32 * 1024 * 1024
MAX_MESSAGE_BYTES = 8 * 1024 * 1024
"""The longest message that is kept: one must not push out all others."""

_BATCH_BYTES = 256 * 1024

encode = msgspec.json.Encoder(enc_hook=str).encode
"""Writes what was read, and `Html` as text."""


class Feed:
    """The last events, at most *max_events* and *max_bytes* of them. It belongs to one event loop."""

    def __init__(self, max_events: float = MAX_EVENTS, max_bytes: float = MAX_BYTES) -> None:
        self._max_events, self._max_bytes = max_events, max_bytes
        self._lines: deque[tuple[bytes, bytes]] = deque()  # of each, and of the recording's entry in it
        self._first, self._bytes = 1, 0
        self._is_closed, self._waiting = False, list[anyio.Event]()

    def add(self, kind: str, entry: bytes = b"", **members: Any) -> None:
        """Add an event with these *members*; a message has an encoded *entry* of a recording."""
        members |= {"entry": msgspec.Raw(entry)} if entry else {"at": datetime.now(UTC)}
        number = self._first + len(self._lines)
        self._lines.append((encode({"number": number, "type": kind, **members}) + b"\n", entry))
        self._bytes += len(self._lines[-1][0])
        while len(self._lines) > self._max_events or self._bytes > self._max_bytes:
            self._first += 1
            self._bytes -= len(self._lines.popleft()[0])
        self._wake()

    def close(self) -> None:
        """End all readers, after what is there."""
        self._is_closed = True
        self._wake()

    async def follow(self, after: int, write: Callable[[bytes], Awaitable[object]]) -> None:
        """Write all events with a number above *after*, and those to come, until the feed is closed."""
        while True:
            chunk, after = self._after(after)
            if chunk:
                await write(chunk)
            elif self._is_closed:
                return
            else:
                self._waiting.append(arrived := anyio.Event())
                await arrived.wait()

    def recording(self) -> bytes:
        """Return the messages among the events as a recording."""
        return b"".join(entry + b"\n" for _, entry in self._lines if entry)

    def _after(self, number: int) -> tuple[bytes, int]:
        """Return events with numbers above *number*, as many as are written at once, and the last one's number."""
        chunk, start = bytearray(), min(number, self._first + len(self._lines) - 1) - self._first + 1
        if start < 0:
            gap = {"number": self._first - 1, "type": "gap", "dropped": -start}
            chunk += msgspec.json.encode(gap) + b"\n"
            start = 0
        for line, _ in islice(self._lines, start, None):
            chunk += line
            start += 1
            if len(chunk) > _BATCH_BYTES:
                break
        return bytes(chunk), self._first + start - 1

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for arrived in waiting:
            arrived.set()


class Traffic(Entries):
    """Adds the messages of a recorded server to *feed*, from any thread; `stderr` is the output for its stderr."""

    def __init__(self, feed: Feed) -> None:
        super().__init__()
        self._feed, self._soon, self.stderr = feed, loop_scheduler(), _Stderr(self)

    def _keep(self, entry: Entry) -> None:
        try:
            line = msgspec.json.encode(entry)
            problem = f"a message of {len(line):,} bytes" if len(line) > MAX_MESSAGE_BYTES else ""
        except (ValueError, RecursionError) as error:
            problem = str(error)
        if problem:
            line = msgspec.json.encode(Entry(type="Noise", at=entry.at, text=f"[not kept: {problem}]"))
        self._soon(partial(self._feed.add, "message", line))

    def add_stderr(self, text: str) -> None:
        """Add a line of the server's stderr."""
        self._soon(partial(self._feed.add, "stderr", text=self._redactor.text(text)))


class _Stderr(Output):
    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic

    def line(self, text: str) -> None:
        self._traffic.add_stderr(text)

    def flush(self) -> None:
        pass
