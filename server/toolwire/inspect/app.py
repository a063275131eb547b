"""The routes of the page, as an ASGI application.

Strategy. Routes are exact words, so no framework is needed. What the page posts are the parameters of a method of the
inspected server, which returns the answer, or writes it as lines of JSON while it happens.
"""

from __future__ import annotations

import inspect
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import anyio
import msgspec
from toolwire_client.errors import ClientError
from toolwire_schemas.wire.codec import decode

from .guard import HEADERS, Guard, Rejected
from .traffic import encode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from .session import InspectedServer
    from .traffic import Feed

MAX_BODY_BYTES = 32 * 1024 * 1024

_POSTS = ("call", "cancel", "answer", "read", "prompt", "complete", "snippets", "check", "restart")
"""Methods of the inspected server."""
_STATIC = Path(__file__).parent / "static"
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_LINES = "application/x-ndjson"


class Page:
    """Shows *feed*, and `server` as soon as that is set. *facts* are members of its state."""

    def __init__(self, guard: Guard, feed: Feed, **facts: Any) -> None:
        self.guard, self.feed, self.facts = guard, feed, facts
        self.server: InspectedServer | None = None
        self._open: set[anyio.CancelScope] = set()

    def close(self) -> None:
        """End all responses."""
        self.feed.close()
        for scope in self._open:
            scope.cancel()

    async def __call__(self, scope: dict[str, Any], receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        """Respond to a request."""
        if scope["type"] != "http":
            return
        response = _Response(send)
        async with anyio.create_task_group() as tasks:
            self._open.add(tasks.cancel_scope)
            try:
                path = self.guard.path(scope["method"], scope["path"], scope["headers"])
                body = await _body(receive)
                tasks.start_soon(_watch, receive, tasks.cancel_scope)
                await (
                    self._post(path, body, response) if scope["method"] == "POST" else self._get(path, scope, response)
                )
            except (Rejected, ClientError, ValueError) as error:
                await response.fail(error)
            finally:
                self._open.discard(tasks.cancel_scope)
            await send({"type": "http.response.body", "body": b""})
            tasks.cancel_scope.cancel()

    async def _get(self, path: str, scope: dict[str, Any], response: _Response) -> None:
        match path:
            case "state":
                await response.json({**_NO_SERVER, **self.facts, **(self.server.state() if self.server else {})})
            case "events":
                after = int(scope["query_string"].removeprefix(b"after=") or b"0")
                await response.start(_LINES)
                await self.feed.follow(after, response.send)
            case "recording":
                attachment = (b"content-disposition", b'attachment; filename="recording.jsonl"')
                await response.start(_LINES, headers=[attachment])
                await response.send(self.feed.recording())
            case _:
                file = _file(path or "index.html")
                await response.start(f"{_TYPES[file.suffix]}; charset=utf-8")
                await response.send(file.read_bytes())

    async def _post(self, path: str, body: bytes, response: _Response) -> None:
        """Call the method *path* of the server with the members of *body*, and send what it returns or writes."""
        if path not in _POSTS:
            raise Rejected(404, "not found")
        if self.server is None:
            raise Rejected(409, "no server runs")
        method = getattr(self.server, path)
        given = msgspec.to_builtins(msgspec.convert(decode(body), _parameters(method.__func__)))
        if "write" in inspect.signature(method).parameters:
            await method(response.line, **given)
        else:
            await response.json(await method(**given))


_LISTS: dict[str, list[Any]] = {"tools": [], "resources": [], "templates": [], "prompts": []}
_NO_SERVER = {"status": "starting", "problem": "", "server": None, **_LISTS}


class _Response:
    """Writes a response to *send*. A stream starts with its first line, so that an error before it is an error."""

    def __init__(self, send: Callable[[dict[str, Any]], Awaitable[object]]) -> None:
        self._send = send
        self._is_started = False

    async def start(self, media_type: str, status: int = 200, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
        self._is_started = True
        headers = [(b"content-type", media_type.encode()), *HEADERS, *headers]
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def send(self, data: bytes) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def json(self, value: Any, status: int = 200, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
        await self.start("application/json", status, headers)
        await self.send(encode(value))

    async def line(self, value: dict[str, Any]) -> None:
        if not self._is_started:
            await self.start(_LINES)
        await self.send(encode(value) + b"\n")

    async def fail(self, error: Exception) -> None:
        if self._is_started:
            await self.line({"type": "failure", "message": str(error), "code": None})
        elif isinstance(error, Rejected):
            await self.json({"error": str(error)}, error.status, error.headers)
        elif isinstance(error, ClientError):
            await self.json({"failure": str(error)})
        else:
            await self.json({"error": str(error)}, 400)


@cache
def _parameters(method: Callable[..., Any]) -> type[msgspec.Struct]:
    hints = get_type_hints(method)
    parameters = [each for name, each in inspect.signature(method).parameters.items() if name not in ("self", "write")]
    fields = [
        (each.name, hints[each.name], *([each.default] * (each.default is not each.empty))) for each in parameters
    ]
    return msgspec.defstruct("Body", fields, forbid_unknown_fields=True)


async def _body(receive: Callable[[], Awaitable[dict[str, Any]]]) -> bytes:
    data, more = bytearray(), True
    while more:
        message = await receive()
        data += message.get("body", b"")
        more = message.get("more_body", False)
        if len(data) > MAX_BODY_BYTES:
            raise Rejected(413, f"the body has more than {MAX_BODY_BYTES} bytes")
    return bytes(data)


async def _watch(receive: Callable[[], Awaitable[dict[str, Any]]], scope: anyio.CancelScope) -> None:
    """Cancel *scope* when the browser goes away."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def _file(name: str) -> Path:
    """Return the file *name* of the page. Raises `Rejected` if it does not exist."""
    files = {file.name: file for file in _STATIC.iterdir() if file.suffix in _TYPES}
    if (client := find_spec("toolwire_client")) is not None and client.origin is not None:
        files["style.css"] = Path(client.origin).parent / "pages" / "style.css"
    if name not in files:
        raise Rejected(404, "not found")
    return files[name]
