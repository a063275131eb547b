"""Any callable becomes a tool: described once, called by name."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from anyio import to_thread
from support.recording_caller import RecordingCaller
from toolwire_tools import (
    ArgumentsError,
    Cancelled,
    Context,
    OutputError,
    RegistrationError,
    Tool,
    ToolError,
    make_tool,
    tool_api,
)


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


async def add_later(a: int, b: int = 1) -> int:
    """Add two numbers, later."""
    await anyio.lowlevel.checkpoint()
    return a + b


class Adder:
    """Adds to a number it was made with."""

    def __init__(self, start: int) -> None:
        self.start = start

    def __call__(self, a: int) -> int:
        return self.start + a

    def method(self, a: int) -> int:
        """Adds."""
        return self.start + a

    async def later(self, a: int) -> int:
        return self.start + a

    @staticmethod
    def static(a: int) -> int:
        return a + 1

    @classmethod
    def of_class(cls, a: int) -> int:
        return a + 1


class LateAdder:
    name = "late_adder"

    async def __call__(self, a: int) -> int:
        return a + 1


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that knows nothing of coroutines."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def number(result: dict[str, Any]) -> Any:
    return result["structuredContent"]["result"]


def run(
    tool: Tool, arguments: dict[str, Any], caller: RecordingCaller | None = None
) -> dict[str, Any]:
    caller = caller or RecordingCaller()
    return (
        asyncio.run(tool.call_async(arguments, caller))
        if tool.is_async
        else tool.call(arguments, caller)
    )


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (add, "add"),
        (Adder(1).method, "method"),
        (Adder.static, "static"),
        (Adder(1).static, "static"),
        (Adder.of_class, "of_class"),
        (functools.partial(add, b=1), "add"),
        (functools.partial(functools.partial(add), b=1), "add"),
        (Adder(1), "Adder"),
        (functools.cache(add), "add"),
        (logged(add), "add"),
    ],
)
def test_any_synchronous_callable_is_a_tool(function: Any, name: str) -> None:
    tool = make_tool(function)
    assert (tool.name, tool.is_async) == (name, False)
    assert number(tool.call({"a": 2}, RecordingCaller())) == 3


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (add_later, "add_later"),
        (Adder(1).later, "later"),
        (functools.partial(add_later, b=1), "add_later"),
        (LateAdder(), "late_adder"),
        (logged(add_later), "add_later"),
        (functools.partial(logged(add_later), b=1), "add_later"),
    ],
)
def test_any_asynchronous_callable_is_a_tool(function: Any, name: str) -> None:
    tool = make_tool(function)
    assert (tool.name, tool.is_async) == (name, True)
    assert number(asyncio.run(tool.call_async({"a": 2}, RecordingCaller()))) == 3


@pytest.mark.skipif(not hasattr(inspect, "markcoroutinefunction"), reason="Python 3.12 has it")
def test_a_function_marked_as_a_coroutine_function_is_asynchronous() -> None:
    def promise(a: int) -> Awaitable[int]:
        return add_later(a)

    promise.__annotations__["return"] = int
    tool = make_tool(getattr(inspect, "markcoroutinefunction")(promise))  # noqa: B009 - absent from 3.11
    assert tool.is_async
    assert number(run(tool, {"a": 2})) == 3


def in_a_thread(function: Callable[..., Any]) -> Callable[..., Any]:
    """As asyncer.asyncify, which Lagent's actions use."""

    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        return await to_thread.run_sync(functools.partial(function, *args, **kwargs))

    return wrapper


def finished(function: Callable[..., Any]) -> Callable[..., Any]:
    """The opposite: blocks until the coroutine has ended."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return asyncio.run(function(*args, **kwargs))

    return wrapper


async def where(a: int) -> str:
    return threading.current_thread().name


def where_at_once(a: int) -> str:
    return threading.current_thread().name


@pytest.mark.parametrize(
    ("function", "elsewhere"),
    [
        (where, False),
        (in_a_thread(where_at_once), True),
        (tool_api(in_a_thread(where_at_once)), True),
        (finished(where), True),
        (logged(in_a_thread(where_at_once)), True),
        (in_a_thread(finished(where)), True),
    ],
)
def test_a_wrapper_runs_where_it_may_wait_as_it_does(function: Any, elsewhere: bool) -> None:
    tool = make_tool(function)
    assert tool.is_async
    (block,) = asyncio.run(tool.call_async({"a": 2}, RecordingCaller()))["content"]
    assert (block["text"] != threading.current_thread().name) == elsewhere


def test_a_wrapper_that_waits_itself_does_not_notice_that_its_call_is_cancelled() -> None:
    assert [
        make_tool(function).handler.notices_cancellation for function in (where, finished(where))
    ] == [
        True,
        False,
    ]


def test_what_waits_for_the_coroutines_it_makes_is_synchronous() -> None:
    def wait(a: int) -> int:
        return asyncio.run(add_later(a))

    assert not make_tool(wait).is_async
    assert number(make_tool(wait).call({"a": 2}, RecordingCaller())) == 3


def test_an_unexpected_coroutine_is_a_clear_error() -> None:
    def promise(a: int):  # type: ignore[no-untyped-def]
        return add_later(a)

    with pytest.raises(OutputError, match="async def"):
        make_tool(promise).call({"a": 2}, RecordingCaller())


def test_an_unexpected_awaitable_is_a_clear_error() -> None:
    class Promise:
        def __await__(self) -> Generator[None, None, int]:
            yield
            return 1

    def promise():  # type: ignore[no-untyped-def]
        return Promise()

    with pytest.raises(OutputError, match="async def"):
        make_tool(promise).call({}, RecordingCaller())


def test_a_lambda_needs_a_name() -> None:
    with pytest.raises(RegistrationError, match="lambda") as caught:
        make_tool(lambda a: a)
    assert "tool_api(name=" in caught.value.remedy
    assert make_tool(tool_api(name="same")(lambda a: a)).name == "same"
    assert make_tool(lambda a: a, name="same").call({"a": 1}, RecordingCaller())[
        "structuredContent"
    ] == {"result": 1}


@pytest.mark.parametrize("thing", [Adder, int, 3, "add", None])
def test_what_is_no_tool_is_refused_with_the_remedy(thing: Any) -> None:
    with pytest.raises(RegistrationError) as caught:
        make_tool(thing)
    assert caught.value.remedy


def test_a_partial_asks_only_for_what_is_left() -> None:
    described = make_tool(functools.partial(add, 1)).describe()
    assert list(described["inputSchema"]["properties"]) == ["b"]
    assert described["description"] == "Add two numbers."


# Description


def test_a_plain_function_says_only_what_is_known() -> None:
    def ping() -> str:
        return "pong"

    described = make_tool(ping).describe()
    assert set(described) == {"name", "inputSchema"}


def test_the_docstring_is_the_description_unless_the_author_says_otherwise() -> None:
    assert make_tool(add).describe()["description"] == "Add two numbers."
    assert make_tool(Adder(1)).describe()["description"] == "Adds to a number it was made with."
    assert "description" not in make_tool(tool_api(description="")(logged(add))).describe()


def test_a_description_is_made_once() -> None:
    tool = make_tool(add)
    assert tool.describe() is tool.describe()


def test_only_the_hints_that_were_given_are_reported() -> None:
    @tool_api(destructive=False)
    def tidy() -> str:
        return ""

    assert make_tool(tidy).describe()["annotations"] == {"destructiveHint": False}


def test_a_renamed_tool_is_the_same_tool_under_another_name() -> None:
    tool = make_tool(add)
    twin = tool.with_name("plus")
    assert (tool.name, twin.name) == ("add", "plus")
    assert twin.describe() == {**tool.describe(), "name": "plus"}
    assert number(twin.call({"a": 1}, RecordingCaller())) == 2


def test_a_renamed_tool_tells_its_context_the_new_name() -> None:
    def who(context: Context) -> str:
        return context.tool

    assert (
        make_tool(who).with_name("caller").call({}, RecordingCaller())["content"][0]["text"]
        == "caller"
    )


def test_a_pattern_that_hosts_cannot_compile_is_refused_at_registration() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?P<a>x)"}}}

    @tool_api(input_schema=schema)
    def match(**anything: str) -> str:
        return ""

    with pytest.raises(RegistrationError) as caught:
        make_tool(match)
    assert caught.value.tool == "match"
    assert caught.value.remedy


# Calls


def test_bad_arguments_are_refused_before_the_tool_runs() -> None:
    ran = []

    def record(a: int) -> None:
        ran.append(a)

    with pytest.raises(ArgumentsError):
        make_tool(record).call({"a": "x"}, RecordingCaller())
    assert ran == []


def test_stringified_arguments_are_read_unless_they_have_to_be_strict() -> None:
    def total(numbers: list[int]) -> int:
        return sum(numbers)

    with pytest.raises(ArgumentsError):
        make_tool(total).call({"numbers": "[1,2]"}, RecordingCaller(), strict_arguments=True)
    assert number(make_tool(total).call({"numbers": "[1,2]"}, RecordingCaller())) == 3


@pytest.mark.parametrize(
    "error", [ToolError("no"), ValueError("x"), KeyboardInterrupt(), Cancelled()]
)
def test_whatever_a_tool_raises_is_passed_on(error: BaseException) -> None:
    def fail() -> None:
        raise error

    async def fail_later() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        make_tool(fail).call({}, RecordingCaller())
    assert caught.value is error
    with pytest.raises(type(error)):
        _step(make_tool(fail_later).call_async({}, RecordingCaller()))


def _step(coroutine: Any) -> None:
    """Run a coroutine that waits for nothing, without an event loop to meddle with what it
    raises.
    """
    coroutine.send(None)


def test_asynchronous_tools_ask_nothing_of_the_event_loop() -> None:
    async def at_once(a: int) -> AsyncIterator[int]:
        yield a

    with pytest.raises(StopIteration) as finished:
        _step(make_tool(at_once).call_async({"a": 2}, RecordingCaller()))
    assert number(finished.value.value) == [2]


# Generators


def test_each_item_of_a_generator_is_progress_and_together_they_are_the_answer() -> None:
    def steps(count: int) -> Iterator[str]:
        for index in range(count):
            yield f"step {index}\n"

    caller = RecordingCaller()
    result = make_tool(steps).call({"count": 2}, caller)
    assert caller.told == [(1, None, "step 0\n"), (2, None, "step 1\n")]
    assert result == {"content": [{"type": "text", "text": "step 0\nstep 1\n"}], "isError": False}


def test_items_that_are_no_text_are_reported_as_json_and_answered_as_a_list() -> None:
    def squares(count: int) -> Iterator[int]:
        for index in range(count):
            yield index * index

    caller = RecordingCaller()
    tool = make_tool(squares)
    assert tool.describe()["outputSchema"]["properties"]["result"] == {
        "type": "array",
        "items": {"type": "integer"},
    }
    assert number(tool.call({"count": 3}, caller)) == [0, 1, 4]
    assert caller.told == [(1, None, "0"), (2, None, "1"), (3, None, "4")]
    assert number(tool.call({"count": 0}, caller)) == []


def test_a_return_value_is_the_answer_of_a_generator() -> None:
    def count(upto: int) -> Generator[str, None, dict[str, int]]:
        for index in range(upto):
            yield str(index)
        return {"counted": upto}

    caller = RecordingCaller()
    tool = make_tool(count)
    assert tool.call({"upto": 2}, caller)["structuredContent"] == {"counted": 2}
    assert [message for _, _, message in caller.told] == ["0", "1"]
    assert tool.describe()["outputSchema"]["type"] == "object"


def test_a_list_that_was_promised_stays_a_list_also_of_strings() -> None:
    def words() -> Iterator[str | int]:
        yield "a"
        yield "b"

    assert number(make_tool(words).call({}, RecordingCaller())) == ["a", "b"]


def test_an_unannotated_generator_is_judged_by_its_items() -> None:
    def mixed(items):  # type: ignore[no-untyped-def]
        yield from items

    tool = make_tool(mixed)
    assert tool.call({"items": ["a", "b"]}, RecordingCaller())["content"][0]["text"] == "ab"
    assert number(tool.call({"items": ["a", 1]}, RecordingCaller())) == ["a", 1]
    assert tool.call({"items": []}, RecordingCaller())["content"] == [{"type": "text", "text": ""}]


def test_an_item_that_json_cannot_express_still_counts_as_progress() -> None:
    def odd():  # type: ignore[no-untyped-def]
        yield object()
        return "fine"

    caller = RecordingCaller()
    assert make_tool(odd).call({}, caller)["content"][0]["text"] == "fine"
    assert caller.told == [(1, None, None)]


def test_a_cancelled_generator_is_closed_between_two_items() -> None:
    seen: list[str] = []

    def endless() -> Iterator[str]:
        try:
            while True:
                yield "more"
                seen.append("again")
        finally:
            seen.append("closed")

    caller = RecordingCaller(patience=2)
    with pytest.raises(Cancelled):
        make_tool(endless).call({}, caller)
    assert seen == ["again", "closed"]
    assert len(caller.told) == 2


def test_a_generator_that_fails_is_reported_as_it_is() -> None:
    def fails() -> Iterator[str]:
        yield "so far"
        raise ToolError("no further")

    with pytest.raises(ToolError, match="no further"):
        make_tool(fails).call({}, RecordingCaller())


def test_a_function_may_return_a_generator_or_another_iterator() -> None:
    def generated(count: int) -> Any:
        return (index for index in range(count))

    def mapped(count: int) -> Any:
        return map(str, range(count))

    async def mapped_later(count: int) -> Any:
        return map(str, range(count))

    assert run(make_tool(mapped_later), {"count": 2})["content"][0]["text"] == "01"
    assert number(make_tool(generated).call({"count": 2}, RecordingCaller())) == [0, 1]
    assert make_tool(mapped).call({"count": 2}, RecordingCaller())["content"][0]["text"] == "01"


def test_an_asynchronous_generator_streams_too() -> None:
    async def steps(count: int) -> AsyncIterator[str]:
        for index in range(count):
            await anyio.lowlevel.checkpoint()
            yield str(index)

    caller = RecordingCaller()
    tool = make_tool(steps)
    assert tool.is_async
    assert run(tool, {"count": 3}, caller)["content"][0]["text"] == "012"
    assert [done for done, _, _ in caller.told] == [1, 2, 3]


def test_a_cancelled_asynchronous_generator_is_closed_between_two_items() -> None:
    seen: list[str] = []

    async def endless() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
        finally:
            await anyio.lowlevel.checkpoint()
            seen.append("closed")

    with pytest.raises(Cancelled):
        run(make_tool(endless), {}, RecordingCaller(patience=2))
    assert seen == ["closed"]


def test_an_asynchronous_generator_under_a_cancelled_scope_runs_its_finally() -> None:
    seen: list[str] = []

    async def waits() -> AsyncIterator[str]:
        try:
            yield "waiting"
            await anyio.sleep_forever()
        finally:
            seen.append("closed")

    async def scene() -> None:
        class Caller(RecordingCaller):
            def progress(self, done: float, total: float | None, message: str | None) -> None:
                scope.cancel()

        with anyio.CancelScope() as scope:
            await make_tool(waits).call_async({}, Caller())

    asyncio.run(asyncio.wait_for(scene(), 5))
    assert seen == ["closed"]
