"""Agents as tools: of other agents, with other models, of environments, and of our server."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from support.agent_scripts import (
    BACKENDS,
    EVERYTHING,
    Tools,
    act,
    agent,
    answer,
    ask,
    final,
    of,
    play,
)
from toolwire_agent import AsyncToolbox, Toolbox
from toolwire_agent.agent import Agent, keep_last
from toolwire_agent.agent.events import CallFinished
from toolwire_agent.agent.trimming import trim_messages
from toolwire_agent.models import ScriptedModel
from toolwire_client import connect
from toolwire_compat.groot import Env


@pytest.mark.parametrize("backend", BACKENDS)
def test_agent_calls_another_agent_without_approval(
    backend: str,
) -> None:
    inner_tools = Tools()
    inner_model = ScriptedModel([act("add", a=1, b=2), final("3")])
    inner = Agent(inner_model, inner_tools.both(), approval=EVERYTHING)
    model = ScriptedModel([act("calculator", question="What is 1+2?"), final("It is 3.")])
    outcome = answer(
        backend, Agent(model, [inner.as_tool(name="calculator", description="Calculates.")])
    )
    assert outcome.result == "It is 3."
    assert of(CallFinished, outcome.transcript)[0].result == "3"
    assert inner_tools.calls == [("add", (1, 2))]
    assert "What is 1+2?" in str(inner_model.asked[0].messages)


@pytest.mark.parametrize("backend", BACKENDS)
def test_questions_of_an_inner_agent_go_to_the_same_user(backend: str) -> None:
    inner = Agent(ScriptedModel([ask("Which day?"), final("Sunday it is")]), name="planner")
    model = ScriptedModel([act("planner", question="Plan!"), final("done")])
    asked: list[str] = []

    def user(question: Any) -> str:
        asked.append(question.message)
        return "Sunday"

    outcome = answer(backend, Agent(model, [inner], on_ask=user))
    assert asked == ["Which day?"]
    assert of(CallFinished, outcome.transcript)[0].result == "Sunday it is"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("script", [["?"] * 4, [ask("Which?")], [final("no way", ok=False)]])
def test_an_inner_agent_without_an_answer_is_a_failed_call(backend: str, script: list[str]) -> None:
    inner = Agent(ScriptedModel(script), name="inner", no_user="pause")
    outcome = answer(backend, agent([act("inner", question="?"), final("no", ok=False)], [inner]))
    (finished,) = of(CallFinished, outcome.transcript)
    assert finished.success is False


def test_an_agent_is_a_tool_of_toolboxes_and_environments() -> None:
    def made() -> Agent:
        return Agent(ScriptedModel([final("42")]), name="deep", description="Thinks.")

    assert Toolbox([made()]).call_tool("deep", {"question": "?"}).text == "42"
    assert Env([made().as_tool()])("deep", {"question": "?"}) == "42"
    assert Env([made().as_tool()]).get_actions_info()[0]["name"] == "deep"
    wrong = play("asyncio", lambda: AsyncToolbox([made()]).call_tool("deep", {"query": "?"}))
    assert (wrong.is_error, "question" in wrong.text) == (True, True)


@pytest.mark.process
def test_an_agent_is_a_tool_of_our_server(tmp_path: Any) -> None:
    (tmp_path / "served.py").write_text(
        "from toolwire_agent import Agent\n"
        "from toolwire_agent.models import ScriptedModel\n"
        "reply = {'thought': '', 'type': 'FINAL_ANSWER', 'ok': True, 'result': '42'}\n"
        "deep = Agent(ScriptedModel([reply]), name='deep', description='Thinks.').as_tool()\n"
    )
    with connect(
        [sys.executable, "-m", "toolwire", "serve", f"{tmp_path / 'served.py'}:deep"]
    ) as client:
        (tool,) = client.list_tools()
        assert (tool.name, tool.input_schema["required"]) == ("deep", ["question"])
        assert client.call_tool("deep", {"question": "?"}).text == "42"


def message(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


CALLED = [
    message("system", "s"),
    message("user", "u1"),
    message("assistant", "", tool_calls=[{"id": "1"}]),
    message("tool", "r1", tool_call_id="1"),
    message("assistant", "a1"),
    message("user", "u2"),
    message("assistant", "", tool_calls=[{"id": "2"}]),
    message("tool", "r2", tool_call_id="2"),
]


@pytest.mark.parametrize("max_chars", [0, 50, 150, 200, 250, 300, 10_000])
def test_keep_last_keeps_calls_with_their_results(max_chars: int) -> None:
    kept = play("asyncio", lambda: trim_messages(CALLED, keep_last(max_chars)))
    assert (kept[0], kept[-1], kept[1]["role"]) == (CALLED[0], CALLED[-1], "user")
    assert kept == CALLED[:1] + CALLED[len(CALLED) - len(kept) + 1 :]
    assert max_chars < 10_000 or kept == CALLED


@pytest.mark.parametrize(
    ("trim", "match"),
    [
        (lambda messages: messages[:-1], "the last message"),
        (lambda messages: [], "the last message"),
        (lambda messages: [messages[0], messages[-1]], "removed the call '2'"),
    ],
)
def test_trim_that_separates_calls_and_results_raises_value_error(trim: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        play("asyncio", lambda: trim_messages(CALLED, trim))
