"""The units that a framing yields: the bytes of one message, or a `Fault` for other bytes."""

from __future__ import annotations

from typing import Protocol

import msgspec

DEFAULT_MAX_MESSAGE_BYTES = 64 * 1024 * 1024

BOM = b"\xef\xbb\xbf"

KEPT_BYTES = 512
"""How much of each end of a message that cannot be served is kept, enough to find the id it carried."""


class Fault(msgspec.Struct, frozen=True):
    """What arrived in place of a message.

    `message` is a sentence for the peer. `too_large` means a well-framed message beyond the limit, and not
    bytes out of frame. `head` and `tail` are the two ends of an oversize message, for finding its id.
    """

    message: str
    too_large: bool = False
    head: bytes = b""
    tail: bytes = b""


Frame = bytes | Fault


class Framing(Protocol):
    """One way of telling messages apart, incoming and outgoing."""

    def feed(self, data: bytes) -> list[Frame]:
        """Add *data* and return every message it completes, and a fault for bytes that are no message."""

    def close(self) -> list[Frame]:
        """Return what the end of the stream completes: a last line needs no newline."""

    def wrap(self, *messages: bytes) -> bytes:
        """Return *messages* as they go out."""


def oversize(size: int, limit: int, head: bytes, tail: bytes) -> Fault:
    """Return the fault for a message of *size* bytes, of which *head* and *tail* are known."""
    problem = f"a message of {size} bytes; the limit is {limit}"
    return Fault(problem, too_large=True, head=head[:KEPT_BYTES], tail=tail[-KEPT_BYTES:])
