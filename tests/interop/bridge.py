"""Carries messages between HTTP clients and a server on standard input and output, for a suite that
only speaks HTTP.

Strategy. The bridge decides nothing about MCP: the body of a POST is a line for the server, and
what the server writes until the response is the answer to that POST, as JSON if it is the response
alone, else as a stream of events. Each `initialize` starts a process, which is the session;
requests of 2026-07-28, which has no sessions, share one process. What belongs to the transport is
here: the session's header, and the HTTP status of an error.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_SECONDS = 60
STATUS = {-32601: 404, -32600: 400, -32602: 400, -32021: 400, -32022: 400}
"""The HTTP status of an error, by its code, in 2026-07-28. Before, errors have the status 200."""


class Process:
    """One process of the server, and the POSTs that wait for its messages."""

    def __init__(self, command: list[str]) -> None:
        self._popen: Any = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self._lock = threading.Lock()
        self._waiting: dict[Any, tuple[Any, SimpleQueue[bytes]]] = {}
        """By the id of the request, in the order of arrival: its progress token, and its messages.
        """
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, body: bytes) -> None:
        """Pass a message to the server."""
        with self._lock:
            self._popen.stdin.write(body.replace(b"\n", b"") + b"\n")

    def open(self, message: dict[str, Any], body: bytes) -> SimpleQueue[bytes]:
        """Pass a request to the server; return the queue of what it writes for it."""
        token = message.get("params", {}).get("_meta", {}).get("progressToken")
        _, lines = self._waiting[message["id"]] = token, SimpleQueue()
        self.send(body)
        return lines

    def end(self) -> None:
        """Close the server's input, and wait until it has ended."""
        with suppress(OSError):
            self._popen.stdin.close()
        self._popen.wait(PATIENCE_SECONDS)

    def _read(self) -> None:
        with self._popen.stdout as lines:
            for line in lines:
                if (waiting := self._waiting_for(json.loads(line))) is not None:
                    waiting.put(line.rstrip())

    def _waiting_for(self, message: dict[str, Any]) -> SimpleQueue[bytes] | None:
        """Return the queue of the request that a message belongs to; `None` if no request waits for
        it.
        """
        if "method" not in message:
            return self._waiting.pop(message.get("id"), (None, None))[1]
        params = message.get("params", {})
        subscription = params.get("_meta", {}).get("io.modelcontextprotocol/subscriptionId")
        if subscription is not None:
            return self._waiting.get(subscription, (None, None))[1]
        opened = list(self._waiting.values())
        if "progressToken" in params:
            opened = [entry for entry in opened if entry[0] == params["progressToken"]]
        return opened[-1][1] if opened else None


class Bridge(ThreadingHTTPServer):
    """Serves *command* on a free port of the loopback interface."""

    daemon_threads = True

    def __init__(self, command: list[str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.command = command
        self.sessions: dict[str, Process] = {"": Process(command)}


class Handler(BaseHTTPRequestHandler):
    """Answers one HTTP request."""

    server: Bridge

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        message = json.loads(body)
        session = self.headers.get("Mcp-Session-Id", "")
        has_sessions = self.headers.get("MCP-Protocol-Version", "") < "2026"
        if has_sessions and not session and message.get("method") == "initialize":
            session = os.urandom(16).hex()
            self.server.sessions[session] = Process(self.server.command)
        process = self.server.sessions.get(session)
        if process is None:
            self._answer(404)
        elif "id" in message and "method" in message:
            with suppress(
                Empty, OSError
            ):  # the client has gone, or waits for nothing that will come
                self._relay(process.open(message, body), session)
        else:
            process.send(body)
            self._answer(202)

    def do_DELETE(self) -> None:
        self.server.sessions.pop(self.headers["Mcp-Session-Id"]).end()
        self._answer(204)

    def do_GET(self) -> None:
        self._answer(405)

    def _relay(self, lines: SimpleQueue[bytes], session: str) -> None:
        line = lines.get(timeout=PATIENCE_SECONDS)
        if "method" not in (message := json.loads(line)):
            code = message.get("error", {}).get("code")
            self._answer(
                200 if session else STATUS.get(code, 200), "application/json", session, line
            )
            return
        self._answer(200, "text/event-stream", session, b"event: message\ndata: " + line + b"\n\n")
        while "method" in json.loads(line):
            line = lines.get(timeout=PATIENCE_SECONDS)
            self.wfile.write(b"event: message\ndata: " + line + b"\n\n")

    def _answer(self, status: int, kind: str = "", session: str = "", body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in (("Content-Type", kind), ("Mcp-Session-Id", session)):
            if value:
                self.send_header(name, value)
        self.end_headers()  # the body ends with the connection
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None: ...


@contextmanager
def bridge(command: list[str]) -> Iterator[str]:
    """Serve *command* over HTTP; the value is the address."""
    with Bridge(command) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp"
        finally:
            server.shutdown()
            for process in server.sessions.values():
                process.end()
