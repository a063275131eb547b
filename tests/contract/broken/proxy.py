"""A server of ours behind a program that spoils what passes through it."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

MODERN = "io.modelcontextprotocol/protocolVersion"

FAULTS: dict[str, type[Fault]] = {}


def fails(*cases: str) -> Callable[[type[Fault]], type[Fault]]:
    """Enter a fault, which the contract *cases* have to notice."""

    def enter(fault: type[Fault]) -> type[Fault]:
        fault.cases = cases
        FAULTS[fault.__name__] = fault
        return fault

    return enter


class Fault:
    """No fault: passes everything on. Whatever is to be spoiled is overridden, on the way in and on
    the way out.
    """

    cases: tuple[str, ...] = ()
    show = "all"
    """What the list of the server behind it has; see `toolwire serve --show`."""
    apart = False
    """Whether the server behind it gets none of the signals that its group gets."""
    late_seconds = 0.0
    """How long it waits before it reads, so that what is sent in pieces has come."""

    def __init__(self) -> None:
        self._writing = threading.Lock()
        self._buffer = b""
        self.asked: dict[Any, dict[str, Any]] = {}
        """The requests that have come, by their ids."""

    # In

    def read(self, data: bytes) -> None:
        """Take *data*, which may be any part of the stream."""
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            self.line(line)

    def line(self, line: bytes) -> None:
        """Take one line."""
        message = parse_line(line)
        if not isinstance(message, dict):
            self.forward(line)
            return
        if isinstance(message.get("id"), str | int):
            self.asked[message["id"]] = message
        before = json.dumps(message)
        after = self.request(message)
        if after is not None:
            self.forward(line if json.dumps(after) == before else dump_message(after))

    def request(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """What of *message* is passed on; None for nothing."""
        return message

    def forward(self, line: bytes) -> None:
        """Pass *line* on to the server."""
        data = memoryview(line + b"\n")
        try:
            while data:
                data = data[os.write(self.server.stdin.fileno(), data) :]
        except OSError:
            os._exit(1)

    def ended(self) -> None:
        """Deal with the end of the input."""
        if self._buffer:
            self.line(self._buffer)
        self.server.stdin.close()

    def terminated(self) -> None:
        """Deal with SIGTERM."""
        self.server.terminate()

    # Out

    def answer(self, message: dict[str, Any]) -> Any:
        """What is said in place of *message*: a message, several, or None for nothing."""
        return message

    def say(self, message: Any) -> None:
        """Write *message*: one, or bytes as they are."""
        data = message if isinstance(message, bytes) else dump_message(message) + b"\n"
        with self._writing:
            os.write(1, data)

    def method_of(self, message: dict[str, Any]) -> str:
        """Which method *message* answers; empty for none."""
        key = message.get("id")
        asked = self.asked.get(key) if isinstance(key, str | int) else None
        return str((asked and asked.get("method")) or "") if "method" not in message else ""

    # All of it

    def run(self) -> None:
        """Serve."""
        command = [
            sys.executable,
            "-m",
            "toolwire",
            "serve",
            str(Path(__file__).with_name("tools.py")),
            "--show",
            self.show,
        ]
        self.server: Any = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=self.apart
        )
        signal.signal(signal.SIGTERM, lambda number, frame: self.terminated())
        threading.Thread(target=self._read_all, daemon=True).start()
        for line in self.server.stdout:
            told = json.loads(line)
            said = self.answer(told) if isinstance(told, dict) else line
            for message in said if isinstance(said, list) else [said] if said is not None else []:
                self.say(message)
        self.leave(self.server.wait())

    def leave(self, status: int) -> None:
        """End the process, when the server has."""
        os._exit(max(0, status))

    def _read_all(self) -> None:
        first = True
        while data := self._read_some():
            if first and data[:8].lower() == b"content-":
                self.headers_came()
            first = False
            self.read(data)
        self.ended()

    def _read_some(self) -> bytes:
        if self.late_seconds:
            select.select([0], [], [])
            time.sleep(self.late_seconds)
        return os.read(0, 1 << 20)

    def headers_came(self) -> None:
        """Deal with a client that speaks with headers."""
        die()


def die() -> NoReturn:
    """End at once, without a word."""
    os._exit(1)


def parse_line(line: bytes) -> Any:
    """The JSON in *line*; None if there is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def dump_message(message: Any) -> bytes:
    """*message* as JSON."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def all_of(value: Any) -> Iterator[Any]:
    """*value* and everything in it."""
    yield value
    for inner in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from all_of(inner)


class Headed(Fault):
    """No fault either: speaks with headers, and reads them in its own way."""

    def headers_came(self) -> None:
        pass

    def say(self, message: Any) -> None:
        body = dump_message(message)
        super().say(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def read(self, data: bytes) -> None:
        self._buffer += data
        while True:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            length = self.length(head)
            if len(rest) < length:
                return
            body, self._buffer = rest[:length], rest[length:]
            self.line(body)

    def length(self, head: bytes) -> int:
        """How long the body is that *head* stands before."""
        for field in head.split(b"\r\n"):
            name, _, value = field.partition(b":")
            if name.strip().lower() == b"content-length":
                return int(value)
        return 0

    def ended(self) -> None:
        self.server.stdin.close()
