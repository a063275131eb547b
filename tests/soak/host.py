"""A host that never waits for one direction while the other is stuck: one thread, both pipes,
either framing.
"""

from __future__ import annotations

import os
import select
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

PATIENCE_SECONDS = 60.0
"""After so long without a byte in either direction the server is stuck; it is no claim about speed.
"""

_CHUNK_BYTES = 1 << 18


class Stuck(Exception):
    """The server has neither read nor written anything for a long time."""


class Taken(NamedTuple):
    """What the server's process takes, as the kernel sees it."""

    memory_kib: int
    descriptors: int
    threads: int
    children: int


class Host:
    """A served process. *framing* is `lines` or `headers`."""

    def __init__(self, command: list[str], framing: str) -> None:
        self._framing = framing
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed in `close`)
        self._popen = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr
        )
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._in, self._out = self._popen.stdin.fileno(), self._popen.stdout.fileno()
        os.set_blocking(self._in, False)
        self._unsent = bytearray()
        self._unread = b""

    def send(self, message: bytes) -> None:
        """Have *message* written as soon as there is room."""
        if self._framing == "lines":
            self._unsent += message + b"\n"
        else:
            self._unsent += b"Content-Length: %d\r\n\r\n%b" % (len(message), message)

    def exchange(self) -> list[Any]:
        """Write what there is room for, and return the messages that have come; wait until either
        is possible.

        Raises:
            Stuck: if neither was for a minute.
            EOFError: if the server has closed its output.
        """
        ready, room, _ = select.select(
            [self._out], [self._in] if self._unsent else [], [], PATIENCE_SECONDS
        )
        if not ready and not room:
            raise Stuck(f"nothing came or went for {PATIENCE_SECONDS:g} seconds")
        if room:
            with memoryview(self._unsent) as unsent:
                written = os.write(self._in, unsent[:_CHUNK_BYTES])
            del self._unsent[:written]
        if not ready:
            return []
        data = os.read(self._out, _CHUNK_BYTES)
        if not data:
            raise EOFError(
                f"the server closed its output; its last words were:\n{self.last_words()}"
            )
        self._unread += data
        return [orjson.loads(text) for text in self._texts()]

    def hang_up(self) -> tuple[bytes, int]:
        """Close the input; return what still came, and the exit status."""
        assert self._popen.stdin is not None
        self._popen.stdin.close()
        rest = self._unread
        while select.select([self._out], [], [], PATIENCE_SECONDS)[0]:
            data = os.read(self._out, _CHUNK_BYTES)
            if not data:
                break
            rest += data
        return rest, self._popen.wait(PATIENCE_SECONDS)

    def close(self) -> None:
        """End the process, however it is."""
        self._popen.kill()
        self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout, self._stderr):
            assert pipe is not None
            pipe.close()

    def taken(self) -> Taken:
        """Return what the process takes now."""
        proc = Path(f"/proc/{self._popen.pid}")
        status = dict(line.split(":", 1) for line in (proc / "status").read_text().splitlines())
        children = sum(map(_children, (proc / "task").iterdir()))
        descriptors = len(list((proc / "fd").iterdir()))
        return Taken(int(status["VmRSS"].split()[0]), descriptors, int(status["Threads"]), children)

    def last_words(self) -> str:
        """Return the end of what the server wrote to stderr."""
        size = os.fstat(self._stderr.fileno()).st_size
        return os.pread(self._stderr.fileno(), 4000, max(0, size - 4000)).decode(errors="replace")

    def _texts(self) -> Iterator[bytes]:
        if self._framing == "lines":
            *lines, self._unread = self._unread.split(b"\n")
            yield from lines
            return
        begin = 0
        while (body := self._unread.find(b"\r\n\r\n", begin)) >= 0:
            length = int(self._unread[begin:body].removeprefix(b"Content-Length: "))
            if body + 4 + length > len(self._unread):
                break
            yield self._unread[body + 4 : body + 4 + length]
            begin = body + 4 + length
        self._unread = self._unread[begin:]


def _children(task: Path) -> int:
    """How many processes a thread has started that are still there."""
    try:
        return len((task / "children").read_text().split())
    except (
        FileNotFoundError,
        ProcessLookupError,
    ):  # the thread has just ended, and left its children to another
        return 0
