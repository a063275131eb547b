"""What a running tool may say, and what stops it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from support.recording_caller import RecordingCaller
from toolwire_tools import AsyncContext, Cancelled, Context, make_tool


class Np64:
    """What numpy's integers look like."""

    def __index__(self) -> int:
        return 7

    def __float__(self) -> float:
        return 7.0


@pytest.mark.parametrize(
    ("done", "sent"),
    [
        (0, 0),
        (1.5, 1.5),
        (Np64(), 7),
        (Decimal("0.5"), 0.5),
        (Fraction(1, 4), 0.25),
        (2**70, 2**70),
    ],
)
def test_progress_takes_anything_that_is_a_number(done: Any, sent: float) -> None:
    caller = RecordingCaller()
    Context(caller).progress(done, done, "on it")
    assert caller.told == [(sent, sent, "on it")]


@pytest.mark.parametrize("done", [math.nan, math.inf, -math.inf, Decimal("NaN")])
def test_progress_that_is_not_finite_is_refused(done: Any) -> None:
    caller = RecordingCaller()
    with pytest.raises(ValueError, match="done must be finite"):
        Context(caller).progress(done)
    assert caller.told == []


@pytest.mark.parametrize(
    "arguments", [("1",), (True,), (None,), (b"1",), (1, "2"), (1, True), (1, 2, 3), (1j,)]
)
def test_progress_of_the_wrong_type_is_refused(arguments: Any) -> None:
    with pytest.raises(TypeError):
        Context(RecordingCaller()).progress(*arguments)


def test_a_log_line_carries_its_level_and_fields() -> None:
    caller = RecordingCaller()
    Context(caller).log("slow", level="warning", seconds=3)
    assert caller.logged == [("warning", "slow", {"seconds": 3})]


def test_a_field_of_a_log_line_may_be_called_message() -> None:
    caller = RecordingCaller()
    Context(caller).log("text", message="field")
    assert caller.logged == [("info", "text", {"message": "field"})]


def test_an_unknown_log_level_is_answered_with_the_closest_one() -> None:
    with pytest.raises(ValueError, match="'warn', did you mean 'warning'"):
        Context(RecordingCaller()).log("x", level="warn")


def test_check_raises_only_once_the_call_is_cancelled() -> None:
    caller = RecordingCaller(patience=1)
    context = Context(caller)
    context.check()
    context.progress(1)
    assert context.cancelled
    with pytest.raises(Cancelled):
        context.check()


def test_a_tool_that_survives_every_exception_is_still_stopped() -> None:
    def stubborn(context: Context) -> str:
        while True:
            try:
                context.check()
            except Exception:
                return "swallowed"

    with pytest.raises(Cancelled):
        make_tool(stubborn).call({}, RecordingCaller(patience=0))


def test_the_context_is_injected_by_type_and_absent_from_the_schema() -> None:
    def index(folder: str, whatever: Context, depth: int = 1) -> str:
        whatever.progress(depth, None, folder)
        return whatever.tool

    caller = RecordingCaller()
    tool = make_tool(index)
    assert list(tool.describe()["inputSchema"]["properties"]) == ["folder", "depth"]
    assert tool.call({"folder": "a", "depth": 3}, caller)["content"] == [
        {"type": "text", "text": "index"}
    ]
    assert caller.told == [(3, None, "a")]


def test_the_arguments_of_a_call_are_not_changed_by_the_context() -> None:
    def look(folder: str, context: Context) -> str:
        return folder

    arguments = {"folder": "a"}
    make_tool(look).call(arguments, RecordingCaller())
    assert arguments == {"folder": "a"}


def test_a_caller_cannot_send_a_context() -> None:
    def look(context: Context, **others: int) -> str:
        return context.tool + str(others)

    assert (
        make_tool(look)
        .call({"context": 3}, RecordingCaller())["content"][0]["text"]
        .startswith("look")
    )


def test_methods_generators_and_async_tools_get_their_context() -> None:
    class Kit:
        def method(self, context: Context) -> str:
            return context.tool

    def generator(context: Context) -> Iterator[str]:
        yield context.tool

    async def coroutine(context: AsyncContext) -> str:
        return context.tool

    async def async_generator(context: AsyncContext) -> AsyncIterator[str]:
        yield context.tool

    for tool in (make_tool(Kit().method), make_tool(generator)):
        assert tool.call({}, RecordingCaller())["content"][0]["text"] == tool.name
    for tool in (make_tool(coroutine), make_tool(async_generator)):
        assert (
            asyncio.run(tool.call_async({}, RecordingCaller()))["content"][0]["text"] == tool.name
        )
