"""A web server on this machine that plays services of the web, with every fault they are known for.

    with StandIn() as server:
        server.on("GET", "/search", json_answer({"results": []}))
        server.then(error(429, {"message": "slow down"}, **{"retry-after": "1"}))   # the next request meets it
        Service("Search", server.url)

What it is asked is in `requests`. It listens on the loopback interface only, and ends with its
`with`. The shapes of each service are in files of their own beside this one, each with the public
documentation it was written from. None of them was verified with the live service;
`tests/live/test_web.py` is for whoever can.
"""  # noqa: E501

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from toolwire_bundled.web.rate_limit import Pace


@dataclass(frozen=True)
class Received:
    """One request."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, str]:
        """The body as a form."""
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))


Answer = Callable[["Exchange"], None]


class StandIn:
    """The server. Paths that nobody gave an answer for are 404.

    The system may give it the *port* of an earlier one, for which limits of rate are known, until
    times of another clock.
    """

    def __init__(self, port: int = 0) -> None:
        self.requests: list[Received] = []
        self.released = threading.Event()
        """Set when the server ends: answers that keep a client waiting wait for it."""
        self.arrived = threading.Semaphore(0)
        """Released once for each request."""
        self._answers: dict[tuple[str, str], Answer] = {}
        self._next: deque[Answer] = deque()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.stand_in = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        Pace._known.pop(self.host, None)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def host(self) -> str:
        """Host and port, as errors show them."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    def behind(self, context: ssl.SSLContext) -> Self:
        """Speak TLS from now on."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        return self

    def on(self, method: str, path: str, answer: Answer) -> Self:
        """Answer requests for *path* so from now on. `*` is any other path."""
        self._answers[method, path] = answer
        return self

    def then(self, *answers: Answer) -> Self:
        """Let the next requests meet these answers, one each, whatever they ask for."""
        self._next.extend(answers)
        return self

    def answer_for(self, received: Received) -> Answer:
        """What comes next for this request."""
        with suppress(IndexError):
            return self._next.popleft()
        anything = self._answers.get(
            (received.method, "*"), error(404, {"message": f"no {received.path} here"})
        )
        return self._answers.get((received.method, received.path), anything)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()  # waits for the threads of its requests
        self._thread.join()


class Exchange:
    """A request under way."""

    def __init__(self, stand_in: StandIn, handler: _Handler, received: Received) -> None:
        self.stand_in = stand_in
        self.received = received
        self._handler = handler

    def send(
        self,
        body: bytes,
        content_type: str,
        *,
        status: int = 200,
        headers: dict[str, str] | None = None,
    ) -> None:
        """Answer with the whole of *body*."""
        self.head(
            status,
            {"content-type": content_type, "content-length": str(len(body)), **(headers or {})},
        )
        self.write(body)

    def head(self, status: int, headers: dict[str, str]) -> None:
        """Send what comes before a body. One without `content-length` ends with the connection."""
        self._handler.send_response(status)
        for name, value in headers.items():
            if value:
                self._handler.send_header(name, value)
        self._handler.send_header("connection", "close")
        self._handler.end_headers()

    def write(self, data: bytes) -> None:
        self._handler.wfile.write(data)

    def wait(self) -> None:
        """Until the server ends."""
        self.stand_in.released.wait()

    def tear_down(self) -> None:
        """End the connection with a reset, without a farewell."""
        connection = self._handler.connection
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()


# --- answers --------------------------------------------------------------------------------------


def json_answer(value: Any, status: int = 200, **headers: str) -> Answer:
    """*value* as JSON."""
    body = json.dumps(value, ensure_ascii=False).encode()
    return lambda exchange: exchange.send(body, "application/json", status=status, headers=headers)


def text_answer(
    text: str | bytes, content_type: str = "text/html; charset=utf-8", **headers: str
) -> Answer:
    """A page, or any other text."""
    body = text.encode() if isinstance(text, str) else text
    return lambda exchange: exchange.send(body, content_type, headers=headers)


def error(status: int, value: Any = None, **headers: str) -> Answer:
    """An error: JSON, or a page if *value* is text."""
    if isinstance(value, str):
        body = value.encode()
        return lambda exchange: exchange.send(
            body, "text/html; charset=utf-8", status=status, headers=headers
        )
    return json_answer(value, status, **headers)


def throttled(seconds: object, message: str = "Too Many Requests") -> Answer:
    """429, with a `Retry-After`: seconds, or a date."""
    return error(429, {"message": message}, **{"retry-after": str(seconds)})


def redirect(target: str, status: int = 302) -> Answer:
    """On to *target*."""
    return lambda exchange: exchange.send(
        b"", "text/plain", status=status, headers={"location": target}
    )


def reset(exchange: Exchange) -> None:
    """The connection is torn down before anything is answered."""
    exchange.tear_down()


def reset_midway(exchange: Exchange) -> None:
    """The connection is torn down in the midst of the answer."""
    exchange.head(200, {"content-type": "application/json", "content-length": "100"})
    exchange.write(b'{"results": [')
    exchange.tear_down()


def silent(exchange: Exchange) -> None:
    """Nothing is ever answered."""
    exchange.wait()


def dripping(exchange: Exchange) -> None:
    """Byte after byte, until the client has enough of it."""
    exchange.head(200, {"content-type": "text/html"})
    while not exchange.stand_in.released.wait(0.01):
        exchange.write(b" ")


def endless(exchange: Exchange) -> None:
    """As much as the client takes."""
    exchange.head(200, {"content-type": "text/html; charset=utf-8"})
    while not exchange.stand_in.released.is_set():
        exchange.write(b"<p>more</p>" * 10_000)


class _Server(ThreadingHTTPServer):
    stand_in: StandIn
    daemon_threads = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the midst is what many tests are about."""


class _Handler(BaseHTTPRequestHandler):
    timeout = 20
    server: _Server

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("content-length") or 0)))

    def _answer(self, body: bytes) -> None:
        stand_in = self.server.stand_in
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        headers = {name.lower(): value for name, value in self.headers.items()}
        received = Received(self.command, parts.path, query, headers, body)
        answer = stand_in.answer_for(received)
        stand_in.requests.append(received)
        stand_in.arrived.release()
        with suppress(ConnectionError, ValueError, TimeoutError):  # whoever asked has gone away
            answer(Exchange(stand_in, self, received))

    def log_message(self, *arguments: Any) -> None:
        """Tests are quiet."""
