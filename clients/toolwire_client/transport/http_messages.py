"""Turn lines of a client into HTTP messages, and find the ids in answers. No I/O.

Strategy. Streamable HTTP carries the same JSON-RPC messages as standard streams, so lines stay as
they are. Only a few members matter here: the ids that wait for responses, and what MCP 2026-07-28
repeats in headers.
"""

from __future__ import annotations

import base64
import re
from typing import Any

import msgspec
from toolwire_schemas.wire.messages import META_VERSION, MODERN_VERSIONS

_NAME_OF = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
"""The parameter that the header `Mcp-Name` repeats, by method (MCP 2026-07-28, transports, and
SEP-2663)."""

_PLAIN_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Raised where foreign JSON is read."""

_ENCODED_VALUE = re.compile(r"=\?base64\?.*\?=")


class _Line(msgspec.Struct):
    id: Any = None
    method: Any = None
    params: Any = None


class Outgoing(msgspec.Struct, frozen=True, eq=False):
    """A line to post.

    `ids` are those of its requests. `method` is `None` for responses, batches and what cannot be
    read. `cancels` is the id of the request that it cancels. `headers` are those that MCP
    2026-07-28 wants; earlier revisions have none of a message.
    """

    body: bytes
    ids: tuple[str | int, ...] = ()
    method: str | None = None
    cancels: str | int | None = None
    headers: dict[str, str] = {}
    is_readable: bool = True

    @property
    def is_modern(self) -> bool:
        return bool(self.headers)

    @property
    def may_be_answered(self) -> bool:
        """Whether messages can come back: a line that cannot be read may bring an error."""
        return bool(self.ids) or not self.is_readable


def read_outgoing(line: bytes) -> Outgoing:
    """Return what *line*, any text, is over HTTP."""
    try:
        given = msgspec.json.decode(line, type=_Line | list[_Line])
    except UNREADABLE:
        return Outgoing(line, is_readable=False)
    if isinstance(given, list):
        ids = tuple(each.id for each in given if _is_request(each))
        return Outgoing(line, ids)
    method = given.method if isinstance(given.method, str) else None
    params = given.params if isinstance(given.params, dict) else {}
    return Outgoing(
        line,
        ids=(given.id,) if _is_request(given) else (),
        method=method,
        cancels=_find_cancelled(method, params),
        headers=_find_headers(method, params),
    )


def _is_request(line: _Line) -> bool:
    return line.method is not None and _is_id(line.id)


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _find_cancelled(method: str | None, params: dict[str, Any]) -> str | int | None:
    number = params.get("requestId")
    return number if method == "notifications/cancelled" and _is_id(number) else None


def _find_headers(method: str | None, params: dict[str, Any]) -> dict[str, str]:
    meta = params.get("_meta")
    version = meta.get(META_VERSION) if isinstance(meta, dict) else None
    if method is None or version not in MODERN_VERSIONS:
        return {}
    headers = {"mcp-protocol-version": version, "mcp-method": encode_value(method)}
    name = params.get(_NAME_OF.get(method, ""))
    if isinstance(name, str):
        headers["mcp-name"] = encode_value(name)
    return headers


def encode_value(value: str) -> str:
    """Return *value* as a header carries it: as it is, or in Base64 where HTTP would change it."""
    if _PLAIN_VALUE.fullmatch(value) and not _ENCODED_VALUE.fullmatch(value):
        return value
    text = base64.b64encode(value.encode("utf-8", "replace")).decode()
    return f"=?base64?{text}?="


class Incoming(msgspec.Struct, frozen=True, eq=False):
    """A message of the server as a line, and the id that it answers, if it is a response."""

    line: bytes
    answers: Any = None
    is_error: bool = False


class _Answer(msgspec.Struct):
    id: Any = None
    method: Any = None
    error: Any = None


def read_incoming(text: bytes) -> list[Incoming]:
    """Return the messages in *text*: several in a batch, else one, which may be no message."""
    line = _as_line(text)
    try:
        given = msgspec.json.decode(line, type=_Answer | list[_Answer])
    except UNREADABLE:
        return [Incoming(line)]
    if not isinstance(given, list):
        return [_read_answer(line, given)]
    answers = [_read_answer(b"", each) for each in given]
    first, *rest = answers or [Incoming(b"")]
    return [msgspec.structs.replace(first, line=line), *rest]


def _as_line(text: bytes) -> bytes:
    # Outside of strings, where JSON has no line ends, they are only white space.
    return text.replace(b"\r", b" ").replace(b"\n", b" ").strip()


def _read_answer(line: bytes, answer: _Answer) -> Incoming:
    if answer.method is not None:
        return Incoming(line)
    return Incoming(line, answer.id, is_error=answer.error is not None)


def with_id(line: bytes, number: str | int) -> bytes:
    """Return the error in *line* as the answer to request *number*: a server that refuses a request
    before it reads its id answers with the id null.
    """
    message = msgspec.json.decode(line)
    return msgspec.json.encode({**message, "id": number})


class _InitializeResult(msgspec.Struct, rename="camel"):
    protocol_version: str


class _Initialized(msgspec.Struct):
    result: _InitializeResult


def find_version(line: bytes) -> str | None:
    """Return the revision in the response to `initialize`; `None` if it has no such member."""
    try:
        return msgspec.json.decode(line, type=_Initialized).result.protocol_version
    except UNREADABLE:
        return None
