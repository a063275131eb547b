"""Who allows a call: what tools say of themselves, the settings, and a person, now or later."""

from __future__ import annotations

import json
import sys
from itertools import product
from typing import Any

import pytest
from support.agent_scripts import (
    BACKENDS,
    Tools,
    act,
    agent,
    answer,
    ask,
    final,
    kinds,
    of,
    play,
    replayed,
)
from toolwire_agent import Toolbox
from toolwire_agent.agent import Agent, Allow, ApprovalRequest, Approvals, Budgets, Pause, Refuse
from toolwire_agent.agent.events import (
    ApprovalAsked,
    Approved,
    CallFinished,
    CallStarted,
    Refused,
    UserAsked,
)
from toolwire_agent.models import ScriptedModel
from toolwire_agent.react import ModelReply, NativeProtocol, ToolCall
from toolwire_client import connect
from toolwire_tools import tool_api

pytestmark = pytest.mark.parametrize("backend", BACKENDS)

SCRIPT = [act("add", a=1, b=2), final("3")]


def last_result(model: ScriptedModel) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(model.asked[-1].messages[-1]["content"])
    return message


@pytest.mark.parametrize(
    "approval", [None, Approvals(), Approvals(allow=("other",)), Approvals(trust_hints=True)]
)
@pytest.mark.parametrize(
    ("hints", "is_called"),
    [
        ({}, True),
        ({"read_only": True}, True),
        ({"read_only": False, "destructive": False}, True),
        ({"open_world": True}, True),
        ({"read_only": False, "destructive": True}, False),
        ({"destructive": True}, False),
    ],
)
def test_functions_of_this_process_run_unless_they_are_marked_destructive(
    backend: str, approval: Approvals | None, hints: dict[str, Any], is_called: bool
) -> None:
    calls = []

    @tool_api(**hints)
    def add(a: int, b: int) -> int:
        """Add."""
        calls.append((a, b))
        return a + b

    model = ScriptedModel(SCRIPT)
    answer(backend, Agent(model, [Toolbox([add])] if hints else [add], approval=approval))
    assert bool(calls) is is_called
    assert last_result(model)["success"] is is_called
    assert is_called or "no user is here to ask" in last_result(model)["result"]


@pytest.mark.parametrize(
    ("hints", "is_asked"),
    [
        ({}, True),
        ({"destructive": True}, True),
        ({"read_only": True}, False),
        ({"destructive": False}, False),
    ],
)
def test_with_a_user_a_function_runs_without_approval_only_if_marked_harmless(
    backend: str, hints: dict[str, Any], is_asked: bool
) -> None:
    asked = []

    @tool_api(**hints)
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    def approve(request: ApprovalRequest) -> bool:
        asked.append(request.tool)
        return True

    answer(backend, Agent(ScriptedModel(SCRIPT), [add], approval=approve))
    assert bool(asked) is is_asked


def test_every_call_needs_approval_without_trust(backend: str) -> None:
    @tool_api(read_only=True)
    def add(a: int, b: int) -> int:
        """Add."""
        raise AssertionError("it was called")

    outcome = answer(
        backend, Agent(ScriptedModel(SCRIPT), [add], approval=Approvals(trust_hints=False))
    )
    assert len(of(Refused, outcome.transcript)) == 1


HINTS = [
    {name: value for name, value in zip(("readOnlyHint", "destructiveHint", "openWorldHint"), values, strict=True)  # noqa: E501
     if value is not None}
    for values in product((None, True, False), repeat=3)
]  # fmt: skip

SERVER = """
import json, sys

def says(request, result):
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)

tools = json.loads(sys.argv[1])
for line in sys.stdin:
    request = json.loads(line)
    match request.get("method"):
        case "initialize":
            info = {"name": sys.argv[2], "version": "1"}
            says(request, {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info})
        case "tools/list":
            says(request, {"tools": tools})
        case "tools/call":
            with open(sys.argv[3], "a") as file:
                file.write(request["params"]["name"] + "\\n")
            says(request, {"content": [{"type": "text", "text": "done"}]})
"""  # noqa: E501


def called_unasked(backend: str, folder: Any, sources: str, trust: Any) -> set[str]:
    """The tools of a server, one for each combination of hints, that run although nobody can be
    asked.
    """
    tools = [
        {"name": f"tool_{place}", "inputSchema": {"type": "object"}, "annotations": hints}
        for place, hints in enumerate(HINTS)
    ]
    calls = folder / "calls"
    calls.touch()
    command = [sys.executable, "-c", SERVER, json.dumps(tools), "files", str(calls)]
    script = [*(act(tool["name"]) for tool in tools), final()]

    async def scenario() -> Any:
        async with connect(command, era="legacy") as client:
            things = {"files": client} if sources == "named" else [client]
            settings = Approvals(trust_hints=trust)
            return await Agent(
                ScriptedModel(script), things, approval=settings, budgets=Budgets(turns=99)
            ).answer("?")

    assert play(backend, scenario).status == "answered"
    return set(calls.read_text().split())


READS = {
    f"tool_{place}"
    for place, hints in enumerate(HINTS)
    if (
        hints.get("readOnlyHint"),
        hints.get("destructiveHint") is True,
        hints.get("openWorldHint") is True,
    )
    == (True, False, False)
}


@pytest.mark.process
@pytest.mark.parametrize("sources", ["named", "listed"])
@pytest.mark.parametrize("trust", [(), False])
def test_untrusted_hints_of_a_server_allow_nothing(
    backend: str, tmp_path: Any, sources: str, trust: Any
) -> None:
    assert called_unasked(backend, tmp_path, sources, trust) == set()


@pytest.mark.process
@pytest.mark.parametrize("trust", [("files",), True])
def test_trusted_hints_allow_reads_outside_the_open_world(
    backend: str, tmp_path: Any, trust: Any
) -> None:
    assert called_unasked(backend, tmp_path, "named", trust) == READS
    assert len(READS) == 4


def test_server_with_the_name_of_a_trusted_one_is_not_trusted(backend: str) -> None:
    for tools in ([], {"mine": []}):
        with pytest.raises(
            ValueError, match="trust_hints names 'files': give the agent's tools as a dict"
        ):
            Agent(ScriptedModel([]), tools, approval=Approvals(trust_hints=("files",)))
    with pytest.raises(TypeError, match="a tuple of names"):
        Approvals(trust_hints="files")  # type: ignore[arg-type]


def test_deny_patterns_win_over_allow_patterns(backend: str) -> None:
    tools = Tools()
    approval = Approvals(allow=("*",), deny=("f*",))
    model = ScriptedModel([act("fail", reason="x"), act("add", a=1, b=2), final("3")])
    answer(backend, Agent(model, tools.both(), approval=approval))
    assert tools.calls == [("add", (1, 2))]
    assert "do not allow fail" in json.loads(model.asked[1].messages[-1]["content"])["result"]


def test_the_approval_request_shows_what_would_be_allowed(backend: str) -> None:
    asked: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> bool:
        asked.append(request)
        return True

    tools = Tools()
    outcome = answer(backend, agent(SCRIPT, tools.both(), approval=approve))
    (request,) = asked
    assert (request.tool, request.params, request.thought) == (
        "add",
        {"a": 1, "b": 2},
        "I need add",
    )
    assert request.description["description"] == "Add two integers."
    assert not request.interrupted
    assert tools.calls == [("add", (1, 2))]
    assert kinds(outcome.transcript)[6:9] == ["ApprovalAsked", "Approved", "CallStarted"]


def test_parameters_changed_by_the_user_are_reported_to_the_model(backend: str) -> None:
    async def approve(request: ApprovalRequest) -> Allow:
        return Allow({"a": 10, "b": 20})

    tools, model = Tools(), ScriptedModel([act("add", a=1, b=2), final("30")])
    outcome = answer(backend, Agent(model, tools.both(), approval=approve))
    assert tools.calls == [("add", (10, 20))]
    assert last_result(model)["result"] == 30
    assert '"a": 10' in last_result(model)["note"]
    assert of(CallStarted, outcome.transcript)[0].params == {"a": 10, "b": 20}
    assert (
        play(backend, lambda: replayed(outcome.transcript, approval=approve)) == outcome.transcript
    )


def test_invalid_changed_parameters_are_asked_for_again(backend: str) -> None:
    verdicts: list[Any] = [Allow({"a": "ten"}), Allow({"a": 1, "b": 1})]
    reasons = []

    def approve(request: ApprovalRequest) -> Allow:
        reasons.append(request.reason)
        made: Allow = verdicts.pop(0)
        return made

    tools = Tools()
    answer(backend, agent(SCRIPT, tools.both(), approval=approve))
    assert tools.calls == [("add", (1, 1))]
    assert "do not fit" in reasons[1]
    tools = Tools()
    outcome = answer(
        backend, agent(SCRIPT, tools.both(), approval=lambda request: Allow({"a": "ten"}))
    )
    assert tools.calls == []
    assert of(Refused, outcome.transcript)[0].by_user is False


@pytest.mark.parametrize("verdict", [False, Refuse(), Refuse("not on a Sunday")])
def test_a_refusal_reaches_the_model_with_its_reason(backend: str, verdict: Any) -> None:
    tools, model = Tools(), ScriptedModel([act("add", a=1, b=2), final("no", ok=False)])
    outcome = answer(backend, Agent(model, tools.both(), approval=lambda request: verdict))
    assert tools.calls == []
    assert "refused" in last_result(model)["result"]
    assert not isinstance(verdict, Refuse) or verdict.reason in last_result(model)["result"]
    assert outcome.status == "unsolvable"


def test_verdict_of_another_type_raises_type_error(backend: str) -> None:
    with pytest.raises(TypeError, match="Allow, Refuse, Pause"):
        answer(backend, agent(SCRIPT, approval=lambda request: "yes"))


@pytest.mark.parametrize(
    "approval", [Approvals(no_user="pause"), Approvals(ask=lambda request: Pause())]
)
def test_call_is_approved_and_made_by_another_process(
    backend: str, approval: Approvals, tmp_path: Any
) -> None:
    path = tmp_path / "run.jsonl"
    tools = Tools()
    paused = answer(
        backend, agent([act("add", a=1, b=2)], tools.both(), approval=approval, transcript=path)
    )
    assert (paused.status, tools.calls) == ("needs_input", [])
    assert isinstance(paused.pending, ApprovalAsked)

    another = agent([final("3")], tools.both(), approval=lambda request: True, transcript=path)
    outcome = play(backend, another.resume(path).answer)
    assert (outcome.status, outcome.turns, tools.calls) == ("answered", 2, [("add", (1, 2))])
    assert play(backend, lambda: replayed(path, approval=approval)) == outcome.transcript


def test_interrupted_call_is_not_repeated_without_approval(
    backend: str,
) -> None:
    tools = Tools()
    begun = answer(backend, agent(SCRIPT, tools.both())).transcript
    begun = begun[: kinds(begun).index("CallFinished")]
    tools.calls.clear()

    asked: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> bool:
        asked.append(request)
        return True

    settings = Approvals(ask=approve, allow=("*",))
    outcome = play(
        backend, agent([final("3")], tools.both(), approval=settings).resume(begun).answer
    )
    assert [request.interrupted for request in asked] == [True]
    assert tools.calls == [("add", (1, 2))]
    assert outcome.status == "answered"

    tools.calls.clear()
    model = ScriptedModel([final("I do not know", ok=False)])
    outcome = play(
        backend, Agent(model, tools.both(), approval=Approvals(allow=("*",))).resume(begun).answer
    )
    assert tools.calls == []
    assert "may have taken effect" in last_result(model)["result"]
    assert of(CallFinished, outcome.transcript) == []


def test_approved_call_that_has_not_started_is_made_after_resuming(backend: str) -> None:
    tools = Tools()
    events = answer(backend, agent(SCRIPT, tools.both(), approval=lambda request: True)).transcript
    events = events[: kinds(events).index("Approved") + 1]
    tools.calls.clear()
    outcome = play(
        backend,
        agent([final("3")], tools.both(), approval=lambda request: False).resume(events).answer,
    )
    assert tools.calls == [("add", (1, 2))]
    assert len(of(Approved, outcome.transcript)) == 1


def test_new_question_reports_the_waiting_call_as_undone(backend: str) -> None:
    tools, model = Tools(), ScriptedModel([act("add", a=1, b=2), final("fine")])

    async def scenario() -> Any:
        session = Agent(model, tools.both(), approval=Approvals(no_user="pause")).session()
        await session.answer("1+2?")
        return await session.answer("Never mind. How are you?")

    outcome = play(backend, scenario)
    assert (outcome.status, tools.calls) == ("answered", [])
    assert "asked something else" in str(model.asked[-1].messages)
    assert (
        play(backend, lambda: replayed(outcome.transcript, approval=Approvals(no_user="pause")))
        == outcome.transcript
    )


def test_a_pending_question_is_asked_again_when_the_run_is_resumed(backend: str) -> None:
    paused = answer(backend, agent([ask("Which?")]))
    resumed = agent([final("that")], on_ask=lambda question: "that one").resume(paused.transcript)
    outcome = play(backend, resumed.answer)
    assert len(of(UserAsked, outcome.transcript)) == 2
    assert outcome.status == "answered"


def test_the_calls_of_one_reply_are_approved_and_done_in_order_and_repeated_from_the_record(
    backend: str, tmp_path: Any
) -> None:
    done: list[Any] = []

    def one() -> str:
        done.append("one")
        return "first"

    def two() -> str:
        done.append("two")
        return "second"

    def approve(request: ApprovalRequest) -> Any:
        done.append(f"asked about {request.tool}")
        return Refuse("not now") if request.tool == "two" else Allow()

    names = ("one", "two", "none", "one")
    calls = tuple(
        ToolCall(id=f"c{place}", name=name, arguments={}) for place, name in enumerate(names)
    )
    model = ScriptedModel([ModelReply(tool_calls=calls), "done"])
    settings: Any = {"protocol": NativeProtocol("en"), "approval": Approvals(ask=approve)}
    path = tmp_path / "run.jsonl"
    outcome = answer(backend, Agent(model, [one, two], transcript=path, **settings))
    assert outcome.status == "answered"
    assert done == ["asked about one", "one", "asked about two", "asked about one", "one"]
    told = [message for message in model.asked[1].messages if message["role"] == "tool"]
    assert [message["tool_call_id"] for message in told] == ["c0", "c1", "c2", "c3"]
    for word, message in zip(("first", "not now", "Unknown tool", "first"), told, strict=True):
        assert word in message["content"]
    assert play(backend, lambda: replayed(path, **settings)) == outcome.transcript
