"""Runs that are ended from outside: at every point where they wait, and whatever they wait for."""

from __future__ import annotations

import sys
from contextlib import aclosing
from typing import Any

import anyio
import pytest
from support.agent_scripts import (
    BACKENDS,
    EVERYTHING,
    Tools,
    act,
    agent,
    ask,
    check_transcript,
    final,
    kinds,
    of,
    play,
    replayed,
)
from support.client_backends import nothing_leaks
from support.running_processes import is_running
from support.server_process import wait_until
from toolwire_agent.agent import Agent, ToolProgress, load
from toolwire_agent.agent.events import ActionChosen, CallFinished, Ended, ToolsListed
from toolwire_agent.models import ScriptedModel
from toolwire_client import TimedOut, connect

pytestmark = pytest.mark.parametrize("backend", BACKENDS)

SCRIPT = [act("add", a=1, b=2), ask("Sure?"), final("3")]


async def user(question: Any) -> str:
    await anyio.lowlevel.checkpoint()
    return "Yes."


class Counting:
    """Cancels a scope at the *number*th point where its task could be cancelled."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.scope = anyio.CancelScope()

    def count(self) -> None:
        self.left -= 1
        if self.left == 0:
            self.scope.cancel()


def test_run_cancelled_at_any_point_can_be_resumed_and_replayed(
    backend: str, tmp_path: Any
) -> None:
    """Every point: the run is a coroutine, stepped by hand, and cancelled before its first, second,
    ... step.
    """

    async def interrupted(number: int, path: Any) -> bool:
        """Run until something has been waited for *number* times; whether the run had ended
        before.
        """
        tools = Tools()
        steps = Counting(number)
        with steps.scope:
            await _Stepped(
                agent(SCRIPT, tools.both(), on_ask=user, transcript=path).answer("1+2?"),
                steps.count,
            )
            return True
        return False

    cut_at: set[str] = set()

    async def scenario() -> None:
        for number in range(1, 1000):
            path = tmp_path / f"{number}.jsonl"
            ended = await interrupted(number, path)
            events = load(path) if path.exists() else []
            if not events:
                continue
            check_transcript(events)
            assert await replayed(path) == tuple(events)
            if "QuestionAsked" not in kinds(events):
                continue
            assert isinstance(events[-1], Ended)
            if ended:
                assert events[-1].status == "answered"
                assert cut_at >= {"ModelAsked", "CallStarted", "UserAsked"}
                return
            assert events[-1].status == "cancelled"
            cut_at.add(kinds(events)[-2])
            rest = SCRIPT[kinds(events).count("ModelReplied") :]
            settings = {"on_ask": user, "approval": lambda request: True, "transcript": path}
            outcome = await agent(rest, Tools().both(), **settings).resume(path).answer()
            assert outcome.status == "answered"
            assert load(path) == list(outcome.transcript)
        raise AssertionError("the run never came to its end")

    play(backend, scenario)


class _Stepped:
    """Awaits a coroutine, and calls *before* whenever it is about to wait."""

    def __init__(self, work: Any, before: Any) -> None:
        self._work = work
        self._before = before

    def __await__(self) -> Any:
        value, error = None, None
        while True:
            try:
                awaited = self._work.throw(error) if error is not None else self._work.send(value)
            except StopIteration as done:
                return done.value
            self._before()
            value, error = None, None
            try:
                value = yield awaited
            except BaseException as raised:
                error = raised


def test_a_session_that_is_cancelled_returns_its_outcome(backend: str) -> None:
    class Silent:
        async def chat(self, messages: list[Any]) -> str:
            asked.set()
            await anyio.sleep_forever()
            return ""

    asked = anyio.Event()

    async def scenario() -> Any:
        session = Agent(Silent()).session()
        outcomes = []

        async def ask() -> None:
            outcomes.append(await session.answer("?"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await asked.wait()
            session.cancel("enough")
        return outcomes[0]

    async def build() -> Any:
        nonlocal asked
        asked = anyio.Event()
        return await scenario()

    outcome = play(backend, build)
    assert (outcome.status, outcome.reason, outcome.result) == ("cancelled", "enough", None)
    assert play(backend, lambda: replayed(outcome.transcript)) == outcome.transcript


class SilentServer:
    """A client whose server never lists its tools."""

    def __init__(self) -> None:
        self.asked = anyio.Event()

    async def list_tools(self, *, timeout_seconds: float | None = None) -> Any:
        self.asked.set()
        with anyio.move_on_after(timeout_seconds):
            await anyio.sleep_forever()
        raise TimedOut("no answer")

    async def call_tool(self, name: str, arguments: Any, **options: Any) -> Any:
        raise AssertionError("it has told no tools")


def test_a_run_is_cancelled_while_a_server_does_not_list_its_tools(
    backend: str, tmp_path: Any
) -> None:
    path = tmp_path / "run.jsonl"

    async def scenario() -> Any:
        server = SilentServer()
        session = agent(SCRIPT, server, transcript=path).session()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.answer, "1+2?")
            await server.asked.wait()
            session.cancel("enough")
        assert kinds(load(path)) == ["Started", "QuestionAsked", "Ended"]
        assert await replayed(path) == tuple(load(path))
        return await agent([final("3")], Tools().both(), transcript=path).resume(path).answer()

    outcome = play(backend, scenario)
    assert (outcome.status, outcome.result) == ("answered", "3")
    assert play(backend, lambda: replayed(path)) == outcome.transcript


def test_run_continues_without_a_server_that_never_lists_its_tools(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwire_agent.agent.effects.LIST_SECONDS", 0.05)

    async def scenario() -> Any:
        return await agent([final("3")], {"slow": SilentServer(), "mine": Tools().both()}).answer(
            "1+2?"
        )

    outcome = play(backend, scenario)
    (listed,) = of(ToolsListed, outcome.transcript)
    assert (outcome.status, len(listed.tools), listed.missing) == (
        "answered",
        2,
        {"slow": "no answer"},
    )


def test_cancelled_call_is_reported_to_the_model(
    backend: str,
) -> None:
    started, stopped = [], []

    async def wait() -> None:
        """Wait."""
        started.append(True)
        try:
            await anyio.sleep_forever()
        finally:
            stopped.append(True)

    async def scenario() -> Any:
        model = ScriptedModel([act("wait"), final("it was cancelled", ok=False)])
        session = Agent(model, [wait], approval=EVERYTHING).session()
        assert not session.cancel_call()
        outcomes = []

        async def ask() -> None:
            outcomes.append(await session.answer("?"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            while not started:
                await anyio.lowlevel.checkpoint()
            assert session.cancel_call()
        assert not session.cancel_call()
        return outcomes[0]

    outcome = play(backend, scenario)
    assert (outcome.status, stopped) == ("unsolvable", [True])
    (finished,) = of(CallFinished, outcome.transcript)
    assert (finished.success, "cancelled" in finished.result) == (False, True)
    assert play(backend, lambda: replayed(outcome.transcript)) == outcome.transcript


def test_a_caller_that_stops_iterating_ends_the_run(backend: str, tmp_path: Any) -> None:
    path, tools = tmp_path / "run.jsonl", Tools()

    async def scenario() -> None:
        async with aclosing(agent(SCRIPT, tools.both(), transcript=path).run("?")) as events:
            async for event in events:
                if isinstance(event, ActionChosen):
                    break

    play(backend, scenario)
    assert tools.calls == []
    assert load(path)[-1].status == "cancelled"  # type: ignore[union-attr]
    assert play(backend, lambda: replayed(path)) == tuple(load(path))


@pytest.mark.process
def test_a_server_is_notified_of_a_cancelled_call_and_leaves_nothing_behind(
    backend: str, tmp_path: Any
) -> None:
    mark = tmp_path / "cancelled"
    (tmp_path / "slow.py").write_text(
        "import anyio, pathlib\n"
        "from toolwire import AsyncContext, Context, tool_api\n"
        "@tool_api\n"
        "async def wait(context: AsyncContext) -> None:\n"
        "    'Wait.'\n"
        "    try:\n"
        "        context.progress(1)\n"
        "        await anyio.sleep_forever()\n"
        "    except BaseException:\n"
        f"        pathlib.Path({str(mark)!r}).touch()\n"
        "        raise\n"
    )
    pids: list[int] = []

    async def scenario() -> Any:
        server = [sys.executable, "-m", "toolwire", "serve", str(tmp_path / "slow.py")]
        async with connect(server) as client:
            pids.append(client.pid or 0)
            session = agent([act("wait"), final()], client).session(
                on_live=lambda live: session.cancel() if isinstance(live, ToolProgress) else None
            )
            outcome = await session.answer("?")
            while not mark.exists():
                await anyio.lowlevel.checkpoint()
            return outcome

    with nothing_leaks():
        outcome = play(backend, scenario)
    assert outcome.status == "cancelled"
    assert kinds(outcome.transcript)[-2:] == ["CallStarted", "Ended"]
    wait_until(lambda: not is_running(pids[0]))
