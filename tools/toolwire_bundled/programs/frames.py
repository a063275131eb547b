"""Frames of JSON, which a program writes to its door, and reads from it. Does no I/O.

The program is hostile: whatever it writes is a call, or a `BrokenDoor`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire.codec import DecodingError, EncodingError, decode, encode

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CALL_BYTES = 16 * 1024**2
"""How long the frame of a call may be: as a message that a server reads has room for the
arguments."""

_HEAD_BYTES = 4
_NUMBER_BYTES = 8
_MAX_NUMBER = 2**53


class BrokenDoor(ValueError):
    """A program has written something else to the door than a call."""


class ProgramCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call that a program wants to make of *tool*; *line* is where it says that it is."""

    id: int
    tool: str
    positional: list[Any]
    arguments: dict[str, Any]
    line: int


class Outcome(msgspec.Struct, frozen=True):
    """The result of a call: a *value*, or why it *failed* and the structured content of that."""

    value: Any = None
    failed: str | None = None
    data: Any = None


class FrameReader:
    """Splits the stream of a program into frames."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Add *data*, and yield every frame that it completes.

        Raises:
            BrokenDoor: if a frame is to be longer than a call may be.
        """
        self._data += data
        while len(self._data) >= _HEAD_BYTES:
            size = int.from_bytes(self._data[:_HEAD_BYTES], "big")
            if size > MAX_CALL_BYTES:
                raise BrokenDoor(f"a call takes more than {MAX_CALL_BYTES:,} bytes")
            end = _HEAD_BYTES + size
            if len(self._data) < end:
                return
            frame = bytes(self._data[_HEAD_BYTES:end])
            del self._data[:end]
            yield frame


def read_call(frame: bytes) -> ProgramCall:
    """Return the call in *frame*.

    Raises:
        BrokenDoor: if it is something else.
    """
    try:
        call = msgspec.convert(decode(frame), ProgramCall)
    except (DecodingError, msgspec.ValidationError) as error:
        raise BrokenDoor(str(error)) from None
    if not 0 <= call.id <= _MAX_NUMBER:
        raise BrokenDoor(f"{call.id} is no number of a call")
    return call


def write_outcome(number: int, outcome: Outcome) -> bytes:
    """Return the frame with the *outcome* of the call of that *number*."""
    members: dict[str, Any] = {"value": outcome.value}
    if outcome.failed is not None:
        members = {"failed": outcome.failed, "data": outcome.data}
    try:
        data = encode(members)
    except EncodingError as error:
        data = encode({"failed": f"The result cannot be passed on: {error}"})
    size = _NUMBER_BYTES + len(data)
    return size.to_bytes(_HEAD_BYTES, "big") + number.to_bytes(_NUMBER_BYTES, "big") + data
