"""Keeps the calls that the page has made, so that they survive a reload of the page."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from toolwire_client.errors import ClientError
from toolwire_schemas.wire.codec import encode

MAX_CALLS = 500
MAX_BYTES = 64 * 1024 * 1024
"""Of the arguments and results of all calls that are kept."""

_LISTED_BYTES = 2000  # of arguments, in the list

Outcome = Literal["success", "error", "failure", "cancelled"]
"""An error is a result of the tool, a failure has none."""


class PastCall(msgspec.Struct, kw_only=True):
    """A call that has ended; *size* is that of its arguments and its result."""

    id: int
    tool: str
    arguments: dict[str, Any]
    at: datetime
    seconds: float
    outcome: Outcome
    message: str = ""
    result: dict[str, Any] | None = None
    problems: list[str] = []
    size: int = 0
    is_pinned: bool = False


class CallHistory:
    """The last calls, the newest last; those that are pinned stay."""

    def __init__(self, max_calls: int = MAX_CALLS, max_bytes: int = MAX_BYTES) -> None:
        self._max_calls, self._max_bytes = max_calls, max_bytes
        self._calls: dict[int, PastCall] = {}
        self._last_id = 0

    def add(self, tool: str, arguments: dict[str, Any], seconds: float, **members: Any) -> int:
        """Add a call that has just ended, and return its number; old ones make room for it."""
        self._last_id += 1
        size = len(encode(arguments)) + len(encode(members.get("result")))
        call = PastCall(
            id=self._last_id,
            tool=tool,
            arguments=arguments,
            at=datetime.now(UTC),
            seconds=seconds,
            size=size,
            **members,
        )
        self._calls[call.id] = call
        self._make_room()
        return call.id

    def _make_room(self) -> None:
        size = sum(call.size for call in self._calls.values())
        oldest = sorted(self._calls.values(), key=lambda call: (call.is_pinned, call.id))
        for call in oldest:
            if len(self._calls) <= self._max_calls and size <= self._max_bytes:
                return
            if call.id != self._last_id:
                size -= self._calls.pop(call.id).size

    def find(self, id: int) -> PastCall:
        """Return a call by its number.

        Raises:
            ClientError: if it is no longer kept.
        """
        if id not in self._calls:
            raise ClientError("this call is no longer kept")
        return self._calls[id]

    def list_rows(self) -> list[dict[str, Any]]:
        """Return all calls for the page, the newest first, without results; arguments that are
        long are left out.
        """
        rows = []
        for call in reversed(self._calls.values()):
            row = {
                "id": call.id,
                "tool": call.tool,
                "at": call.at,
                "seconds": call.seconds,
                "outcome": call.outcome,
                "size": call.size,
                "isPinned": call.is_pinned,
                "arguments": None,
            }
            if len(encode(call.arguments)) <= _LISTED_BYTES:
                row["arguments"] = call.arguments
            rows.append(row)
        return rows
