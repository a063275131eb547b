"""Several calls of one reply: those that only read are made side by side, the others one after the
other.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.agent_scripts import BACKENDS, EVERYTHING, check_transcript, kinds, of, play, replayed
from support.native_replies import replies, results
from support.server_process import PATIENCE_SECONDS
from toolwire_agent.agent import Agent, Approvals, Budgets, Clock, Refuse, load
from toolwire_agent.agent.events import (
    ActionChosen,
    ApprovalAsked,
    CallFinished,
    CallStarted,
    ToolAsked,
)
from toolwire_agent.models import ScriptedModel
from toolwire_agent.react import ModelReply, NativeProtocol
from toolwire_agent.run_page import write_run_markdown
from toolwire_client import connect
from toolwire_tools import AsyncContext, tool_api

SERVER = '''
import os
from pathlib import Path
from toolwire import tool_api

HERE = Path(__file__).parent

@tool_api(read_only=True)
def give(name: str) -> str:
    """Give a word to the tool `take`."""
    with open(HERE / name, "w") as fifo:
        fifo.write(f"the {name}")
    return f"gave the {name}"

@tool_api(read_only=True)
def take(name: str) -> str:
    """Take the word that another tool gives."""
    return (HERE / name).read_text()

@tool_api(read_only=True)
def fail() -> str:
    """Fail."""
    raise ValueError("broken")

@tool_api(read_only=True)
def die() -> str:
    """End the server."""
    os._exit(1)

@tool_api
def write(text: str) -> str:
    """Write a line."""
    with open(HERE / "written", "a") as file:
        file.write(text + "\\n")
    return text
'''
TRUSTING = Approvals(trust_hints=True, allow=("write",))


@pytest.fixture
def server(tmp_path: Path) -> list[str]:
    (tmp_path / "tools.py").write_text(SERVER)
    for name in ("apple", "pear"):
        os.mkfifo(tmp_path / name)
    return [sys.executable, "-m", "toolwire", "serve", str(tmp_path / "tools.py")]


async def asked(server: list[str], model: ScriptedModel) -> Any:
    async with connect(server) as client:
        return await Agent(model, client, approval=TRUSTING, protocol=NativeProtocol()).answer(
            "Go!"
        )


def called(event: Any) -> tuple[str, int]:
    return type(event).__name__, event.call


@pytest.mark.process
@pytest.mark.parametrize("backend", BACKENDS)
def test_read_only_calls_run_concurrently_with_results_in_order(
    backend: str, server: list[str]
) -> None:
    calls = [
        ("give", {"name": "apple"}),
        ("write", {"text": "x"}),
        ("take", {"name": "pear"}),
        ("fail", {}),
    ]
    calls += [("take", {"name": "apple"}), ("give", {"name": "pear"})]
    model = ScriptedModel(replies(*calls))
    outcome = play(backend, lambda: asked(server, model))
    told = results(model)
    assert [call_id for call_id, _ in told] == [f"c{n}" for n in range(6)]
    assert [text for _, text in told if "broken" not in text] == [
        "gave the apple", "x", "the pear", "the apple", "gave the pear"
    ]  # fmt: skip
    events = [
        each
        for each in outcome.transcript
        if isinstance(each, ActionChosen | CallStarted | CallFinished)
    ]
    reading = [0, 2, 3, 4, 5]
    assert list(map(called, events)) == [
        *((kind, n) for n in reading for kind in ("ActionChosen", "CallStarted")),
        *(("CallFinished", n) for n in reading),
        *((kind, 1) for kind in ("ActionChosen", "CallStarted", "CallFinished")),
    ]
    check_transcript(outcome.transcript)
    repeated = play(
        backend, lambda: replayed(outcome.transcript, approval=TRUSTING, protocol=NativeProtocol())
    )
    assert repeated == outcome.transcript


@pytest.mark.process
def test_a_server_that_dies_fails_every_call_that_runs(server: list[str]) -> None:
    model = ScriptedModel(replies(("take", {"name": "apple"}), ("die", {})))
    outcome = play("asyncio", lambda: asked(server, model))
    assert [event.success for event in of(CallFinished, outcome.transcript)] == [False, False]
    assert outcome.status == "answered"


class Gate:
    """Tools of this process that only read: `first` and `second` return when both have started."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.changed: list[str] = []
        self.both = anyio.Event()

    async def _wait(self, name: str) -> str:
        self.started.append(name)
        if len(self.started) == 2:
            self.both.set()
        await self.both.wait()
        return name

    def tools(self) -> list[Any]:
        @tool_api(read_only=True)
        async def first() -> str:
            """Wait for the other one."""
            return await self._wait("first")

        @tool_api(read_only=True)
        async def second() -> str:
            """Wait for the other one."""
            return await self._wait("second")

        def change(to: str) -> str:
            """Change something."""
            self.changed.append(to)
            return f"changed to {to}"

        return [first, second, change]


MIXED = [
    ("change", {"to": "a"}),
    ("first", {}),
    ("change", {"to": "b"}),
    ("second", {}),
    ("change", {"to": "c"}),
]


@pytest.mark.parametrize("backend", BACKENDS)
def test_approvals_are_asked_in_order_while_read_only_calls_run(backend: str) -> None:
    gate, seen = Gate(), []

    def ask(request: Any) -> Any:
        seen.append((request.params["to"], list(gate.changed), len(gate.started)))
        return Refuse("not b") if request.params["to"] == "b" else True

    model = ScriptedModel(replies(*MIXED))
    agent = Agent(model, gate.tools(), protocol=NativeProtocol(), approval=ask)
    outcome = play(backend, lambda: agent.answer("Go!"))
    assert seen == [("a", [], 2), ("b", ["a"], 2), ("c", ["a"], 2)]
    assert gate.changed == ["a", "c"]
    first, second = (
        part
        for part in write_run_markdown(outcome.transcript).split("<details>")
        if "first" in part or "second" in part
    )
    assert ("second" not in first, "first" not in second) == (
        True,
        True,
    )  # each result is shown with its own call
    assert [text for _, text in results(model)] == [
        "changed to a", "first", "Nothing was done: the user refused this action, saying: not b", "second",  # noqa: E501
        "changed to c",
    ]  # fmt: skip
    check_transcript(outcome.transcript)
    again = play(
        backend, lambda: replayed(outcome.transcript, approval=ask, protocol=NativeProtocol())
    )
    assert again == outcome.transcript


@pytest.mark.parametrize("stopped", ["run", "call"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_cancelling_ends_all_calls_that_run(backend: str, stopped: str, tmp_path: Path) -> None:
    gate = Gate()

    @tool_api(read_only=True)
    async def never() -> str:
        """Never return."""
        gate.started.append("never")
        if stopped == "run":
            session.cancel("enough")
        else:
            assert session.cancel_call()
        await anyio.sleep_forever()
        return ""

    model = ScriptedModel(replies(("first", {}), ("never", {}), ("change", {"to": "a"})))
    path = tmp_path / "run.jsonl"
    agent = Agent(
        model,
        [*gate.tools(), never],
        protocol=NativeProtocol(),
        approval=EVERYTHING,
        transcript=path,
    )
    session = agent.session()
    outcome = play(backend, lambda: session.answer("Go!"))
    finished = of(CallFinished, outcome.transcript)
    if stopped == "run":
        assert (outcome.status, finished, gate.changed) == ("cancelled", [], [])
    else:
        assert [(event.call, event.success) for event in finished[:2]] == [(0, False), (1, False)]
        assert (outcome.status, gate.changed) == ("answered", ["a"])
    check_transcript(load(path))
    again = play(backend, lambda: replayed(load(path), protocol=NativeProtocol()))
    assert again == outcome.transcript


class Late(Clock):
    """A clock that jumps when the model replies."""

    now = 0.0

    def read_seconds(self) -> float:
        return self.now


def test_every_call_after_the_time_limit_is_reported_as_undone() -> None:
    gate, clock = Gate(), Late()
    first, last = replies(("first", {}), ("change", {"to": "a"}), ("second", {}))

    def reply(asked: Any) -> ModelReply:
        clock.now += 3
        return last if any(message["role"] == "tool" for message in asked.messages) else first

    model = ScriptedModel(reply)
    settings: Any = {
        "protocol": NativeProtocol(),
        "approval": EVERYTHING,
        "budgets": Budgets(seconds=2),
    }
    outcome = play(
        "asyncio", lambda: Agent(model, gate.tools(), clock=clock, **settings).answer("Go!")
    )
    assert (gate.started, gate.changed, outcome.status) == ([], [], "answered")
    assert [event.call for event in of(CallFinished, outcome.transcript)] == [0, 1, 2]
    assert ["no time" in text for _, text in results(model)] == [True] * 3
    assert play("asyncio", lambda: replayed(outcome.transcript, **settings)) == outcome.transcript


def test_calls_after_the_time_limit_are_reported_as_undone() -> None:
    gate = Gate()
    calls = [("first", {}), ("second", {}), *[("change", {"to": "a"})] * 5, ("first", {})]
    model = ScriptedModel(replies(*calls))
    agent = Agent(
        model,
        gate.tools(),
        protocol=NativeProtocol(),
        approval=EVERYTHING,
        budgets=Budgets(turns=2),
    )
    outcome = play("asyncio", lambda: agent.answer("Go!"))
    assert (gate.changed, gate.started) == (["a"] * 4, ["first", "second"])
    assert [call_id for call_id, _ in results(model)] == [f"c{n}" for n in range(8)]
    assert "FinalForced" in kinds(outcome.transcript)


@pytest.mark.parametrize("backend", BACKENDS)
def test_concurrent_forms_are_shown_one_after_the_other(backend: str) -> None:
    clock, open_questions, most_open = Late(), set[str](), 0

    @tool_api(read_only=True)
    async def first(context: AsyncContext) -> str:
        """Ask the user at once."""
        return await context.ask("One?", str)

    @tool_api(read_only=True)
    async def second(context: AsyncContext) -> str:
        """Ask while the user reads the other question."""
        while not open_questions:
            await anyio.sleep(0)
        return await context.ask("Two?", str)

    async def user(question: Any) -> Any:
        nonlocal most_open
        open_questions.add(question.message)
        most_open = max(most_open, len(open_questions))
        clock.now += 8
        while len(of(ToolAsked, session.events)) < 2:
            await anyio.sleep(0)
        await anyio.wait_all_tasks_blocked()
        open_questions.remove(question.message)
        return {"answer": question.message}

    model = ScriptedModel(replies(("first", {}), ("second", {})))
    settings: Any = {"protocol": NativeProtocol(), "budgets": Budgets(seconds=5)}
    session = Agent(model, [first, second], clock=clock, on_ask=user, **settings).session()

    async def answered() -> Any:
        with anyio.fail_after(PATIENCE_SECONDS):
            return await session.answer("Go!")

    outcome = play(backend, answered)
    assert most_open == 1
    assert [text for _, text in results(model)] == ["One?", "Two?"]
    assert sorted(event.call for event in of(ToolAsked, outcome.transcript)) == [0, 1]
    assert (outcome.status, clock.now) == ("answered", 16)
    assert "FinalForced" not in kinds(
        outcome.transcript
    )  # the time of the user does not count, also of both at once
    assert play(backend, lambda: replayed(outcome.transcript, **settings)) == outcome.transcript


PROGRAM = '''
import time
from toolwire_agent import Agent
from toolwire_agent.models import ScriptedModel
from toolwire_agent.react import ModelReply, NativeProtocol, ToolCall
from toolwire_tools import tool_api

@tool_api(read_only=True)
def look(name: str) -> str:
    """Look at something."""
    if name != "c":
        with open(name, "w") as fifo:
            fifo.write("yes")
        time.sleep(3600)
    return name

calls = tuple(ToolCall(id=name, name="look", arguments={"name": name}) for name in "cab")
Agent(
    ScriptedModel([ModelReply(tool_calls=calls)]), [look], protocol=NativeProtocol(), transcript="run.jsonl"
).answer_sync("Look!")
'''  # noqa: E501


def received(fifo: Path) -> bytes:
    """Return what is written to *fifo*; nothing if that does not happen in time."""
    descriptor = os.open(fifo, os.O_RDWR)  # which does not wait for the writer
    try:
        return (
            os.read(descriptor, 100)
            if select.select([descriptor], [], [], PATIENCE_SECONDS)[0]
            else b""
        )
    finally:
        os.close(descriptor)


@pytest.mark.process
def test_a_run_that_was_killed_during_two_calls_goes_on_and_both_need_approval(
    tmp_path: Path,
) -> None:
    for name in "ab":
        os.mkfifo(tmp_path / name)
    (tmp_path / "program.py").write_text(PROGRAM)
    with subprocess.Popen([sys.executable, "program.py"], cwd=tmp_path) as process:
        try:
            assert [received(tmp_path / name) for name in "ab"] == [
                b"yes",
                b"yes",
            ]  # both have started
        finally:
            process.send_signal(signal.SIGKILL)
    path, made = tmp_path / "run.jsonl", []

    @tool_api(read_only=True)
    def look(name: str) -> str:
        """Look at something."""
        made.append(name)
        return f"seen {name}"

    before = load(path)
    done = [event.call for event in of(CallFinished, before)]
    assert [event.call for event in of(CallStarted, before)] == [0, 1, 2]
    assert done in ([], [0])  # the first one ends at once
    model = ScriptedModel([ModelReply(text="Seen.")])
    agent = Agent(
        model, [look], protocol=NativeProtocol(), approval=lambda request: True, transcript=path
    )
    outcome = agent.resume_sync(path)
    assert outcome.status == "answered"
    asked = [event.params["name"] for event in of(ApprovalAsked, outcome.transcript)]
    assert asked == made == (["a", "b"] if done else ["c", "a", "b"])
    assert [call_id for call_id, _ in results(model)] == ["c", "a", "b"]
    again = play(
        "asyncio",
        lambda: replayed(outcome.transcript, protocol=NativeProtocol(), approval=lambda _: True),
    )
    assert again == outcome.transcript


@pytest.mark.parametrize("at", range(5, 12))
def test_a_fork_during_the_calls_shares_those_that_have_started(at: int) -> None:
    gate = Gate()
    model = ScriptedModel(replies(("first", {}), ("second", {}), ("change", {"to": "a"})))
    agent = Agent(model, gate.tools(), protocol=NativeProtocol(), approval=EVERYTHING)
    record = play("asyncio", lambda: agent.answer("Go!")).transcript
    assert [*map(called, record[5:9])] == [
        ("ActionChosen", 0),
        ("CallStarted", 0),
        ("ActionChosen", 1),
        ("CallStarted", 1),
    ]

    other = Gate()
    other.both.set()
    last = ScriptedModel([ModelReply(text="Forked.")])
    forked = Agent(last, other.tools(), protocol=NativeProtocol(), approval=EVERYTHING)
    session = forked.fork(record, at)
    shared = [*session.events]
    assert len(of(CallStarted, shared)) == len(of(CallFinished, shared))
    outcome = play("asyncio", session.answer)
    assert outcome.result == "Forked."
    assert [text for _, text in results(last)] == ["first", "second", "changed to a"]
    assert len(other.started) == (2 - len(of(CallStarted, shared)))
