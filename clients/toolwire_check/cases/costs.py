"""Measure what each tool costs: the tokens of its description, the time and size of its results. No
I/O.
"""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire.codec import DecodingError, decode

from ..report import ToolCost
from .conversation import is_answer, to_text

if TYPE_CHECKING:
    from collections.abc import Sequence

_CHARS_PER_TOKEN = 4
"""OpenAI's rule of thumb for English; a letter beyond ASCII counts as a token."""

_MAX_CALLS = 100_000


class TimedCall(msgspec.Struct, frozen=True):
    """A successful call, sent to a running process without a pending request, and the size of its
    response.
    """

    tool: str
    seconds: float
    bytes: int


class CallTimer:
    """Adds the calls of one conversation to *calls*."""

    def __init__(self, calls: list[TimedCall]) -> None:
        self._calls = calls
        self._has_started = False
        self._open: dict[str | int, tuple[str, float]] = {}
        """The pending requests; the tool and the time of the call that is timed."""

    def note_request(self, message: bytes) -> None:
        """Note a *message* to the server."""
        try:
            value = decode(message)
        except DecodingError:
            return
        self._open = dict.fromkeys(
            self._open, _UNTIMED
        )  # a call that overlaps another message waits for it too
        match value:
            case {
                "method": "tools/call",
                "id": str() | int() as identity,
                "params": {"name": str(name)},
            }:
                is_alone = self._has_started and not self._open and len(self._calls) < _MAX_CALLS
                self._open[identity] = (name, time.perf_counter()) if is_alone else _UNTIMED
            case {"method": _, "id": str() | int() as identity}:
                self._open[identity] = _UNTIMED

    def note_response(self, message: Any, size: int) -> None:
        """Note a *message* from the server, of *size* bytes."""
        self._has_started = True
        match message:
            case {"id": str() | int() as identity, **rest} if is_answer(message):
                tool, began = self._open.pop(identity, _UNTIMED)
                result = rest.get("result")
                if tool and isinstance(result, dict) and result.get("isError") is not True:
                    self._calls.append(TimedCall(tool, time.perf_counter() - began, size))


_UNTIMED = ("", 0.0)


def find_slowest_calls(calls: Sequence[TimedCall]) -> dict[str, float]:
    """Return how many seconds the slowest of the *calls* of each tool took."""
    slowest: dict[str, float] = {}
    for call in calls:
        slowest[call.tool] = max(call.seconds, slowest.get(call.tool, 0.0))
    return slowest


def measure_costs(tools: Sequence[Any], calls: Sequence[TimedCall]) -> list[ToolCost]:
    """Return what each of the *tools* costs, those with the longest descriptions first."""
    of_tool: dict[str, list[TimedCall]] = {}
    for call in calls:
        of_tool.setdefault(call.tool, []).append(call)
    found = [_cost(tool, of_tool.get(tool["name"], ())) for tool in tools if _has_name(tool)]
    return sorted(found, key=lambda cost: (-cost.tokens, cost.name))


def _has_name(tool: Any) -> bool:
    return isinstance(tool, dict) and isinstance(tool.get("name"), str)


def _cost(tool: dict[str, Any], calls: Sequence[TimedCall]) -> ToolCost:
    described = {key: tool[key] for key in ("name", "description", "inputSchema") if key in tool}
    seconds, sizes = (
        [call.seconds for call in calls] or [0.0],
        [call.bytes for call in calls] or [0],
    )
    return ToolCost(
        name=tool["name"],
        tokens=_tokens(to_text(described)),
        bytes=len(to_text(tool).encode(errors="replace")),
        calls=len(calls),
        seconds=median(seconds),
        slowest_seconds=max(seconds),
        result_bytes=round(median(sizes)),
        largest_result_bytes=max(sizes),
    )


def _tokens(text: str) -> int:
    ascii_letters = len(text.encode("ascii", "ignore"))
    return -(-ascii_letters // _CHARS_PER_TOKEN) + len(text) - ascii_letters
