"""Measure the cost of each tool: the tokens of its description, the time and size of its results.
No I/O.

Strategy. `CallTimer` sees every message of a conversation. It times a call only if the call runs
alone: the server has started, no other request is pending, and no other message is sent before the
response. Otherwise the time would be that of the other request too.
"""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.exact_tokens import find_exact_counter
from toolwire_schemas.tokens import estimate_list_tokens, write_text_for_models
from toolwire_schemas.wire.codec import DecodingError, decode

from ..report import ToolCost
from .conversation import find_called_tool, is_answer, to_text

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_CALLS = 100_000  # generated calls are many; the memory for their times is not to grow for ever


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
        self._pending: set[str | int] = set()
        """The ids of pending requests."""
        self._timed: _RunningCall | None = None

    def note_request(self, message: bytes) -> None:
        """Note a *message* to the server, before it is sent."""
        try:
            value = decode(message)
        except DecodingError:
            return
        self._timed = None  # a call that overlaps another message waits for it too
        if not isinstance(value, dict) or "method" not in value:
            return
        identity = value.get("id")
        if not isinstance(identity, str | int):
            return
        is_alone = self._has_started and not self._pending
        self._pending.add(identity)
        tool = find_called_tool(value)
        if tool is not None and is_alone and len(self._calls) < _MAX_CALLS:
            self._timed = _RunningCall(identity, tool, time.perf_counter())

    def note_response(self, message: Any, size: int) -> None:
        """Note a *message* or a batch from the server, of *size* bytes."""
        self._has_started = True
        if not isinstance(message, dict) or not is_answer(message):
            return
        identity = message.get("id")
        if not isinstance(identity, str | int):
            return
        self._pending.discard(identity)
        call = self._timed
        if call is None or call.identity != identity:
            return
        self._timed = None
        result = message.get("result")
        if isinstance(result, dict) and result.get("isError") is not True:
            seconds = time.perf_counter() - call.start
            self._calls.append(TimedCall(call.tool, seconds, size))


class _RunningCall(msgspec.Struct, frozen=True):
    """A call that runs alone since *start*."""

    identity: str | int
    tool: str
    start: float


def find_slowest_calls(calls: Sequence[TimedCall]) -> dict[str, float]:
    """Return how many seconds the slowest of the *calls* of each tool took."""
    slowest: dict[str, float] = {}
    for call in calls:
        slowest[call.tool] = max(call.seconds, slowest.get(call.tool, 0.0))
    return slowest


def measure_costs(tools: Sequence[Any], calls: Sequence[TimedCall]) -> list[ToolCost]:
    """Return what each of the *tools* costs, those with the longest descriptions first."""
    calls_of_tool: dict[str, list[TimedCall]] = {}
    for call in calls:
        calls_of_tool.setdefault(call.tool, []).append(call)
    count_exactly = find_exact_counter()
    costs = []
    for tool in tools:
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
            continue
        cost = _measure_cost(tool, calls_of_tool.get(tool["name"], ()))
        if count_exactly is not None:
            tokens = count_exactly(write_text_for_models(tool))
            cost = msgspec.structs.replace(cost, exact_tokens=tokens)
        costs.append(cost)
    return sorted(costs, key=lambda cost: (-cost.tokens, cost.name))


def _measure_cost(tool: dict[str, Any], calls: Sequence[TimedCall]) -> ToolCost:
    cost = ToolCost(
        name=tool["name"],
        tokens=estimate_list_tokens([tool]),
        bytes=len(to_text(tool).encode(errors="replace")),
    )
    if not calls:
        return cost
    seconds = [call.seconds for call in calls]
    sizes = [call.bytes for call in calls]
    return msgspec.structs.replace(
        cost,
        calls=len(calls),
        seconds=median(seconds),
        slowest_seconds=max(seconds),
        result_bytes=round(median(sizes)),
        largest_result_bytes=max(sizes),
    )
