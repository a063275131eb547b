"""Write to a pipe without ever blocking the sender."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from typing import IO

_AT_ONCE_BYTES = getattr(select, "PIPE_BUF", 512)
"""Writes up to this size are atomic (POSIX, `write`)."""
_CHUNK_BYTES = 64 * 1024


class PipeWriter:
    """Writes to *sink*: short messages at once if the pipe has room, all else from a thread.

    The thread drops the rest when the other end of *stop*, the reading end of a pipe, is closed.
    """

    def __init__(self, sink: IO[bytes], stop: int) -> None:
        self._sink = sink
        self._stop = stop
        self._changed = threading.Condition()
        self._rest = bytearray()
        self._finished = False
        self._thread: threading.Thread | None = None
        self._is_nonblocking = hasattr(select, "poll")  # Windows can neither write without blocking nor poll pipes
        if self._is_nonblocking:
            os.set_blocking(sink.fileno(), False)

    def send(self, data: bytes) -> None:
        """Write *data*, or drop it if the other end is closed."""
        with self._changed:
            if self._finished or (not self._rest and self._write_at_once(data)):
                return
            self._rest += data
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="toolwire-client-write", daemon=True)
                self._thread.start()
            self._changed.notify()

    def finish(self) -> None:
        """Close the pipe after all sent data. Does not block."""
        with self._changed:
            if not self._finished and self._thread is None:
                self._close()
            self._finished = True
            self._changed.notify()

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
            while data := self._next():
                self._wait()
                with contextlib.suppress(BlockingIOError):
                    written = os.write(self._sink.fileno(), data)
                    with self._changed:
                        del self._rest[:written]
        with self._changed:
            self._finished = True
        self._close()

    def _next(self) -> bytes:
        with self._changed:
            self._changed.wait_for(lambda: self._rest or self._finished)
            return bytes(self._rest[:_CHUNK_BYTES])

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
