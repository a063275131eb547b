"""Answers of a type: the model learns which, what does not fit is asked for again, and the outcome
has the value.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import annotated_types
import msgspec
import pydantic
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.agent_scripts import BACKENDS, act, agent, ask, check_transcript, play, replayed
from support.examples import examples
from support.model_endpoint import StandIn
from support.type_strategies import FORMATS, HINTS, fitting
from toolwire_agent.agent import Agent, BrokenTranscript, Budgets, Outcome, load
from toolwire_agent.agent.events import ModelAsked, ReplyRefused
from toolwire_agent.agent.result_type import ResultType
from toolwire_agent.models import OpenAIModel, ScriptedModel
from toolwire_agent.react import (
    ModelReply,
    NativeProtocol,
    Protocol,
    SmallProtocol,
    StructuredProtocol,
)


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@dataclasses.dataclass
class Trip:
    city: str
    days: int
    stops: list[Trip] = dataclasses.field(default_factory=list)


class Place(TypedDict):
    name: str


class Even(pydantic.BaseModel):
    number: int

    @pydantic.field_validator("number")
    @classmethod
    def _is_even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("it must be even")
        return value


def done(result: Any, *, ok: bool = True) -> str:
    return json.dumps({"thought": "I know", "type": "FINAL_ANSWER", "ok": ok, "result": result})


def answer(backend: str, script: list[Any], kind: Any, **settings: Any) -> Outcome[Any]:
    outcome: Outcome[Any] = play(
        backend, lambda: agent(script, **settings).answer("Where?", result_type=kind)
    )
    check_transcript(outcome.transcript)
    return outcome


def refusals(outcome: Outcome[Any]) -> list[str]:
    return [event.reason for event in outcome.transcript if isinstance(event, ReplyRefused)]


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        (Trip, {"city": "Rome", "days": 2}, Trip("Rome", 2)),
        (Trip, '{"city": "Rome", "days": 2}', Trip("Rome", 2)),
        (Trip, 'Here it is:\n```json\n{"city": "Rome", "days": 2}\n```', Trip("Rome", 2)),
        (
            Trip,
            {"city": "Rome", "days": 2, "stops": [{"city": "Pisa", "days": 1}]},
            Trip("Rome", 2, [Trip("Pisa", 1)]),
        ),
        (Place, {"name": "Rome"}, {"name": "Rome"}),
        (Even, {"number": 4}, Even(number=4)),
        (int, 5, 5),
        (int, "5", 5),
        (bool, False, False),
        (float, 5, 5.0),
        (list[int], [1, 2], [1, 2]),
        (list[int], "[1, 2]", [1, 2]),
        (list[int], "```json\n[1, 2]\n```", [1, 2]),
        (str, "```\n5\n```", "```\n5\n```"),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (Literal["red", "blue"], "red", "red"),
        (Literal["red", 1], 1, 1),
        (int | None, None, None),
        (str, "5", "5"),
        (str, '{"a": 1}', '{"a": 1}'),
        (Annotated[str, annotated_types.MaxLen(5)], "short", "short"),
        (str | list[int], [1], [1]),
        (Any, {"a": [None]}, {"a": [None]}),
    ],
)
def test_the_result_is_a_value_of_the_type(kind: Any, given: Any, value: Any) -> None:
    outcome = answer("asyncio", [done(given)], kind)
    assert (outcome.status, outcome.result, outcome.turns) == ("answered", value, 1)
    assert type(outcome.result) is type(value)


def test_answer_of_another_type_is_retried_with_its_faults(backend: str) -> None:
    model = ScriptedModel(
        [done("Rome"), done({"city": "Rome", "days": "few"}), done({"city": "Rome", "days": 2})]
    )
    outcome = play(backend, lambda: Agent(model).answer("Where?", result_type=Trip))
    assert (outcome.status, outcome.result, outcome.turns) == ("answered", Trip("Rome", 2), 3)
    assert refusals(outcome) == [
        'result: "Rome" is not an object',
        'result.days: "few" is not an integer',
    ]
    told = json.loads(model.asked[-1].messages[-1]["content"])
    assert told["type"] == "ERROR"
    assert 'result.days: "few" is not an integer' in told["msg"]
    assert '"required": ["city", "days"]' in told["msg"]
    check_transcript(outcome.transcript)
    assert play(backend, lambda: replayed(outcome.transcript)) == outcome.transcript


def test_message_of_the_types_validator_reaches_the_model(backend: str) -> None:
    outcome = answer(backend, [done({"number": 3}), done({"number": 4})], Even)
    assert outcome.result == Even(number=4)
    assert "it must be even" in refusals(outcome)[0]


class Odd(msgspec.Struct):
    number: int

    def __post_init__(self) -> None:
        raise LookupError("out of order")


def test_exception_of_the_type_refuses_the_answer() -> None:
    outcome = answer("asyncio", [done({"number": 3})] * 2, Odd)
    assert (outcome.status, outcome.result) == ("model_error", None)
    assert "out of order" in outcome.reason


def test_explanation_becomes_the_reason_of_the_outcome(backend: str) -> None:
    outcome = answer(backend, [done("No flights.", ok=False)], Trip)
    assert (outcome.status, outcome.result, outcome.reason) == ("unsolvable", None, "No flights.")


def test_repeated_wrong_answers_end_the_run(
    backend: str,
) -> None:
    same = answer(backend, [done("Rome")] * 9, Trip)
    assert (same.status, same.result, same.turns) == ("model_error", None, 2)
    others = answer(backend, [done(f"Rome {number}") for number in range(9)], Trip)
    assert (others.status, others.result, others.turns) == ("model_error", None, 4)
    assert "is not an object" in others.reason


def test_a_last_turn_with_a_wrong_answer_ends_the_run(backend: str) -> None:
    script = [act("add", a=1, b=2), done("Rome"), done({"city": "Rome", "days": 2})]
    outcome = answer(backend, script, Trip, budgets=Budgets(turns=1))
    assert (outcome.status, outcome.result, outcome.turns) == ("turn_limit", None, 2)
    assert (
        play(backend, lambda: replayed(outcome.transcript, budgets=Budgets(turns=1)))
        == outcome.transcript
    )


def test_each_question_of_a_session_has_its_own_type(backend: str) -> None:
    model = ScriptedModel([done(3), done("three"), done([3])])

    async def scenario() -> list[Any]:
        session = Agent(model).session()
        first = await session.answer("?", result_type=int)
        second = await session.answer("?")
        return [
            first.result,
            second.result,
            (await session.answer("?", result_type=list[int])).result,
        ]

    assert play(backend, scenario) == [3, "three", [3]]
    assert "FINAL_ANSWER" in str(model.asked[1].reply_schema)
    assert model.asked[1].messages[-1]["content"] == '{"type": "QUESTION", "content": "?"}'


@pytest.mark.parametrize("kind", [complex, 5, "Trip", object(), type("Mine", (), {})])
def test_a_type_without_a_form_in_json_is_refused_before_anything_happens(kind: Any) -> None:
    model = ScriptedModel([])
    with pytest.raises(TypeError, match=r"^result: "):
        Agent(model).answer_sync("?", result_type=kind)
    assert model.asked == []


# --- what the model is told -----------------------------------------------------------------------


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "protocol", [StructuredProtocol("en"), StructuredProtocol("zh"), SmallProtocol("en")]
)
@pytest.mark.parametrize("kind", [Trip, int, list[Trip], int | None])
def test_reply_schema_allows_only_answers_of_the_type(
    protocol: Protocol, kind: Any, strict: bool
) -> None:
    model = ScriptedModel([done("x", ok=False)])
    model.strict_schemas = strict  # type: ignore[attr-defined]
    Agent(model, protocol=protocol).answer_sync("Where?", result_type=kind)
    schema = model.asked[0].reply_schema
    assert schema is not None
    Draft202012Validator.check_schema(schema)
    trip = {"city": "Rome", "days": 2, "stops": [{"city": "Pisa", "days": 1, "stops": []}]}
    value = {Trip: trip, int: 3}.get(kind, [trip] if kind == list[Trip] else None)
    thought = {} if isinstance(protocol, SmallProtocol) else {"thought": "t"}

    def fits(**members: Any) -> bool:
        reply = {**thought, "type": "FINAL_ANSWER", **members}
        return Draft202012Validator(schema).is_valid({"reply": reply} if strict else reply)

    assert fits(ok=True, result=value)
    assert fits(ok=False, result="nobody knows")
    assert not fits(ok=True, result={"city": 5})
    assert not fits(ok=False, result=value)


@pytest.mark.parametrize("protocol", [StructuredProtocol, SmallProtocol, NativeProtocol])
def test_the_schema_is_in_the_question_and_in_the_request(protocol: Any) -> None:
    answers = {NativeProtocol: 'It is:\n{"city": "Rome", "days": 2}'}
    with StandIn(answers.get(protocol, done({"city": "Rome", "days": 2}))) as server:
        model = OpenAIModel("m", base_url=server.url, key="sk-0123456789")
        outcome = Agent(model, protocol=protocol()).answer_sync("Where?", result_type=Trip)
    assert outcome.result == Trip("Rome", 2)
    (request,) = server.requests
    assert '"days"' in request.body["messages"][-1]["content"].replace("\\", "")
    assert ("response_format" in request.body) == (protocol is not NativeProtocol)


def test_a_native_answer_that_does_not_fit_is_asked_for_again() -> None:
    replies = [
        ModelReply(text="Rome, for two days."),
        ModelReply(text='{"city": "Rome", "days": 2}'),
    ]
    outcome = Agent(ScriptedModel(replies), protocol=NativeProtocol()).answer_sync(
        "Where?", result_type=Trip
    )
    assert (outcome.result, outcome.turns) == (Trip("Rome", 2), 2)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_value_of_any_type_is_a_result(data: st.DataObject) -> None:
    kind = ResultType(data.draw(HINTS, "hint"))
    value = data.draw(fitting(kind.schema, kind.schema), "value")
    if Draft202012Validator(kind.schema, format_checker=FORMATS).is_valid(value):
        text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
        assert kind.find_fault(text) == ""
    again = ResultType(kind.schema)
    assert again.schema == kind.schema


@given(st.text() | st.text(st.characters(exclude_categories=())))
def test_any_text_is_a_result_or_has_a_fault(text: str) -> None:
    for kind in (Trip, int, list[str], str | None):
        assert isinstance(ResultType(kind).find_fault(text), str)


# --- transcripts ----------------------------------------------------------------------------------


def test_a_question_of_a_type_goes_on_in_another_process(tmp_path: Path, backend: str) -> None:
    path = tmp_path / "run.jsonl"

    def resumed(script: list[Any], **given: Any) -> Any:
        return play(backend, lambda: agent(script, transcript=path).resume(path).answer(**given))

    first = answer(backend, [ask("Which year?")], Trip, transcript=path)
    assert (first.status, first.result) == ("needs_input", None)
    going_on = agent(
        [done("Rome"), done({"city": "Rome", "days": 2})], on_ask=lambda question: "This one."
    )
    outcome = play(backend, going_on.resume(path).answer)
    assert (outcome.result, len(refusals(outcome))) == ({"city": "Rome", "days": 2}, 1)
    going_on = agent([done({"city": "Rome", "days": 2})], on_ask=lambda question: "This one.")
    assert play(backend, lambda: going_on.resume(path).answer(result_type=Trip)).result == Trip(
        "Rome", 2
    )


def test_a_run_with_refused_answers_that_was_killed_at_any_event_goes_on() -> None:
    backend = "asyncio"
    script = [
        done("Rome"),
        act("add", a=1, b=2),
        done({"days": 1}),
        done({"city": "Rome", "days": 2}),
    ]
    whole = answer(backend, script, Trip).transcript
    first = next(place for place, event in enumerate(whole) if isinstance(event, ModelAsked))
    for length in range(first, len(whole)):
        left = script[sum(type(event).__name__ == "ModelReplied" for event in whole[:length]) :]
        outcome = play(
            backend, partial(agent(left).resume(whole[:length]).answer, result_type=Trip)
        )
        assert (outcome.status, outcome.result, outcome.turns) == ("answered", Trip("Rome", 2), 4)
        assert play(backend, partial(replayed, outcome.transcript)) == outcome.transcript


@pytest.mark.parametrize(
    "schema", ['{"type": "nothing"}', '{"$ref": "#/$defs/none"}', '{"properties": []}']
)
def test_a_transcript_with_an_invalid_schema_is_broken(tmp_path: Path, schema: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(
        '{"type": "Started"}\n{"type": "ToolsListed", "tools": []}\n'
        f'{{"type": "QuestionAsked", "content": "?", "result_schema": {schema}}}\n'
    )
    assert load(path)
    with pytest.raises(BrokenTranscript, match="line 3, does not fit"):
        agent([]).resume(path)


# --- types ----------------------------------------------------------------------------------------

TYPED = """
from dataclasses import dataclass
from typing import Literal, assert_type

from toolwire_agent import Agent
from toolwire_agent.agent import Outcome

@dataclass
class Trip:
    city: str

async def plan(agent: Agent, outcome: Outcome) -> None:
    assert_type((await agent.answer("?")).result, str | None)
    assert_type((await agent.answer("?", result_type=Trip)).result, Trip | None)
    assert_type((await agent.answer("?", result_type=list[Trip])).result, list[Trip] | None)
    assert_type((await agent.answer("?", result_type=Trip | int)).result, Trip | int | None)
    assert_type((await agent.answer("?", result_type=Literal["a"])).result, Literal["a"] | None)
    assert_type(agent.answer_sync("?").result, str | None)
    assert_type(agent.answer_sync("?", result_type=Trip).result, Trip | None)
    assert_type((await agent.session().answer("?", result_type=Trip)).result, Trip | None)
    assert_type((await agent.resume("run.jsonl").answer(result_type=Trip)).result, Trip | None)
    assert_type(outcome.result, str | None)
"""


@pytest.mark.process
@pytest.mark.slow
def test_a_type_checker_knows_the_type_of_the_result(tmp_path: Path) -> None:
    (tmp_path / "typed.py").write_text(TYPED)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "typed.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "Success: no issues found in 1 source file\n")
