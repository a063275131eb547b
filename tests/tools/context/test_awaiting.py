"""A tool that forgets to await is refused or fails: it never goes on as if the user had agreed."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import toolwire
from support.recording_caller import RecordingCaller
from toolwire_compat.fastmcp.context import Context as FastMCPContext
from toolwire_tools import (
    AsyncContext,
    BaseContext,
    Context,
    OutputError,
    RegistrationError,
    Tool,
    find_tools,
    make_tool,
)


def run(tool: Tool) -> Any:
    caller = RecordingCaller()
    return asyncio.run(tool.call_async({}, caller)) if tool.is_async else tool.call({}, caller)


def test_async_context_is_importable_from_toolwire() -> None:
    assert toolwire.AsyncContext is AsyncContext


class OfContext(Context):
    """One of the author's own."""


def functions_of_the_wrong_kind() -> Iterator[tuple[str, Callable[..., Any]]]:
    async def plain(context: Context) -> None: ...

    async def optional(context: Context | None = None) -> None: ...

    async def by_name(context: "Context") -> None: ...  # noqa: UP037

    async def for_the_type_checker(context: "Unknown.Context") -> None: ...  # type: ignore[name-defined]  # noqa: F821, UP037

    async def generator(context: Context) -> AsyncIterator[int]:
        yield 1

    async def derived(context: OfContext) -> None: ...

    class Kit:
        async def method(self, context: Context) -> None: ...

    def synchronous(context: AsyncContext) -> None: ...

    @functools.wraps(plain)
    def wrapper(context: Context) -> Any:
        return plain(context)

    functions = (
        plain,
        optional,
        by_name,
        for_the_type_checker,
        generator,
        derived,
        synchronous,
        wrapper,
    )
    for function in functions:
        yield function.__name__, function
    yield "method", Kit().method
    yield "partial", functools.partial(plain)


@pytest.mark.parametrize(
    "function", [pytest.param(f, id=name) for name, f in functions_of_the_wrong_kind()]
)
def test_a_context_of_the_other_kind_is_refused_when_the_tool_is_made(
    function: Callable[..., Any],
) -> None:
    with pytest.raises(RegistrationError) as refused:
        make_tool(function, name="remove")
    assert refused.value.parameter == "parameter 'context'"
    assert "AsyncContext" in str(refused.value)


def test_a_function_for_both_kinds_of_tools_takes_the_base_class() -> None:
    def report(context: BaseContext) -> str:
        context.progress(1)
        return type(context).__name__

    async def report_async(context: BaseContext) -> str:
        return report(context)

    async def report_either(context: Context | AsyncContext) -> str:
        return report(context)

    texts = [
        run(make_tool(each))["content"][0]["text"] for each in (report, report_async, report_either)
    ]
    assert texts == ["Context", "AsyncContext", "AsyncContext"]
    assert not issubclass(AsyncContext, Context)


REMOVED: list[str] = []


def forgetful() -> Iterator[Callable[..., Any]]:
    async def condition(context: AsyncContext) -> None:
        if not context.ask("Really?", bool):
            return
        REMOVED.append("condition")

    async def comparison(context: AsyncContext) -> None:
        if context.ask("Which?", str) == "none":
            return
        REMOVED.append("comparison")

    async def text(context: AsyncContext) -> None:
        REMOVED.append(f"{context.ask('Which?', str)}")

    async def attribute(context: AsyncContext) -> None:
        REMOVED.append(context.ask("Which?", str).strip())  # type: ignore[attr-defined]

    return iter((condition, comparison, text, attribute))


@pytest.mark.parametrize("function", list(forgetful()), ids=lambda function: function.__name__)
def test_a_question_that_is_not_awaited_has_no_value(function: Callable[..., Any]) -> None:
    with pytest.raises((TypeError, AttributeError)):
        run(make_tool(function))
    assert REMOVED == []


def test_the_error_of_a_question_in_a_condition_says_await_it() -> None:
    async def remove(context: AsyncContext) -> None:
        assert context.ask("Really?", bool)

    with pytest.raises(TypeError, match=r"write `await context\.ask\(\.\.\.\)`"):
        run(make_tool(remove))


def test_a_call_whose_tool_forgot_to_await_fails_and_names_the_method() -> None:
    async def remove(context: AsyncContext) -> str:
        context.ask("Really?", bool)  # type: ignore[unused-coroutine]
        return "removed"

    async def stream(context: AsyncContext) -> AsyncIterator[str]:
        context.ask("Really?", bool)  # type: ignore[unused-coroutine]
        yield "removed"

    for function in (remove, stream):
        with pytest.raises(RuntimeError, match=r"called context\.ask without awaiting it"):
            run(make_tool(function))


@pytest.mark.filterwarnings("error")
def test_questions_that_are_awaited_in_any_way_are_asked() -> None:
    async def awaits(context: AsyncContext) -> Any:
        return await context.ask("Really?", bool)

    async def returns(context: AsyncContext) -> Any:
        return context.ask("Really?", bool)

    async def waits_for(context: AsyncContext) -> Any:
        return await asyncio.wait_for(context.ask("Really?", bool), 5)

    async def makes_a_task(context: AsyncContext) -> Any:
        return await asyncio.create_task(context.ask("Really?", bool))

    async def gathers(context: AsyncContext) -> Any:
        (answer,) = await asyncio.gather(context.ask("Really?", bool))
        return answer

    for function in (awaits, returns, waits_for, makes_a_task, gathers):
        caller = RecordingCaller()
        caller.answers = [{"action": "accept", "content": {"answer": False}}]
        result = asyncio.run(make_tool(function).call_async({}, caller))
        assert result["structuredContent"] == {"result": False}, function.__name__


def test_progress_and_log_may_be_awaited_and_need_not_be() -> None:
    async def work(context: AsyncContext) -> str:
        await context.progress(1, 2, "half")
        context.progress(2, 2)
        await context.log("done")
        await context.check()
        return "done"

    caller = RecordingCaller()
    result = asyncio.run(make_tool(work).call_async({}, caller))
    assert result["isError"] is False
    assert caller.told == [(1, 2, "half"), (2, 2, None)]


@dataclass
class Held:
    """A result with something in it."""

    answer: Any


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
@pytest.mark.parametrize(
    "around",
    [
        lambda value: value,
        lambda value: [value],
        lambda value: [1, {"deep": (value,)}],
        lambda value: {"answer": value},
        Held,
        lambda value: {value},
        lambda value: iter([value, "text"]),
    ],
    ids=["bare", "list", "deep", "dict", "dataclass", "set", "iterator"],
)
@pytest.mark.parametrize("hint", [None, Any, str, list, dict])
def test_a_coroutine_is_never_a_result(around: Callable[[Any], Any], hint: Any) -> None:
    async def fetch() -> str:
        return "text"

    def show() -> Any:
        return around(fetch())

    show.__annotations__ = {} if hint is None else {"return": hint}
    with pytest.raises(OutputError):
        run(make_tool(show))


def test_fastmcp_functions_of_both_kinds_take_their_own_context() -> None:
    from toolwire_compat.fastmcp.server import FastMCP

    server = FastMCP("kept")

    @server.tool
    def plain(ctx: FastMCPContext) -> str:
        ctx.info("hello")
        return "plain"

    @server.tool
    async def waits(ctx: FastMCPContext) -> str:
        await ctx.info("hello")
        await ctx.report_progress(1, 2)
        return "waits"

    @server.tool
    async def forgets(ctx: FastMCPContext) -> str:
        ctx.elicit("Really?", bool)  # type: ignore[unused-coroutine]
        return "removed"

    tools = {tool.name: tool for tool in find_tools(server)}
    assert run(tools["plain"])["content"][0]["text"] == "plain"
    assert run(tools["waits"])["content"][0]["text"] == "waits"
    with pytest.raises(RuntimeError, match=r"called context\.elicit without awaiting it"):
        run(tools["forgets"])
