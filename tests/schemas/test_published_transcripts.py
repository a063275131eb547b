"""The published schema of a transcript's events and the events of the agent are the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import anyio
import msgspec
import pytest
from support.agent_scripts import Tools, act, ask, final, play
from support.json_mutations import mutants
from support.task_server import TaskServer, completed
from toolwire_agent.agent import (
    Agent,
    Allow,
    Approvals,
    Budgets,
    Clock,
    Recorded,
    Refuse,
    Status,
    load,
)
from toolwire_agent.models import ScriptedModel
from toolwire_agent.react import ModelReply, NativeProtocol, ToolCall, Usage
from toolwire_client import Elicitation, TimedOut
from toolwire_schemas.published import load as load_schema
from toolwire_schemas.published import load_validator
from toolwire_tools import Context, find_tools

SCHEMA = load_schema("transcript-event")
KINDS = {kind.__name__: kind for kind in get_args(Recorded)}


class Times(Clock):
    """Each look at it takes a second."""

    now = 0.0

    def read_seconds(self) -> float:
        self.now += 1
        return self.now


def book(context: Context) -> str:
    """Book a room."""
    return f"{context.ask('How many nights?', int)} nights"


class Gone:
    """A client whose server has ended."""

    def __init__(self) -> None:
        self.server_info = {"name": "maps"}

    async def list_tools(self, *, timeout_seconds: float | None = None) -> Any:
        raise TimedOut("no answer")

    async def call_tool(self, *given: Any, **named: Any) -> Any:
        raise NotImplementedError


TOOLS = [*Tools().both(), *find_tools(book), Gone()]
SCRIPT = [
    "no JSON",
    act("ad", a=1),
    act("add", a=1, b=2),
    act("add", a=3, b=4),
    act("fail", reason="it broke"),
    act("book"),
    ask("Which day?"),
    act("add", a=5, b=6),
    final("42"),
]


def usually(question: Elicitation) -> Any:
    return "Sunday" if question.tool is None else {"answer": 2}


def everything(path: Path) -> Any:
    verdicts = [Refuse("not now"), Allow({"a": 7, "b": 8}), Allow(), Allow(), Allow()]
    approval = Approvals(ask=lambda request: verdicts.pop(0))
    usage = Usage(input_tokens=10, output_tokens=5, cached_tokens=4, reasoning_tokens=1)
    script = [ModelReply(text=text, usage=usage, finish_reason="stop") for text in SCRIPT]
    return Agent(
        ScriptedModel(script), TOOLS, approval=approval, on_ask=usually, transcript=path
    ).answer("Go!")


def waits_and_goes_on(path: Path) -> Any:
    async def run() -> None:
        waiting = Agent(
            ScriptedModel([act("add", a=1, b=2)]),
            TOOLS,
            approval=Approvals(no_user="pause"),
            transcript=path,
        )
        assert (await waiting.answer("Go!")).status == "needs_input"
        on = Agent(
            ScriptedModel([final("3")]),
            TOOLS,
            approval=Approvals(ask=lambda request: True),
            transcript=path,
        )
        assert (await on.resume(path).answer()).status == "answered"

    return run()


def is_cancelled(path: Path) -> Any:
    async def cancels(question: Elicitation) -> Any:
        session.cancel("enough")
        await anyio.sleep_forever()

    session = Agent(ScriptedModel([act("book")]), TOOLS, approval=Approvals(allow=("*",)), on_ask=cancels,  # noqa: E501
                    transcript=path).session()  # fmt: skip
    return session.answer("Go!")


def runs_out(budgets: Budgets) -> Any:
    def run(path: Path) -> Any:
        script = [act("add", a=1, b=number) for number in range(9)]
        return Agent(ScriptedModel(script), TOOLS, approval=Approvals(allow=("*",)), budgets=budgets,  # noqa: E501
                     clock=Times(), transcript=path).answer("Go!")  # fmt: skip

    return run


def has_no_model(path: Path) -> Any:
    return Agent(ScriptedModel([]), TOOLS, transcript=path).answer("Go!")


def gives_up(path: Path) -> Any:
    return Agent(ScriptedModel([final("no tool can", ok=False)]), TOOLS, transcript=path).answer(
        "Go!"
    )


def is_native(path: Path) -> Any:
    call = ToolCall(id="call_1", name="add", arguments='{"a": 1, "b": 2}')
    replies = [
        ModelReply(tool_calls=(call,), reasoning="I add.", echo={"signature": "x"}),
        ModelReply(text="3"),
    ]
    return Agent(ScriptedModel(replies), TOOLS, approval=Approvals(allow=("*",)), protocol=NativeProtocol(),  # noqa: E501
                 transcript=path).answer("Go!")  # fmt: skip


def has_a_task(path: Path) -> Any:
    async def run() -> None:
        async with TaskServer(completed()).connect() as client:
            model = ScriptedModel([act("work"), final()])
            agent = Agent(model, [client], approval=Approvals(allow=("*",)), transcript=path)
            await agent.answer("Go!")

    return run()


RUNS = {
    "everything": everything,
    "waits and goes on": waits_and_goes_on,
    "is cancelled": is_cancelled,
    "runs out of turns": runs_out(Budgets(turns=2)),
    "runs out of tokens": runs_out(Budgets(tokens=100)),
    "runs out of time": runs_out(Budgets(seconds=5)),
    "has no model": has_no_model,
    "gives up": gives_up,
    "calls natively": is_native,
    "has a task": has_a_task,
}


@pytest.fixture(scope="module")
def transcripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("transcripts")
    for name, run in RUNS.items():
        play("asyncio", lambda run=run, name=name: run(folder / name))
    return {
        name: [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]
        for name in RUNS
    }


@pytest.mark.parametrize("name", RUNS)
def test_every_line_of_a_run_is_as_the_schema_says(
    name: str, transcripts: dict[str, list[dict[str, Any]]]
) -> None:
    for event in transcripts[name]:
        problems = [
            f"{error.json_path}: {error.message}"
            for error in load_validator("transcript-event").iter_errors(event)
        ]
        assert not problems, event


def test_these_runs_have_all_events_and_all_ends(
    transcripts: dict[str, list[dict[str, Any]]],
) -> None:
    lines = [event for events in transcripts.values() for event in events]
    assert {event["type"] for event in lines} == set(KINDS)
    ends = {event["status"] for event in lines if event["type"] == "Ended"}
    assert ends == set(get_args(Status))


def test_every_example_is_read_as_an_event(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("".join(f"{json.dumps(example)}\n" for example in SCHEMA["examples"]), "utf-8")
    assert {type(event).__name__ for event in load(path)} == set(KINDS)


@pytest.mark.slow
def test_what_the_schema_refuses_of_an_example_is_not_read_either() -> None:
    """Numbers below zero, and tools without a name, excepted: nobody counts on them."""
    judge = load_validator("transcript-event")
    for example in SCHEMA["examples"]:
        for mutant in mutants("transcript-event", example):
            if mutant.must_fail and not mutant.path[1:] and not judge.is_valid(mutant.value):
                with pytest.raises(msgspec.ValidationError):
                    msgspec.convert(mutant.value, Recorded)


def test_the_schema_knows_the_members_of_every_event_and_which_it_needs() -> None:
    published = {part["properties"]["type"]["const"]: part for part in map(_part, SCHEMA["anyOf"])}
    assert {name: list(part["properties"])[1:] for name, part in published.items()} == {
        name: [field.name for field in msgspec.structs.fields(kind)] for name, kind in KINDS.items()
    }
    assert {name: part["required"][1:] for name, part in published.items()} == {
        name: [field.name for field in msgspec.structs.fields(kind) if field.required]
        for name, kind in KINDS.items()
    }
    for name, kind in (("reply", ModelReply), ("usage", Usage), ("tool-call", ToolCall)):
        assert list(SCHEMA["$defs"][name]["properties"]) == [
            field.name for field in msgspec.structs.fields(kind)
        ]


def _part(reference: dict[str, str]) -> dict[str, Any]:
    part: dict[str, Any] = SCHEMA["$defs"][reference["$ref"].removeprefix("#/$defs/")]
    return part
