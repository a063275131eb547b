"""What the benchmarks send to the servers of `toolwire_check.bench`, and where these run."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from toolwire_check.bench.driven_server import DrivenServer

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


class Server(DrivenServer):
    """A server with the environment that MCP clients give to it."""

    ready_seconds = 0.0

    def __init__(self, command: list[str], more: dict[str, str] | None = None) -> None:
        environment = {**os.environ, **(more or {})}
        passed_on = {name: environment[name] for name in PASSED_ON if name in environment}
        super().__init__(command, passed_on)


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
            server.ask(HANDSHAKE + listed, count=2)
        else:
            server.ask(listed)
        server.ready_seconds = time.perf_counter() - server.start_time
        yield server
    finally:
        server.close()
