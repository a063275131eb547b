"""What is under way: a request as it was read, the call of a tool it may lead to, the batch it may belong to."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec
from msgspec import UNSET, UnsetType
from toolwire_schemas.wire import messages

from .. import log

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from anyio import CancelScope
    from toolwire_schemas.wire.messages import Id
    from toolwire_tools import Tool

    from ..timers import Appointment, Clock
    from .elicitation import Asked


class Host(Protocol):
    """What the shell does for a running call. All of it may be used from any thread."""

    @property
    def clock(self) -> Clock:
        """What does small things later."""

    def report(self, call: Call, done: float, total: float | None, message: str | None) -> None:
        """Tell the client how far *call* is."""

    def ask(self, call: Call, message: str, schema: dict[str, Any]) -> dict[str, Any]:
        """Ask the client's user, and wait."""

    async def ask_async(self, call: Call, message: str, schema: dict[str, Any]) -> dict[str, Any]:
        """Ask the client's user, on the event loop."""

    def pause(self, call: Call) -> AbstractContextManager[None]:
        """Do not let the time of *call* run meanwhile, nor count its worker: it waits for something of the server's."""


class Request(msgspec.Struct, gc=False):
    """One well-formed request or, if `id` is unset, notification, as it stands on the wire (JSON-RPC 2.0, section 4).

    Other members than these are allowed and ignored.
    """

    jsonrpc: Literal["2.0"]
    method: str
    id: str | int | UnsetType = UNSET
    params: dict[str, Any] | None = None


class Origin(msgspec.Struct, frozen=True, gc=False):
    """Where a request came from: its size in bytes, the batch it belongs to, and whether it is of MCP's modern era."""

    size: int
    batch: Batch | None
    modern: bool


class Call(msgspec.Struct, eq=False):
    """One call of a tool, from the request to whatever ends it. A tool sees it as its `Caller`.

    `id` is `None` for a notification, whose outcome nobody learns. `capabilities` is what the client said it can do,
    `None` if it said nothing. `coerce` says that arguments sent as JSON text are to be decoded. `token` is what the
    host wants its progress to be known by, `None` if it wants none. `ended` is set once, under the ledger's lock, by
    whoever ends the call; if that is not the tool's outcome but a time limit or a cancellation, so is `given_up`.
    `lingers`, the ledger's, says that no request waits for it, but that its tool has not returned.
    `worker` is what runs it, `scope` what cancels it on the event loop, `stop` what ends it in a process of its own;
    `None`: none of them. `limit` is when its time is up, `asked` the question it waits for, `sent` the arguments as
    JSON if it may come to ask a modern client.
    """

    id: Id | None
    tool: Tool
    arguments: Any
    origin: Origin
    capabilities: Any
    coerce: bool
    host: Host
    token: Id | None = None
    ended: bool = False
    given_up: bool = False
    lingers: bool = False
    worker: object = None
    scope: CancelScope | None = None
    stop: Callable[[], None] | None = None
    limit: Appointment | None = None
    asked: Asked | None = None
    sent: bytes = b""
    last_progress: float | None = None

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for this call any more: it was cancelled, ran out of time, or the server ends."""
        return self.ended

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Tell the host how far the call is; nothing happens if it did not ask or the call has ended."""
        if self.token is not None and not self.ended:
            self.host.report(self, done, total, message)

    def log(self, level: str, message: str, fields: dict[str, Any]) -> None:
        """Write a line about this call to stderr."""
        log.from_tool(self, level, message, fields)

    def ask(self, message: str, schema: dict[str, Any]) -> dict[str, Any]:
        """Ask the user, and wait for the answer."""
        return self.host.ask(self, message, schema)

    async def ask_async(self, message: str, schema: dict[str, Any]) -> dict[str, Any]:
        """Ask the user, on the event loop."""
        return await self.host.ask_async(self, message, schema)


class Batch:
    """The answers of one batch: a single array, sent when its last member has ended.

    `size` is what they take so far; *hold* is called with each change of that.
    """

    def __init__(self, members: int, hold: Callable[[int], None]) -> None:
        self._lock = threading.Lock()
        self._open = members
        self._answers: list[bytes] = []
        self._hold = hold
        self.size = 0

    def end(self, answer: bytes | None) -> bytes | None:
        """Record how one member ended (`None`: without an answer) and return the array if it was the last.

        A batch in which nothing is answered is answered by nothing at all (JSON-RPC 2.0, section 6).
        """
        with self._lock:
            self._open -= 1
            if answer is not None:
                self._answers.append(answer)
                self.size += len(answer)
            complete = self._open == 0 and self._answers
        if answer is not None:
            self._hold(len(answer))
        if complete:
            self._hold(-self.size)
        return messages.batch(self._answers) if complete else None
