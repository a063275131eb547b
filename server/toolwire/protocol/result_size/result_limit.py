"""How large a result may be: in bytes, or in tokens of the host's model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.tokens import estimate_tokens
from toolwire_schemas.wire.codec import encode_plain

if TYPE_CHECKING:
    from ...settings import Settings
    from ..call import Call


class Limit(msgspec.Struct, frozen=True):
    """The most bytes of a response, and the limit on the result that this follows from, in words.

    `is_of_batch` says that other responses of the batch have taken some of it.
    """

    room: int
    words: str
    is_of_batch: bool = False


def limit_of(call: Call, result: dict[str, Any], size: int, settings: Settings) -> Limit:
    """Return the limit on the response with *result*, which takes *size* bytes."""
    own = call.entry.options.max_result_bytes
    most = own or settings.max_result_bytes
    limit = Limit(most, f"{most:,} bytes")
    is_for_model = call.entry.kind != "methods" and own is None
    if settings.max_result_tokens is not None and is_for_model and not result.get("isError"):
        limit = min(
            limit, _limit_in_tokens(result, size, settings.max_result_tokens), key=_get_room
        )
    batch = call.origin.recipient
    if batch is None or limit.room <= settings.max_result_bytes - batch.size:
        return limit
    room = settings.max_result_bytes - batch.size
    return Limit(room, f"{settings.max_result_bytes:,} bytes", is_of_batch=size <= limit.room)


def _get_room(limit: Limit) -> int:
    return limit.room


def _limit_in_tokens(result: dict[str, Any], size: int, max_tokens: int) -> Limit:
    """Return the bytes that *max_tokens* of this result take, with all that surrounds them."""
    words = f"about {max_tokens:,} tokens"
    if size <= max_tokens:  # no estimate is above one token a byte
        return Limit(size, words)
    tokens = estimate_tokens(_join_text(result))
    if tokens <= max_tokens:
        return Limit(size, words)
    return Limit(size * max_tokens // tokens, words)


def _join_text(result: dict[str, Any]) -> str:
    """Return what a model reads of *result*: one of its two forms, whichever is longer."""
    texts = [block.get("text", "") for block in result.get("content", ())]
    text = "\n".join(texts)
    if "structuredContent" not in result:
        return text
    structured = str(encode_plain(result["structuredContent"]), "utf-8")
    return max(text, structured, key=len)
