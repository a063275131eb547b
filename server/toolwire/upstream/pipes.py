"""The pipes to a worker process, with our own server at their other end.

The server is a small client there, of MCP's legacy era: one call at a time, no lists.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire.framing import Lines, wrap_line
from toolwire_tools import ToolError

if TYPE_CHECKING:
    from collections.abc import Callable

NO_LIMIT = 1 << 62
"""In bytes: limits hold between server and host, not between server and worker."""

_CHUNK_BYTES = 64 * 1024

_PIPE_BUF = 512
"""The size that one write takes without blocking if the pipe is ready (POSIX)."""


class Message(msgspec.Struct):
    """A message of a worker: a notification, a request (an elicitation), or the response to our last request."""

    id: str | int | None = None
    method: str | None = None
    params: dict[str, Any] = {}
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


_decode = msgspec.json.Decoder(Message).decode


class Pipes:
    """A worker's standard input and output, and its life line, on which nothing is written."""

    def __init__(self) -> None:
        self._read = self._write = self._life = -1
        self._writing = threading.Lock()
        self._lines = Lines(NO_LIMIT)
        self._messages: list[Message] = []

    def open(self, start: Callable[[int, int, int], Any]) -> Any:
        """Return the result of *start*, which gets the worker's ends: input, output and life line."""
        theirs: list[int] = []
        try:
            stdin, self._write = os.pipe()
            theirs.append(stdin)
            self._read, stdout = os.pipe()
            theirs.append(stdout)
            life, self._life = os.pipe()
            theirs.append(life)
            return start(stdin, stdout, life)
        finally:
            for descriptor in theirs:
                os.close(descriptor)

    def send(self, message: bytes) -> bool:
        """Write *message*; false if the worker has ended."""
        data = wrap_line(message)
        with self._writing:
            try:
                written = os.write(self._write, data)
                while written < len(data):
                    written += os.write(self._write, memoryview(data)[written:])
            except OSError:
                return False
        return True

    def send_at_once(self, message: bytes) -> bool:
        """Write *message* if that does not block; return whether it was written."""
        data = wrap_line(message)
        if self._write < 0 or len(data) > _PIPE_BUF or not self._writing.acquire(blocking=False):
            return False
        try:
            import select

            poll = select.poll()
            poll.register(self._write, select.POLLOUT)
            return poll.poll(0) == [(self._write, select.POLLOUT)] and os.write(self._write, data) == len(data)
        except (AttributeError, OSError):  # Windows cannot poll pipes
            return False
        finally:
            self._writing.release()

    def receive(self) -> Message | None:
        """Wait for the next message; `None` at the end.

        Raises:
            ToolError: if something else was written.
        """
        while not self._messages:
            data = os.read(self._read, _CHUNK_BYTES)
            if not data:
                return None
            try:
                self._messages += [_decode(line) for line in self._lines.feed(data) if isinstance(line, bytes)]
            except ValueError:
                raise ToolError("The tool wrote to a file descriptor that it had not opened.") from None
        return self._messages.pop(0)

    def hang_up(self) -> bool:
        """Close the input of the worker; false if a write to it blocks. Never blocks."""
        if not self._writing.acquire(blocking=False):
            return False
        try:
            self._close("_write")
        finally:
            self._writing.release()
        return True

    def close(self) -> None:
        """Close everything. Only for the thread that would read."""
        with self._writing:
            for name in ("_write", "_life", "_read"):
                self._close(name)

    def abandon(self) -> None:
        """Close the descriptors in a fork of the server."""
        for descriptor in (self._write, self._life, self._read):
            with suppress(OSError):
                os.close(descriptor)

    def _close(self, name: str) -> None:
        descriptor: int = getattr(self, name)
        if descriptor >= 0:
            setattr(self, name, -1)
            os.close(descriptor)
