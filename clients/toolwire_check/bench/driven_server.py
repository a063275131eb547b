"""A server process at the other end of raw descriptors, so that what is measured is the server.

Strategy. The driver writes prepared bytes and reads chunks: no thread, no decoding and no event
loop is between the clock and the pipe. Who calls decodes the responses after the clock has stopped.
Every wait ends: with the response, with the end of the server, at a limit of time or of bytes.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from toolwire_client.errors import NotStarted, signal_name
from toolwire_client.transport.child_process import spawn
from toolwire_schemas.threads import start_thread

from ..facts.server_process import kill_all, list_children

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence

_CHUNK_BYTES = 1 << 18
_PIPE_BYTES = 4096
"""An empty pipe takes so much at once, on every system."""

_MAX_RESPONSE_BYTES = 512 * 1024 * 1024
_LAST_SECONDS = 2.0
"""How long a server may take to end by itself."""


class MeasuringFailed(Exception):
    """The server did not respond as a measurement needs it: it ended, was silent, or failed."""


class NoAnswer(MeasuringFailed):
    """The response did not come in time."""


class DrivenServer:
    """Starts *command*, whose stderr is not read.

    *env* is its whole environment, `None` for ours. Each wait for it ends after *patience_seconds*.

    Raises:
        NotStarted: if the command cannot be run.
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None = None,
        *,
        patience_seconds: float = 60.0,
    ) -> None:
        self.patience_seconds = patience_seconds
        environment = None if env is None else dict(env)
        self.start_time = time.perf_counter()
        self._process = spawn(command, environment, stderr=subprocess.DEVNULL)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._write, self._read = self._stdin.fileno(), self._stdout.fileno()
        self._poll = _make_poll(self._read)
        self._writer: threading.Thread | None = None

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, lines: bytes, mark: bytes = b"\n", *, count: int = 1) -> bytes:
        """Send *lines*, and return the output up to the line with *count* occurrences of *mark*.

        Raises:
            MeasuringFailed: if that does not come in time.
        """
        if len(lines) < _PIPE_BYTES:
            self._send(lines)
        else:
            self._writer = start_thread(self._send, "toolwire-bench-write", lines)
        deadline = time.monotonic() + self.patience_seconds
        data = self._receive(deadline)
        if count == 1 and data[-1:] == b"\n" and mark in data:
            return data
        return self._receive_rest(data, mark, count, deadline)

    def _receive_rest(self, data: bytes, mark: bytes, count: int, deadline: float) -> bytes:
        chunks = [data]
        size = len(data)
        found = data.count(mark)
        overlap = len(mark) - 1  # a mark may begin in one chunk and end in a later one
        end = data
        while found < count or chunks[-1][-1:] != b"\n":
            end = end[-overlap:] if overlap else b""
            chunk = self._receive(deadline)
            end += chunk
            found += end.count(mark)
            chunks.append(chunk)
            size += len(chunk)
            if size > _MAX_RESPONSE_BYTES:
                raise MeasuringFailed(f"it wrote more than {_MAX_RESPONSE_BYTES >> 20} MiB")
        return b"".join(chunks)

    def _send(self, data: bytes) -> None:
        rest = memoryview(data)
        with contextlib.suppress(OSError):  # it has ended, which the reading side reports
            while rest:
                rest = rest[os.write(self._write, rest) :]

    def _receive(self, deadline: float) -> bytes:
        seconds_left = max(deadline - time.monotonic(), 0.0)
        if not self._poll(seconds_left * 1000):
            raise NoAnswer(f"no answer in {self.patience_seconds:g} s")
        data = os.read(self._read, _CHUNK_BYTES)
        if not data:
            raise MeasuringFailed(self._describe_end())
        return data

    def _describe_end(self) -> str:
        try:
            status = self._process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:
            return "it closed its output"
        if status < 0:
            return f"it was ended by {signal_name(-status)}"
        return f"it ended with status {status}"

    def measure_peak_memory_bytes(self) -> int | None:
        """Return the most physical memory that the server has held, and its descendants without
        the files that they map, which they mostly share; `None` where the system does not say it.
        """
        if sys.platform != "linux":
            return None
        kilobytes = 0
        for pid in _list_tree(self.pid):
            amounts = _read_kilobytes(pid)
            kilobytes += amounts.get("VmHWM", 0)
            if pid != self.pid:
                kilobytes -= amounts.get("RssFile", 0)
        return kilobytes * 1024

    def close(self) -> None:
        """End the server's input, and kill it and its descendants if it does not end."""
        if self._writer is not None and self._writer.is_alive():
            # It must not write to the descriptor after another file has its number.
            self._kill()
            self._writer.join()
        self._stdin.close()
        try:
            self._process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.wait()
        self._stdout.close()

    def _kill(self) -> None:
        if self._process.returncode is None:  # else another process may have its number
            kill_all(_list_tree(self.pid))
            if sys.platform != "win32":  # where descendants are not listed, those of its group
                with contextlib.suppress(OSError):
                    os.killpg(self.pid, signal.SIGKILL)


def _make_poll(descriptor: int) -> Callable[[float], object]:
    """Return a function that waits some milliseconds until *descriptor* can be read."""
    if sys.platform == "win32":
        raise NotStarted("pipes cannot be polled on Windows, so nothing can be measured there")
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return poll.poll


def _list_tree(root: int) -> set[int]:
    """Return the process *root* and its descendants; without `/proc` itself alone."""
    found = {root}
    if sys.platform == "linux":
        while new := list_children(found) - found:
            found |= new
    return found


def _read_kilobytes(pid: int) -> dict[str, int]:
    """Return the amounts in the status of a process; empty if it has just ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("utf-8", errors="replace")
    except OSError:
        return {}
    amounts = {}
    for line in status.splitlines():
        name, _, text = line.partition(":")
        if text.endswith(" kB"):
            amounts[name] = int(text.split()[0])
    return amounts
