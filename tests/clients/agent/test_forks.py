"""Forks: a recorded run that goes on another way, with another model or instruction, in a
transcript of its own.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.agent_scripts import (
    BACKENDS,
    SCHEMA,
    act,
    agent,
    answer,
    ask,
    check_transcript,
    final,
    kinds,
    play,
    replayed,
)
from toolwire_agent.agent import Agent, Approvals, BrokenTranscript, Outcome, load
from toolwire_agent.agent.events import ApprovalAsked, CallStarted, Started
from toolwire_agent.models import ScriptedModel
from toolwire_agent.react import ModelReply, NativeProtocol, StructuredProtocol, ToolCall

SCRIPT = [act("add", a=1, b=2), "what?", ask("Sure?"), act("fail", reason="x"), final("3")]
EVERYTHING = Approvals(ask=lambda request: True, allow=("*",))


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def run(tmp_path: Path) -> tuple[Path, Outcome]:
    path = tmp_path / "run.jsonl"
    return path, answer("asyncio", agent(SCRIPT, on_ask=lambda question: "Yes.", transcript=path))


def fork_of(
    path: Path, at: int, script: list[Any], backend: str = "asyncio", **settings: Any
) -> Outcome:
    settings.setdefault("on_ask", lambda question: "No.")
    settings.setdefault("approval", EVERYTHING)
    return play(backend, agent(script, **settings).fork(path, at).answer)


@pytest.mark.parametrize("backend", ["asyncio"])
def test_fork_at_any_event_is_a_complete_transcript(
    run: tuple[Path, Outcome], backend: str
) -> None:
    path, whole = run
    written = path.read_bytes()
    events = list(whole.transcript)
    for at in range(kinds(events).index("QuestionAsked") + 1, len(events)):
        own = path.with_name(f"fork{at}.jsonl")
        other = agent(
            [final("other")], on_ask=lambda question: "No.", approval=EVERYTHING, transcript=own
        )
        fork = other.fork(path, at)
        shared = len(fork.events)
        assert play(backend, fork.answer).status == "answered"
        made = load(own)
        assert made == list(fork.events)
        assert made[1:shared] == events[1:shared]
        origin = made[0].fork_of if isinstance(made[0], Started) else None
        assert origin is not None
        assert (origin.events, origin.transcript, origin.line) == (shared, str(path), shared)
        check_transcript(made)
    assert path.read_bytes() == written


def test_fork_has_its_own_model_and_the_shared_history(
    run: tuple[Path, Outcome], backend: str
) -> None:
    path, whole = run
    at = kinds(whole.transcript).index(
        "ModelReplied", 8
    )  # before the reply to the result of the first call
    model = ScriptedModel([final("another answer")])
    model.name = "scripted:2"  # type: ignore[attr-defined]
    own = path.with_name("own.jsonl")
    forked = Agent(
        model, protocol=StructuredProtocol(instructions="Answer in rhymes."), transcript=own
    )
    outcome = play(backend, forked.fork(path, at).answer)
    assert (outcome.status, outcome.result) == ("answered", "another answer")
    sent = model.asked[0].messages
    assert "Answer in rhymes." in sent[0]["content"]
    assert '"result": 3' in sent[3]["content"]
    started = json.loads(own.read_text().splitlines()[0])
    SCHEMA.validate(started)
    assert started["fork_of"] == {"events": at, "transcript": str(path), "line": at}
    assert (started["model"], started["instructions"]) == ("scripted:2", "Answer in rhymes.")


def test_fork_can_be_replayed_and_resumed(run: tuple[Path, Outcome], backend: str) -> None:
    path, whole = run
    own = path.with_name("own.jsonl")
    at = kinds(whole.transcript).index("UserAsked") + 1
    settings = {"protocol": StructuredProtocol(instructions="Be brief.")}
    waits = play(backend, agent([], transcript=own, **settings).fork(path, at).answer)
    assert waits.status == "needs_input"
    again = agent([final("brief")], transcript=own, on_ask=lambda question: "No.", **settings)
    assert play(backend, again.resume(own).answer).result == "brief"
    assert play(backend, partial(replayed, own, **settings)) == tuple(load(own))


def test_fork_shares_the_result_of_a_started_call(
    run: tuple[Path, Outcome],
) -> None:
    path, whole = run
    for at, event in enumerate(whole.transcript, start=1):
        if isinstance(event, CallStarted):
            session = agent([]).fork(path, at)
            assert kinds(session.events)[at - 1 :] == ["CallStarted", "CallFinished"]


def test_fork_does_not_share_a_last_approval(tmp_path: Path) -> None:
    path, asked = tmp_path / "run.jsonl", []
    approval = Approvals(ask=lambda request: True, trust_hints=False)
    answer("asyncio", agent([act("add", a=1, b=2), final("3")], approval=approval, transcript=path))
    at = kinds(load(path)).index("Approved") + 1

    def refuse(request: Any) -> bool:
        asked.append(request.params)
        return False

    outcome = fork_of(
        path, at, [final("3", ok=False)], approval=Approvals(ask=refuse, trust_hints=False)
    )
    assert (asked, outcome.status) == ([{"a": 1, "b": 2}], "unsolvable")
    assert isinstance(outcome.transcript[at - 2], ApprovalAsked)


def test_fork_accepts_a_new_question(run: tuple[Path, Outcome], backend: str) -> None:
    path, _ = run
    session = agent([final("5")]).fork(path, 2)
    with pytest.raises(ValueError, match="nothing to go on with"):
        session.go_on()
    assert play(backend, lambda: session.answer("And what is that?")).result == "5"
    assert (
        play(backend, lambda: agent([final("6")]).fork(path).answer("And twice that?")).result
        == "6"
    )


def test_list_of_events_can_be_forked(run: tuple[Path, Outcome], backend: str) -> None:
    events = run[1].transcript
    outcome = play(backend, agent([final("4")]).fork(events, 4).answer)
    assert (outcome.result, outcome.transcript[1:4]) == ("4", events[1:4])
    started = outcome.transcript[0]
    assert isinstance(started, Started)
    assert started.fork_of is not None
    assert (started.fork_of.events, started.fork_of.transcript, started.fork_of.line) == (
        4,
        None,
        None,
    )


def test_fork_at_a_line_uses_the_session_of_that_line(run: tuple[Path, Outcome]) -> None:
    path, whole = run
    answer("asyncio", agent([final("second")], transcript=path), "Another?")
    session = agent([]).fork(path, 4)
    assert session.events[1:] == list(whole.transcript[1:4])
    last = agent([]).fork(path, len(whole.transcript) + 3)
    assert kinds(last.events) == ["Started", "ToolsListed", "QuestionAsked"]


@pytest.mark.parametrize("at", [0, -1, 99])
def test_fork_at_a_missing_line_raises_value_error(run: tuple[Path, Outcome], at: int) -> None:
    with pytest.raises(ValueError, match=r"has \d+ lines, and no line"):
        agent([]).fork(run[0], at)
    with pytest.raises(ValueError, match="there is no event 0"):
        agent([]).fork(run[1].transcript, 0)


def test_fork_leaves_its_source_unchanged(run: tuple[Path, Outcome]) -> None:
    path, _ = run
    link = path.with_name("link.jsonl")
    link.symlink_to(path)
    for same in (path, link):
        with pytest.raises(ValueError, match="a fork needs a transcript of its own"):
            agent([], transcript=same).fork(path, 4)


def test_a_protocol_that_cannot_read_a_transcript_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    call = ToolCall(id="1", name="add", arguments={"a": 1, "b": 2})
    replies = [ModelReply(tool_calls=(call,)), ModelReply(text="3")]
    answer("asyncio", agent(replies, protocol=NativeProtocol(), transcript=path))
    with pytest.raises(
        BrokenTranscript,
        match="written with NativeProtocol, en, and this is StructuredProtocol, en",
    ):
        agent([]).fork(path)
