"""What can arrive from a server, as values."""

from __future__ import annotations

from typing import Any

import msgspec


class Result(msgspec.Struct, frozen=True):
    """A request was answered."""

    id: int
    result: Any


class ErrorResponse(msgspec.Struct, frozen=True):
    """A request was answered with an error; `id` is `None` if the server could not tell which."""

    id: int | None
    code: int
    message: str
    data: Any = None


class UnreadableResponse(msgspec.Struct, frozen=True):
    """An answer arrived that cannot be read; `id` is `None` if nobody knows whose it was."""

    id: int | None
    reason: str


class Progress(msgspec.Struct, frozen=True):
    """How far a request has come."""

    id: int
    done: float
    total: float | None = None
    message: str | None = None


class ElicitationRequest(msgspec.Struct, frozen=True):
    """The server asks the user something, under an id of its own."""

    id: str | int
    params: Any = None


class ElicitationWithdrawn(msgspec.Struct, frozen=True):
    """The server no longer wants the answer to a question."""

    id: Any


class AutomaticReply(msgspec.Struct, frozen=True):
    """The server asked something that has to be answered with these bytes."""

    message: bytes


class ToolsChanged(msgspec.Struct, frozen=True):
    """The server's list of tools is another one now."""


class SubscriptionConfirmed(msgspec.Struct, frozen=True):
    """The server says whether it will tell when its tools change."""

    to_tools: bool


class LogMessage(msgspec.Struct, frozen=True):
    """The server writes to its client's log."""

    level: str
    data: Any


class UnknownMessage(msgspec.Struct, frozen=True):
    """The server mentions something nobody waits for."""

    method: str
    params: Any = None


class Noise(msgspec.Struct, frozen=True):
    """Something arrived that is no message."""

    text: str


Event = (
    Result
    | ErrorResponse
    | UnreadableResponse
    | Progress
    | ElicitationRequest
    | ElicitationWithdrawn
    | AutomaticReply
    | ToolsChanged
    | SubscriptionConfirmed
    | LogMessage
    | UnknownMessage
    | Noise
)
