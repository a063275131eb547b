"""Groot's shapes, used as Groot's users use them, and what went wrong there."""

from __future__ import annotations

import json
from datetime import date, datetime
from typing import Any

import pytest
import toolwire_bundled as bundled
from support.model_endpoint import StandIn
from toolwire_agent.agent import Agent
from toolwire_agent.agent.events import ActionChosen
from toolwire_agent.groot import (
    BaseProtocol,
    DoubaoProtocol,
    Finished,
    NoProtocolReply,
    ReAct,
    State,
    print_message,
)
from toolwire_agent.models import OpenAIModel, ScriptedModel
from toolwire_agent.react import ModelReply
from toolwire_bundled import CodeExecutor, PythonInterpreter
from toolwire_compat.groot import Env
from toolwire_compat.lagent import BaseAction
from toolwire_tools import ToolError, find_tools, tool_api


class WebSearch(BaseAction):
    """Searches."""

    @tool_api
    def search(self, query: str) -> dict[str, Any]:
        """Search the web.

        Args:
            query (str): what for
        """
        if query == "nothing":
            raise ToolError("nothing found")
        return {"hits": [query]}


def act(name: str, **parameters: Any) -> str:
    return f"I search.<|FunctionCallBegin|>{json.dumps({'name': name, 'parameters': parameters})}<|FunctionCallEnd|>"  # noqa: E501


def test_program_for_groot_runs_unchanged() -> None:
    env = Env([WebSearch()])
    llm = ScriptedModel([act("WebSearch.search", query="阿里巴巴"), "交易额很大"])
    agent = ReAct(llm=llm, env=env, protocol=DoubaoProtocol())
    assert agent.run("阿里巴巴的交易额是多少?") == "交易额很大"
    assert agent.state.history == [
        {"role": "user", "content": "阿里巴巴的交易额是多少?"},
        {"role": "assistant", "content": act("WebSearch.search", query="阿里巴巴")},
        {"role": "tool", "content": '{"hits":["阿里巴巴"]}'},
        {"role": "assistant", "content": "交易额很大"},
    ]
    assert agent.finished == Finished(text="交易额很大", turns=2, is_answer=True)


def test_the_model_receives_actions_and_results_in_a_role_that_providers_accept() -> None:
    llm = ScriptedModel([act("WebSearch.search", query="x"), "done"])
    ReAct(llm=llm, env=Env([WebSearch()]), protocol=DoubaoProtocol()).run("?")
    system, *rest = llm.asked[-1].messages
    assert system["role"] == "system"
    assert "query" in system["content"]
    assert [message["role"] for message in rest] == ["user", "assistant", "user"]


def test_the_prompt_names_the_actions_as_the_environment_and_their_descriptions_do() -> None:
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    env = Env([bundled.WebSearch(), add])
    llm = ScriptedModel(["done"])
    ReAct(llm=llm, env=env, protocol=DoubaoProtocol()).run("?")
    prompt = llm.asked[0].messages[0]["content"]
    lines = [line for line in prompt.splitlines() if line.startswith('{"name"')]
    shown = [json.loads(line)["name"] for line in lines]
    assert "WebSearch.search" in shown
    assert shown == [info["name"] for info in env.get_actions_info()]
    assert "WebSearch_" not in prompt


@pytest.mark.parametrize("name", ["WebSearch.search", "WebSearch_search"])
def test_an_environment_and_an_agent_take_both_spellings_of_a_name(name: str) -> None:
    script = [act(name, query="x"), "done"]
    in_groot = ReAct(llm=ScriptedModel(script), env=Env([WebSearch()]))
    assert in_groot.run("?") == "done"
    assert in_groot.state.history[2]["content"] == '{"hits":["x"]}'

    agent = Agent(
        ScriptedModel(script),
        [WebSearch()],
        protocol=DoubaoProtocol(),
        approval=lambda request: True,
    )
    outcome = agent.answer_sync("?")
    assert outcome.result == "done"
    chosen = [event.tool for event in outcome.transcript if isinstance(event, ActionChosen)]
    assert chosen == ["WebSearch_search"]


def test_requests_of_a_run_share_a_connection() -> None:
    with StandIn("done") as server:
        answers = iter([act("WebSearch.search", query="x"), "done"])
        server.answer = lambda body: next(answers)
        llm = OpenAIModel("m", base_url=server.url, key="sk-0123456789")
        assert ReAct(llm=llm, env=Env([WebSearch()])).run("?") == "done"
    assert len(server.peers) == 2
    assert len(set(server.peers)) == 1


def test_synchronous_model_and_function_as_environment_are_accepted() -> None:
    class Llm:
        def chat(self, history: list[dict[str, Any]]) -> str:
            return "5" if "env says 5" in str(history) else act("add", a=2, b=3)

    def env(name: str, parameters: dict[str, Any]) -> str:
        return f"env says {parameters['a'] + parameters['b']}"

    assert ReAct(llm=Llm(), env=env, protocol=DoubaoProtocol()).run("2+3?") == "5"


def test_exception_of_the_environment_is_reported_to_the_model() -> None:
    llm = ScriptedModel([act("WebSearch.search", query="nothing"), act("Websearch.find"), "done"])
    agent = ReAct(llm=llm, env=Env([WebSearch()]), protocol=DoubaoProtocol())
    assert agent.run("?") == "done"
    failed, unknown = [
        message["content"] for message in agent.state.history if message["role"] == "tool"
    ]
    assert failed == "Error during environment interaction: nothing found"
    assert "WebSearch.search" in unknown


@pytest.mark.parametrize(
    "reply",
    [
        "<|FunctionCallBegin|>{bad json",
        '<|FunctionCallBegin|>["a list"]<|FunctionCallEnd|>',
        '<|FunctionCallBegin|>{"name": "x"}<|FunctionCallEnd|>',
        act("WebSearch.search", query="1") + act("WebSearch.search", query="2"),
        ModelReply(
            text='<|FunctionCallBegin|>{"name": "x", "parameters": {}}', finish_reason="length"
        ),
        "",
    ],
)
def test_malformed_reply_is_retried_without_an_action(reply: Any) -> None:
    def env(**action: Any) -> None:
        raise AssertionError("it was called")

    llm = ScriptedModel([reply, "done"])
    agent = ReAct(llm=llm, env=env, protocol=DoubaoProtocol())
    assert agent.run("?") == "done"
    assert agent.state.history[-2]["role"] == "user"

    with pytest.raises(NoProtocolReply):
        ReAct(llm=ScriptedModel([reply] * 4), env=env, protocol=DoubaoProtocol()).run("?")


def test_custom_groot_protocol_needs_only_parse() -> None:
    class Slash:
        def parse(self, text: str) -> tuple[str, Any]:
            return (
                (text, {"name": text[1:], "parameters": {}})
                if text.startswith("/")
                else (text, None)
            )

    class Broken:
        def parse(self, text: str) -> tuple[str, Any]:
            return text, {"tool": "x"} if text == "act" else None

    agent = ReAct(
        llm=ScriptedModel(["/now", "noon"]),
        env=lambda name, parameters: {"called": name},
        protocol=Slash(),
    )
    assert agent.run("?") == "noon"
    assert agent.state.history[2]["content"] == '{"called":"now"}'
    assert ReAct(llm=ScriptedModel(["act", "ok"]), env=print, protocol=Broken()).run("?") == "ok"


BLOCK = "I compute.<|FunctionCallBegin|>```python\nprint(6 * 7)\n```<|FunctionCallEnd|>"


class OwnRunner(BaseAction):
    """Runs code."""

    def run(self, code: str) -> str:
        return f"ran {code}"


@pytest.mark.process
@pytest.mark.parametrize(
    ("runner", "said"),
    [(PythonInterpreter, "42"), (CodeExecutor, "42"), (OwnRunner, "ran print(6 * 7)")],
)
def test_code_block_runs_without_settings(runner: Any, said: str) -> None:
    agent = ReAct(
        llm=ScriptedModel([BLOCK, "done"]),
        env=Env([WebSearch(), runner()]),
        protocol=DoubaoProtocol(),
    )
    assert agent.run("?") == "done"
    assert agent.state.history[2] == {"role": "tool", "content": said}


class UnusualRunner(BaseAction):
    """Runs code."""

    def run(self, payload: str) -> str:
        return f"ran {payload}"


def test_the_error_for_an_unusual_parameter_of_a_runner_mentions_what_prevents_it() -> None:
    llm = ScriptedModel([BLOCK] * 4)
    with pytest.raises(NoProtocolReply, match=r"code_tool=\(TOOL, PARAMETER\)"):
        ReAct(llm=llm, env=Env([UnusualRunner()])).run("?")
    assert not any("code_tool" in str(asked.messages) for asked in llm.asked), (
        "this is not for the model"
    )

    protocol = DoubaoProtocol(code_tool=("UnusualRunner", "payload"))
    agent = ReAct(llm=ScriptedModel([BLOCK, "done"]), env=Env([UnusualRunner()]), protocol=protocol)
    assert agent.run("?") == "done"
    assert agent.state.history[2]["content"] == "ran print(6 * 7)"


def test_code_for_an_undescribed_environment_calls_python_interpreter() -> None:
    agent = ReAct(
        llm=ScriptedModel([BLOCK, "done"]), env=lambda name, parameters: {name: parameters}
    )
    agent.run("?")
    assert agent.state.history[2]["content"] == '{"PythonInterpreter":{"code":"print(6 * 7)"}}'


@pytest.mark.process
def test_a_protocol_with_groots_own_parse_works() -> None:
    class Own(DoubaoProtocol):
        def parse(self, text: str) -> tuple[str, Any]:  # as in Groot's document
            if self.special_tokens["action_start_token"] not in text:
                return text, None
            text, action = text.split(self.special_tokens["action_start_token"])
            action = action.split(self.special_tokens["action_end_token"])[0]
            if action.startswith("``"):
                return text, {"name": "PythonInterpreter", "parameters": {"code": action}}
            return text, json.loads(action)

    script = [
        act("WebSearch.search", query="x"),
        BLOCK,
        "<|FunctionCallBegin|>{bad<|FunctionCallEnd|>",
        "done",
    ]
    agent = ReAct(
        llm=ScriptedModel(script), env=Env([WebSearch(), PythonInterpreter()]), protocol=Own()
    )
    assert agent.run("?") == "done"
    results = [message["content"] for message in agent.state.history if message["role"] == "tool"]
    assert results == ['{"hits":["x"]}', "42"]
    assert "Expecting property name" in agent.state.history[6]["content"]


def test_the_model_sees_the_schemas_by_which_its_arguments_are_checked() -> None:
    def book(seats: dict[str, int], prices: list[float], day: date | None = None) -> str:
        """Book seats."""
        return f"{seats} {prices}"

    class Stamp(BaseAction):
        """Stamps."""

        def run(self, at: datetime, marks: dict[str, bool]) -> str:
            return str(at)

    llm = ScriptedModel([act("book", seats={"a": 1}, prices=[1.5]), "done"])
    agent = ReAct(llm=llm, env=Env([book, Stamp()]))
    agent.run("?")
    shown = [
        json.loads(line)
        for line in llm.asked[0].messages[0]["content"].splitlines()
        if line.startswith('{"name"')
    ]
    served = [tool.describe() for tool in find_tools([book, Stamp()])]
    assert [(tool["name"], tool["parameters"]) for tool in shown] == [
        (tool["name"], tool["inputSchema"]) for tool in served
    ]
    assert agent.state.history[2]["content"] == "{'a': 1} [1.5]"


def test_empty_tokens_of_a_protocol_start_no_action() -> None:
    assert BaseProtocol().parse("anything {at all}") == ("anything {at all}", None)
    assert ReAct(llm=ScriptedModel(["hi"]), env=Env([]), protocol=BaseProtocol()).run("?") == "hi"


def test_run_is_unfinished_after_max_turn_and_can_continue() -> None:
    llm = ScriptedModel(
        [act("WebSearch.search", query=str(number)) for number in range(10)] + ["done"]
    )
    agent = ReAct(llm=llm, env=Env([WebSearch()]), protocol=DoubaoProtocol())
    assert agent.run("?") == "Not finished"
    assert agent.finished == Finished(text="Not finished", turns=10, is_answer=False)
    assert agent.run() == "done"
    assert [message["role"] for message in agent.state.history].count("user") == 1


def test_nothing_is_printed_without_on_message(capsys: pytest.CaptureFixture[str]) -> None:
    script = [act("WebSearch.search", query="x"), "done"]
    ReAct(llm=ScriptedModel(script), env=Env([WebSearch()])).run("?")
    assert capsys.readouterr() == ("", "")
    ReAct(llm=ScriptedModel(script), env=Env([WebSearch()]), on_message=print_message).run("?")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[1:] == ['Environment: {"hits":["x"]}', "Assistant: done"]


def test_agents_with_different_models_call_each_other() -> None:
    inner = ReAct(llm=ScriptedModel(["42"]), env=Env([]), name="deep", description="Thinks.")
    outer = ReAct(
        llm=ScriptedModel([act("deep", question="?"), "It is 42."]), env=Env([inner.as_tool()])
    )
    assert outer.run("?") == "It is 42."
    assert outer.state.history[2]["content"] == "42"
    assert inner.state.history == []


def test_a_state_keeps_what_is_added() -> None:
    state = State()
    state.add(role="user", content="hi")
    state.add(role="tool", content={"a": [1]})
    assert state.history == [
        {"role": "user", "content": "hi"},
        {"role": "tool", "content": '{"a":[1]}'},
    ]
