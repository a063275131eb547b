"""The routes of the page, as an ASGI application.

Strategy. Routes are exact words, so no router is needed. What the page posts are the parameters of
a method of the inspected server, which returns the answer, or a function that adds events to a
feed.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import anyio
import anyio.to_thread
import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from toolwire_client import pages
from toolwire_client.errors import ClientError
from toolwire_schemas.wire.codec import decode

from ..errors import UsageError
from .guard import HEADERS, RequestGuard
from .one_file import SAVED_EVENTS, SAVED_VIEWS, write_one_file
from .page_state import make_state
from .peer_user import is_own_connection
from .traffic import Feed, encode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import Receive, Scope, Send

    from .inspected_server import InspectedServer

MAX_BODY_BYTES = 32 * 1024 * 1024

_POSTS = (
    *("call", "answer", "read", "prompt", "complete", "snippets", "check", "restart"),
    *("history", "past", "pin", "keep", "forget"),
)
"""Methods of the inspected server."""
_STATIC = Path(__file__).with_name("static")
_FILES = {file.name: file for file in (*_STATIC.iterdir(), Path(*pages.__path__, "style.css"))}
_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
_LINES = "application/x-ndjson"


class Page:
    """The page at *port* that shows *feed*, *state*, and `server` as soon as that is set."""

    def __init__(self, port: int, feed: Feed, state: dict[str, Any]) -> None:
        self.guard, self.feed = (
            RequestGuard(port, partial(is_own_connection, server_port=port)),
            feed,
        )
        self.state = make_state(state)
        self.server: InspectedServer | None = None
        self.strangers: set[object] = set()
        """The open connections that have not named the token; see `listener.py`."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request."""
        try:
            response = await self._response(Request(scope, receive))
        except HTTPException as error:
            response = _make_json_response(
                {"error": error.detail}, error.status_code, error.headers
            )
        except (ClientError, UsageError, ValueError, RecursionError) as error:
            response = _make_json_response(
                {"error": str(error)}, 409 if isinstance(error, ClientError) else 400
            )
        except ClientDisconnect:
            return
        response.headers.update(HEADERS)
        await response(scope, receive, send)

    async def _response(self, request: Request) -> Response:
        match request.method, self.guard.check_path(request) or "index.html":
            case "GET", "state":
                return _make_json_response(self.state)
            case "GET", "events":
                after = int(request.query_params.get("after", "0"))
                return StreamingResponse(self.feed.follow(after), media_type=_LINES)
            case "GET", "recording.jsonl":
                return Response(self.feed.format_recording(), media_type=_LINES)
            case "GET", "session.html":
                page = await anyio.to_thread.run_sync(self._write_one_file)
                return Response(page, media_type="text/html")
            case "GET", name if name in _FILES:
                return Response(
                    _FILES[name].read_bytes(), media_type=_TYPES.get(_FILES[name].suffix)
                )
            case "POST", name if name in _POSTS:
                if self.server is None:
                    raise HTTPException(409, "no server runs")
                return await _call_method(getattr(self.server, name), request)
        raise HTTPException(404, "not found")

    def _write_one_file(self) -> str:
        """Return the messages so far as a page that needs no server."""
        views = [view for view in self.state["views"] if view in SAVED_VIEWS]
        state = {**self.state, "title": "recording.jsonl", "views": views, "status": "ended"}
        state |= {"command": None, "target": None, "problem": "", "edit": None}
        state["replay"] = "toolwire replay recording.jsonl" if "traffic" in views else ""
        return write_one_file(state, self.feed.list_events(SAVED_EVENTS))


async def _call_method(method: Callable[..., Awaitable[Any]], request: Request) -> Response:
    """Call *method* with the members of the body of *request*."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise HTTPException(413, f"the body has more than {MAX_BODY_BYTES} bytes")
    parameters = [(name, kind) for name, kind in get_type_hints(method).items() if name != "return"]
    given = msgspec.convert(
        decode(bytes(body)), msgspec.defstruct("Body", parameters, forbid_unknown_fields=True)
    )
    answer = await method(**msgspec.structs.asdict(given))
    return _Events(answer) if callable(answer) else _make_json_response(answer)


class _Events(StreamingResponse):
    """The events that *work* adds to a feed, until it ends or fails; it is cancelled if the page
    goes away before.
    """

    def __init__(self, work: Callable[[Feed], Awaitable[None]]) -> None:
        self._work, self._feed = work, Feed()
        super().__init__(self._feed.follow(0), media_type=_LINES)

    async def stream_response(self, send: Send) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(super().stream_response, send)
            try:
                await self._work(self._feed)
            except (
                ClientError,
                ValueError,
                RecursionError,
            ) as error:  # a question may be nested too deeply
                self._feed.add("failure", message=str(error), code=getattr(error, "code", None))
            self._feed.close()


def _make_json_response(value: Any, status: int = 200, headers: Any = None) -> Response:
    return Response(encode(value), status, headers, "application/json")
