"""One list of the tools of servers, functions, actions and agents; in all ways of waiting."""

from __future__ import annotations

import sys
import threading
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial
from queue import SimpleQueue
from typing import Any, ClassVar

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import SUPPORT
from support.client_backends import FACES, WAIT, nothing_leaks
from toolwire import AsyncContext, Context, Server, tool_api
from toolwire_agent import AsyncToolbox, Toolbox, ToolOrigin
from toolwire_agent.toolbox.threaded_client import ThreadedClient
from toolwire_agent.toolbox.toolbox import index_names
from toolwire_client import (
    CallCancelled,
    CallResult,
    Elicitation,
    NoAnswer,
    RequestFailed,
    ServerGone,
    TimedOut,
    connect,
)
from toolwire_client.waiting.base import Waiting, run
from toolwire_compat.groot import Env
from toolwire_compat.lagent import BaseAction
from toolwire_schemas.deadline import Deadline
from toolwire_tools import Cancelled, Tool, ToolError, make_tool

LOOPS = FACES[1:]
FAKE = str(SUPPORT / "fake_server.py")


def play(face: str, scenario: Callable[[Callable[..., AsyncToolbox]], Awaitable[None]]) -> None:
    """Play *scenario*, which is given what makes a toolbox that waits in the way of *face*."""

    def make(sources: Any, **options: Any) -> AsyncToolbox:
        return (
            AsyncToolbox(sources, **options, waiting=Waiting())
            if face == "threads"
            else AsyncToolbox(sources, **options)
        )

    if face == "threads":
        run(scenario(make))  # type: ignore[arg-type]
    else:
        anyio.run(scenario, make, backend=face)


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool_api(read_only=True)
def shout(text: str, context: Context) -> str:
    """Say it loudly."""
    context.progress(1, 2, "inhaling")
    return text.upper() + "!"


@tool_api
async def shout_async(text: str, context: AsyncContext) -> str:
    """Say it loudly."""
    context.progress(1, 2, "inhaling")
    await anyio.sleep(0)
    return text.upper() + "!"


class Kit:
    """A toolkit."""

    @tool_api
    def greet(self, name: str) -> str:
        """Greet a person."""
        return f"Hello {name}"


class Starred(BaseAction):
    """Make text bold."""

    def run(self, text: str) -> str:
        """Make it bold.

        Args:
            text (str): what
        """
        return f"**{text}**"


class Slashed(BaseAction):
    """Make text italic."""

    def run(self, text: str) -> str:
        """Make it italic.

        Args:
            text (str): what
        """
        return f"/{text}/"


class Helper:
    """An agent."""

    name = "helper"
    description = "Helps."

    def run(self, task: str) -> str:
        return f"done: {task}"


class ShownAsTool:
    """Another kind of agent."""

    def as_tool(self) -> Tool:
        return make_tool(add, name="planner")


async def names(toolbox: AsyncToolbox) -> list[str]:
    return [tool.name for tool in await toolbox.list_tools()]


def test_every_kind_of_source_is_listed_and_called(face: str) -> None:
    things = [
        add,
        shout,
        shout_async,
        make_tool(add, name="plus"),
        Kit,
        Starred(),
        Env([Slashed()]),
        Helper(),
        ShownAsTool(),
    ]
    calls = {
        "add": ({"a": 2}, "3"),
        "shout": ({"text": "hey"}, "HEY!"),
        "shout_async": ({"text": "hey"}, "HEY!"),
        "plus": ({"a": 2, "b": 2}, "4"),
        "Kit_greet": ({"name": "Ann"}, "Hello Ann"),
        "Starred": ({"text": "x"}, "**x**"),
        "Slashed": ({"text": "x"}, "/x/"),
        "helper": ({"task": "x"}, "done: x"),
        "planner": ({"a": 1}, "2"),
    }

    async def scenario(make: Callable[..., AsyncToolbox]) -> None:
        toolbox = make(things)
        assert await names(toolbox) == list(calls)
        reports: list[Any] = []
        for name, (arguments, text) in calls.items():
            result = await toolbox.call_tool(
                name, arguments, on_progress=lambda *report: reports.append(report)
            )
            assert (result.text, result.is_error) == (text, False)
        assert reports == [(1, 2, "inhaling")] * 2

    play(face, scenario)


def test_list_has_the_tools_own_description(face: str) -> None:
    async def scenario(make: Callable[..., AsyncToolbox]) -> None:
        [first, second, third] = await make([add, shout, Helper()]).list_tools()
        assert (first.description, first.input_schema["required"]) == ("Add two numbers.", ["a"])
        assert second.annotations == {"readOnlyHint": True}
        assert "context" not in second.input_schema["properties"]
        assert (third.description, third.input_schema["required"]) == ("Helps.", ["task"])

    play(face, scenario)


def test_duplicate_tool_names_get_the_source_as_prefix(face: str) -> None:
    async def scenario(make: Callable[..., AsyncToolbox]) -> None:
        toolbox = make(
            {"mine": [add, shout], "yours": add, "theirs": [make_tool(shout, name="whisper")]}
        )
        assert await names(toolbox) == ["mine_add", "shout", "yours_add", "whisper"]
        assert toolbox.find_origin("yours_add") == ToolOrigin("yours", "add")
        assert toolbox.find_origin("shout") == ToolOrigin("mine", "shout")
        assert (await toolbox.call_tool("yours_add", {"a": 1})).text == "2"
        with pytest.raises(RequestFailed):
            await toolbox.call_tool("add", {"a": 1})

    play(face, scenario)


class BrokenClient:
    """A client of somebody's own."""

    def list_tools(self, *, timeout_seconds: float | None = None) -> Any:
        raise ZeroDivisionError

    def call_tool(
        self, name: str, arguments: Any, *, on_progress: Any = None, timeout_seconds: Any = None
    ) -> Any:
        raise AssertionError("it has no tools")


class Gone(BrokenClient):
    """A client of the program `files`, which has ended."""

    server_info: ClassVar = {"name": "files"}

    def list_tools(self, *, timeout_seconds: float | None = None) -> Any:
        raise ServerGone(1, "")


def test_sources_of_one_name_are_numbered(face: str) -> None:
    async def scenario(make: Callable[..., AsyncToolbox]) -> None:
        toolbox = make({"files": [Gone(), add, Gone()], "more": add})
        assert await names(toolbox) == ["files_3_add", "more_add"]
        assert toolbox.find_origin("files_3_add") == ToolOrigin("files_3", "add")
        assert list(toolbox.errors) == ["files", "files_2"]

    play(face, scenario)


def test_a_toolbox_calls_servers_and_local_tools_in_threads() -> None:
    with (
        nothing_leaks(),
        connect(Server([add], name="calc")) as one,
        connect(Server([add, shout], name="words")) as two,
    ):
        toolbox = Toolbox([one, two, add])
        assert [tool.name for tool in toolbox.list_tools()] == [
            "calc_add",
            "words_add",
            "shout",
            "local_add",
        ]
        assert toolbox.list_tools()[0].raw["name"] == "calc_add"
        assert toolbox.call_tool("calc_add", {"a": 1}).structured == {"result": 2}
        reports: list[Any] = []
        toolbox.call_tool(
            "shout", {"text": "x"}, on_progress=lambda *report: reports.append(report)
        )
        assert reports == [(1, 2, "inhaling")]
        inner = Toolbox({"box": toolbox, "more": add})
        assert [tool.name for tool in inner.list_tools()] == [
            "calc_add",
            "words_add",
            "shout",
            "local_add",
            "add",
        ]
        assert inner.call_tool("calc_add", {"a": 1}).text == "2"
        assert inner.find_origin("calc_add") == ToolOrigin("box", "calc_add")


@pytest.mark.parametrize("loop", LOOPS)
def test_a_toolbox_calls_servers_and_local_tools_on_an_event_loop(loop: str) -> None:
    async def main() -> None:
        async with (
            connect(Server([add], name="calc")) as one,
            connect(Server([add, shout], name="words")) as two,
        ):
            toolbox = AsyncToolbox([one, two, add])
            assert await names(toolbox) == ["calc_add", "words_add", "shout", "local_add"]
            assert (await toolbox.call_tool("calc_add", {"a": 1})).structured == {"result": 2}
            assert (
                await toolbox.call_tool("shout", {"text": "x"}, timeout_seconds=WAIT)
            ).text == "X!"

    with nothing_leaks():
        anyio.run(main, backend=loop)


def test_toolbox_refuses_asynchronous_clients() -> None:
    async def main() -> None:
        async with connect(Server([add])) as client:
            with pytest.raises(
                TypeError, match="AsyncClient is one of `async with`: use AsyncToolbox"
            ):
                Toolbox([client])

    anyio.run(main)


@pytest.mark.parametrize("loop", LOOPS)
def test_async_toolbox_calls_blocking_clients_in_threads(loop: str) -> None:
    heard: list[threading.Thread] = []

    def count(context: Context) -> str:
        """Count."""
        context.progress(1, 2)
        return "counted"

    async def main() -> None:
        with connect(Server([add, count], name="there")) as client:
            toolbox = AsyncToolbox([client])
            assert [tool.name for tool in await toolbox.list_tools()] == ["add", "count"]
            assert toolbox.find_origin("add").source == "there"
            result = await toolbox.call_tool(
                "count", on_progress=lambda *_: heard.append(threading.current_thread())
            )
            assert result.text == "counted"

    anyio.run(main, backend=loop)
    assert heard == [threading.current_thread()]


class SlowToBegin(BrokenClient):
    """A client of `with` whose server is being started again when it is called."""

    def __init__(self) -> None:
        self.asked, self.ready, self.cancelled = (
            threading.Event(),
            threading.Event(),
            threading.Event(),
        )

    def start(self, name: str, arguments: Any, *, on_progress: Any = None) -> Any:
        self.asked.set()
        assert self.ready.wait(WAIT)
        return self

    def cancel(self) -> None:
        self.cancelled.set()

    def result(self, timeout_seconds: float | None = None) -> CallResult:
        assert self.cancelled.wait(WAIT)
        raise CallCancelled("cancelled")


@pytest.mark.parametrize("loop", LOOPS)
def test_abandoned_call_is_cancelled_when_it_starts(loop: str) -> None:
    client = SlowToBegin()

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(ThreadedClient(client).call_tool, "pay", {}))
            while not client.asked.is_set():
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        client.ready.set()

    anyio.run(main, backend=loop)
    assert client.cancelled.wait(WAIT)


@pytest.mark.parametrize("thing", [1, "add", None, object(), Helper, object])
def test_other_objects_raise_type_error(thing: Any) -> None:
    with pytest.raises(TypeError):
        Toolbox([thing])


def test_async_toolbox_can_be_made_without_an_event_loop() -> None:
    toolbox = AsyncToolbox([shout, shout_async])
    assert anyio.run(toolbox.call_tool, "shout", {"text": "x"}).text == "X!"


def test_two_tools_of_one_name_in_a_source_raise_value_error() -> None:
    with pytest.raises(ValueError, match="two tools in 'local' are called 'add'"):
        Toolbox([add, make_tool(shout, name="add")])


def test_an_unknown_name_is_an_error_that_lists_the_tools(face: str) -> None:
    async def scenario(make: Callable[..., AsyncToolbox]) -> None:
        toolbox = make([add, shout])
        with pytest.raises(RequestFailed, match="no tool 'shuot', did you mean 'shout'") as caught:
            await toolbox.call_tool("shuot")
        assert caught.value.code == -32602
        with pytest.raises(RequestFailed, match=r"Known: \(no tools\)"):
            await make([]).call_tool("x")

    play(face, scenario)


@pytest.mark.process
def test_a_server_that_has_ended_does_not_hide_the_others() -> None:
    with connect([sys.executable, "-IS", FAKE, "Dies"]) as client:
        toolbox = Toolbox({"dead": client, "here": add})
        assert [tool.name for tool in toolbox.list_tools()] == ["echo", "add"]
        with pytest.raises(ServerGone):
            client.call_tool("fatal", timeout_seconds=WAIT)
        assert [tool.name for tool in toolbox.list_tools()] == ["add"]
        assert {name: type(error) for name, error in toolbox.errors.items()} == {"dead": ServerGone}


def test_exception_of_a_custom_client_is_raised_outside_a_group(face: str) -> None:
    async def scenario(make: Callable[..., AsyncToolbox]) -> None:
        with pytest.raises(ZeroDivisionError):
            await make([BrokenClient(), add, BrokenClient()]).list_tools()

    play(face, scenario)


def test_exception_of_a_tool_is_an_error_result(face: str) -> None:
    def fail(how: str) -> None:
        raise {"tool": ToolError, "other": ValueError}[how]("no such note")

    def fail_silently() -> None:
        raise ZeroDivisionError

    async def scenario(make: Callable[..., AsyncToolbox]) -> None:
        toolbox = make([fail, fail_silently, add, shout])
        texts = {
            "said": (await toolbox.call_tool("fail", {"how": "tool"})).text,
            "raised": (await toolbox.call_tool("fail", {"how": "other"})).text,
            "silent": (await toolbox.call_tool("fail_silently")).text,
        }
        assert texts == {
            "said": "no such note",
            "raised": "ValueError: no such note",
            "silent": "ZeroDivisionError",
        }
        for name, arguments in (("add", {"a": "x"}), ("add", {"c": 1}), ("shout", {}), ("add", {})):
            assert (await toolbox.call_tool(name, arguments)).is_error

    play(face, scenario)


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_tool_over_its_time_limit_raises_timed_out(face: str, kind: str) -> None:
    ended = threading.Event()

    @tool_api
    def wait(context: Context) -> None:
        """Wait until nobody waits any more."""
        while not context.cancelled:
            pass
        ended.set()

    @tool_api
    async def wait_async() -> None:
        """Wait for ever."""
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    async def scenario(make: Callable[..., AsyncToolbox]) -> None:
        tool = wait if kind == "sync" else wait_async
        with pytest.raises(TimedOut, match="did not finish within"):
            await make([tool]).call_tool(tool.__name__, timeout_seconds=0.3)

    play(face, scenario)
    assert ended.wait(WAIT)


def test_tool_within_its_time_limit_returns_its_result(face: str) -> None:
    async def scenario(make: Callable[..., AsyncToolbox]) -> None:
        toolbox = make([add, shout_async])
        assert (await toolbox.call_tool("add", {"a": 1}, timeout_seconds=WAIT)).text == "2"
        assert (await toolbox.call_tool("add", {"a": "x"}, timeout_seconds=WAIT)).is_error
        assert (
            await toolbox.call_tool("shout_async", {"text": "x"}, timeout_seconds=WAIT)
        ).text == "X!"

    play(face, scenario)


@pytest.mark.parametrize("loop", LOOPS)
def test_blocking_tool_does_not_block_the_event_loop(loop: str) -> None:
    free = threading.Event()

    def wait() -> str:
        """Wait for the loop."""
        return "free" if free.wait(WAIT) else "stuck"

    async def main() -> None:
        toolbox = AsyncToolbox([wait])

        async def release() -> None:
            free.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(release)
            assert (await toolbox.call_tool("wait")).text == "free"

    anyio.run(main, backend=loop)


def test_tools_without_a_limit_run_in_the_calling_thread() -> None:
    def where() -> str:
        return threading.current_thread().name

    assert Toolbox([where]).call_tool("where").text == threading.current_thread().name


@tool_api
def order(what: str, context: Context) -> str:
    """Order something, if the user wants it."""
    return f"{context.ask(f'How many {what}?', int)} {what}"


@tool_api
async def order_async(what: str, context: AsyncContext) -> str:
    """Order something, if the user wants it."""
    return f"{await context.ask(f'How many {what}?', int)} {what}"


@pytest.mark.parametrize("tool", [order, order_async])
def test_local_tools_ask_the_user(face: str, tool: Any) -> None:
    asked: list[Elicitation] = []

    def on_ask(question: Elicitation) -> dict[str, Any]:
        asked.append(question)
        return {"answer": 3}

    async def scenario(make: Callable[..., AsyncToolbox]) -> None:
        name = tool.__name__
        assert (
            await make([tool], on_ask=on_ask).call_tool(name, {"what": "pears"})
        ).text == "3 pears"
        assert [(question.message, question.tool) for question in asked] == [
            ("How many pears?", name)
        ]
        declined = await make([tool], on_ask=lambda question: NoAnswer.DECLINED).call_tool(
            name, {"what": "pears"}
        )
        assert (declined.is_error, declined.text) == (True, "The user declined to answer.")
        unasked = await make([tool]).call_tool(name, {"what": "pears"})
        assert (unasked.is_error, unasked.text) == (
            True,
            "This tool needs to ask the user, and the client cannot ask.",
        )

    play(face, scenario)


@tool_api
def stay(context: Context) -> str:
    """Stay, if the user wants it, until nobody waits any more."""
    while context.ask("Stay?", bool) and not context.cancelled:
        while not context.cancelled:
            pass
    return "gone"


@tool_api
async def stay_async(context: AsyncContext) -> str:
    """Stay, if the user wants it, until nobody waits any more."""
    if await context.ask("Stay?", bool):
        await anyio.sleep_forever()
    return "gone"


@pytest.mark.slow
@pytest.mark.parametrize("tool", [stay, stay_async])
def test_time_limit_of_a_local_tool_excludes_waits_for_the_user(face: str, tool: Any) -> None:
    def slow(answer: bool) -> Any:
        def on_ask(question: Elicitation) -> Any:
            patience = Deadline(1.5)  # which is longer than the tool may take
            while patience.seconds_left:
                pass
            return {"answer": answer}

        async def on_ask_async(question: Elicitation) -> Any:
            patience = Deadline(1.5)
            while patience.seconds_left:
                await anyio.lowlevel.checkpoint()
            return {"answer": answer}

        return on_ask if face == "threads" else on_ask_async

    async def scenario(make: Callable[..., AsyncToolbox]) -> None:
        gone = await make([tool], on_ask=slow(False)).call_tool(tool.__name__, timeout_seconds=1.2)
        assert gone.text == "gone"
        with pytest.raises(TimedOut, match=r"did not finish within 0\.1 s"):
            await make([tool], on_ask=slow(True)).call_tool(tool.__name__, timeout_seconds=0.1)

    play(face, scenario)


def test_the_user_is_not_asked_for_a_finished_call(face: str) -> None:
    asked: list[str] = []
    told: SimpleQueue[BaseException] = SimpleQueue()

    @tool_api
    def ask_too_late(context: Context) -> None:
        while not context.cancelled:
            pass
        try:
            context.ask("Still there?", bool)
        except BaseException as error:
            told.put(error)

    def on_ask(question: Elicitation) -> Any:
        asked.append(question.message)
        return {"answer": True}

    async def scenario(make: Callable[..., AsyncToolbox]) -> None:
        with pytest.raises(TimedOut):
            await make([ask_too_late], on_ask=on_ask).call_tool("ask_too_late", timeout_seconds=0.3)
        assert isinstance(told.get(timeout=WAIT), Cancelled)

    play(face, scenario)
    assert asked == []


def test_tools_with_a_limit_see_the_context_of_their_caller(face: str) -> None:
    user: ContextVar[str] = ContextVar("user", default="nobody")

    def whose() -> str:
        return user.get()

    async def scenario(make: Callable[..., AsyncToolbox]) -> None:
        user.set("Ada")
        assert (await make([whose]).call_tool("whose", timeout_seconds=WAIT)).text == "Ada"

    play(face, scenario)


def test_tools_appear_and_vanish_with_their_server() -> None:
    server = Server([add])
    with connect(server) as client:
        toolbox = Toolbox([client])
        toolbox.list_tools()
        server.add(shout)
        for _ in range(10_000):
            if "shout" in [tool.name for tool in client.list_tools()]:
                break
        assert (
            toolbox.call_tool("shout", {"text": "x"}).text == "X!"
        )  # though it was not there when they were listed


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "a b", "", "ä"]),
            st.lists(st.sampled_from(["x", "y", "a_x", "a_x_2", "b_y", "_x", "a_a_x"]), max_size=6),
        ),
        max_size=5,
    )
)
def test_every_tool_has_one_name_and_every_name_one_tool(
    lists: list[tuple[str, list[str]]],
) -> None:
    found = index_names(lists)
    everything = [
        (place, name) for place, (_, names) in enumerate(lists) for name in dict.fromkeys(names)
    ]
    assert list(found.values()) == everything
    times = [name for _, name in everything]
    assert all(found[name] == (place, name) for place, name in everything if times.count(name) == 1)
    assert index_names(lists) == found
