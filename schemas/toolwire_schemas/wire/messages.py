"""JSON-RPC 2.0 envelopes as bytes, one function per kind of message.

Only the members of the specification can get in: clients drop messages with others, and wait.
"""

from __future__ import annotations

from typing import Any

from .codec import encode

Id = str | int
"""What a request may be known by here. (JSON-RPC allows null and fractions too, and advises against both.)"""


def request(id: Id, method: str, params: Any = None) -> bytes:
    """Return a request; *params* of `None` are left out.

    Raises:
        EncodingError: if *params* cannot be written as JSON.
    """
    return b'{"jsonrpc":"2.0","id":' + _id(id) + b"," + _call(method, params)


def notification(method: str, params: Any = None) -> bytes:
    """Return a notification; *params* of `None` are left out.

    Raises:
        EncodingError: if *params* cannot be written as JSON.
    """
    return b'{"jsonrpc":"2.0",' + _call(method, params)


def response(id: Id, result: Any, replaced: list[str] | None = None) -> bytes:
    """Return the answer to request *id*; *replaced* is for `encode`.

    Raises:
        EncodingError: if *result* cannot be written as JSON.
    """
    return encode({"jsonrpc": "2.0", "id": id, "result": result}, replaced)


def response_of_json(id: Id, result: bytes) -> bytes:
    """Return the answer to request *id*; *result* is JSON already."""
    return b'{"jsonrpc":"2.0","id":' + _id(id) + b',"result":' + result + b"}"


def error(id: Id | None, code: int, message: str, data: Any = None) -> bytes:
    """Return an error answer; an *id* of `None` says that the request's own could not be read."""
    body: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        body["data"] = data
    return b'{"jsonrpc":"2.0","id":' + (b"null" if id is None else _id(id)) + b',"error":' + encode(body) + b"}"


def batch(answers: list[bytes]) -> bytes:
    """Return the one array that answers a batch."""
    return b"[" + b",".join(answers) + b"]"


def _call(method: str, params: Any) -> bytes:
    if params is None:
        return b'"method":' + encode(method) + b"}"
    return b'"method":' + encode(method) + b',"params":' + encode(params) + b"}"


def _id(id: Id) -> bytes:
    return b"%d" % id if type(id) is int else encode(id)
