"""The errors for calls beyond the limits of a session. Imported for the first of them."""

from __future__ import annotations

from toolwire_schemas.wire.messages import OVERLOADED

from .. import log
from ..errors import RequestError


def make_calls_error(limit: int) -> RequestError:
    """Return the error for one more call, or subscription, than the *limit*."""
    log.warn_rarely(
        "pending calls",
        f"calls are refused: {limit} are in progress (--limit max_pending_calls)",
    )
    return RequestError(
        OVERLOADED,
        f"Overloaded: {limit} calls are in progress, which is the limit (cancelled ones whose"
        " tools still run are included); retry when some have finished",
    )


def make_bytes_error(held: int, limit: int) -> RequestError:
    """Return the error for input beyond the *limit* while calls hold *held* bytes of it."""
    log.warn_rarely(
        "pending bytes",
        f"calls are refused: {held} bytes of input are held (--limit max_pending_bytes)",
    )
    return RequestError(
        OVERLOADED,
        f"Overloaded: the calls in progress hold {held} bytes of input, "
        f"and the limit is {limit}; retry when some have finished",
    )
