"""The events that a server's messages mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    from ..errors import BrokenRules, RequestFailed


class Result(msgspec.Struct, frozen=True):
    """The result of a request."""

    id: int
    result: Any


class Failure(msgspec.Struct, frozen=True):
    """An error response, or one that cannot be read, as the error to raise; `id` is `None` if it is
    unknown.
    """

    id: int | None
    error: RequestFailed | BrokenRules


class Progress(msgspec.Struct, frozen=True):
    """A progress notification of a request."""

    id: int
    done: float
    total: float | None = None
    message: str | None = None


class ElicitationRequest(msgspec.Struct, frozen=True):
    """A legacy server's `elicitation/create`, or its request of another *method* of
    `HOST_METHODS`, with the server's id.
    """

    id: str | int
    params: Any = None
    method: str = "elicitation/create"


class ElicitationWithdrawn(msgspec.Struct, frozen=True):
    """The server cancels its elicitation."""

    id: str | int


class LinkCompleted(msgspec.Struct, frozen=True):
    """The server says that the user has done what a link was for."""

    params: Any


class AutomaticReply(msgspec.Struct, frozen=True):
    """The bytes that answer a request of the server, such as `ping`."""

    message: bytes


class ListChanged(msgspec.Struct, frozen=True):
    """The server's list of `tools`, `resources` or `prompts` has changed."""

    what: str


class ResourceChanged(msgspec.Struct, frozen=True):
    """The resource at *uri* has changed."""

    uri: str


class SubscriptionConfirmed(msgspec.Struct, frozen=True):
    """The server confirms or refuses notifications of tool changes."""

    to_tools: bool


class TaskNotified(msgspec.Struct, frozen=True):
    """The server says that the task *id* has changed; what it says is read by asking."""

    id: str


class LogEntry(msgspec.Struct, frozen=True):
    """One log entry.

    `level` is one of MCP's: debug, info, notice, warning, error, critical, alert, emergency.
    `source` is `server` for the protocol's log messages, `output` for output lines that are not
    messages, `client` for remarks of this client. `data` is the JSON value that the server sent,
    `logger` the name it gave to what wrote it.
    """

    level: str
    source: Literal["server", "output", "client"]
    text: str
    data: Any = None
    logger: str | None = None


OnLog = Callable[[LogEntry], object]

Event = (
    Result
    | Failure
    | Progress
    | ElicitationRequest
    | ElicitationWithdrawn
    | LinkCompleted
    | AutomaticReply
    | ListChanged
    | ResourceChanged
    | SubscriptionConfirmed
    | TaskNotified
    | LogEntry
)
