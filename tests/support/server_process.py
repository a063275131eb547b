"""A server in a process of its own, tools that wait for events, and a protocol without threads."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from toolwire.protocol.call import Call, Send
from toolwire.protocol.catalog import Catalog
from toolwire.protocol.lifecycle import Identity
from toolwire.protocol.server_protocol import ServerProtocol
from toolwire.settings import Settings
from toolwire_schemas.wire.codec import decode
from toolwire_tools import find_tools

PATIENCE_SECONDS = 60
"""After this a test that waits has failed; it is no claim about speed."""

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def protocol_of(*tools: Any, **options: Any) -> ServerProtocol:
    """Return a protocol that serves *tools* and reports no progress."""
    settings = Settings(**options)
    made = [tool for thing in tools for tool in find_tools(thing)]
    catalog = Catalog(made, separator=settings.separator, page_size=settings.page_size)
    return ServerProtocol(catalog, Identity("test", "1"), settings, host=NoHost())


class NoHost:
    """A shell around no tool that needs one."""

    log_level = None

    def send_notification(self, *_: Any) -> None:
        """Send nothing."""

    def expect_progress(self) -> None:
        """Send no heartbeats."""

    def get_elicitations(self) -> Any:
        raise NotImplementedError

    def get_tasks(self) -> Any:
        raise NotImplementedError


def request(method: str, params: Any = None, id: Any = 1, **more: Any) -> dict[str, Any]:
    """Return a request as a dict; an *id* of `...` makes it a notification."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, **more}
    if params is not None:
        message["params"] = params
    if id is not ...:
        message["id"] = id
    return message


def call(name: str, arguments: Any = None, id: Any = 1, **meta: Any) -> dict[str, Any]:
    """Return a `tools/call` request."""
    params: dict[str, Any] = {"name": name, "arguments": {} if arguments is None else arguments}
    if meta:
        params["_meta"] = meta
    return request("tools/call", params, id)


def answers(protocol: ServerProtocol, *sent: Any) -> list[Any]:
    """Send messages (bytes as they are, others as JSON), run what they start at once, and return
    what comes out.
    """
    out = []
    for message in sent:
        frame = message if isinstance(message, bytes) else json.dumps(message).encode()
        for decision in protocol.receive(frame):
            if isinstance(decision, Send):
                out.append(decision.message)
            elif isinstance(decision, Call):
                out.append(run(protocol, decision))
    return [decode(message) for message in out if message is not None]


def run(protocol: ServerProtocol, started: Any) -> bytes | None:
    """Run one call as a worker does and return the message that answers it."""
    try:
        return protocol.in_flight.finish(
            started,
            started.handler.call(
                started.arguments, started, strict_arguments=started.strict_arguments
            ),
        )
    except Exception as error:
        return protocol.in_flight.fail(started, error)


class Process:
    """A served process, spoken to in lines of JSON (or any bytes)."""

    def __init__(
        self, arguments: list[str], *, env: dict[str, str] | None = None, **options: Any
    ) -> None:
        self.popen = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=filtered_environment() if env is None else env,
            **options,
        )
        self._buffer = b""
        self._stderr: list[bytes] = []
        self._pump = threading.Thread(target=self._read_stderr, daemon=True)
        self._pump.start()

    def send(self, *messages: Any) -> None:
        """Write *messages*, each a line: bytes as they are, others as JSON."""
        assert self.popen.stdin is not None
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
            self.popen.stdin.write(line)
        self.popen.stdin.flush()

    def receive(self) -> Any:
        """Return the next line as JSON."""
        line = self.receive_line()
        assert line is not None, f"the stream ended; stderr: {self.stderr()}"
        return decode(line)

    def receive_line(self) -> bytes | None:
        """Return the next line, newline removed; `None` at the end."""
        assert self.popen.stdout is not None
        descriptor = self.popen.stdout.fileno()
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([descriptor], [], [], PATIENCE_SECONDS)
            assert ready, f"nothing came; stderr: {b''.join(self._stderr).decode()}"
            data = os.read(descriptor, 1 << 16)
            if not data:
                assert not self._buffer, f"an unfinished line: {self._buffer!r}"
                return None
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line

    def ask(self, message: Any) -> Any:
        """Send *message* and return the next line."""
        self.send(message)
        return self.receive()

    def hang_up(self) -> list[Any]:
        """Close the input and return everything that still comes, until the output ends."""
        assert self.popen.stdin is not None
        self.popen.stdin.close()
        rest = []
        while (line := self.receive_line()) is not None:
            rest.append(decode(line))
        return rest

    def wait(self) -> int:
        """Return the exit status, when the process has ended."""
        return self.popen.wait(PATIENCE_SECONDS)

    def stderr(self) -> str:
        """Return what the process wrote to stderr, when it has ended."""
        self.wait()
        self._pump.join(PATIENCE_SECONDS)
        return b"".join(self._stderr).decode()

    def stderr_so_far(self) -> str:
        """Return what has been read of stderr while the process runs."""
        return b"".join(self._stderr).decode()

    def _read_stderr(self) -> None:
        assert self.popen.stderr is not None
        with (
            self.popen.stderr as stderr
        ):  # closed here: another thread must not close what this one reads
            for line in stderr:
                self._stderr.append(line)


def filtered_environment() -> dict[str, str]:
    """Return what MCP clients leave of the environment."""
    kept = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
    return {name: os.environ[name] for name in kept if name in os.environ}


@contextmanager
def running(*arguments: str, **more: Any) -> Iterator[Process]:
    """Run Python with *arguments* in a process of its own, which is gone afterwards."""
    process = Process(list(arguments), **more)
    try:
        yield process
    finally:
        process.popen.kill()
        process.popen.wait(PATIENCE_SECONDS)
        for pipe in (process.popen.stdin, process.popen.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue


@contextmanager
def served(folder: Path, source: str, *options: str, **more: Any) -> Iterator[Process]:
    """Serve a tools file with this *source* in a process of its own, which is gone afterwards."""
    file = folder / "tools_file.py"
    file.write_text(source, encoding="utf-8")
    with running("-m", "toolwire", "serve", str(file), *options, **more) as process:
        yield process


def wait_until(condition: Callable[[], bool]) -> None:
    """Return as soon as *condition* holds, asked again and again: for what only the operating
    system can tell.
    """
    end = time.monotonic() + PATIENCE_SECONDS
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < end, "the condition was never met"
        pause.wait(0.005)
