"""Keeps the events that the page shows live: messages, stderr, changes of state, events of a run.

Strategy. Events are kept once, as lines, up to a limit; a reader only has a place among them. So a slow reader, or many
of them, take no memory, and a page that comes back continues where it was.
"""

from __future__ import annotations

import threading
from collections import deque
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import anyio
import msgspec
from toolwire_client.waiting.event_loop import loop_scheduler
from toolwire_schemas.output import Output

from ..wrapping.recording import Entries

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..wrapping.recording import Entry

    Kind = Literal["status", "changed", "message", "stderr", "run"]

MAX_EVENTS, MAX_BYTES = 10_000, 32 * 1024 * 1024

MAX_MESSAGE_BYTES = 8 * 1024 * 1024
"""The longest message that is kept: one must not push out all others."""

_BATCH_BYTES = 256 * 1024


class Feed:
    """The last events, at most *max_events* and *max_bytes* of them. Its methods may be called from any thread."""

    def __init__(self, max_events: float = MAX_EVENTS, max_bytes: float = MAX_BYTES) -> None:
        self._max_events, self._max_bytes = max_events, max_bytes
        self._lines: deque[tuple[Kind, bytes]] = deque()
        self._first, self._bytes = 1, 0
        self._is_closed = False
        self._lock = threading.Lock()
        self._wakers: list[Callable[[], object]] = []

    def add(self, kind: Kind, **members: Any) -> None:
        """Add an event with these *members*."""
        with self._lock:
            number = self._first + len(self._lines)
            line = msgspec.json.encode({"number": number, "type": kind, **members}) + b"\n"
            self._lines.append((kind, line))
            self._bytes += len(line)
            while len(self._lines) > self._max_events or self._bytes > self._max_bytes:
                self._first += 1
                self._bytes -= len(self._lines.popleft()[1])
        self._wake()

    def close(self) -> None:
        """End all readers, after what is there."""
        self._is_closed = True
        self._wake()

    async def follow(self, after: int, write: Callable[[bytes], Awaitable[object]]) -> None:
        """Write all events with a number above *after*, and those to come, until the feed is closed."""
        schedule = loop_scheduler()
        while True:
            arrived = anyio.Event()
            with self._lock:
                chunk, after = self._after(after)
                if not chunk:
                    self._wakers.append(lambda arrived=arrived: schedule(arrived.set))  # type: ignore[misc]
            if chunk:
                await write(chunk)
            elif self._is_closed:
                return
            else:
                await arrived.wait()

    def recording(self) -> bytes:
        """Return the messages among the events as a recording."""
        with self._lock:
            lines = [line for kind, line in self._lines if kind == "message"]
        return b"".join(bytes(_entry_of(line).entry) + b"\n" for line in lines)

    def _after(self, number: int) -> tuple[bytes, int]:
        """Return events with numbers above *number*, as many as are written at once, and the last one's number."""
        lines, size = [], 0
        start = min(max(0, number), self._first + len(self._lines) - 1) - self._first + 1
        if start < 0:
            gap = {"number": self._first - 1, "type": "gap", "dropped": -start}
            lines.append(msgspec.json.encode(gap) + b"\n")
            start = 0
        for _, line in islice(self._lines, start, None):
            if size > _BATCH_BYTES:
                break
            lines.append(line)
            size += len(line)
            start += 1
        return b"".join(lines), self._first + start - 1

    def _wake(self) -> None:
        with self._lock:
            wakers, self._wakers = self._wakers, []
        for wake in wakers:
            wake()


class _Message(msgspec.Struct):
    entry: msgspec.Raw


_entry_of = msgspec.json.Decoder(_Message).decode


class Traffic(Entries):
    """Adds the messages of a recorded server to *feed*."""

    def __init__(self, feed: Feed) -> None:
        super().__init__()
        self._feed = feed
        self.stderr = _Stderr(self)

    def _keep(self, entry: Entry) -> None:
        try:
            line = msgspec.json.encode(entry)
        except (ValueError, RecursionError) as error:
            line = msgspec.json.encode(msgspec.structs.replace(entry, type="Noise", message=None, text=f"[{error}]"))
        if len(line) > MAX_MESSAGE_BYTES:
            text = f"[a message of {len(line):,} bytes, of which none is kept]"
            line = msgspec.json.encode(msgspec.structs.replace(entry, type="Noise", message=None, text=text))
        self._feed.add("message", entry=msgspec.Raw(line))

    def add_stderr(self, text: str) -> None:
        """Add a line of the server's stderr."""
        self._feed.add("stderr", at=now(), text=self._redactor.text(text))


class _Stderr(Output):
    """The output that gets the stderr of a server, line by line."""

    def __init__(self, traffic: Traffic) -> None:
        self.line = traffic.add_stderr  # type: ignore[method-assign]

    def flush(self) -> None: ...


def now() -> datetime:
    """Return the time of an event that happens now."""
    return datetime.now(UTC)
