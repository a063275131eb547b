"""An agent whose model writes programs that call the tools."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import anyio
import pytest
from support.agent_scripts import Tools, act, check_transcript, final, of, play
from support.program_tools import fail, wipe
from support.sandbox_runs import NAMED, called_by, need_sandbox
from support.server_process import wait_until
from toolwire_agent.agent import Agent, Allow, Approvals, Recorded, Refuse
from toolwire_agent.agent.approvals import ApprovalRequest
from toolwire_agent.agent.events import (
    ActionChosen,
    CallFinished,
    FormAnswered,
    ToolAsked,
    ToolProgress,
    ToolsListed,
)
from toolwire_agent.models import ScriptedModel
from toolwire_bundled.programs import program
from toolwire_bundled.python_interpreter import sandbox_probe
from toolwire_tools import tool_api

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is Linux's"),
    pytest.mark.process,
]


@pytest.fixture(autouse=True)
def sandbox() -> None:
    need_sandbox()


@tool_api(read_only=True)
def double(n: int) -> int:
    """Double a number."""
    return 2 * n


class Run(NamedTuple):
    result: str | None
    events: Sequence[Recorded]
    model: ScriptedModel
    live: list[Any]

    @property
    def value(self) -> Any:
        """The result of the only call."""
        (finished,) = of(CallFinished, self.events)
        return finished.result


def run(code: str, tools: Any = (double, fail, wipe), **settings: Any) -> Run:
    model = ScriptedModel([act("run_program", code=code), final("done")])
    live: list[Any] = []
    agent = Agent(model, list(tools), show="code", **settings)
    session = agent.session(on_live=live.append)
    outcome = play("asyncio", lambda: session.answer("What is it?"))
    check_transcript(session.events)
    return Run(outcome.result, session.events, model, live)


def test_model_gets_a_search_and_programs_in_place_of_the_tools() -> None:
    done = run("1")

    (listed,) = of(ToolsListed, done.events)
    assert listed.shown == ["search_tools", "run_program"]
    prompt = done.model.asked[0].messages[0]["content"]
    assert "def run_program(code: str)" in prompt
    assert "def double(" not in prompt


def test_search_returns_stubs_with_results() -> None:
    model = ScriptedModel([act("search_tools", query="double", limit=1), final()])
    session = Agent(model, [double], show="code").session()
    play("asyncio", lambda: session.answer("?"))

    (finished,) = of(CallFinished, session.events)
    assert finished.result.startswith("def double(n: int) -> int:")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("sum(double(n) for n in range(4))", "12"),
        ("await asyncio.gather(double(1), double(n=2))", "[2, 4]"),
        ("print('so far')\ndouble(2)", "4\n\nPrinted:\nso far"),
        ("try:\n    fail()\nexcept ToolFailed as error:\n    print(error.text)", "No such luck."),
    ],
)
def test_result_is_what_the_program_returns_and_prints(code: str, expected: str) -> None:
    assert run(code).value == expected


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("double('x')", "ToolFailed: params.n"),
        ("double(1, 2)", "takes at most 1 positional arguments"),
        ("fail()", "ToolFailed: No such luck."),
        ("run_program('1')", "NameError"),
        ("1 +", "SyntaxError"),
    ],
)
def test_failure_of_a_program_is_reported_to_the_model(code: str, problem: str) -> None:
    done = run(code)

    assert problem in done.value
    assert [event.success for event in of(CallFinished, done.events)] == [False]
    assert done.result == "done"


def test_tools_of_several_servers_are_members_of_their_names() -> None:
    @tool_api(read_only=True)
    def triple(n: int) -> int:
        """Triple a number."""
        return 3 * n

    model = ScriptedModel([act("run_program", code="near.double(far.triple(2))"), final()])
    session = Agent(model, {"near": double, "far": triple}, show="code").session()
    play("asyncio", lambda: session.answer("?"))

    (finished,) = of(CallFinished, session.events)
    assert finished.result == "12"


def test_progress_counts_the_calls() -> None:
    done = run("double(1)\ndouble(2)")

    reports = [each for each in done.live if isinstance(each, ToolProgress)]
    assert [report.done for report in reports] == [1, 2]
    assert reports[1].message is not None
    assert reports[1].message.startswith("2 calls, ")


# Approvals

LOOP = "for path in 'aab':\n    print(wipe(path))"


@pytest.mark.parametrize(
    ("verdict", "questions"),
    [
        (True, 3),
        (Allow(), 3),
        (Allow(scope="values"), 2),
        (Allow(scope="tool", calls=2), 2),
        (Allow(scope="tool", calls=20), 1),
        (Allow(scope="program"), 1),
    ],
)
def test_approval_holds_for_the_calls_that_it_names(verdict: Any, questions: int) -> None:
    asked: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> Any:
        asked.append(request)
        return verdict

    done = run(LOOP, approval=Approvals(ask=approve))

    assert done.value == "wiped a\nwiped a\nwiped b"
    assert len(asked) == questions
    first = asked[0]
    assert (first.tool, first.params) == ("wipe", {"path": "a"})
    assert first.program == "  1  for path in 'aab':\n> 2      print(wipe(path))"


def test_approval_of_a_program_is_in_the_transcript() -> None:
    done = run("wipe('a')", approval=Approvals(ask=lambda request: Allow(scope="program")))

    (asked,), (answered,) = of(ToolAsked, done.events), of(FormAnswered, done.events)
    assert asked.tool == "wipe"
    assert (answered.action, answered.content) == ("accept", {"scope": "program", "calls": 1})


def test_user_may_change_the_arguments_of_a_call() -> None:
    done = run("wipe('a')", approval=Approvals(ask=lambda request: Allow({"path": "b"})))

    assert done.value == "wiped b"


@pytest.mark.parametrize("verdict", [False, Refuse("not now")])
def test_refusal_holds_for_the_whole_program(verdict: Any) -> None:
    asked: list[Any] = []

    def refuse(request: ApprovalRequest) -> Any:
        asked.append(request)
        return verdict

    code = "for path in 'ab':\n    try:\n        wipe(path)\n    except ToolFailed as e: print(e)"
    done = run(code, approval=Approvals(ask=refuse))

    assert done.value.count("wipe did not run: ") == 2
    assert len(asked) == 1


def test_change_without_a_user_fails() -> None:
    assert "wipe did not run: it needs approval" in run("wipe('a')").value


def test_settings_allow_and_deny_tools_in_programs() -> None:
    assert run("wipe('a')", approval=Approvals(allow=("wipe",))).value == "wiped a"
    denied = run("double(1)", approval=Approvals(deny=("double",)))
    assert "double did not run: the settings never allow it." in denied.value


# The end


def test_cancelled_call_leaves_no_process_and_no_call() -> None:
    began, ended = anyio.Event(), anyio.Event()

    @tool_api(read_only=True)
    async def sleep() -> None:
        """Sleep until it is cancelled."""
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    code = NAMED.format("agent-prog") + "\nsleep()"
    model = ScriptedModel([act("run_program", code=code), final("done")])
    session = Agent(model, [sleep], show="code").session()

    async def cancel() -> None:
        await began.wait()
        session.cancel_call()

    async def answer() -> Any:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cancel)
            with anyio.fail_after(60):
                return await session.answer("?")

    outcome = play("asyncio", answer)

    assert outcome.result == "done"
    assert ended.is_set()
    wait_until(lambda: not called_by("agent-prog"))


def test_program_ends_at_the_time_limit_of_a_call() -> None:
    done = run("while True: pass", tool_seconds=0.5)

    assert done.value == "The code was ended at its time limit, 0.5 s."


def test_programs_without_a_sandbox_are_refused_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox_probe, "_find_obstacle", lambda: "bwrap is not installed")
    monkeypatch.setattr(program, "find_spec", lambda name: None)

    with pytest.raises(ValueError, match="programs need a sandbox: bwrap is not installed"):
        Agent(ScriptedModel([]), [double], show="code")


def test_program_is_one_action_of_the_transcript() -> None:
    done = run("double(1)", Tools().both())

    (chosen,) = of(ActionChosen, done.events)
    assert chosen.tool == "run_program"
