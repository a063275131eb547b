"""Agents with real servers: their own processes, which die, hang and come in both kinds of
blocks.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from support.agent_scripts import (
    BACKENDS,
    EVERYTHING,
    act,
    agent,
    answer,
    final,
    kinds,
    of,
    play,
    replayed,
)
from support.client_backends import nothing_leaks
from toolwire_agent import Toolbox
from toolwire_agent.agent import Agent, Approvals, ToolProgress
from toolwire_agent.agent.events import CallFinished, ToolsListed
from toolwire_agent.models import ArithmeticModel, ScriptedModel
from toolwire_client import connect

TOOLS = """
import os, threading
from toolwire import Context, tool_api

@tool_api(read_only=True)
def add(a: int, b: int) -> int:
    "Add two integers."
    return a + b

@tool_api(read_only=True)
def multiply(a: int, b: int) -> int:
    "Multiply two integers."
    return a * b

@tool_api
def die() -> None:
    "Die."
    os.write(2, b"SECRET in stderr")
    os._exit(7)

@tool_api
def hang(context: Context) -> None:
    "Hang."
    context.progress(1, 2, "half")
    while not context.cancelled:
        threading.Event().wait(0.01)
"""


@pytest.fixture
def server(tmp_path: Path) -> list[str]:
    (tmp_path / "tools.py").write_text(TOOLS)
    return [sys.executable, "-m", "toolwire", "serve", str(tmp_path / "tools.py")]


@pytest.mark.process
@pytest.mark.parametrize("backend", BACKENDS)
def test_arithmetic_model_solves_a_question_with_a_servers_tools(
    backend: str, server: list[str]
) -> None:
    async def scenario() -> Any:
        async with connect(server) as client:
            trusting = Approvals(trust_hints=True)
            return await Agent(ArithmeticModel(), client, approval=trusting).answer(
                "What is (2 + 3) * 4?"
            )

    with nothing_leaks():
        outcome = play(backend, scenario)
    assert outcome.status == "answered"
    assert "20" in str(outcome.result)
    assert [event.result for event in of(CallFinished, outcome.transcript)] == [5, 20]
    assert play(backend, lambda: replayed(outcome.transcript, approval=None)) == outcome.transcript


@pytest.mark.process
@pytest.mark.parametrize("backend", BACKENDS)
def test_end_of_a_server_during_a_call_is_reported_to_the_model(
    backend: str, server: list[str]
) -> None:
    async def scenario() -> Any:
        async with connect(server, restart=True) as client:
            return await agent([act("die"), act("add", a=1, b=2), final("3")], client).answer("?")

    outcome = play(backend, scenario)
    died, added = of(CallFinished, outcome.transcript)
    assert (died.success, "status 7" in died.result, "SECRET" in died.result) == (
        False,
        True,
        False,
    )
    assert (added.success, added.result, outcome.status) == (True, 3, "answered")


@pytest.mark.process
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("limit", [2.0, {"add": 60, "h*": 2.0}])
def test_hanging_tool_ends_at_its_time_limit(backend: str, server: list[str], limit: Any) -> None:
    async def scenario() -> Any:
        async with connect(server) as client:
            made = agent(
                [act("hang"), act("add", a=1, b=2), final("3")], client, tool_seconds=limit
            )
            lives: list[Any] = []
            return await made.answer("?", on_live=lives.append), lives

    outcome, lives = play(backend, scenario)
    hung, added = of(CallFinished, outcome.transcript)
    assert (hung.success, "2 seconds" in hung.result, added.result) == (False, True, 3)
    assert ToolProgress("hang", 1, 2, "half") in lives


@pytest.mark.process
@pytest.mark.parametrize(
    "wrap", [lambda client: client, lambda client: [client], lambda client: Toolbox([client])]
)
def test_answer_sync_uses_blocking_clients(server: list[str], wrap: Any) -> None:
    script = [act("add", a=1, b=2), final("3")]
    with nothing_leaks(), connect(server) as client:
        made = agent([*script, *script], wrap(client), on_ask=None)
        assert made.answer_sync("1+2?").result == "3"
        events = list(made.run_sync("1+2?"))
    assert kinds(events)[-1] == "Ended"
    assert of(CallFinished, events)[0].result == 3


@pytest.mark.process
def test_cancelled_run_cancels_the_call_of_a_blocking_client(server: list[str]) -> None:
    with nothing_leaks(), connect(server) as client:
        made = agent([act("hang"), final()], client)
        session = made.session(
            on_live=lambda live: session.cancel() if isinstance(live, ToolProgress) else None
        )

        async def scenario() -> Any:
            return await session.answer("?")

        outcome = play("asyncio", scenario)
        assert outcome.status == "cancelled"
        assert client.call_tool("add", {"a": 1, "b": 2}).structured == {"result": 3}


@pytest.mark.process
def test_a_caller_that_stops_iterating_without_an_event_loop_cancels_the_call(
    server: list[str],
) -> None:
    with nothing_leaks(), connect(server) as client:
        events = agent([act("hang"), final()], client).run_sync("?")
        assert any(type(event).__name__ == "CallStarted" for event in events)
        events.close()  # type: ignore[attr-defined]


@pytest.mark.process
@pytest.mark.parametrize("backend", BACKENDS)
def test_source_without_a_list_of_tools_is_reported(backend: str, server: list[str]) -> None:
    async def scenario() -> Any:
        async with connect(server) as client, connect(server) as other:
            await other.close()
            return await Agent(ScriptedModel([final()]), {"good": client, "bad": other}).answer("?")

    (listed,) = of(ToolsListed, play(backend, scenario).transcript)
    assert [tool["name"] for tool in listed.tools] == ["add", "multiply", "die", "hang"]
    assert listed.missing.keys() == {"bad"}


@pytest.mark.parametrize("backend", BACKENDS)
def test_tools_that_change_between_questions_are_sent_again(backend: str) -> None:
    class Changing:
        names = ("one",)

        async def list_tools(self, *, timeout_seconds: float | None = None) -> Any:
            from toolwire_client.protocol.results import describe

            return [
                describe({"name": name, "inputSchema": {"type": "object"}}) for name in self.names
            ]

        async def call_tool(self, name: str, arguments: Any, **options: Any) -> Any:
            from toolwire_client.protocol.results import read_call_result

            return read_call_result(
                {
                    "content": [
                        {"type": "text", "text": name},
                        {"type": "image", "data": "", "mimeType": "x"},
                    ]
                }
            )

    async def scenario() -> Any:
        client = Changing()
        model = ScriptedModel([act("one"), final("1"), act("two"), final("2")])
        session = Agent(model, client, approval=EVERYTHING).session()
        await session.answer("?")
        client.names = ("two",)
        return await session.answer("??")

    outcome = play(backend, scenario)
    assert [event.result for event in of(CallFinished, outcome.transcript)] == ["one", "two"]
    assert all("image" in event.note for event in of(CallFinished, outcome.transcript))
    assert len(of(ToolsListed, outcome.transcript)) == 2
    assert play(backend, lambda: replayed(outcome.transcript)) == outcome.transcript


def test_an_agent_may_have_no_tools_at_all() -> None:
    assert answer("asyncio", agent([final("Hello.")], [])).result == "Hello."
