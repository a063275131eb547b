"""JSON-RPC 2.0 envelopes as bytes, one function per kind of message.

An envelope is put together from text that is JSON already, so that an answer made once (a list of a
thousand tools) is never encoded twice, and so that nothing but the members of the specification can get in.
"""

from __future__ import annotations

from typing import Any

from .codec import encode

Id = str | int
"""What a request may be known by here. (JSON-RPC allows null and fractions too, and advises against both.)"""


def request(id: Id, method: str, params: Any = None) -> bytes:  # noqa: A002
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


def response(id: Id, result: bytes) -> bytes:  # noqa: A002
    """Return the answer to request *id*; *result* is JSON already."""
    return b'{"jsonrpc":"2.0","id":' + _id(id) + b',"result":' + result + b"}"


def error(id: Id | None, code: int, message: str, data: Any = None) -> bytes:  # noqa: A002
    """Return an error answer; an *id* of `None` says that the request's own could not be read."""
    body: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        body["data"] = data
    return (
        b'{"jsonrpc":"2.0","id":' + (b"null" if id is None else _id(id)) + b',"error":' + encode(body) + b"}"
    )


def batch(answers: list[bytes]) -> bytes:
    """Return the one array that answers a batch."""
    return b"[" + b",".join(answers) + b"]"


def _call(method: str, params: Any) -> bytes:
    if params is None:
        return b'"method":' + encode(method) + b"}"
    return b'"method":' + encode(method) + b',"params":' + encode(params) + b"}"


def _id(id: Id) -> bytes:  # noqa: A002
    return b"%d" % id if type(id) is int else encode(id)
