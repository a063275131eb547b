"""The driver's end of the wire: raw descriptors and prepared bytes, so that what is measured is the
server.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

CHUNK_BYTES = 1 << 18
# What a pipe surely takes at once.
PIPE_BYTES = 4096
# The environment that MCP clients give to a server, plus what our own contenders' files read.
PASSED_ON = ("HOME", "PATH", "TOOLS", "TOOLWIRE_PEERS", "XDG_CACHE_HOME")


def request(identifier: int, method: str, params: dict[str, Any] | None = None) -> bytes:
    """One request as a line."""
    message = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params or {}}
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def call(identifier: int, name: str, arguments: dict[str, Any]) -> bytes:
    """One tool call as a line."""
    return request(identifier, "tools/call", {"name": name, "arguments": arguments})


HANDSHAKE = (
    request(
        -1,
        "initialize",
        {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "benchmark", "version": "1"},
        },
    )
    + b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
)


class Server:
    """A server process and the two descriptors that lead to it."""

    ready_seconds = 0.0

    def __init__(self, command: list[str], more: dict[str, str] | None = None) -> None:
        source, self._write = os.pipe()
        self._read, sink = os.pipe()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        environment = {**os.environ, **(more or {})}
        self.spawned = time.perf_counter()
        self.pid = os.posix_spawn(
            command[0],
            command,
            {name: environment[name] for name in PASSED_ON if name in environment},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, source, 0),
                (os.POSIX_SPAWN_DUP2, sink, 1),
                (os.POSIX_SPAWN_DUP2, nowhere, 2),
            ],
        )
        for descriptor in (source, sink, nowhere):
            os.close(descriptor)

    def ask(self, line: bytes) -> bytes:
        """Send *line*, which asks one question, and return the one line that answers."""
        if len(line) < PIPE_BYTES:
            os.write(self._write, line)
        else:
            self._write_from_a_thread(line)
        data = os.read(self._read, CHUNK_BYTES)
        if data[-1:] == b"\n":
            return data
        chunks = [data]
        while chunks[-1][-1:] != b"\n":
            chunks.append(self._more())
        return b"".join(chunks)

    def ask_all(self, lines: bytes, answers: int) -> bytes:
        """Send *lines* without waiting, and return everything up to the last of as many
        *answers*.
        """
        self._write_from_a_thread(lines)
        chunks = []
        while answers > 0:
            chunks.append(self._more())
            answers -= chunks[-1].count(b"\n")
        return b"".join(chunks)

    def ask_until(self, lines: bytes, mark: bytes) -> bytes:
        """Send *lines* without waiting, and return what has come once *mark* is among it, up to the
        end of a line.
        """
        self._write_from_a_thread(lines)
        data = b""
        while mark not in data or data[-1:] != b"\n":
            data += self._more()
        return data

    def peak_memory_bytes(self) -> int:
        """The most physical memory that the process has held so far."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))

    def close(self) -> None:
        """End the server's input and wait until it has gone."""
        os.close(self._write)
        while os.read(self._read, CHUNK_BYTES):
            pass
        os.close(self._read)
        os.waitpid(self.pid, 0)

    def _more(self) -> bytes:
        data = os.read(self._read, CHUNK_BYTES)
        if not data:
            raise RuntimeError("the server closed its output before it had answered")
        return data

    def _write_from_a_thread(self, data: bytes) -> None:
        def write() -> None:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._write, rest) :]

        threading.Thread(target=write, daemon=True).start()


@contextmanager
def apart(servers: Iterable[Server]) -> Iterator[None]:
    """Keep the driver on one processor and *servers* on another, as far as the system lets us.

    Where the scheduler happens to put two servers makes the calls of one take half as long again as
    the other's.
    """
    ours = os.sched_getaffinity(0) if sys.platform == "linux" else set()
    if len(ours) < 2:
        yield
        return
    here, there, *_ = sorted(ours)
    for server in servers:
        for thread in os.listdir(f"/proc/{server.pid}/task"):
            with suppress(ProcessLookupError):  # the thread has ended
                os.sched_setaffinity(int(thread), {there})
    os.sched_setaffinity(0, {here})
    try:
        yield
    finally:
        os.sched_setaffinity(0, ours)


@contextmanager
def running(
    command: list[str], *, handshake: bool, more: dict[str, str] | None = None
) -> Iterator[Server]:
    """A server that has answered its first `tools/list`, `ready_seconds` after it was spawned."""
    server = Server(command, more)
    try:
        listed = request(0, "tools/list")
        if handshake:
            server.ask_all(HANDSHAKE + listed, 2)
        else:
            server.ask(listed)
        server.ready_seconds = time.perf_counter() - server.spawned
        yield server
    finally:
        server.close()
