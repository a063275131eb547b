"""JSON-RPC 2.0 messages: their envelopes as bytes, the numbers and names in them, and faults in
place of a message.

Only the members of the specification can get in: clients drop messages with others, and wait.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from .codec import encode, encode_plain

# JSON-RPC 2.0, section 5.1.
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

# Language Server Protocol 3.17, ErrorCodes: the answer to a request ended by `$/cancelRequest`.
REQUEST_CANCELLED: Final = -32800

# MCP until 2025-11-25; later revisions forbid this code.
RESOURCE_NOT_FOUND: Final = -32002

# MCP 2026-07-28, error codes.
UNSUPPORTED_PROTOCOL_VERSION: Final = -32022

# JSON-RPC leaves everything outside -32768..-32000 to applications, and MCP 2026-07-28 asks new
# implementations to put their own codes there.
OVERLOADED: Final = -31001
SHUTTING_DOWN: Final = -31002

LEGACY_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""MCP revisions that begin with `initialize`, oldest first."""

MODERN_VERSIONS: Final = ("2026-07-28",)
"""MCP revisions whose every request names its version in `_meta`."""

LATEST_LEGACY: Final = LEGACY_VERSIONS[-1]

LOADING_FAILED: Final = {"toolwire/loading": "failed"}
"""The data of the error for requests to a server that ends, since its tools cannot be loaded."""

META_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
META_CLIENT_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
META_CLIENT_INFO: Final = "io.modelcontextprotocol/clientInfo"
META_SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
META_LOG_LEVEL: Final = "io.modelcontextprotocol/logLevel"
META_SUBSCRIPTION_ID: Final = "io.modelcontextprotocol/subscriptionId"
# The key of a question in a request of a legacy server, where MCP has no place for it.
META_INPUT_KEY: Final = "toolwire/inputKey"

Id = str | int
"""The id of a request. (JSON-RPC allows null and fractions too, and advises against both.)"""


def encode_request(id: Id, method: str, params: Any = None) -> bytes:
    """Return a request; *params* of `None` are left out.

    Raises:
        EncodingError: if *params* cannot be written as JSON.
    """
    return b'{"jsonrpc":"2.0","id":' + _encode_id(id) + b"," + _call(method, params)


def encode_notification(method: str, params: Any = None) -> bytes:
    """Return a notification; *params* of `None` are left out.

    Raises:
        EncodingError: if *params* cannot be written as JSON.
    """
    return b'{"jsonrpc":"2.0",' + _call(method, params)


def encode_response(
    id: Id, result: Any, replaced: list[str] | None = None, *, is_plain: bool = False
) -> bytes:
    """Return the answer to request *id*; *replaced* is for `encode`, or for `encode_plain` if
    *result* is plain data.

    Raises:
        EncodingError: if *result* cannot be written as JSON.
    """
    return (encode_plain if is_plain else encode)(
        {"jsonrpc": "2.0", "id": id, "result": result}, replaced
    )


def encode_response_of_json(id: Id, result: bytes) -> bytes:
    """Return the answer to request *id*; *result* is JSON already."""
    return b'{"jsonrpc":"2.0","id":' + _encode_id(id) + b',"result":' + result + b"}"


def encode_error(id: Id | None, code: int, message: str, data: Any = None) -> bytes:
    """Return an error answer; an *id* of `None` says that the request's own could not be read."""
    body: dict[str, Any] = {"code": code, "message": message}
    encode_body = encode_plain
    if data is not None:
        body["data"] = data
        encode_body = encode  # the tool may have made it
    written_id = b"null" if id is None else _encode_id(id)
    return b'{"jsonrpc":"2.0","id":' + written_id + b',"error":' + encode_body(body) + b"}"


def encode_batch(answers: list[bytes]) -> bytes:
    """Return the one array that answers a batch."""
    return b"[" + b",".join(answers) + b"]"


def _call(method: str, params: Any) -> bytes:
    if params is None:
        return b'"method":' + encode_plain(method) + b"}"
    return b'"method":' + encode(method) + b',"params":' + encode(params) + b"}"


def _encode_id(id: Id) -> bytes:
    if type(id) is int:
        return b"%d" % id
    return encode(id)


DEFAULT_MAX_MESSAGE_BYTES = 64 * 1024 * 1024

BOM = b"\xef\xbb\xbf"

KEPT_BYTES = 512
"""How much of each end of a message that cannot be served is kept, enough to find the id it
carried.
"""


class Fault(msgspec.Struct, frozen=True):
    """What arrived in place of a message.

    `message` is a sentence for the peer. `too_large` means a well-framed message beyond the limit,
    and not bytes out of frame. `head` and `tail` are the two ends of an oversize message, for
    finding its id.
    """

    message: str
    too_large: bool = False
    head: bytes = b""
    tail: bytes = b""


Frame = bytes | Fault


def make_oversize_fault(size: int, limit: int, head: bytes, tail: bytes) -> Fault:
    """Return the fault for a message of *size* bytes, of which *head* and *tail* are known."""
    problem = f"a message of {size} bytes; the limit is {limit}"
    return Fault(problem, too_large=True, head=head[:KEPT_BYTES], tail=tail[-KEPT_BYTES:])
