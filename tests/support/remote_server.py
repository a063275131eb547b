"""An MCP server over Streamable HTTP on this machine, with every fault.

    with RemoteStandIn(style="events") as server:
        server.then(status(503))  # the next call of a tool meets it; the others do not
        with connect(server.url) as client: ...

Its shapes are taken from the specification; it shares no code with what it tests. `requests` holds
what it received.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self

Message = dict[str, Any]

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
ADD = {
    "name": "add",
    "description": "Return the sum.",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}},
}


@dataclass(frozen=True)
class Received:
    """One HTTP request; `message` is its body."""

    verb: str
    path: str
    headers: dict[str, str]
    message: Any

    @property
    def method(self) -> str:
        """The method of its message, or the verb of HTTP if it has none."""
        if isinstance(self.message, dict):
            return str(self.message.get("method", "response"))
        return self.verb


Reply = Callable[["Exchange"], None]


class RemoteStandIn:
    """The server. *style* is how it answers; it has sessions unless *session* is `None`. *rule* may
    return a reply to any request in place of the usual one.
    """

    def __init__(
        self,
        *,
        era: Literal["legacy", "modern"] = "legacy",
        style: Literal["json", "events"] = "json",
        session: str | None = "session-1",
        rule: Callable[[Received], Reply | None] | None = None,
    ) -> None:
        self.era = era
        self.style = style
        self.session = session
        self.rule = rule
        self.requests: list[Received] = []
        self.replies: deque[Reply] = deque()
        self.others: deque[bytes] = deque()
        """Events for the stream of the next GET; without any, GET is not allowed."""
        self.released = threading.Event()
        """Set when the server ends: replies that keep a client waiting wait for it."""
        self.arrived = threading.Condition()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.stand_in = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/mcp"

    def then(self, *replies: Reply) -> Self:
        """Answer the next calls of tools with *replies*, one each."""
        self.replies.extend(replies)
        return self

    def methods(self) -> list[str]:
        return [received.method for received in self.requests]

    def wait_for(self, is_it: Callable[[Received], bool]) -> Received:
        """Return the first request that *is_it*; wait for it."""
        with self.arrived:
            found: list[Received] = []

            def has_come() -> bool:
                found[:] = [received for received in self.requests if is_it(received)]
                return bool(found)

            assert self.arrived.wait_for(has_come, 10)
            return found[0]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()  # waits for the threads of its requests
        self._thread.join()


# --- replies ---


def status(code: int, body: Any = None, **headers: str) -> Reply:
    """A reply of this status, with a JSON *body* or none."""
    return lambda exchange: exchange.send(code, body, headers)


def text(code: int, kind: str, body: bytes) -> Reply:
    """A reply of any kind."""
    return lambda exchange: exchange.send_bytes(code, {"content-type": kind}, body)


def events(*parts: bytes, then: Literal["end", "break", "stay"] = "end") -> Reply:
    """A stream of *parts*, which ends, breaks, or stays open until the server ends."""

    def reply(exchange: Exchange) -> None:
        exchange.begin_events()
        for part in parts:
            exchange.write(part)
        if then == "stay":
            exchange.server.released.wait()
        if then == "break":
            exchange.tear_down()

    return reply


def event(message: Any, id: str = "", retry: int | None = None) -> bytes:
    """One server-sent event."""
    lines = ["event: message"]
    if id:
        lines.append(f"id: {id}")
    if retry is not None:
        lines.append(f"retry: {retry}")
    body = "" if message is None else json.dumps(message)
    return ("\r\n".join([*lines, f"data: {body}", "", ""])).encode()


def result(number: Any, text: str = "3") -> Message:
    """The response to a call of a tool."""
    body = {"content": [{"type": "text", "text": text}], "resultType": "complete"}
    return {"jsonrpc": "2.0", "id": number, "result": body}


def resumed_later(exchange: Exchange) -> None:
    """The stream ends before the response, which a GET with the id of its last event gets."""
    number = exchange.received.message["id"]
    exchange.server.others.append(event(result(number, "resumed")))
    events(event(None, id="e1", retry=1))(exchange)


# --- the server itself ---


@dataclass
class Exchange:
    """One HTTP request and what is sent for it."""

    server: RemoteStandIn
    received: Received
    handler: BaseHTTPRequestHandler = field(repr=False)

    def send(self, code: int, body: Any = None, headers: dict[str, str] | None = None) -> None:
        sent = b"" if body is None else json.dumps(body, indent=1).encode()
        kind = {} if body is None else {"content-type": "application/json"}
        self.send_bytes(code, {**kind, **(headers or {})}, sent)

    def send_bytes(self, code: int, headers: dict[str, str], body: bytes) -> None:
        self.handler.send_response(code)
        for name, value in headers.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.send_header("content-length", str(len(body)))
        self.handler.end_headers()
        self.write(body)

    def begin_events(self) -> None:
        self.handler.send_response(200)
        self.handler.send_header("content-type", "text/event-stream")
        self.handler.send_header("connection", "close")
        self.handler.end_headers()
        self.handler.close_connection = True

    def write(self, data: bytes) -> None:
        with suppress(OSError):
            self.handler.wfile.write(data)
            self.handler.wfile.flush()

    def tear_down(self) -> None:
        self.handler.close_connection = True
        linger = struct.pack("ii", 1, 0)
        self.handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.handler.connection.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    stand_in: RemoteStandIn

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client may leave at any time


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 1.0
    server: _Server

    def log_message(self, *arguments: Any) -> None:
        pass

    def _receive(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            message = json.loads(body) if body else None
        except ValueError:  # a form, or no message at all
            message = body
        headers = {name.lower(): value for name, value in self.headers.items()}
        received = Received(self.command, self.path, headers, message)
        stand_in = self.server.stand_in
        with stand_in.arrived:
            stand_in.requests.append(received)
            stand_in.arrived.notify_all()
        reply = stand_in.rule(received) if stand_in.rule is not None else None
        (reply or _answer)(Exchange(stand_in, received, self))

    do_POST = do_GET = do_DELETE = _receive  # noqa: N815


def _answer(exchange: Exchange) -> None:
    server, received = exchange.server, exchange.received
    if received.verb == "DELETE":
        exchange.send(200)
    elif received.verb == "GET":
        _answer_get(exchange)
    elif not isinstance(received.message, dict):
        problem = {"code": -32700, "message": "Parse error"}
        exchange.send(400, {"jsonrpc": "2.0", "id": None, "error": problem})
    elif _lacks_session(server, received):
        exchange.send(404)
    elif received.method == "tools/call" and server.replies:
        server.replies.popleft()(exchange)
    else:
        _answer_message(exchange, received.message)


def _lacks_session(server: RemoteStandIn, received: Received) -> bool:
    if server.era == "modern" or received.method in ("initialize", "server/discover"):
        return False
    return received.headers.get("mcp-session-id") != server.session


def _answer_get(exchange: Exchange) -> None:
    if not exchange.server.others:
        exchange.send(405)
        return
    exchange.begin_events()
    while exchange.server.others:
        exchange.write(exchange.server.others.popleft())


def _answer_message(exchange: Exchange, message: Message) -> None:
    server = exchange.server
    if "id" not in message or "method" not in message:
        exchange.send(202)
        return
    headers = {}
    if message["method"] == "initialize" and server.session is not None:
        headers = {"mcp-session-id": server.session}
    response = _respond(server, message)
    if "error" in response:
        exchange.send(400, response)
    elif server.style == "json":
        exchange.send(200, response, headers)
    else:
        exchange.handler.send_response(200)
        for name, value in {"content-type": "text/event-stream", **headers}.items():
            exchange.handler.send_header(name, value)
        exchange.handler.send_header("connection", "close")
        exchange.handler.end_headers()
        exchange.handler.close_connection = True
        exchange.write(event(response, id="e1"))


def _respond(server: RemoteStandIn, message: Message) -> Message:
    number, method = message["id"], message["method"]
    info = {"name": "remote", "version": "1"}
    result: Message
    if method == "server/discover" and server.era == "modern":
        result = {"supportedVersions": [MODERN], "capabilities": {"tools": {"listChanged": True}}}
        result["_meta"] = {"io.modelcontextprotocol/serverInfo": info}
    elif method == "initialize" and server.era == "legacy":
        result = {"protocolVersion": LEGACY, "serverInfo": info}
        result["capabilities"] = {"tools": {"listChanged": True}}
    elif method == "tools/list":
        result = {"tools": [ADD]}
    elif method == "tools/call":
        return _result_of_call(message)
    elif method == "ping":
        result = {}
    else:
        # As mcp 1 does: the id is not that of the request.
        problem = {"code": -32600, "message": "Bad Request: Unsupported protocol version"}
        return {"jsonrpc": "2.0", "id": "server-error", "error": problem}
    return {"jsonrpc": "2.0", "id": number, "result": {**result, "resultType": "complete"}}


def _result_of_call(message: Message) -> Message:
    arguments = message["params"].get("arguments", {})
    return result(message["id"], str(sum(arguments.values())))
