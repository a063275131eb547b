"""What a client does in all its ways of waiting: threads, asyncio, trio."""

from __future__ import annotations

import asyncio
import math
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import anyio.lowlevel
import pytest
from support import SUPPORT
from support.client_backends import FACES, WAIT, ask, nothing_leaks
from toolwire import Context, Server, complete, prompt, resource
from toolwire_client import (
    AsyncClient,
    BrokenRules,
    CallCancelled,
    Closed,
    LogEntry,
    PendingConnection,
    RequestFailed,
    ServerGone,
    TimedOut,
    connect,
)

pytestmark = pytest.mark.process

LOOPS = FACES[1:]
FAKE = SUPPORT / "fake_server.py"


def fake(behaviour: str, **options: Any) -> PendingConnection:
    return connect([sys.executable, "-IS", str(FAKE), behaviour], **options)


def add(a: int, b: int, context: Context) -> int:
    """Add two numbers.

    Args:
        a: The first.
    """
    context.progress(1, 2, "half way")
    return a + b


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_a_server_in_the_same_process_is_asked_like_any_other(face: str, era: Any) -> None:
    reports: list[Any] = []

    async def scenario(client: AsyncClient) -> None:
        [tool] = await client.list_tools()
        assert (tool.name, tool.description) == ("add", "Add two numbers.")
        assert tool.input_schema["properties"]["a"] == {
            "type": "integer",
            "description": "The first.",
        }
        result = await client.call_tool(
            "add", {"a": 2**70, "b": 1}, on_progress=lambda *report: reports.append(report)
        )
        assert (result.text, result.structured, result.is_error) == (
            str(2**70 + 1),
            {"result": 2**70 + 1},
            False,
        )
        assert (await client.call_tool("add", {"a": "x", "b": 1})).is_error
        assert await client.ping() > 0
        assert client.pid is None
        with pytest.raises(RequestFailed) as caught:
            await client.call_tool("subtract")
        assert caught.value.code == -32602

    with nothing_leaks():
        ask(face, connect(Server([add]), era=era), scenario)
    assert reports == [(1, 2, "half way")]


def test_answers_find_their_calls_in_any_order_and_count_once(face: str) -> None:
    async def scenario(client: AsyncClient) -> None:
        calls = [await client.start("echo", {"number": number}) for number in range(50)]
        texts = [(await call.result(WAIT)).text for call in calls]
        assert texts == [f'{{"number": {number}}}' for number in range(50)]

    ask(face, fake("AnswersBackwards"), scenario)


@pytest.mark.parametrize("loop", LOOPS)
def test_tasks_call_side_by_side(loop: str) -> None:
    async def scenario(client: AsyncClient) -> None:
        texts: dict[int, str] = {}

        async def call(number: int) -> None:
            texts[number] = (
                await client.call_tool("echo", {"number": number}, timeout_seconds=WAIT)
            ).text

        async with anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(call, number)
        assert texts == {number: f'{{"number": {number}}}' for number in range(50)}

    ask(loop, fake("AnswersBackwards"), scenario)


@pytest.mark.parametrize("loop", LOOPS)
def test_to_cancel_a_task_cancels_its_call(loop: str) -> None:
    async def scenario(client: AsyncClient) -> None:
        reported = anyio.Event()
        async with anyio.create_task_group() as tasks:

            async def call() -> None:
                await client.call_tool("wait", on_progress=lambda *_: reported.set())

            tasks.start_soon(call)
            await reported.wait()
            tasks.cancel_scope.cancel()
        cancelled = (await client.call_tool("report")).structured["cancelled"]
        assert len(cancelled) == 1

    ask(loop, fake("Waits"), scenario)


def test_a_time_limit_of_asyncio_s_own_cancels_the_call() -> None:
    async def scenario(client: AsyncClient) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.call_tool("wait"), 0.05)
        assert len((await client.call_tool("report")).structured["cancelled"]) == 1

    ask("asyncio", fake("Waits"), scenario)


def test_a_task_of_asyncio_s_own_that_is_cancelled_leaves_nothing_behind() -> None:
    async def main() -> None:
        opened = asyncio.Event()

        async def wait() -> None:
            async with fake("Waits") as client:
                opened.set()
                await client.call_tool("wait")

        task = asyncio.create_task(wait())
        await opened.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with nothing_leaks():
        asyncio.run(main())


def test_a_call_that_times_out_is_cancelled_and_its_late_answer_dropped(face: str) -> None:
    entries: list[LogEntry] = []

    async def scenario(client: AsyncClient) -> None:
        with pytest.raises(TimedOut, match="within 0 s"):
            await client.call_tool("wait", timeout_seconds=0.0)
        assert (await client.call_tool("echo", {"a": 1})).text == '{"a": 1}'

    ask(face, fake("AnswersLate", on_log=entries.append), scenario)
    assert "ignored: response to no open request" in [entry.text for entry in entries]


def test_a_call_can_be_cancelled_by_hand(face: str) -> None:
    async def scenario(client: AsyncClient) -> None:
        call = await client.start("wait")
        call.cancel("changed my mind")
        with pytest.raises(CallCancelled, match="changed my mind"):
            await call.result(WAIT)
        assert (await client.call_tool("report")).structured == {"cancelled": [call.id]}

    ask(face, fake("Waits"), scenario)


def test_a_flood_of_progress_does_not_keep_a_call_from_timing_out(face: str) -> None:
    def slow(context: Context) -> None:
        """Report for ever."""
        done = 0
        while not context.cancelled:
            done += 1
            context.progress(done)

    async def scenario(client: AsyncClient) -> None:
        with pytest.raises(TimedOut):
            await client.call_tool("slow", on_progress=lambda *_: None, timeout_seconds=0.05)

    ask(face, connect(Server([slow])), scenario)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_flood_of_progress_leaves_time_for_other_tasks(loop: str) -> None:
    def slow(context: Context) -> None:
        """Report for ever."""
        done = 0
        while not context.cancelled:
            done += 1
            context.progress(done)

    async def scenario(client: AsyncClient) -> None:
        with anyio.fail_after(WAIT):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: client.call_tool("slow", on_progress=lambda *_: None))
                for _ in range(100):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()

    ask(loop, connect(Server([slow])), scenario)


@pytest.mark.parametrize("number", [math.nan, object()])
def test_arguments_that_are_no_json_are_refused_before_anything_is_sent(
    face: str, number: Any
) -> None:
    async def scenario(client: AsyncClient) -> None:
        with pytest.raises(ValueError, match="number"):
            await client.call_tool("add", {"number": number})
        assert (await client.call_tool("add", {"a": 1, "b": 1})).text == "2"

    ask(face, connect(Server([add])), scenario)


def test_an_exception_in_the_block_stays_what_it_is(face: str) -> None:
    async def scenario(client: AsyncClient) -> None:
        raise ZeroDivisionError

    with nothing_leaks(), pytest.raises(ZeroDivisionError):
        ask(face, fake("Server"), scenario)


@pytest.mark.parametrize("loop", LOOPS)
def test_to_cancel_the_handshake_leaves_nothing_behind(loop: str) -> None:
    async def main() -> None:
        with anyio.move_on_after(0.2) as scope:
            async with fake("NeverReady"):
                pytest.fail("it is never ready")
        assert scope.cancelled_caught

    with nothing_leaks():
        anyio.run(main, backend=loop)


@pytest.mark.parametrize("loop", LOOPS)
def test_to_cancel_the_whole_block_ends_the_server(loop: str) -> None:
    async def main() -> None:
        with anyio.move_on_after(0.5):
            async with fake("Waits") as client:
                await client.call_tool("wait")

    with nothing_leaks():
        anyio.run(main, backend=loop)


@pytest.mark.parametrize("loop", LOOPS)
def test_one_task_may_open_a_client_and_another_close_it(loop: str) -> None:
    async def main() -> None:
        opening = fake("Server")
        opened = anyio.Event()

        async def open_it() -> None:
            await opening.__aenter__()
            opened.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(open_it)
            await opened.wait()
            await opening.__aexit__(None, None, None)

    with nothing_leaks():
        anyio.run(main, backend=loop)


def test_a_client_that_was_closed_says_so(face: str) -> None:
    async def scenario(client: AsyncClient) -> AsyncClient:
        call = await client.start("wait")
        await client.close()
        with pytest.raises(Closed):
            await call.result(WAIT)
        with pytest.raises(Closed):
            await client.ping()
        return client

    with nothing_leaks():
        assert ask(face, fake("Waits"), scenario).pid is None


def test_the_end_of_the_server_fails_every_waiting_call(face: str) -> None:
    async def scenario(client: AsyncClient) -> None:
        calls = [await client.start(name) for name in ("wait", "wait", "fatal")]
        errors: list[ServerGone] = []
        for call in calls:
            with pytest.raises(ServerGone) as caught:
                await call.result(WAIT)
            errors.append(caught.value)
        assert [error.exit_status for error in errors] == [-9] * 3
        assert "the server was ended by SIGKILL" in str(errors[0])
        assert len({id(error) for error in errors}) == 3  # each has a traceback of its own

    ask(face, fake("Crashes"), scenario)


def test_what_a_server_logs_and_what_it_should_not_write_is_reported(face: str) -> None:
    entries: list[LogEntry] = []

    async def scenario(client: AsyncClient) -> None:
        sent = (await client.call_tool("x")).structured["_meta"]
        assert sent["io.modelcontextprotocol/logLevel"] == "debug"

    ask(face, fake("Logs", on_log=entries.append), scenario)
    assert entries == [
        LogEntry("error", "server", '{"a":1}', {"a": 1}),
        LogEntry("info", "server", "hello", "hello"),
        LogEntry("debug", "client", "ignored: notifications/unknown", [1]),
        LogEntry("debug", "client", "ignored: response to no open request", 10**9),
        LogEntry("warning", "output", "no message"),
    ]


def test_a_legacy_server_is_asked_for_its_log_only_if_it_is_read(face: str) -> None:
    entries: list[LogEntry] = []

    async def scenario(client: AsyncClient) -> None:
        assert (await client.call_tool("echo", {"a": 1})).text == '{"a": 1}'

    ask(face, fake("LogsIfAsked", on_log=entries.append), scenario)
    assert entries == [LogEntry("notice", "server", '{"level":"debug"}', {"level": "debug"})]


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_arguments_of_prompts_and_templates_are_completed(face: str, era: Any) -> None:
    @prompt
    def travel(
        start: Literal["Oslo", "Rome"],
        goal: Annotated[str, complete(lambda text, others: [*others])],
    ) -> str:
        return f"{start} {goal}"

    @resource("cities://{city}")
    def city(city: Annotated[str, complete(["Oslo"])]) -> str:
        return city

    async def scenario(client: AsyncClient) -> None:
        assert await client.complete("travel", "start", "o") == ["Oslo"]
        assert await client.complete("travel", "goal", arguments={"start": "Rome"}) == ["start"]
        assert await client.complete("cities://{city}", "city") == ["Oslo"]
        with pytest.raises(RequestFailed):
            await client.complete("travel", "way")

    ask(face, connect(Server([travel, city]), era=era), scenario)


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_what_a_tool_logs_is_filtered_by_the_level_that_was_set(face: str, era: Any) -> None:
    def note(level: str, context: Context) -> None:
        context.log("noted", level=level)

    entries: list[LogEntry] = []

    async def scenario(client: AsyncClient) -> None:
        await client.call_tool("note", {"level": "debug"})
        await client.set_log_level("error")
        await client.call_tool("note", {"level": "warning"})
        await client.call_tool("note", {"level": "critical"})

    ask(face, connect(Server([note]), era=era, on_log=entries.append), scenario)
    assert entries == [
        LogEntry(level, "server", "noted", "noted", "note") for level in ("debug", "critical")
    ]


def test_a_failing_log_function_does_not_fail_a_call(
    face: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(entry: LogEntry) -> None:
        raise ZeroDivisionError

    async def scenario(client: AsyncClient) -> None:
        assert (await client.call_tool("x", {"a": 1})).structured["arguments"] == {"a": 1}

    ask(face, fake("Logs", on_log=fail), scenario)
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_progress_that_raises_cancels_the_call(face: str) -> None:
    def stop(*report: Any) -> None:
        raise KeyError

    async def scenario(client: AsyncClient) -> None:
        with pytest.raises(KeyError):
            await client.call_tool("wait", on_progress=stop, timeout_seconds=WAIT)
        assert len((await client.call_tool("report")).structured["cancelled"]) == 1

    ask(face, fake("Waits"), scenario)


def test_progress_may_not_be_async(face: str) -> None:
    async def report(*_: Any) -> None: ...

    async def scenario(client: AsyncClient) -> None:
        with pytest.raises(TypeError, match="plain function"):
            await client.call_tool("wait", on_progress=report, timeout_seconds=WAIT)

    ask(face, fake("Waits"), scenario)


@pytest.mark.parametrize("thing", [None, 1, Path("server.py"), {"command": "x"}])
def test_what_is_no_server_is_refused(thing: Any) -> None:
    with pytest.raises(TypeError, match="connect takes a command"):
        connect(thing)


def test_a_command_is_no_text() -> None:
    with pytest.raises(TypeError, match=r"connect\(\['python', 'my server.py'\]\)"):
        connect("python 'my server.py'")


def test_a_result_beyond_the_limit_is_an_error_of_that_call_alone(face: str) -> None:
    async def scenario(client: AsyncClient) -> None:
        with pytest.raises(BrokenRules, match="the limit is 10000"):
            await client.call_tool("echo", {"a": "x" * 20_000}, timeout_seconds=WAIT)
        assert (await client.call_tool("echo", {"a": 1})).text == '{"a": 1}'

    ask(face, fake("Server", max_message_bytes=10_000), scenario)
