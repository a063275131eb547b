"""The client side of the protocol with a worker process, as bytes.

A worker is our own server, so this is a small client of MCP's legacy era: one call at a time, no lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codes import INTERNAL_ERROR, LATEST_LEGACY
from toolwire_schemas.wire.framing import Lines, wrap_line

from ..protocol.elicitation import COULD_NOT_ASK

if TYPE_CHECKING:
    from toolwire_schemas.wire.messages import Id
    from toolwire_tools import NotAnswered

NO_LIMIT = 1 << 62
"""In bytes: limits hold between server and host, not between server and worker."""


class Progress(msgspec.Struct, frozen=True):
    """The tool reports progress."""

    done: float
    total: float | None
    message: str | None


class Elicitation(msgspec.Struct, frozen=True):
    """The tool asks the user; `response_to` answers it."""

    id: Id
    message: str
    schema: dict[str, Any]


class Response(msgspec.Struct, frozen=True):
    """The response to our last request: a result or (`None`) an error."""

    result: dict[str, Any] | None
    error: str = ""


Event = Progress | Elicitation | Response


class _Message(msgspec.Struct):
    """Any message of a worker."""

    id: str | int | None = None
    method: str | None = None
    params: dict[str, Any] = {}
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


_decode = msgspec.json.Decoder(_Message).decode


class Incoming:
    """Turns the bytes of a worker into events."""

    def __init__(self) -> None:
        self._lines = Lines(NO_LIMIT)

    def feed(self, data: bytes) -> list[Event]:
        """Add *data*, any part of the stream, and return the events that it completes.

        Raises:
            ValueError: if it is not a message: a tool has written to the descriptor.
        """
        found = (_event(_decode(frame)) for frame in self._lines.feed(data) if isinstance(frame, bytes))
        return [event for event in found if event is not None]


def _event(message: _Message) -> Event | None:
    params = message.params
    if message.method == "notifications/progress":
        return Progress(params["progress"], params.get("total"), params.get("message"))
    if message.method == "elicitation/create":
        assert message.id is not None
        return Elicitation(message.id, params["message"], params["requestedSchema"])
    if message.method is not None:
        return None  # such as the cancellation of an elicitation
    return Response(message.result, "" if message.error is None else str(message.error.get("message")))


def initialize(*, can_elicit: bool) -> bytes:
    """Return the request that declares whether the client of the next call can ask the user."""
    params = {
        "protocolVersion": LATEST_LEGACY,
        "capabilities": {"elicitation": {}} if can_elicit else {},
        "clientInfo": {"name": "toolwire", "version": "0"},
    }
    return wrap_line(messages.request(0, "initialize", params))


def call(id: Id, tool: str, arguments: Any, *, progress: bool) -> bytes:
    """Return the request that calls *tool*, with *progress* notifications or without.

    Raises:
        EncodingError: if *arguments* are nested too deeply to be written.
    """
    params = {"name": tool, "arguments": arguments}
    if progress:
        params["_meta"] = {"progressToken": id}
    return wrap_line(messages.request(id, "tools/call", params))


def cancellation(id: Id) -> bytes:
    """Return the notification that cancels a call."""
    return wrap_line(messages.notification("notifications/cancelled", {"requestId": id}))


def response_to(elicitation: Elicitation, reply: dict[str, Any] | NotAnswered) -> bytes:
    """Return the response with the user's reply, or with the reason why there is no reply."""
    if isinstance(reply, dict):
        return wrap_line(messages.response(elicitation.id, reply))
    # The worker adds the removed words again.
    return wrap_line(
        messages.error(elicitation.id, INTERNAL_ERROR, str(reply).removeprefix(COULD_NOT_ASK).removesuffix("."))
    )
