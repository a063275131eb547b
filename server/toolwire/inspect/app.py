"""The routes of the page, as an ASGI application.

Strategy. Routes are exact words in two tables, and a body is a Struct, so there is no need of a framework. A stream is
one JSON object a line; its status is decided by its first line, so that an error before it is an error.
"""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import anyio
import msgspec
from toolwire_schemas.wire.codec import DecodingError, EncodingError, decode, encode

from . import snippets
from .guard import HEADERS, Guard, Moved, Rejected

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .session import InspectedServer
    from .traffic import Feed

    Scope = dict[str, Any]
    Message = dict[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]

MAX_BODY_BYTES = 32 * 1024 * 1024

_STATIC = Path(__file__).parent / "static"
_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".ts": "text/plain",
}
_JSON, _LINES = "application/json", "application/x-ndjson"


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    pass


class _Call(_Body):
    tool: str
    arguments: dict[str, Any] = {}


class _Cancel(_Body):
    call: str


class _Answer(_Body):
    question: str
    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] = {}


class _Read(_Body):
    uri: str


class _Prompt(_Body):
    name: str
    arguments: dict[str, str] = {}


class _Complete(_Body):
    ref: dict[str, Any]
    argument: str
    value: str = ""


class _Check(_Body):
    only: list[str] = []
    destructive: bool = False


class Page:
    """Shows *feed*, and *server* if there is one. *facts* are members of its state."""

    def __init__(self, guard: Guard, feed: Feed, facts: dict[str, Any], server: InspectedServer | None = None) -> None:
        self._guard, self.feed, self._facts = guard, feed, facts
        self.server = server
        """Set as soon as it can be started."""
        self._open: set[_Exchange] = set()
        self._is_checking = anyio.Lock()
        self._gets: dict[str, Callable[[_Exchange], Awaitable[object]]] = {
            "state": self._state,
            "events": self._events,
            "recording": self._recording,
        }
        self._posts: dict[str, tuple[type[_Body], Callable[[_Exchange, Any], Awaitable[object]]]] = {
            "call": (_Call, self._call),
            "cancel": (_Cancel, self._cancel),
            "answer": (_Answer, self._answer),
            "read": (_Read, self._read),
            "prompt": (_Prompt, self._prompt),
            "complete": (_Complete, self._complete),
            "snippets": (_Call, self._snippets),
            "check": (_Check, self._check),
            "restart": (_Body, self._restart),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        exchange = _Exchange(scope, receive, send)
        self._open.add(exchange)
        try:
            path = self._guard.path(scope["method"], scope["path"], scope["headers"])
            await self._respond(exchange, path)
        except Moved as moved:
            await exchange.finish(303, "text/plain", b"", [(b"location", str(moved).encode())])
        except Rejected as error:
            await exchange.fail(error.status, str(error))
        finally:
            self._open.discard(exchange)

    def close(self) -> None:
        """End all responses."""
        self.feed.close()
        for exchange in self._open:
            exchange.scope.cancel()

    async def _respond(self, exchange: _Exchange, path: str) -> None:
        method = exchange.request["method"]
        if path in self._posts and method == "POST":
            kind, answer = self._posts[path]
            body = await exchange.body(kind)
            await exchange.within(partial(answer, exchange, body))
        elif path in self._gets and method == "GET":
            await exchange.within(partial(self._gets[path], exchange))
        elif path in self._posts or path in self._gets or method not in ("GET", "HEAD"):
            raise Rejected(405, f"{method} is not for this address")
        else:
            file = _file(path or "index.html")
            await exchange.finish(200, f"{_TYPES[file.suffix]}; charset=utf-8", file.read_bytes())

    @property
    def _running(self) -> InspectedServer:
        if self.server is None:
            raise Rejected(409, "the server is starting" if self._facts["command"] else "no server runs here")
        return self.server

    # --- what the page asks ---

    async def _state(self, exchange: _Exchange) -> None:
        status = "starting" if self._facts["command"] else "ended"
        none: dict[str, Any] = {"status": status, "problem": "", "server": None}
        none |= {name: [] for name in ("tools", "resources", "templates", "prompts")}
        await exchange.json({**self._facts, **(none if self.server is None else self.server.state())})

    async def _events(self, exchange: _Exchange) -> None:
        query = exchange.request["query_string"].decode("latin-1")
        after = query.removeprefix("after=")
        if query and not (after.isascii() and after.isdigit() and len(after) < 16):
            raise Rejected(400, "say after which event: events?after=NUMBER")
        await exchange.start(_LINES)
        await self.feed.follow(int(after or 0), exchange.send)

    async def _recording(self, exchange: _Exchange) -> None:
        name = (b"content-disposition", b'attachment; filename="recording.jsonl"')
        await exchange.finish(200, _LINES, self.feed.recording(), [name])

    async def _call(self, exchange: _Exchange, body: _Call) -> None:
        await self._running.call(exchange.line, body.tool, body.arguments)

    async def _cancel(self, exchange: _Exchange, body: _Cancel) -> None:
        self._running.cancel(body.call)
        await exchange.json({})

    async def _answer(self, exchange: _Exchange, body: _Answer) -> None:
        self._running.answer(body.question, body.action, body.content)
        await exchange.json({})

    async def _read(self, exchange: _Exchange, body: _Read) -> None:
        await exchange.json(await self._running.read(body.uri))

    async def _prompt(self, exchange: _Exchange, body: _Prompt) -> None:
        await exchange.json(await self._running.prompt(body.name, body.arguments))

    async def _complete(self, exchange: _Exchange, body: _Complete) -> None:
        await exchange.json({"values": await self._running.complete(body.ref, body.argument, body.value)})

    async def _snippets(self, exchange: _Exchange, body: _Call) -> None:
        schema = self._running.tool(body.tool).get("inputSchema")
        target, command = self._facts.get("target"), self._running.command
        await exchange.json(snippets.of(body.tool, body.arguments, schema, target=target, command=command))

    async def _check(self, exchange: _Exchange, body: _Check) -> None:
        from . import checking

        if self._is_checking.locked():
            raise Rejected(409, "a check is running: wait for its end, or cancel it")
        async with self._is_checking:
            await checking.check(exchange.line, self._running.command, body.only, is_destructive=body.destructive)

    async def _restart(self, exchange: _Exchange, body: _Body) -> None:
        await self._running.restart()
        await exchange.json({})


class _Exchange:
    """One request, and its response."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.request, self._receive, self._send = scope, receive, send
        self.scope = anyio.CancelScope()
        self._is_started = self._is_ended = False

    async def body(self, kind: type[_Body]) -> Any:
        """Return the body. Raises `Rejected` if it is too long or not of this *kind*."""
        data = bytearray()
        while True:
            message = await self._receive()
            data += message.get("body", b"")
            if len(data) > MAX_BODY_BYTES:
                raise Rejected(413, f"the body has more than {MAX_BODY_BYTES} bytes")
            if not message.get("more_body"):
                break
        try:
            return msgspec.convert(decode(bytes(data)), kind)
        except (DecodingError, msgspec.ValidationError) as error:
            raise Rejected(400, f"the body is wrong: {error}") from None

    async def within(self, answer: Callable[[], Awaitable[object]]) -> None:
        """Run *answer*, which writes the response, until the browser goes away."""
        from toolwire_client.errors import ClientError

        from .session import Refused

        problem: Exception | None = None
        async with anyio.create_task_group() as tasks:
            self.scope = tasks.cancel_scope
            tasks.start_soon(self._watch)
            try:
                await answer()
            except (Refused, Rejected, ClientError, EncodingError) as error:
                problem = error
            self.scope.cancel()
        if problem is not None and self._is_started:
            await self.line({"type": "failure", "message": str(problem), "code": None})
        elif problem is not None:
            await self.fail(getattr(problem, "status", 409), str(problem))
        await self._end()

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.scope.cancel()

    async def start(self, media_type: str, status: int = 200, headers: list[tuple[bytes, bytes]] | None = None) -> None:
        """Begin the response."""
        self._is_started = True
        types = [(b"content-type", media_type.encode())]
        start = {"type": "http.response.start", "status": status, "headers": [*types, *HEADERS, *(headers or [])]}
        await self._send(start)

    async def send(self, data: bytes) -> None:
        """Send a part of the response's body."""
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def line(self, value: dict[str, Any]) -> None:
        """Send a line of JSON, after the start of the response."""
        if not self._is_started:
            await self.start(_LINES)
        try:
            data = encode(value)
        except EncodingError as error:  # what a server said is nested too deeply
            readable = {name: item for name, item in value.items() if not isinstance(item, dict | list)}
            data = encode({**readable, "unreadable": str(error)})
        await self.send(data + b"\n")

    async def json(self, value: Any, status: int = 200) -> None:
        """Send *value* as the whole body."""
        await self.start(_JSON, status)
        await self.send(encode(value))

    async def fail(self, status: int, sentence: str) -> None:
        """Respond with an error."""
        await self.json({"error": sentence}, status)
        await self._end()

    async def finish(
        self, status: int, media_type: str, body: bytes, headers: list[tuple[bytes, bytes]] | None = None
    ) -> None:
        """Send the whole response."""
        await self.start(media_type, status, headers)
        await self.send(body)
        await self._end()

    async def _end(self) -> None:
        if not self._is_ended:
            self._is_ended = True
            await self._send({"type": "http.response.body", "body": b""})


def _file(name: str) -> Path:
    """Return the file *name* of the page. Raises `Rejected` if it does not exist."""
    if name == "style.css":
        client = find_spec("toolwire_client")
        assert client is not None
        assert client.origin is not None
        return Path(client.origin).parent / "pages" / name
    files = {file.name: file for file in _STATIC.iterdir() if file.suffix in _TYPES}
    if name not in files:
        raise Rejected(404, "not found")
    return files[name]
