"""Calls that become tasks: the agent waits for them, and a resumed run finds them again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.agent_scripts import (
    BACKENDS,
    EVERYTHING,
    act,
    check_transcript,
    final,
    kinds,
    of,
    play,
    replayed,
)
from support.task_server import LEGACY, Message, TaskServer, completed, working
from toolwire_agent import Toolbox
from toolwire_agent.agent import Agent, Outcome, load
from toolwire_agent.agent.events import ApprovalAsked, CallFinished, TaskStarted, ToolProgress
from toolwire_agent.models import ScriptedModel
from toolwire_client import NoTasks

QUESTION = "Do it!"


def run(
    server: TaskServer,
    script: Sequence[str],
    transcript: Path | None,
    *,
    backend: str = "asyncio",
    resumed: bool = False,
) -> Outcome:
    """Run an agent with the tools of *server*, or resume the run in *transcript*."""

    async def scenario() -> Outcome:
        async with server.connect() as client:
            model = ScriptedModel(list(script))
            agent = Agent(model, [client], approval=EVERYTHING, transcript=transcript)
            if resumed:
                return await agent.resume(transcript).answer()
            return await agent.answer(QUESTION)

    outcome: Outcome = play(backend, scenario)
    return outcome


@pytest.fixture
def interrupted(tmp_path: Path) -> Path:
    """The transcript of a run whose process was killed while its call was a task."""
    path = tmp_path / "run.jsonl"
    run(TaskServer(working(), completed()), [act("work"), final()], path)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["type"] == "TaskStarted"]
    path.write_text("".join(lines[: lines.index(kept[0]) + 1]), encoding="utf-8")
    return path


@pytest.mark.parametrize("backend", BACKENDS)
def test_agent_waits_for_a_task_and_records_its_id(tmp_path: Path, backend: str) -> None:
    path = tmp_path / "run.jsonl"
    server = TaskServer(working(), working("half"), completed())
    outcome = run(server, [act("work"), final()], path, backend=backend)
    started, finished = of(TaskStarted, outcome.transcript), of(CallFinished, outcome.transcript)
    assert [event.task for event in started] == ["t"]
    assert [event.result for event in finished] == ["done"]
    check_transcript(load(path))
    assert play("asyncio", lambda: replayed(load(path))) == tuple(load(path))


def test_status_messages_of_a_task_are_progress_of_the_call() -> None:
    live: list[Any] = []
    server = TaskServer(working("half"), completed())

    async def scenario() -> None:
        async with server.connect() as client:
            model = ScriptedModel([act("work"), final()])
            agent = Agent(model, [client], approval=EVERYTHING)
            await agent.session(on_live=live.append).answer(QUESTION)

    play("asyncio", scenario)
    progress = [event for event in live if isinstance(event, ToolProgress)]
    assert [event.message for event in progress] == ["half"]


@pytest.mark.parametrize("version", ["2026-07-28", LEGACY])
def test_resumed_run_waits_for_its_open_task_without_calling_again(
    interrupted: Path, version: str
) -> None:
    server = TaskServer(working(), completed(), version=version)
    outcome = run(server, [final("all done")], interrupted, resumed=True)
    assert (outcome.status, outcome.result) == ("answered", "all done")
    assert [event.result for event in of(CallFinished, outcome.transcript)] == ["done"]
    assert of(ApprovalAsked, outcome.transcript) == []
    assert server.list_requests("tools/call") == []
    check_transcript(load(interrupted))
    assert kinds(load(interrupted))[-6:-3] == ["Ended", "Resumed", "CallFinished"]


def test_lost_task_is_reported_as_possibly_done_and_not_repeated_unasked(
    interrupted: Path,
) -> None:
    class Forgetful(TaskServer):
        def get(self, request: Message) -> None:
            self.refuse(request, -32602, "There is no such task")

    server = Forgetful()
    outcome = run(server, [act("work"), final(ok=False)], interrupted, resumed=True)
    finished = of(CallFinished, outcome.transcript)
    assert "There is no such task" in str(finished[0].result)
    assert "Whether the call took effect is not known" in str(finished[0].result)
    assert server.list_requests("tools/call") == []


def test_server_without_the_tool_is_a_failed_call(interrupted: Path) -> None:
    class Empty(TaskServer):
        def list_tools(self, request: Message) -> None:
            self.answer(request, tools=[])

    outcome = run(Empty(), [final(ok=False)], interrupted, resumed=True)
    assert [event.success for event in of(CallFinished, outcome.transcript)] == [False]


def test_toolbox_finds_tasks_of_its_clients_only() -> None:
    def add(a: int) -> int:
        return a

    with TaskServer(completed()).connect() as client:
        toolbox = Toolbox([client, add])
        assert toolbox.wait_for_task("work", "t").text == "done"
        assert Toolbox([toolbox]).wait_for_task("work", "t").text == "done"
        with pytest.raises(NoTasks):
            toolbox.wait_for_task("add", "t")


def test_task_that_a_tool_of_this_process_waits_for_is_not_that_of_its_call() -> None:
    with TaskServer(completed()).connect() as client:

        def ask_server() -> str:
            """Call a tool that becomes a task."""
            return client.call_tool("work").text

        model = ScriptedModel([act("ask_server"), final()])
        agent = Agent(model, [ask_server], approval=EVERYTHING)
        outcome: Outcome = play("asyncio", lambda: agent.answer(QUESTION))
    assert [event.result for event in of(CallFinished, outcome.transcript)] == ["done"]
    assert of(TaskStarted, outcome.transcript) == []
