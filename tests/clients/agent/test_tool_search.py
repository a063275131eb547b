"""An agent whose model gets a search in place of a long list of tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import anyio
import pytest
from support.agent_scripts import Tools, act, ask, check_transcript, final, of, play, replayed
from toolwire_agent.agent import Agent, Approvals, Recorded
from toolwire_agent.agent.events import ActionChosen, CallFinished, Refused, ToolsListed
from toolwire_agent.agent.tool_search import LEAST_TOKENS, ToolSearch
from toolwire_agent.models import ScriptedModel
from toolwire_agent.models.model import ModelReply, ToolCall
from toolwire_agent.react import NativeProtocol, SmallProtocol
from toolwire_schemas.tokens import estimate_list_tokens
from toolwire_tools import make_tool, tool_api

SEARCH = act("search_tools", query="add integers", limit=1)


def call_add(**arguments: Any) -> str:
    return act("call_tool", name="add", arguments=arguments)


class Run(NamedTuple):
    result: str | None
    events: Sequence[Recorded]
    model: ScriptedModel


def run(script: list[Any], tools: Any = None, **settings: Any) -> Run:
    model = ScriptedModel(script)
    settings.setdefault("show", "search")
    session = Agent(model, tools or Tools().both(), **settings).session()
    outcome = play("asyncio", lambda: session.answer("What is it?"))
    check_transcript(session.events)
    return Run(outcome.result, session.events, model)


def test_model_finds_a_tool_and_calls_it_by_name() -> None:
    tools = Tools()

    done = run([SEARCH, call_add(a=1, b=2), final("3")], tools.both())

    assert done.result == "3"
    assert tools.calls == [("add", (1, 2))]
    prompt = done.model.asked[0].messages[0]["content"]
    assert "def search_tools(" in prompt
    assert "def add(" not in prompt
    searched, added = of(CallFinished, done.events)
    assert "def add(a: int, b: int):" in searched.result
    assert added.result == 3


def test_events_name_the_tool_that_is_called() -> None:
    done = run([call_add(a=1, b=2), final()])

    (chosen,) = of(ActionChosen, done.events)
    assert (chosen.tool, chosen.params) == ("add", {"a": 1, "b": 2})
    (listed,) = of(ToolsListed, done.events)
    assert listed.shown == ["search_tools", "call_tool"]
    assert [tool["name"] for tool in listed.tools] == ["search_tools", "call_tool", "add", "fail"]


def test_call_of_an_unknown_tool_fails_with_stubs_of_those_that_may_be_meant() -> None:
    wrong = act("call_tool", name="add_integers", arguments={"a": 1, "b": 2})

    done = run([wrong, call_add(a=1, b=2), final("3")])

    assert done.result == "3"
    failed = done.model.asked[1].messages[-1]["content"]
    assert "Unknown tool 'add_integers'. Tools that may be meant:" in failed
    assert "def add(a: int, b: int)" in failed
    assert "def fail(" not in failed


def test_hidden_tool_may_be_called_directly() -> None:
    tools = Tools()

    run([act("add", a=1, b=2), final()], tools.both())

    assert tools.calls == [("add", (1, 2))]


def test_pinned_tool_is_in_the_list() -> None:
    done = run([final()], pin=["ad*"])

    prompt = done.model.asked[0].messages[0]["content"]
    assert "def add(" in prompt
    assert "def fail(" not in prompt


@pytest.mark.parametrize("params", [{"a": 1}, {"a": "one", "b": 2}])
def test_parameters_of_a_call_by_name_are_checked_as_those_of_the_tool(
    params: dict[str, Any],
) -> None:
    by_name = run([call_add(**params), final()])
    direct = run([act("add", **params), final()], show="all")

    assert [event.reason for event in by_name.events if type(event).__name__ == "ReplyRefused"] == [
        event.reason for event in direct.events if type(event).__name__ == "ReplyRefused"
    ]


@pytest.mark.parametrize(
    "call",
    [
        act("call_tool", name="ad", arguments={}),
        act("call_tool", name="call_tool", arguments={"name": "add"}),
        act("call_tool", arguments={}),
        act("call_tool", name="add", arguments=[1]),
        act("search_tools", query="add", limit=0),
    ],
)
def test_wrong_call_is_explained_to_the_model_which_goes_on(call: str) -> None:
    tools = Tools()

    done = run([call, call_add(a=1, b=2), final("3")], tools.both())

    assert done.result == "3"
    assert tools.calls == [("add", (1, 2))]
    assert len(done.model.asked) == 3


def test_arguments_in_a_text_are_read() -> None:
    tools = Tools()

    run([act("call_tool", name="add", arguments='{"a": 1, "b": 2}'), final()], tools.both())

    assert tools.calls == [("add", (1, 2))]


def test_search_without_a_hit_names_the_tools() -> None:
    done = run([act("search_tools", query="zebra"), final()])

    (finished,) = of(CallFinished, done.events)
    assert finished.result.endswith(": add, fail")


def test_approval_is_asked_for_the_tool_that_is_called() -> None:
    @tool_api(destructive=True)
    def wipe(path: str) -> None:
        """Remove a file."""

    asked: list[Any] = []

    def refuse(request: Any) -> bool:
        asked.append((request.tool, request.params, request.description["description"]))
        return False

    wiping = act("call_tool", name="wipe", arguments={"path": "a"})
    done = run([SEARCH, wiping, final()], [wipe], approval=Approvals(ask=refuse))

    assert asked == [("wipe", {"path": "a"}, "Remove a file.")]
    assert len(of(Refused, done.events)) == 1


def test_denied_tool_is_refused_by_its_own_name() -> None:
    tools = Tools()

    done = run([call_add(a=1, b=2), final()], tools.both(), approval=Approvals(deny=("add",)))

    assert tools.calls == []
    assert len(of(Refused, done.events)) == 1


def test_transcript_of_a_search_can_be_replayed() -> None:
    done = run([SEARCH, call_add(a=1, b=2), final("3")], approval=Approvals(allow=("*",)))

    again = anyio.run(lambda: replayed(done.events, show="search"))

    assert len(again) == len(done.events)


def test_model_with_native_calls_gets_the_result_of_the_tool_it_names() -> None:
    calls = (
        ToolCall(
            id="1", name="call_tool", arguments={"name": "add", "arguments": {"a": 1, "b": 2}}
        ),
        ToolCall(
            id="2", name="call_tool", arguments={"name": "add", "arguments": {"a": 3, "b": 4}}
        ),
    )
    tools = Tools()

    done = run([ModelReply(tool_calls=calls), "done"], tools.both(), protocol=NativeProtocol())

    assert tools.calls == [("add", (1, 2)), ("add", (3, 4))]
    native = [tool["name"] for tool in done.model.asked[0].tools or ()]
    assert native == ["search_tools", "call_tool", "ask_user"]
    results = [m["tool_call_id"] for m in done.model.asked[1].messages if "tool_call_id" in m]
    assert results == ["1", "2"]


def entries(count: int) -> list[dict[str, Any]]:
    def tool(a: int) -> int:
        """Return a number."""
        return a

    return [dict(make_tool(tool, name=f"tool_{number}").describe()) for number in range(count)]


def choose_shown(
    search: ToolSearch, listed: list[dict[str, Any]], context: int | None
) -> list[str]:
    return search.choose(listed, {}, context).shown


@pytest.mark.parametrize(
    ("context", "limit"),
    [
        (None, 10_000),
        (200_000, 10_000),
        (100_000, 5_000),
        (1_000, LEAST_TOKENS),  # a search would take more than it saves
    ],
)
def test_auto_searches_beyond_a_twentieth_of_the_context(context: int | None, limit: int) -> None:
    (one,) = entries(1)
    tokens = estimate_list_tokens([one])
    few, many = entries(limit // tokens - 5), entries(limit // tokens + 5)

    assert choose_shown(ToolSearch(), few, context) == []
    assert choose_shown(ToolSearch(), many, context) == ["search_tools", "call_tool"]


def test_tokens_for_the_list_can_be_given() -> None:
    listed = entries(2)
    tokens = estimate_list_tokens(listed)

    assert choose_shown(ToolSearch("auto", tokens), listed, 1_000_000) == []
    assert choose_shown(ToolSearch("auto", tokens - 1), listed, 1_000_000) != []


def make_tools(*names: str) -> list[Any]:
    def tool(a: int) -> int:
        """Return a number."""
        return a

    return [make_tool(tool, name=name) for name in names]


NUMBERED = tuple(f"tool_{number}" for number in range(20))


@pytest.mark.parametrize("show", ["search", "auto"])
def test_small_model_gets_the_tools_that_its_question_finds(show: str) -> None:
    tools = make_tools(*NUMBERED, "weather_report", "play_chess")

    done = run_questions(tools, ["Play chess.", "What is the weather?"], show=show, show_tokens=1)

    first, second = of(ToolsListed, done.events)
    assert first.shown == ["play_chess", *NUMBERED[:7]]
    assert second.shown == ["weather_report", "play_chess", *NUMBERED[:6]]
    prompts = [request.messages[0]["content"] for request in done.model.asked]
    assert ["weather_report" in prompt for prompt in prompts] == [False, True]


def run_questions(tools: list[Any], questions: list[str], **settings: Any) -> Run:
    model = ScriptedModel([final("done")] * len(questions))
    session = Agent(model, tools, protocol=SmallProtocol(), **settings).session()
    for question in questions:
        outcome = play("asyncio", lambda asked=question: session.answer(asked))
    check_transcript(session.events)
    return Run(outcome.result, session.events, model)


def test_small_model_keeps_a_list_within_the_limit() -> None:
    done = run_questions(make_tools(*NUMBERED), ["What is it?"], show="auto")

    (listed,) = of(ToolsListed, done.events)
    assert listed.shown == []


def test_small_model_gets_the_tool_whose_sign_its_question_has() -> None:
    @tool_api
    def add(a: int, b: int) -> int:
        """Return the sum: a + b."""
        return a + b

    done = run_questions([*make_tools(*NUMBERED), add], ["What is 71 + 25?"], show="search")

    (listed,) = of(ToolsListed, done.events)
    assert listed.shown == ["add", *NUMBERED[:7]]


def test_small_model_gets_all_pinned_tools_and_hits() -> None:
    tools = make_tools("play_chess", *NUMBERED)

    done = run_questions(tools, ["Play chess."], show="search", pin=["tool_?"])

    (listed,) = of(ToolsListed, done.events)
    assert listed.shown == [*NUMBERED[:10], "play_chess", *NUMBERED[10:14]]


def test_small_model_may_call_a_tool_that_its_list_does_not_show() -> None:
    tools = make_tools(*NUMBERED)

    done = run([act("tool_19", a=7), final("7")], tools, protocol=SmallProtocol())

    (finished,) = of(CallFinished, done.events)
    assert (finished.success, finished.result) == (True, 7)


def test_session_of_a_small_model_goes_on_with_the_tools_of_its_question() -> None:
    tools = make_tools(*NUMBERED, "play_chess")
    asking = Agent(
        ScriptedModel([ask("Which colour?")]), tools, protocol=SmallProtocol(), show="search"
    )
    paused = play("asyncio", lambda: asking.answer("Play chess."))
    model = ScriptedModel([final("done")])
    agent = Agent(
        model, tools, protocol=SmallProtocol(), show="search", on_ask=lambda question: "white"
    )

    session = agent.resume(paused.transcript)
    outcome = play("asyncio", lambda: session.answer())

    assert outcome.result == "done"
    assert len(of(ToolsListed, session.events)) == 1
    assert "play_chess" in model.asked[0].messages[0]["content"]


@pytest.mark.parametrize(
    "question", ["?!", "\x00", "x" * 1_000_000, "' OR 1=1; DROP TABLE tools; --"]
)
def test_question_without_a_hit_leaves_the_first_tools(question: str) -> None:
    done = run_questions(make_tools(*NUMBERED), [question], show="search")

    (listed,) = of(ToolsListed, done.events)
    assert sorted(listed.shown) == sorted(NUMBERED[:8])


def test_names_of_tools_are_left_to_them() -> None:
    taken = [
        {**entry, "name": name}
        for entry, name in zip(entries(2), ("search_tools", "call_tool"), strict=True)
    ]

    listing = ToolSearch("search").choose(taken, {}, None)

    assert listing.shown == ["search_tools_2", "call_tool_2"]
    assert listing.call_tool == "call_tool_2"


@pytest.mark.parametrize("wrong", [{"show": "some"}, {"pin": "a*"}])
def test_other_words_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="show is one of all, search, code, auto"):
        Agent(ScriptedModel([]), **wrong)
