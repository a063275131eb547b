"""The writer of messages, framed, from one thread at a time.

Strategy. The thread that made a response writes it. Threads that must not wait for the host (the
event loop, timers, the reading thread) use the outbox, a thread of its own.

The outbox counts its bytes. Beyond the limit, `is_full` is true, and requests that lead to more
responses are refused or wait; at twice the limit, `wait_for_room` blocks the reading thread.

While calls wait, responses are buffered and written together: each write gives up the interpreter's
lock, and getting it back may take longer than many calls. The stall monitor flushes the buffer at
its next tick.
"""

from __future__ import annotations

import threading
from _queue import SimpleQueue
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
from toolwire_schemas.threads import start_thread

from .. import log

if TYPE_CHECKING:
    from toolwire_schemas.wire.framing import AutoFraming, Lines

    from ..timers import Timers

Write = Callable[[bytes], None]
Make = Callable[[], bytes | None]
"""Returns a message, if there is one to write."""

_MAX_BUFFERED = 256
_MAX_BUFFERED_BYTES = 16 * 1024
"""How many responses, and up to which size each, are buffered: beyond that, the worker waits for
the host to read.
"""

_MAX_TOGETHER_BYTES = 64 * 1024
"""About how many bytes the outbox writes together: what a pipe takes on Linux."""

_RETRY_SECONDS = 0.01

_ITEM_BYTES = 200
"""The size of an entry of the outbox without its message."""


class _Notification(msgspec.Struct):
    """A message that is made and written while no other thread writes."""

    make: Make


_Item = bytes | list[bytes] | Make | _Notification


class MessageWriter:
    """Sends messages through *write*, in the framing that the client chose.

    *when_there_is_room* is called on the outbox's thread when it is no longer full.
    """

    def __init__(
        self,
        write: Write,
        framing: AutoFraming | Lines,
        timers: Timers,
        max_unsent_bytes: int,
        when_there_is_room: Callable[[], None],
    ) -> None:
        self._timers = timers
        self._write = write
        self._framing = framing
        self._lock = threading.Lock()
        self._buffered: deque[bytes] = deque()
        self._flush_is_due = False
        self._outbox: SimpleQueue[tuple[_Item, int] | None] = SimpleQueue()
        self._max_unsent_bytes = max_unsent_bytes
        self._when_there_is_room = when_there_is_room
        self._changed = threading.Condition()  # for the number of bytes
        self.unsent_bytes = 0
        self.is_full = False
        """Whether more bytes wait for the host than allowed."""
        self._thread: threading.Thread | None = None
        self._start_lock = threading.Lock()

    # At once

    def write(self, *messages: bytes) -> None:
        """Write *messages*, after everything that is buffered. May wait for the host."""
        data = self._framing.wrap(*messages)
        with self._lock:
            self._write(self._take_buffered() + data if self._buffered else data)

    def write_made(self, make: Make) -> None:
        """Write the message that *make* returns, if any; no other write comes between. May wait for
        the host.
        """
        with self._lock:
            message = make()
            if message is not None:
                self._write(self._framing.wrap(message))

    def write_or_enqueue(self, messages: list[bytes]) -> None:
        """Write *messages* if no other thread is writing: at most one reading thread waits for the
        host.
        """
        if self.claim_or_enqueue(messages, True):
            self.write_claimed(messages)

    def claim_or_enqueue(self, messages: list[bytes], may_claim: bool) -> bool:
        """Reserve the stream for `write_claimed`, which must follow, or enqueue *messages*. Never
        blocks.
        """
        if messages and may_claim and self._lock.acquire(blocking=False):
            return True
        self.enqueue_all(messages)
        return False

    def write_claimed(self, messages: list[bytes]) -> None:
        """Write *messages*, for which the stream is reserved. May wait for the host."""
        try:
            self._write(self._take_buffered() + self._framing.wrap(*messages))
        finally:
            self._lock.release()

    # Buffered

    def buffer(self, message: bytes) -> bool:
        """Keep *message* for the next write; false if it is too large or the buffer is full."""
        if len(message) > _MAX_BUFFERED_BYTES or len(self._buffered) >= _MAX_BUFFERED:
            return False
        self._buffered.append(message)
        return True

    def flush_soon(self) -> None:
        """Have the outbox write the buffer: the next call may take long. Never blocks."""
        if self._buffered and not self._flush_is_due:
            self._flush_is_due = True
            self.enqueue(self._flush)

    def _flush(self) -> None:
        self._flush_is_due = False
        with self._lock:
            buffered = self._take_buffered()
            if buffered:
                self._write(buffered)

    def _take_buffered(self) -> bytes:
        take = self._buffered.popleft
        return self._framing.wrap(*[take() for _ in range(len(self._buffered))])

    # Through the outbox

    def enqueue(self, item: _Item, size: int = 0) -> None:
        """Have the outbox write a message, or several ones of together *size* bytes, or make and
        write one of about *size* bytes. Never blocks.
        """
        size += _ITEM_BYTES + (len(item) if isinstance(item, bytes) else 0)
        with self._changed:
            self.unsent_bytes += size
            self.is_full = self.unsent_bytes > self._max_unsent_bytes
        self._outbox.put((item, size))
        if self._thread is None:
            self._start()

    def enqueue_made(self, make: Make, size: int) -> None:
        """Have the outbox call `write_made`. Never blocks."""
        self.enqueue(_Notification(make), size)

    def enqueue_all(self, messages: list[bytes]) -> None:
        """Have the outbox write *messages*. Never blocks."""
        for message in messages:
            self.enqueue(message)

    def count_waiting(self) -> int:
        """Return how many entries wait in the outbox."""
        return self._outbox.qsize()

    def wait_for_room(self) -> None:
        """Return at once unless twice the limit waits, and then when the outbox is no longer
        full.
        """
        if self.unsent_bytes > 2 * self._max_unsent_bytes:
            log.warn_rarely(
                "not reading", f"nothing is read until the host reads: {self.describe_unread()}"
            )
            with self._changed:
                self._changed.wait_for(lambda: not self.is_full)

    def describe_unread(self) -> str:
        """Return how much waits for the host, as a clause."""
        return f"{self.unsent_bytes} bytes of responses are unread (--limit max_unsent_bytes)"

    def finish(self, seconds: float) -> None:
        """Let the outbox write the rest, for at most *seconds*."""
        if self._buffered or not self._outbox.empty():
            self.enqueue(self._flush)
        with self._start_lock:  # a thread can be joined only when it has been started
            thread = self._thread
        self._outbox.put(None)
        if thread is None:  # it could not be started, and this thread has nothing else to do
            self._work()
        else:
            thread.join(min(seconds, threading.TIMEOUT_MAX))

    def mute(self) -> None:
        """Write nothing from now on: this process is a fork, without the threads that may hold the
        locks.
        """
        self._lock = threading.Lock()
        self._changed = threading.Condition()
        self._write = lambda data: None

    def _start(self) -> None:
        with self._start_lock:
            if self._thread is None:
                try:
                    self._thread = start_thread(self._work, "toolwire-outbox")
                except RuntimeError:  # the system allows no more threads just now
                    with suppress(
                        RuntimeError
                    ):  # nor one for the timers: the next message tries again
                        self._timers.after(_RETRY_SECONDS, self._start)

    def _work(self) -> None:
        is_open = True
        while is_open:
            entries = [self._outbox.get()]
            # Entries added since are written together: the event loop adds many responses before
            # this thread gets the interpreter's lock, and a write gives it up again.
            while len(entries) < _MAX_BUFFERED and not self._outbox.empty():
                entries.append(self._outbox.get())  # no other thread takes any
            is_open = None not in entries
            self._send(filter(None, entries))

    def _send(self, entries: Iterable[tuple[_Item, int]]) -> None:
        messages: list[bytes] = []
        sent_bytes = 0
        for item, size in entries:
            # Before the next is made, which takes its time if it is large.
            if sent_bytes + size > _MAX_TOGETHER_BYTES:
                self._write_together(messages)
                self._subtract(sent_bytes)
                messages, sent_bytes = [], 0
            sent_bytes += size
            if isinstance(item, list):
                messages += item
                continue
            message = item if isinstance(item, bytes) else self._make(item, messages)
            if message is not None:
                messages.append(message)
        self._write_together(messages)
        self._subtract(sent_bytes)

    def _make(self, item: Make | _Notification, earlier: list[bytes]) -> bytes | None:
        """Return the message of *item*, if it has one. A notification is written, after the
        *earlier* messages.
        """
        try:
            if not isinstance(item, _Notification):
                return item()
            self._write_together(earlier)
            earlier.clear()
            self.write_made(item.make)
        except Exception as bug:  # the outer edge of a thread that must continue
            log.traceback("a message could not be made", bug)
        return None

    def _write_together(self, messages: list[bytes]) -> None:
        if not messages:
            return
        try:
            self.write(*messages)
        except Exception as bug:  # the outer edge of a thread that must continue
            log.traceback("a message could not be sent", bug)

    def _subtract(self, sent_bytes: int) -> None:
        """Count *sent_bytes* less as unsent."""
        with self._changed:
            was_full = self.is_full
            self.unsent_bytes -= sent_bytes
            self.is_full = self.unsent_bytes > self._max_unsent_bytes
            is_freed = was_full and not self.is_full
            if is_freed:
                self._changed.notify_all()
        if is_freed:
            self._when_there_is_room()
