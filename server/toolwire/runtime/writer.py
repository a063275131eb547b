"""The way out: whole messages, framed, written by one thread at a time.

Strategy. Whoever made an answer writes it. Where that will not do, since writing may have to wait for the host (on the
event loop, on the clock, for whoever must go on reading), the outbox does it, a thread of its own.

What waits in the outbox is counted in bytes. `is_full` says that it is beyond the limit, and whoever leads to more
answers is to be refused or to wait; `wait_for_room` is for the thread that reads, at twice the limit.

While calls wait, answers are gathered and go out together: each write gives up the interpreter's lock, and getting it
back may take longer than many calls. The monitor has them flushed at its next tick, so none is held back for long.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from .. import log

if TYPE_CHECKING:
    from toolwire_schemas.wire.framing import AutoFraming

    from ..timers import Clock

Write = Callable[[bytes], None]
Task = Callable[[], None]

_MAX_GATHERED = 256
_MAX_GATHERED_BYTES = 16 * 1024
"""How many answers, and up to which size, may be gathered: beyond that, the worker waits for the host to read."""


DEFAULT_MAX_UNSENT_BYTES = 64 * 1024 * 1024
"""As large as a message may be that comes in; six times the largest result."""

_RETRY_SECONDS = 0.01

_ITEM_BYTES = 200
"""What an entry of the outbox takes besides its message."""


class Outlet:
    """Sends messages through *write*, in the framing that the client chose.

    *when_there_is_room* is called, on the outbox's thread, when it is no longer full.
    """

    def __init__(
        self,
        write: Write,
        framing: AutoFraming,
        clock: Clock,
        max_unsent_bytes: int,
        when_there_is_room: Callable[[], None],
    ) -> None:
        self._clock = clock
        self._write = write
        self._framing = framing
        self._lock = threading.Lock()
        self._gathered: deque[bytes] = deque()
        self._flush_is_due = False
        self._outbox: SimpleQueue[tuple[bytes | Task, int] | None] = SimpleQueue()
        self._max_unsent_bytes = max_unsent_bytes
        self._when_there_is_room = when_there_is_room
        self._changed = threading.Condition()  # for the number of bytes
        self._unsent_bytes = 0
        self.is_full = False
        """Whether more waits for the host than may."""
        self._thread: threading.Thread | None = None
        self._start_lock = threading.Lock()

    # At once

    def emit(self, message: bytes) -> None:
        """Write *message*, behind whatever has been gathered. May wait for the host."""
        data = self._framing.wrap(message)
        with self._lock:
            self._write(self._take_gathered() + data if self._gathered else data)

    def emit_made(self, make: Callable[[], bytes | None]) -> None:
        """Write what *make* returns, if anything, so that nothing is written between the two. May wait for the host."""
        with self._lock:
            message = make()
            if message is not None:
                self._write(self._framing.wrap(message))

    def send(self, messages: list[bytes]) -> None:
        """Write *messages* if nobody else is writing, so that of all who read only one ever waits for the host."""
        if not messages:
            return
        if not self._lock.acquire(blocking=False):
            self.post_all(messages)
            return
        try:
            self._write(self._take_gathered() + self._framing.wrap(*messages))
        finally:
            self._lock.release()

    # Together

    def gather(self, message: bytes) -> bool:
        """Keep *message* for the next write; false if too much is kept already."""
        if len(message) > _MAX_GATHERED_BYTES or len(self._gathered) >= _MAX_GATHERED:
            return False
        self._gathered.append(message)
        return True

    def flush_soon(self) -> None:
        """See to it that what has been gathered goes out, though the next call may take its time."""
        if self._gathered and not self._flush_is_due:
            self._flush_is_due = True
            self.post(self._flush)

    def _flush(self) -> None:
        self._flush_is_due = False
        with self._lock:
            gathered = self._take_gathered()
            if gathered:
                self._write(gathered)

    def _take_gathered(self) -> bytes:
        take = self._gathered.popleft
        return self._framing.wrap(*[take() for _ in range(len(self._gathered))])

    # Through the outbox

    def post(self, item: bytes | Task, size: int = 0) -> None:
        """Have a message written, or something done that leads to *size* bytes, by the outbox. Never waits."""
        size += _ITEM_BYTES + (len(item) if isinstance(item, bytes) else 0)
        with self._changed:
            self._unsent_bytes += size
            self.is_full = self._unsent_bytes > self._max_unsent_bytes
        self._outbox.put((item, size))
        if self._thread is None:
            self._start()

    def post_all(self, messages: list[bytes]) -> None:
        """Have *messages* written by the outbox. Never waits."""
        for message in messages:
            self.post(message)

    def posted(self) -> int:
        """Return how much the outbox has not got to yet."""
        return self._outbox.qsize()

    def wait_for_room(self) -> None:
        """Return at once unless twice as much waits as may, and then when no more does than may."""
        if self._unsent_bytes > 2 * self._max_unsent_bytes:
            log.rarely("not reading", f"nothing is read until the host reads: {self.unread()}")
            with self._changed:
                self._changed.wait_for(lambda: not self.is_full)

    def unread(self) -> str:
        """Return how much waits for the host, as a clause."""
        return f"{self._unsent_bytes} bytes of answers wait for it (--max-unsent-bytes)"

    def finish(self, seconds: float) -> None:
        """Let the outbox write what is left, for at most so long."""
        if self._gathered or not self._outbox.empty():
            self.post(self._flush)
        with self._start_lock:  # a thread can be joined only when it has been started
            thread = self._thread
        self._outbox.put(None)
        if thread is None:  # it could not be started, and this thread has nothing else to do
            self._work()
        else:
            thread.join(min(seconds, threading.TIMEOUT_MAX))

    def mute(self) -> None:
        """Write nothing any more: this process is a copy, and whoever held the lock is not in it."""
        self._lock = threading.Lock()
        self._changed = threading.Condition()
        self._write = lambda data: None

    def _start(self) -> None:
        with self._start_lock:
            if self._thread is None:
                thread = threading.Thread(target=self._work, name="toolwire-outbox", daemon=True)
                try:
                    thread.start()
                    self._thread = thread
                except RuntimeError:  # there are no more threads just now
                    with suppress(RuntimeError):  # not even for a clock that has none yet: the next post tries again
                        self._clock.after(_RETRY_SECONDS, self._start)

    def _work(self) -> None:
        while (posted := self._outbox.get()) is not None:
            item, size = posted
            try:
                if isinstance(item, bytes):
                    self.emit(item)
                else:
                    item()
            except Exception as bug:  # the outer edge of a thread that must go on
                log.traceback("something could not be sent", bug)
            with self._changed:
                was_full = self.is_full
                self._unsent_bytes -= size
                self.is_full = self._unsent_bytes > self._max_unsent_bytes
                is_freed = was_full and not self.is_full
                if is_freed:
                    self._changed.notify_all()
            if is_freed:
                self._when_there_is_room()
