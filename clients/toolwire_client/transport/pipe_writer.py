"""Write to a pipe without ever blocking the sender."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import threading
from typing import IO

_AT_ONCE_BYTES = getattr(select, "PIPE_BUF", 512)
"""Writes up to this size are atomic (POSIX, `write`)."""


class PipeWriter:
    """Writes to *sink*: short messages at once if the pipe has room, all else from a thread.

    The thread drops the rest when the other end of *stop*, the reading end of a pipe, is closed.
    """

    def __init__(self, sink: IO[bytes], stop: int) -> None:
        self._sink = sink
        self._stop = stop
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._queued = 0  # including the message that the thread writes
        self._finished = False
        self._thread: threading.Thread | None = None
        self._is_nonblocking = hasattr(select, "poll")  # Windows can neither write without blocking nor poll pipes
        if self._is_nonblocking:
            os.set_blocking(sink.fileno(), False)

    def send(self, data: bytes) -> None:
        """Write *data*, or drop it if the other end is closed."""
        with self._lock:
            if self._finished or (not self._queued and self._write_at_once(data)):
                return
            self._queued += 1
            self._queue.put(data)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="toolwire-client-write", daemon=True)
                self._thread.start()

    def finish(self) -> None:
        """Close the pipe after all sent data. Does not block."""
        with self._lock:
            if self._finished:
                return
            self._finished = True
            if self._thread is None:
                self._close()
            else:
                self._queue.put(None)

    def join(self) -> None:
        """Wait for the end of the thread, after `finish` and *stop*."""
        if self._thread is not None:
            self._thread.join()

    def _write_at_once(self, data: bytes) -> bool:
        if not self._is_nonblocking or len(data) > _AT_ONCE_BYTES:
            return False
        try:
            os.write(self._sink.fileno(), data)
        except BlockingIOError:
            return False
        except OSError:  # the pipe is closed: waiting requests fail by the end of the process
            return True
        return True

    def _work(self) -> None:
        with contextlib.suppress(OSError):
            while (data := self._queue.get()) is not None:
                self._write(data)
                with self._lock:
                    self._queued -= 1
        with self._lock:
            self._finished = True
        self._close()

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self._wait()
            with contextlib.suppress(BlockingIOError):
                rest = rest[os.write(self._sink.fileno(), rest) :]

    def _wait(self) -> None:
        if self._is_nonblocking:
            poll = select.poll()
            poll.register(self._sink.fileno(), select.POLLOUT)
            poll.register(self._stop, select.POLLIN)
            if any(ready == self._stop for ready, _ in poll.poll()):
                raise BrokenPipeError

    def _close(self) -> None:
        with contextlib.suppress(OSError):
            self._sink.close()
