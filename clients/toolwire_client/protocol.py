"""What is said to a server and what its messages mean. No I/O, no threads, no waiting.

A `Session` numbers requests, adds what the negotiated revision of MCP wants in them, and turns each frame
that arrives into events.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

import msgspec
from toolwire_schemas import codes, messages
from toolwire_schemas.codec import DecodingError, decode
from toolwire_schemas.framing import Fault, Frame

_CAPABILITIES: dict[str, Any] = {}
"""What a server may ask of us: nothing yet."""

# Where servers put the id of an answer that is too long to be read: first or last.
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*"?(\d+)"?\s*,')
_ID_LAST = re.compile(rb',\s*"id"\s*:\s*"?(\d+)"?\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


class Answer(msgspec.Struct, frozen=True):
    """A request was answered."""

    id: int
    result: Any


class Failure(msgspec.Struct, frozen=True):
    """A request was answered with an error."""

    id: int
    code: int
    message: str
    data: Any = None


class Progress(msgspec.Struct, frozen=True):
    """How far a request has come."""

    id: int
    done: float
    total: float | None = None
    message: str | None = None


class Notice(msgspec.Struct, frozen=True):
    """The server mentions something nobody waits for."""

    method: str
    params: Any = None


class Reply(msgspec.Struct, frozen=True):
    """The server asked something that has to be answered with these bytes."""

    message: bytes


class Noise(msgspec.Struct, frozen=True):
    """Something arrived that is no message."""

    text: str


class Unreadable(msgspec.Struct, frozen=True):
    """An answer arrived that cannot be read; `id` is `None` if nobody knows whose it was."""

    id: int | None
    reason: str


Event = Answer | Failure | Progress | Notice | Reply | Noise | Unreadable


class Session:
    """One conversation with one server, from this side.

    `version` is the MCP revision spoken, `None` until it is settled.
    """

    def __init__(self, name: str, client_version: str) -> None:
        self.version: str | None = None
        self._info = {"name": name, "version": client_version}
        self._ids = itertools.count(1)  # `next` on it is atomic, so threads may share a session

    def request(self, method: str, params: dict[str, Any] | None, *, progress: bool = False) -> tuple[int, bytes]:
        """Return a new request's id and text. *progress* asks the server to report it.

        Raises:
            EncodingError: if *params* cannot be written as JSON.
        """
        number = next(self._ids)
        meta = {} if self.version not in codes.MODERN_VERSIONS else self._modern_meta()
        if progress:
            meta["progressToken"] = number
        if meta:
            given = (params or {}).get("_meta") or {}
            params = {**(params or {}), "_meta": {**meta, **given}}
        return number, messages.request(number, method, params)

    def discover(self) -> tuple[int, bytes]:
        """Return the question whether the server speaks a modern revision."""
        number = next(self._ids)
        meta = self._modern_meta()
        return number, messages.request(number, "server/discover", {"_meta": meta})

    def initialize(self) -> tuple[int, bytes]:
        """Return the first request of the legacy revisions."""
        number = next(self._ids)
        params = {
            "protocolVersion": codes.LATEST_LEGACY,
            "capabilities": _CAPABILITIES,
            "clientInfo": self._info,
        }
        return number, messages.request(number, "initialize", params)

    def initialized(self) -> bytes:
        """Return the message that ends the legacy handshake."""
        return messages.notification("notifications/initialized")

    def cancelled(self, number: int, reason: str) -> bytes:
        """Return the message that says that request *number* is no longer wanted."""
        params: dict[str, Any] = {"requestId": number, "reason": reason}
        if self.version in codes.MODERN_VERSIONS:
            params["_meta"] = self._modern_meta()
        return messages.notification("notifications/cancelled", params)

    def receive(self, frame: Frame) -> list[Event]:
        """Return what *frame* means."""
        if isinstance(frame, Fault):
            return [_unreadable(frame)]
        try:
            message = decode(frame)
        except DecodingError:
            return [_noise(frame)]
        members = message if isinstance(message, list) else [message]  # revision 2025-03-26 has batches
        return [event for member in members if (event := _event(member))] or [_noise(frame)]

    def _modern_meta(self) -> dict[str, Any]:
        return {
            codes.META_VERSION: codes.MODERN_VERSIONS[-1],
            codes.META_CLIENT_INFO: self._info,
            codes.META_CLIENT_CAPABILITIES: _CAPABILITIES,
        }


def _event(message: Any) -> Event | None:
    if isinstance(message, dict):
        if isinstance(message.get("method"), str):
            return _asked(message) if "id" in message else _noticed(message)
        number = _number(message.get("id"))
        if number is not None and "error" in message and message["error"] is not None:
            return _failure(number, message["error"])
        if number is not None and "result" in message:
            return Answer(number, message["result"])
    return None


def _noise(frame: bytes) -> Noise:
    return Noise(frame[:2000].decode(errors="replace").rstrip())


def _number(identity: Any) -> int | None:
    """The number of our request: some servers send it back as text."""
    if isinstance(identity, str) and identity.isdecimal() and len(identity) < 20:
        return int(identity)
    return identity if type(identity) is int else None


def _failure(number: int, error: Any) -> Failure:
    body = error if isinstance(error, dict) else {}
    code, message = body.get("code"), body.get("message")
    return Failure(
        number,
        code if type(code) is int else 0,
        message if isinstance(message, str) else "the server answered with an error that says nothing",
        body.get("data"),
    )


def _noticed(message: dict[str, Any]) -> Event:
    params = message.get("params")
    if message["method"] == "notifications/progress" and isinstance(params, dict):
        number, done = _number(params.get("progressToken")), params.get("progress")
        total, text = params.get("total"), params.get("message")
        if number is not None and isinstance(done, int | float):
            return Progress(
                number,
                done,
                total if isinstance(total, int | float) else None,
                text if isinstance(text, str) else None,
            )
    return Notice(message["method"], params)


def _asked(message: dict[str, Any]) -> Event | None:
    identity = message["id"]
    if not isinstance(identity, str | int) or isinstance(identity, bool):
        return None
    if message["method"] == "ping":
        return Reply(messages.response(identity, {}))
    problem = f"this client has no method {message['method']!r}"
    return Reply(messages.error(identity, codes.METHOD_NOT_FOUND, problem))


def _unreadable(fault: Fault) -> Unreadable:
    found = _ID_FIRST.match(fault.head) or _ID_LAST.search(fault.tail)
    return Unreadable(int(found[1]) if found else None, f"the server sent {fault.message}")
