"""How a run ends: every way, with what the model was told on the way there."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.agent_scripts import (
    BACKENDS,
    EVERYTHING,
    Tools,
    act,
    agent,
    answer,
    ask,
    check_transcript,
    final,
    kinds,
    of,
    play,
    replayed,
)
from support.examples import examples
from support.faulty_model import FaultyModel
from toolwire_agent.agent import Agent, Approvals, Budgets, Clock
from toolwire_agent.agent.events import CallFinished, Ended, FinalForced, ModelAsked, ReplyRefused
from toolwire_agent.models import ScriptedModel, Unreachable
from toolwire_agent.react import DoubaoProtocol, ModelReply, NativeProtocol, ToolCall, Usage

pytestmark = pytest.mark.parametrize("backend", BACKENDS)


def last_message(model: ScriptedModel) -> str:
    return str(model.asked[-1].messages[-1]["content"])


def test_question_is_answered_with_results_of_tools(backend: str) -> None:
    tools = Tools()
    model = ScriptedModel([act("add", a=2, b=3), act("add", a=5, b=5), final("10")])
    outcome = answer(backend, Agent(model, tools.both(), approval=Approvals(allow=("add",))))
    assert (outcome.status, outcome.result, outcome.turns, outcome.ok) == (
        "answered",
        "10",
        3,
        True,
    )
    assert tools.calls == [("add", (2, 3)), ("add", (5, 5))]
    assert json.loads(last_message(model)) == {
        "type": "ACTION_RESULT",
        "success": True,
        "result": 10,
    }
    assert kinds(outcome.transcript) == [
        *("Started", "ToolsListed", "QuestionAsked"),
        *("ModelAsked", "ModelReplied", "ActionChosen", "CallStarted", "CallFinished") * 2,
        *("ModelAsked", "ModelReplied", "Ended"),
    ]
    check_transcript(outcome.transcript)


def test_repr_of_an_outcome_has_no_events(backend: str) -> None:
    outcome = answer(backend, agent([final("10")]))
    assert repr(outcome).startswith("Outcome(status='answered', result='10', ")
    assert repr(outcome).endswith(f", transcript=<{len(outcome.transcript)} events>)")


def test_answer_without_ok_is_unsolvable(backend: str) -> None:
    outcome = answer(backend, agent([final("I cannot fly", ok=False)]))
    assert (outcome.status, outcome.result, outcome.ok) == ("unsolvable", "I cannot fly", False)


def test_a_tool_that_fails_is_reported_to_the_model(backend: str) -> None:
    model = ScriptedModel([act("fail", reason="no paper"), final("sorry", ok=False)])
    outcome = answer(backend, Agent(model, Tools().both(), approval=Approvals(allow=("*",))))
    assert json.loads(last_message(model)) == {
        "type": "ACTION_RESULT",
        "success": False,
        "result": "ValueError: no paper",
    }
    assert outcome.status == "unsolvable"


def test_unknown_tool_and_invalid_parameters_are_reported_to_the_model(backend: str) -> None:
    tools = Tools()
    script = [act("ad", a=1, b=2), act("add", a="x", b=2), act("add", a=1, b=2), final("3")]
    outcome = answer(backend, agent(script, tools.both()))
    unknown, misfit = of(ReplyRefused, outcome.transcript)
    assert "add" in unknown.reason.partition("Available")[2].split(",")[0]
    assert "params.a" in misfit.reason
    assert tools.calls == [("add", (1, 2))]
    assert outcome.status == "answered"


def test_last_turn_after_the_turn_limit_is_for_the_final_answer(backend: str) -> None:
    tools = Tools()
    script = [act("add", a=1, b=1), act("add", a=2, b=2), final("4")]
    outcome = answer(backend, agent(script, tools.both(), budgets=Budgets(turns=2)))
    assert (outcome.status, outcome.result, outcome.turns) == ("answered", "4", 3)
    assert "2 turns" in outcome.reason
    assert len(of(FinalForced, outcome.transcript)) == 1


@pytest.mark.parametrize(
    "last", [act("add", a=3, b=3), "no idea", final("not enough time", ok=False)]
)
def test_turn_limit_without_an_answer_has_no_result(backend: str, last: str) -> None:
    tools = Tools()
    outcome = answer(
        backend, agent([act("add", a=1, b=1), last], tools.both(), budgets=Budgets(turns=1))
    )
    assert outcome.status == "turn_limit"
    assert outcome.result == ("not enough time" if "FINAL" in last else None)
    assert tools.calls == [("add", (1, 1))]
    check_transcript(outcome.transcript)


def test_reported_tokens_count_for_the_budget(backend: str) -> None:
    cheap = ModelReply(text=act("add", a=1, b=1), usage=Usage(input_tokens=60, output_tokens=30))
    dear = ModelReply(text=act("add", a=2, b=1), usage=Usage(input_tokens=60, output_tokens=30))
    outcome = answer(backend, agent([cheap, dear, "?"], budgets=Budgets(tokens=100)))
    assert (outcome.status, outcome.turns, outcome.usage.total_tokens) == ("budget", 3, 180)


def test_unreported_tokens_are_estimated_for_the_budget(backend: str) -> None:
    outcome = answer(backend, agent([act("add", a=1, b=1), "?"], budgets=Budgets(tokens=50)))
    assert (outcome.status, outcome.usage.total_tokens) == ("budget", 0)


class Ticking(Clock):
    """A clock by which every look takes a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def read_seconds(self) -> float:
        self.now += 1
        return self.now


def test_seconds_are_a_budget(backend: str) -> None:
    script = [act("add", a=1, b=1), act("add", a=2, b=1), "?"]
    outcome = answer(backend, agent(script, budgets=Budgets(seconds=10), clock=Ticking()))
    assert (outcome.status, outcome.turns) == ("budget", 3)
    assert "10 seconds" in outcome.reason


class Slow(Clock):
    """A clock that stands still except while a model replies."""

    def __init__(self) -> None:
        self.now = 0.0

    def read_seconds(self) -> float:
        return self.now

    def reply_after(self, seconds: float, reply: str) -> str:
        self.now += seconds
        return reply


def test_no_call_starts_after_the_time_limit(backend: str) -> None:
    # Only the reply takes time: how often the agent reads its clock while it starts is not what
    # this is about.
    tools, clock = Tools(), Slow()
    model = ScriptedModel(lambda asked: clock.reply_after(2, act("add", a=1, b=1)))
    outcome = answer(backend, Agent(model, tools.both(), budgets=Budgets(seconds=2), clock=clock))
    assert tools.calls == []
    assert of(CallFinished, outcome.transcript)[0].success is False
    assert outcome.status == "budget"


def test_time_before_a_call_that_the_settings_refuse_counts(backend: str) -> None:
    tools, clock = Tools(), Slow()
    model = ScriptedModel(lambda asked: clock.reply_after(1.5, act("add", a=len(model.asked), b=1)))
    denied = Approvals(deny=("add",))
    budgets = Budgets(seconds=2, final_seconds=4)
    outcome = answer(
        backend, Agent(model, tools.both(), approval=denied, budgets=budgets, clock=clock)
    )
    # The second reply is over the limit, and the third one is the last turn.
    assert (outcome.status, outcome.turns) == ("budget", 3)


def test_the_time_of_the_first_question_includes_the_listing_of_the_tools(backend: str) -> None:
    # By this clock the start, the list, the question, the request, the reply and the choice are a
    # second each.
    tools = Tools()
    script = [act("add", a=1, b=1), "?"]
    outcome = answer(
        backend, agent(script, tools.both(), budgets=Budgets(seconds=4), clock=Ticking())
    )
    assert tools.calls == []
    assert outcome.status == "budget"


def test_request_to_a_silent_model_ends_at_the_time_limit(
    backend: str,
) -> None:
    import anyio

    class Silent:
        async def chat(self, messages: list[Any]) -> str:
            await anyio.sleep_forever()
            return ""

    budgets = Budgets(seconds=1, final_seconds=0.01)
    outcome = answer(backend, Agent(Silent(), budgets=budgets))
    assert (outcome.status, outcome.turns) == ("budget", 0)
    assert len(of(ModelAsked, outcome.transcript)) == 1
    check_transcript(outcome.transcript)
    assert play(backend, lambda: replayed(outcome.transcript, budgets=budgets))


def test_first_reply_may_take_all_the_time_before_a_last_turn(backend: str) -> None:
    clock = Slow()
    model = ScriptedModel(
        lambda asked: clock.reply_after(3 if len(model.asked) == 1 else 0, act("add", a=1, b=1))
    )
    budgets = Budgets(seconds=2, final_seconds=2)
    outcome = answer(backend, Agent(model, Tools().both(), budgets=budgets, clock=clock))
    assert (outcome.status, outcome.turns, len(of(FinalForced, outcome.transcript))) == (
        "budget",
        2,
        1,
    )


def test_no_last_turn_starts_after_all_the_time(backend: str) -> None:
    clock = Slow()
    model = ScriptedModel(lambda asked: clock.reply_after(5, act("add", a=1, b=1)))
    budgets = Budgets(seconds=2, final_seconds=2)
    outcome = answer(backend, Agent(model, Tools().both(), budgets=budgets, clock=clock))
    assert (outcome.status, outcome.turns, of(FinalForced, outcome.transcript)) == ("budget", 1, [])
    assert "seconds" in outcome.reason
    assert (
        play(backend, lambda: replayed(outcome.transcript, budgets=budgets)) == outcome.transcript
    )


def test_messages_name_the_limit_that_the_user_set(backend: str) -> None:
    clock = Slow()
    model = ScriptedModel(lambda asked: clock.reply_after(5, act("add", a=1, b=1)))
    budgets = Budgets(seconds=2, final_seconds=2, user_seconds=10)
    outcome = answer(backend, Agent(model, Tools().both(), budgets=budgets, clock=clock))
    assert outcome.reason == "the limit of 10 seconds is reached"


def test_replies_that_stay_invalid_end_the_run_with_the_model_s_words_and_a_hint(
    backend: str,
) -> None:
    model = ScriptedModel(lambda asked: f"I would rather chat about {len(asked.messages)}.")
    outcome = answer(backend, Agent(model))
    assert (outcome.status, outcome.result, outcome.turns) == ("model_error", None, 4)
    assert "but said: I would rather chat about 8." in outcome.reason
    assert "--protocol native" in outcome.reason
    assert "JSON" not in outcome.reason  # which is for the model
    refused = of(ReplyRefused, outcome.transcript)
    assert [event.said for event in refused] == [
        f"I would rather chat about {n}." for n in (2, 4, 6)
    ]
    assert json.loads(last_message(model))["type"] == "ERROR"


@pytest.mark.parametrize(
    ("last", "expected"),
    [(final("2"), ("answered", "2")), ("Still chatting.", ("model_error", None))],
)
def test_replies_that_stay_invalid_after_a_result_end_with_a_forced_final_answer(
    backend: str, last: str, expected: Any
) -> None:
    model = ScriptedModel(
        [act("add", a=1, b=1), "Chat.", "More chat.", "Even more.", "No end.", last]
    )
    outcome = answer(backend, Agent(model, Tools().both()))
    assert (outcome.status, outcome.result, outcome.turns) == (*expected, 6)
    assert "could not be used" in outcome.reason
    assert [event.status for event in of(FinalForced, outcome.transcript)] == ["model_error"]
    assert play(backend, lambda: replayed(outcome.transcript)) == outcome.transcript


@pytest.mark.parametrize("ok", [True, False])
@pytest.mark.parametrize("blank", ["", "  ", "\n\t", "\u3000", None])
def test_a_blank_final_answer_is_asked_for_again(backend: str, blank: Any, ok: bool) -> None:
    model = ScriptedModel([final(blank, ok=ok), final("3")])
    outcome = answer(backend, Agent(model))
    assert (outcome.status, outcome.result, outcome.turns) == ("answered", "3", 2)
    assert "`result` is empty" in json.loads(last_message(model))["msg"]
    assert play(backend, lambda: replayed(outcome.transcript)) == outcome.transcript


def test_repeated_blank_answers_end_the_run_as_model_error(backend: str) -> None:
    outcome = answer(backend, Agent(ScriptedModel(lambda asked: final(" "))))
    assert (outcome.status, outcome.result, outcome.turns, outcome.ok) == (
        "model_error",
        None,
        2,
        False,
    )
    last = answer(backend, agent([act("add", a=1, b=1), final("")], budgets=Budgets(turns=1)))
    assert (last.status, last.result) == ("turn_limit", None)


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (final("2"), ("answered", "2")),
        (final("no", ok=False), ("turn_limit", "no")),
        (act("add", a=1, b=1), ("turn_limit", None)),
        ("Two.", ("turn_limit", None)),
    ],
)
def test_repeated_call_gets_warnings_and_then_a_last_turn(
    backend: str, last: str, expected: tuple[str, str | None]
) -> None:
    tools = Tools()
    model = ScriptedModel([act("add", a=1, b=1)] * 5 + [last])
    outcome = answer(backend, Agent(model, tools.both(), approval=Approvals(allow=("*",))))
    assert ((outcome.status, outcome.result), len(tools.calls)) == (expected, 4)
    assert "note" in json.loads(model.asked[-2].messages[-1]["content"])
    assert "the same call" in outcome.reason
    assert "the same call" in last_message(model)
    check_transcript(outcome.transcript)
    assert play(backend, lambda: replayed(outcome.transcript)) == outcome.transcript


def test_repeated_refused_call_leads_to_a_last_turn(backend: str) -> None:
    outcome = answer(backend, agent([act("sub", a=1, b=1), act("sub", a=1, b=1), final("0")]))
    assert (outcome.status, outcome.result, outcome.turns) == ("answered", "0", 3)


@pytest.mark.parametrize("error", [Unreachable("nobody listens"), KeyError("choices")])
def test_model_error_is_an_outcome_instead_of_an_exception(backend: str, error: Exception) -> None:
    outcome = answer(backend, agent([error]))
    assert outcome.status == "model_error"
    assert str(error) in outcome.reason


class Replies:
    """A model of somebody's own, with `reply` itself."""

    def __init__(self, made: Any) -> None:
        self.made = made

    async def reply(
        self, messages: Any, *, tools: Any = None, reply_schema: Any = None, on_text: Any = None
    ) -> Any:
        return self.made


def test_reply_of_another_type_is_a_model_error(backend: str) -> None:
    said = answer(backend, Agent(Replies(final("3"))))
    assert (said.status, said.result) == ("answered", "3")
    said = answer(backend, Agent(Replies(None)))
    assert said.status == "model_error"
    assert "the model Replies returned an object of type NoneType" in said.reason


def test_run_ended_by_a_model_error_can_be_resumed(backend: str) -> None:
    async def scenario() -> Any:
        session = agent([Unreachable("nobody listens"), final("4")]).session()
        first = await session.answer("2+2?")
        return first, await session.answer()

    first, second = play(backend, scenario)
    assert (first.status, second.status, second.result) == ("model_error", "answered", "4")


def test_session_sends_earlier_questions_and_answers(backend: str) -> None:
    model = ScriptedModel([final("4"), final("8")])

    async def scenario() -> Any:
        session = Agent(model).session()
        await session.answer("2+2?")
        return await session.answer("And twice that?")

    outcome = play(backend, scenario)
    assert outcome.turns == 1
    said = [message["content"] for message in model.asked[-1].messages[1:]]
    assert ["2+2?" in said[0], '"4"' in said[1], "And twice that?" in said[2]] == [True, True, True]
    assert of(ModelAsked, outcome.transcript)[-1].kept == 2


def test_empty_question_raises_value_error_at_once(backend: str) -> None:
    with pytest.raises(ValueError, match="empty"):
        answer(backend, agent([]), "  ")


def test_go_on_after_an_answer_raises_value_error(backend: str) -> None:
    async def scenario() -> None:
        session = agent([final()]).session()
        await session.answer("?")
        with pytest.raises(ValueError, match="nothing to go on with"):
            await session.answer()

    play(backend, scenario)


def test_one_session_answers_one_question_at_a_time(backend: str) -> None:
    async def scenario() -> None:
        session = agent([final(), final()]).session()
        async for _ in session.run("?"):
            with pytest.raises(RuntimeError, match="session of its own"):
                await session.answer("??")

    play(backend, scenario)


def test_a_model_without_replies_left_ends_the_run(backend: str) -> None:
    assert answer(backend, agent([])).status == "model_error"


@given(seed=st.integers(0, 10_000), rate=st.sampled_from([0.3, 0.7, 1.0]))
@settings(max_examples=examples(40), deadline=None)
def test_run_with_any_faulty_model_ends_and_can_be_replayed(
    backend: str, seed: int, rate: float
) -> None:
    def sensible(asked: Any) -> str:
        results = sum("ACTION_RESULT" in str(message["content"]) for message in asked.messages[1:])
        return final("3") if results else act("add", a=1, b=2)

    tools = Tools()
    model = FaultyModel(ScriptedModel(sensible), rate=rate, seed=seed)
    outcome = answer(backend, Agent(model, tools.both(), approval=Approvals(allow=("*",))))
    assert outcome.status in ("answered", "unsolvable", "model_error", "turn_limit", "needs_input")
    assert set(tools.calls) <= {("add", (1, 2))}
    assert isinstance(outcome.transcript[-1], Ended)
    check_transcript(outcome.transcript)
    assert play(backend, lambda: replayed(outcome.transcript)) == outcome.transcript


def test_question_without_a_user_pauses_the_run(backend: str) -> None:
    assert answer(backend, agent([ask("Which?")])).status == "needs_input"


def test_run_has_the_same_outcome_with_every_protocol(backend: str) -> None:
    call = ModelReply(tool_calls=(ToolCall(id="1", name="add", arguments={"a": 1, "b": 2}),))
    token = (
        '<|FunctionCallBegin|>{"name": "add", "parameters": {"a": 1, "b": 2}}<|FunctionCallEnd|>'
    )

    for protocol, first in ((NativeProtocol(), call), (DoubaoProtocol(), token)):
        tools = Tools()
        outcome = answer(
            backend,
            Agent(
                ScriptedModel([first, "3"]), tools.both(), protocol=protocol, approval=EVERYTHING
            ),
        )
        assert (outcome.status, outcome.result, tools.calls) == ("answered", "3", [("add", (1, 2))])
        again = play(
            backend, lambda done=outcome, same=protocol: replayed(done.transcript, protocol=same)
        )
        assert again == outcome.transcript


def test_notes_are_in_the_language_of_the_prompt(backend: str) -> None:
    model = ScriptedModel([act("add", a=1, b=2), final("不行", ok=False)])
    answer(
        backend, Agent(model, Tools().both(), language="zh", approval=Approvals(trust_hints=False))
    )
    assert "须经人工批准" in last_message(model)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"model": "gpt"}, TypeError),
        ({"tools": [3]}, TypeError),
        ({"approval": "yes"}, TypeError),
        ({"language": "fr"}, ValueError),
    ],
)
def test_invalid_arguments_of_agent_are_refused_at_once(
    backend: str, settings: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        Agent(**{"model": ScriptedModel([]), **settings})
