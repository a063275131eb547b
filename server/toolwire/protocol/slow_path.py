"""The slow path: everything that is not one well-formed request.

Strategy. This file splits batches, recognizes responses, and judges each remaining element by
JSON-RPC 2.0, section 4. Tests compare every verdict with that of jsonrpcserver; `DIFFERENCES` lists
where this file deviates from it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, UnsetType
from toolwire_schemas.wire.codec import DecodingError, decode
from toolwire_schemas.wire.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    Fault,
)

from .. import log
from ..errors import RequestError
from .batch import Batch
from .call import Request
from .elicitation import Response

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_schemas.wire.messages import Frame, Id

    from .call import Decision

DIFFERENCES = {
    "responses": (
        "answered with -32600 by jsonrpcserver; never answered here, since that could loop for ever"
    ),
    "params-null": (
        "refused by jsonrpcserver; here the same as no params, since hosts in other languages"
        " send it"
    ),
    "extra-members": (
        "refused by jsonrpcserver; JSON-RPC 2.0 does not forbid them, and extensions use them"
    ),
    "readable-ids": (
        "answered with null by jsonrpcserver; here every response has the id if it can be read"
    ),
    "one-bad-element": (
        "fails the whole batch in jsonrpcserver; here each element is handled on its own"
        " (section 6)"
    ),
    "id-types": "null and fractions are accepted by jsonrpcserver; here -32600, as MCP requires",
}

# The members of each method's params, for clients that sent them by position.
_MEMBERS = {
    "tools/call": "name, arguments and _meta",
    "tools/list": "cursor and _meta",
    "resources/read": "uri and _meta",
    "prompts/get": "name, arguments and _meta",
    "initialize": "protocolVersion, capabilities and clientInfo",
    "notifications/cancelled": "requestId and reason",
    "$/cancelRequest": "id",
}


class SlowPath(msgspec.Struct, frozen=True):
    """Decides with the functions of `ServerProtocol`; `find_method_error` returns `None` for a
    method that exists.
    """

    handle_request: Callable[[Request, int, Batch | None], tuple[Decision, ...]]
    handle_response: Callable[[Response], tuple[Decision, ...]]
    answer: Callable[
        [Id | UnsetType | None, bytes | RequestError, Batch | None], tuple[Decision, ...]
    ]
    find_method_error: Callable[[str], RequestError | None]
    is_plain_method: Callable[[str], bool]
    hold: Callable[[int], None]
    max_batch_elements: int

    def receive(self, frame: Frame) -> tuple[Decision, ...]:
        """Return what to do about a *frame* that is not one well-formed request."""
        # Hosts wait for the response to their id, so a broken message is answered with the id it
        # seems to have.
        if isinstance(frame, Fault):
            code = INVALID_REQUEST if frame.too_large else PARSE_ERROR
            return self.answer(
                find_id(frame.head, frame.tail), RequestError(code, frame.message), None
            )
        try:
            message = decode(frame)
        except DecodingError as error:
            id = find_id(frame[:512], frame[-512:])
            cut_off = str(error).endswith("truncated")
            hint = (
                "; a message is one line, or as long as its Content-Length says" if cut_off else ""
            )
            return self.answer(id, RequestError(PARSE_ERROR, f"Parse error: {error}{hint}"), None)
        if type(message) is not list:
            return self._receive_one(message, len(frame), None)
        if not message:
            return self.answer(
                None, RequestError(INVALID_REQUEST, "Invalid request: an empty batch"), None
            )
        if len(message) > self.max_batch_elements:
            problem = (
                f"a batch of {len(message)} elements (the limit is {self.max_batch_elements});"
                " split it"
            )
            log.warn_rarely("batch", f"refused {problem} (--limit max_batch_elements)")
            return self.answer(
                None, RequestError(INVALID_REQUEST, f"Invalid request: {problem}"), None
            )
        batch = Batch(sum(not _is_response(element) for element in message), self.hold)
        share = len(frame) // len(message)
        return tuple(
            decision
            for element in message
            for decision in self._receive_member(element, share, batch)
        )

    def _receive_member(self, element: Any, size: int, batch: Batch) -> tuple[Decision, ...]:
        """Take the fast path where possible."""
        try:
            request = msgspec.convert(element, Request)
        except (msgspec.ValidationError, RecursionError):
            return self._receive_one(element, size, batch)
        try:
            return self.handle_request(request, size, batch)
        except RequestError as error:
            return self.answer(request.id, error, batch)

    def _receive_one(self, element: Any, size: int, batch: Batch | None) -> tuple[Decision, ...]:
        if _is_response(element):
            try:
                return self.handle_response(msgspec.convert(element, Response))
            except msgspec.ValidationError:
                return ()
        problem = _find_problem(element)
        if problem is not None:
            error = RequestError(INVALID_REQUEST, f"Invalid request: {problem}")
            return self.answer(_read_id(element), error, batch)
        id = element.get("id", UNSET)
        try:
            return self.handle_request(self._read_request(element), size, batch)
        except RequestError as error:
            return self.answer(id, error, batch)

    def _read_request(self, element: dict[str, Any]) -> Request:
        """Return *element* as a request, whose params are an array only for plain methods.

        Raises:
            RequestError: if there is no such method, or MCP has no array for it.
        """
        method, params = element["method"], element.get("params")
        unknown = self.find_method_error(method)
        if unknown is not None:
            raise unknown
        if type(params) is list and not self.is_plain_method(method):
            expected = _MEMBERS.get(method)
            hint = f" with the members {expected}" if expected else ""
            raise RequestError(
                INVALID_PARAMS, f"params must be an object{hint}; {method} takes no array"
            )
        return Request("2.0", method, element.get("id", UNSET), params)


def _find_problem(element: Any) -> str | None:
    """Return why *element* is not a request; `None` if it is one (JSON-RPC 2.0, section 4)."""
    if type(element) is not dict:
        return "a request must be an object"
    if element.get("jsonrpc") != "2.0":
        return 'the member jsonrpc must be "2.0"'
    if type(element.get("method")) is not str:
        return "the member method must be a string"
    if "id" in element and _read_id(element) is None:
        return "the member id must be a string or an integer, or absent"
    if element.get("params") is not None and type(element["params"]) not in (dict, list):
        return "the member params must be an object"
    return None


def _is_response(element: Any) -> bool:
    return (
        type(element) is dict
        and "method" not in element
        and ("result" in element or "error" in element)
    )


def _read_id(element: Any) -> Id | None:
    id = element.get("id") if type(element) is dict else None
    return id if type(id) is str or type(id) is int else None


_ID = rb'"id"\s*:\s*(-?\d{1,40}|"[^"\\]{0,400}")\s*'
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID + rb"[,}]")
_ID_LAST = re.compile(rb"(?:,|\A\s*\{)\s*" + _ID + rb"\}\s*\Z")


def find_id(head: bytes, tail: bytes) -> Id | None:
    """Return the id of a message of which only the two ends are known; `None` if it is not found.

    Only the very first and last members certainly belong to the outermost object; all known clients
    put the id there.
    """
    found = _ID_FIRST.match(head) or _ID_LAST.search(tail)
    if found is None:
        return None
    try:
        id: Id = decode(found[1])
    except DecodingError:
        return None
    return id
