"""The asking side of a conversation with a worker process, as bytes: what to send, and what has come.

A worker is our own server, so this is a client of MCP's legacy era, and a small one: one call at a time, no lists.
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
"""In bytes: what a worker and its server may send each other. The limits are kept between server and host."""


class Progress(msgspec.Struct, frozen=True):
    """The tool tells how far it is."""

    done: float
    total: float | None
    message: str | None


class Question(msgspec.Struct, frozen=True):
    """The tool asks the user, and waits for `answer_to` with this `id`."""

    id: Id
    message: str
    schema: dict[str, Any]


class Answer(msgspec.Struct, frozen=True):
    """The last request is answered, by a result or (`None`) with the sentence of an error."""

    result: dict[str, Any] | None
    error: str = ""


Event = Progress | Question | Answer


class _Message(msgspec.Struct):
    """Whatever a server sends."""

    id: str | int | None = None
    method: str | None = None
    params: dict[str, Any] = {}
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


_decode = msgspec.json.Decoder(_Message).decode


class Incoming:
    """Turns what a worker writes into events."""

    def __init__(self) -> None:
        self._lines = Lines(NO_LIMIT)

    def feed(self, data: bytes) -> list[Event]:
        """Add *data*, cut anywhere, and return the events that it completes.

        Raises:
            ValueError: if that is no message: a tool has found the descriptor and written to it.
        """
        found = (_event(_decode(frame)) for frame in self._lines.feed(data) if isinstance(frame, bytes))
        return [event for event in found if event is not None]


def _event(message: _Message) -> Event | None:
    params = message.params
    if message.method == "notifications/progress":
        return Progress(params["progress"], params.get("total"), params.get("message"))
    if message.method == "elicitation/create":
        assert message.id is not None
        return Question(message.id, params["message"], params["requestedSchema"])
    if message.method is not None:
        return None  # that a question need not be answered any more, for one
    return Answer(message.result, "" if message.error is None else str(message.error.get("message")))


def greeting(*, can_ask: bool) -> bytes:
    """Return the request that tells the worker whether the client of its calls can ask the user."""
    params = {
        "protocolVersion": LATEST_LEGACY,
        "capabilities": {"elicitation": {}} if can_ask else {},
        "clientInfo": {"name": "toolwire", "version": "0"},
    }
    return wrap_line(messages.request(0, "initialize", params))


def call(id: Id, tool: str, arguments: Any, *, progress: bool) -> bytes:
    """Return the request that calls *tool*; with *progress*, it is to tell how far it is.

    Raises:
        EncodingError: if *arguments* are nested too deeply to be written.
    """
    params = {"name": tool, "arguments": arguments}
    if progress:
        params["_meta"] = {"progressToken": id}
    return wrap_line(messages.request(id, "tools/call", params))


def cancellation(id: Id) -> bytes:
    """Return what tells the tool that nobody waits for it any more."""
    return wrap_line(messages.notification("notifications/cancelled", {"requestId": id}))


def answer_to(question: Question, reply: dict[str, Any] | NotAnswered) -> bytes:
    """Return what brings the tool the user's answer, or why there is none."""
    if isinstance(reply, dict):
        return wrap_line(messages.response(question.id, reply))
    # The worker will say the same before it again.
    return wrap_line(
        messages.error(question.id, INTERNAL_ERROR, str(reply).removeprefix(COULD_NOT_ASK).removesuffix("."))
    )
