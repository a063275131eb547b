"""The cost of tools: which calls are timed, and what an entry of the tool list costs."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from toolwire_check.judging.costs import CallTimer, TimedCall, find_slowest_calls, measure_costs
from toolwire_schemas.wire import codec

CALL = {"id": 1, "method": "tools/call", "params": {"name": "add"}}
PING = {"id": 2, "method": "ping"}
STARTED = {"id": 0, "result": {}}
OK = {"id": 1, "result": {"content": []}}
PONG = {"id": 2, "result": {}}
FAILED = {"id": 1, "result": {"isError": True}}


def time_calls(*conversation: tuple[str, Any]) -> list[str]:
    """Return the tools of the timed calls; `>` precedes a request, and `<` a response."""
    calls: list[TimedCall] = []
    timer = CallTimer(calls)
    for direction, message in conversation:
        if direction == ">":
            timer.note_request(codec.encode(message))
        else:
            timer.note_response(message, 10)
    return [call.tool for call in calls]


@pytest.mark.parametrize(
    ("conversation", "tools"),
    [
        ([("<", STARTED), (">", CALL), ("<", OK)], ["add"]),
        ([(">", CALL), ("<", OK)], []),
        ([("<", STARTED), (">", PING), (">", CALL), ("<", PONG), ("<", OK)], []),
        ([("<", STARTED), (">", CALL), (">", PING), ("<", OK), ("<", PONG)], []),
        ([("<", STARTED), (">", CALL), (">", {"method": "notifications/x"}), ("<", OK)], []),
        ([("<", STARTED), (">", PING), ("<", PONG), (">", CALL), ("<", OK)], ["add"]),
        ([("<", STARTED), (">", CALL), ("<", FAILED)], []),
        ([("<", STARTED), (">", CALL), ("<", {"id": 1, "error": {"code": 1}})], []),
        ([("<", STARTED), (">", CALL), ("<", {"method": "x"}), ("<", OK)], ["add"]),
        ([("<", STARTED), (">", [CALL]), ("<", [OK])], []),
        ([("<", STARTED), (">", {**CALL, "params": 7}), ("<", OK)], []),
    ],
)
def test_only_successful_calls_that_run_alone_are_timed(
    conversation: list[tuple[str, Any]], tools: list[str]
) -> None:
    assert time_calls(*conversation) == tools


def test_tokens_are_counted_where_tiktoken_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = [{"name": "b"}]
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    (estimated,) = measure_costs(tools, [])
    encoding = SimpleNamespace(encode=lambda text, **_: [text] * 7)
    tiktoken = SimpleNamespace(get_encoding=lambda name: encoding)
    monkeypatch.setitem(sys.modules, "tiktoken", tiktoken)
    (counted,) = measure_costs(tools, [])
    assert (estimated.exact_tokens, counted.exact_tokens) == (0, 7)
    assert estimated.tokens == counted.tokens


def test_costs_are_sorted_by_tokens_and_have_the_median_of_the_calls() -> None:
    calls = [TimedCall("b", 1.0, 10), TimedCall("b", 3.0, 30), TimedCall("b", 2.0, 20)]
    tools = [{"name": "b"}, {"name": "a", "description": "é" * 50}, {"no": "name"}, 7]
    first, second = measure_costs(tools, calls)
    assert (first.name, first.calls, first.seconds) == ("a", 0, 0.0)
    assert (second.name, second.calls, second.seconds, second.slowest_seconds) == ("b", 3, 2.0, 3.0)
    assert (second.result_bytes, second.largest_result_bytes) == (20, 30)
    assert find_slowest_calls(calls) == {"b": 3.0}
    assert second.tokens == 3  # {"name":"b"} has 12 characters
