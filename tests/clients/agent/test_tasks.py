"""Calls that become tasks: the agent waits for them, and a resumed run finds them again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
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
from support.native_replies import replies, results
from support.task_server import LEGACY, Message, TaskServer, completed, working
from toolwire_agent import Toolbox
from toolwire_agent.agent import (
    Agent,
    Allow,
    Approvals,
    EventRecorded,
    Outcome,
    Refuse,
    Verdict,
    load,
)
from toolwire_agent.agent.events import (
    ActionChosen,
    ApprovalAsked,
    CallFinished,
    CallStarted,
    TaskStarted,
    ToolProgress,
)
from toolwire_agent.models import ScriptedModel
from toolwire_agent.react import ModelReply, NativeProtocol
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


class Changeable(TaskServer):
    """Its task ends only after *awaited* calls of the tool `change`, which is no task."""

    def __init__(self, awaited: int) -> None:
        super().__init__(working())
        self.awaited = awaited
        self.changes: list[str] = []

    def list_tools(self, request: Message) -> None:
        schema = {"type": "object"}
        work = {"name": "work", "inputSchema": schema, "annotations": {"readOnlyHint": True}}
        self.answer(request, tools=[work, {"name": "change", "inputSchema": schema}])

    def call(self, request: Message) -> None:
        if request["params"]["name"] == "work":
            super().call(request)
            return
        self.changes.append(request["params"]["arguments"]["to"])
        self.answer(request, content=[{"type": "text", "text": self.changes[-1]}])

    def get(self, request: Message) -> None:
        if len(self.changes) >= self.awaited:
            self.states = [completed()]
        super().get(request)


CALL_EVENTS = CallStarted | TaskStarted | CallFinished
CALLS = (("work", {}), ("change", {"to": "a"}), ("change", {"to": "b"}))
NATIVE: dict[str, Any] = {"protocol": NativeProtocol(), "approval": EVERYTHING}


def run_calls(
    server: TaskServer,
    model: ScriptedModel,
    *,
    backend: str = "asyncio",
    transcript: Path | None = None,
    question: str | None = QUESTION,
    **settings: Any,
) -> Outcome:
    """Answer *question*, or without one go on with the run in *transcript*."""

    async def scenario() -> Outcome:
        async with server.connect() as client:
            agent = Agent(model, [client], transcript=transcript, **{**NATIVE, **settings})
            if transcript is not None and transcript.exists():
                return await agent.resume(transcript).answer(question)
            return await agent.answer(QUESTION)

    outcome: Outcome = play(backend, scenario)
    return outcome


@pytest.mark.parametrize("backend", BACKENDS)
def test_further_calls_of_a_reply_are_made_while_one_is_a_task(backend: str) -> None:
    model = ScriptedModel(replies(*CALLS))
    outcome = run_calls(Changeable(awaited=2), model, backend=backend)
    assert results(model) == [("c0", "done"), ("c1", "a"), ("c2", "b")]
    calls = [event for event in outcome.transcript if isinstance(event, CALL_EVENTS)]
    order = [(type(event).__name__, event.call) for event in calls]
    assert order[:5] == [
        ("CallStarted", 0),
        ("TaskStarted", 0),
        ("CallStarted", 1),
        ("CallFinished", 1),
        ("CallStarted", 2),
    ]
    # The task ends when the server has got the last call.
    assert sorted(order[5:]) == [("CallFinished", 0), ("CallFinished", 2)]
    check_transcript(outcome.transcript)
    again = play(backend, lambda: replayed(outcome.transcript, **NATIVE))
    assert again == outcome.transcript


def test_task_that_was_started_ahead_does_not_hold_up_the_call_before_it() -> None:
    model = ScriptedModel(replies(CALLS[1], CALLS[0], CALLS[2]))
    settings: dict[str, Any] = {**NATIVE, "approval": Approvals(allow=("*",), trust_hints=True)}
    outcome = run_calls(Changeable(awaited=2), model, **settings)
    assert results(model) == [("c0", "a"), ("c1", "done"), ("c2", "b")]
    chosen = [event.call for event in of(ActionChosen, outcome.transcript)]
    assert chosen == [0, 1, 2]
    check_transcript(outcome.transcript)
    again = play("asyncio", lambda: replayed(outcome.transcript, **settings))
    assert again == outcome.transcript


@pytest.mark.parametrize(
    ("last", "call", "made"), [(TaskStarted, 0, ["a", "b"]), (CallFinished, 1, ["b"])]
)
def test_run_killed_with_an_open_task_goes_on_with_the_further_calls(
    tmp_path: Path, last: type, call: int, made: list[str]
) -> None:
    path = tmp_path / "run.jsonl"
    run_calls(Changeable(awaited=2), ScriptedModel(replies(*CALLS)), transcript=path)
    events = load(path)
    places = [
        place
        for place, event in enumerate(events)
        if isinstance(event, last) and getattr(event, "call", None) == call
    ]
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[: places[0] + 1]), encoding="utf-8")

    server, model = Changeable(awaited=len(made)), ScriptedModel([ModelReply(text="Done.")])
    outcome = run_calls(server, model, transcript=path, question=None)
    assert results(model) == [("c0", "done"), ("c1", "a"), ("c2", "b")]
    assert server.changes == made
    assert of(ApprovalAsked, outcome.transcript) == []
    check_transcript(load(path))
    assert play("asyncio", lambda: replayed(load(path), **NATIVE)) == tuple(load(path))


@pytest.mark.parametrize(
    ("verdict", "awaited", "result"),
    [
        (Allow(), 2, "a"),
        (Allow(params={"to": "c"}), 2, "c"),
        (Refuse("not now"), 1, "not now"),
    ],
)
def test_approval_of_a_further_call_is_asked_for_while_a_task_is_open(
    verdict: Verdict, awaited: int, result: str
) -> None:
    verdicts = iter([verdict, Allow()])
    settings: dict[str, Any] = {
        **NATIVE,
        "approval": Approvals(allow=("work",), ask=lambda request: next(verdicts)),
    }
    model = ScriptedModel(replies(*CALLS))
    outcome = run_calls(Changeable(awaited), model, **settings)  # it ends after these calls
    answers = [text for _, text in results(model)]
    assert (answers[0], answers[2]) == ("done", "b")
    assert result in answers[1]
    assert [event.call for event in of(ApprovalAsked, outcome.transcript)] == [1, 2]
    check_transcript(outcome.transcript)
    again = play("asyncio", lambda: replayed(outcome.transcript, **settings))
    assert again == outcome.transcript


@pytest.mark.parametrize("backend", BACKENDS)
def test_task_ends_while_the_user_decides_about_a_further_call(backend: str) -> None:
    server = Changeable(awaited=0)

    async def scenario() -> Outcome:
        task_ended = anyio.Event()

        def watch(live: Any) -> None:
            match live:
                case EventRecorded(event=CallFinished(call=0)):
                    task_ended.set()

        async def allow(request: Any) -> bool:
            await task_ended.wait()
            return True

        async with server.connect() as client:
            approvals = Approvals(allow=("work",), ask=allow)
            settings = {**NATIVE, "approval": approvals}
            agent = Agent(ScriptedModel(replies(*CALLS)), [client], **settings)
            return await agent.session(on_live=watch).answer(QUESTION)

    outcome: Outcome = play(backend, scenario)
    assert server.changes == ["a", "b"]
    check_transcript(outcome.transcript)


def test_run_killed_while_the_user_decides_asks_again_when_it_is_resumed(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    settings = {"approval": Approvals(allow=("work",), ask=lambda request: True)}
    run_calls(Changeable(awaited=2), ScriptedModel(replies(*CALLS)), transcript=path, **settings)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    asked = [line for line in lines if json.loads(line)["type"] == "ApprovalAsked"]
    path.write_text("".join(lines[: lines.index(asked[0]) + 1]), encoding="utf-8")

    server, model = Changeable(awaited=2), ScriptedModel([ModelReply(text="Done.")])
    outcome = run_calls(server, model, transcript=path, question=None, **settings)
    assert results(model) == [("c0", "done"), ("c1", "a"), ("c2", "b")]
    assert [event.call for event in of(ApprovalAsked, outcome.transcript)] == [1, 1, 2]
    check_transcript(load(path))
    again = play("asyncio", lambda: replayed(load(path), **{**NATIVE, **settings}))
    assert again == tuple(load(path))


def test_run_without_a_decision_pauses_after_the_end_of_the_task(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    model = ScriptedModel(replies(*CALLS))
    pausing = Approvals(allow=("work",), no_user="pause")
    outcome = run_calls(Changeable(awaited=0), model, transcript=path, approval=pausing)
    assert outcome.status == "needs_input"
    assert [event.result for event in of(CallFinished, outcome.transcript)] == ["done"]

    model = ScriptedModel([ModelReply(text="Done.")])
    run_calls(Changeable(awaited=0), model, transcript=path, question=None)
    assert results(model) == [("c0", "done"), ("c1", "a"), ("c2", "b")]
    check_transcript(load(path))


def test_task_of_an_earlier_question_is_not_waited_for_by_the_next(interrupted: Path) -> None:
    server = TaskServer(working(), completed())

    async def scenario() -> Outcome:
        async with server.connect() as client:
            model = ScriptedModel([act("work"), final("other")])
            agent = Agent(model, [client], approval=EVERYTHING, transcript=interrupted)
            return await agent.resume(interrupted).answer("Something else?")

    outcome: Outcome = play("asyncio", scenario)
    assert outcome.result == "other"
    assert server.list_requests("tasks/get") == []
    assert server.list_requests("tools/call") == []  # the same call might do its work twice
    check_transcript(load(interrupted))
