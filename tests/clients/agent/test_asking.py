"""The user, whom the model and its tools ask."""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
import pytest
from support.agent_scripts import (
    BACKENDS,
    EVERYTHING,
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
from toolwire_agent.agent import Agent, Budgets, Clock, load
from toolwire_agent.agent.events import (
    CallFinished,
    CallStarted,
    FinalForced,
    FormAnswered,
    ToolAsked,
    UserAnswered,
    UserAsked,
)
from toolwire_agent.models import ScriptedModel
from toolwire_client import Elicitation, NoAnswer, connect
from toolwire_tools import Context, find_tools

pytestmark = pytest.mark.parametrize("backend", BACKENDS)

SCRIPT = [ask("Which day?"), final("done")]


class Times(Clock):
    """A clock that goes when it is told to."""

    now = 0.0

    def read_seconds(self) -> float:
        return self.now


def heard(model: ScriptedModel) -> str:
    return str(json.loads(model.asked[-1].messages[-1]["content"])["content"])


@pytest.mark.parametrize("said", ["Sunday", {"answer": "Sunday"}])
def test_answer_of_the_user_reaches_the_model(backend: str, said: Any) -> None:
    asked: list[Elicitation] = []

    def on_ask(question: Elicitation) -> Any:
        asked.append(question)
        return said

    model = ScriptedModel(SCRIPT)
    outcome = answer(backend, Agent(model, on_ask=on_ask))
    assert [question.message for question in asked] == ["Which day?"]
    assert heard(model) == "Sunday"
    assert of(UserAsked, outcome.transcript)[0].content == "Which day?"
    assert play(backend, lambda: replayed(outcome.transcript)) == outcome.transcript


@pytest.mark.parametrize("said", list(NoAnswer))
def test_missing_answer_of_the_user_is_reported_to_the_model(backend: str, said: NoAnswer) -> None:
    async def on_ask(question: Elicitation) -> NoAnswer:
        return said

    model = ScriptedModel(SCRIPT)
    assert answer(backend, Agent(model, on_ask=on_ask)).status == "answered"
    assert "user" in heard(model)


def test_no_user_setting_decides_between_pausing_and_continuing(backend: str) -> None:
    waiting = answer(backend, agent(SCRIPT))
    assert (waiting.status, waiting.turns) == ("needs_input", 1)
    assert isinstance(waiting.pending, UserAsked)
    assert waiting.pending.content == "Which day?"

    model = ScriptedModel(SCRIPT)
    outcome = answer(backend, Agent(model, no_user="continue"))
    assert outcome.status == "answered"
    assert of(UserAnswered, outcome.transcript)[0].content is None
    assert "No user is here" in heard(model)


def test_question_is_answered_after_resuming(backend: str) -> None:
    answers: list[Any] = [None, "Sunday"]
    model = ScriptedModel(SCRIPT)

    async def scenario() -> Any:
        session = Agent(model, on_ask=lambda question: answers.pop(0)).session()
        first = await session.answer("When?")
        return first.status, await session.answer()

    status, outcome = play(backend, scenario)
    assert (status, outcome.status, heard(model)) == ("needs_input", "answered", "Sunday")


@pytest.mark.parametrize("said", [{"reply": "Sunday"}, True, 5, ["Sunday"]])
def test_answer_of_another_type_raises_type_error_and_ends_the_transcript(
    backend: str, tmp_path: Any, said: Any
) -> None:
    path = tmp_path / "run.jsonl"
    with pytest.raises(TypeError, match="on_ask must return text"):
        answer(backend, agent(SCRIPT, on_ask=lambda question: said, transcript=path))
    resumed = agent([final("done")], on_ask=lambda question: "Sunday").resume(path)
    assert play(backend, resumed.answer).status == "answered"


def test_on_ask_answers_local_tools_too(backend: str) -> None:
    def book(context: Context) -> str:
        """Book a day."""
        return context.ask("Which day?", str)

    asked: list[Elicitation] = []

    def on_ask(question: Elicitation) -> str:
        asked.append(question)
        return "Sunday"

    model = ScriptedModel([act("book"), final("done")])
    answer(backend, Agent(model, find_tools(book), approval=EVERYTHING, on_ask=on_ask))
    assert [(question.message, question.tool) for question in asked] == [("Which day?", "book")]
    assert "Sunday" in str(model.asked[-1].messages[-1])


@pytest.mark.process
def test_on_ask_serves_the_client_of_a_server_too(backend: str, tmp_path: Any) -> None:
    (tmp_path / "asking.py").write_text(
        "from toolwire import Context, tool_api\n"
        "@tool_api\n"
        "def book(context: Context) -> str:\n"
        "    'Book a day.'\n"
        "    return str(context.ask('Which day?', str))\n"
    )

    def user(question: Elicitation) -> dict[str, Any]:
        return dict.fromkeys(question.schema["properties"], "Sunday")

    async def scenario() -> Any:
        server = [sys.executable, "-m", "toolwire", "serve", str(tmp_path / "asking.py")]
        async with connect(server, on_ask=user) as client:
            model = ScriptedModel([ask("Really?"), act("book"), final("done")])
            return await Agent(model, client, approval=EVERYTHING, on_ask=user).answer("Book!")

    outcome = play(backend, scenario)
    assert of(UserAnswered, outcome.transcript)[0].content == "Sunday"
    assert "Sunday" in str(of(CallFinished, outcome.transcript)[0].result)


BOOK = """
from toolwire import Context, tool_api

@tool_api
def book(context: Context) -> str:
    'Book a day.'
    return f"{context.ask('Which day?', str)}, {context.ask('How many?', int)}"
"""


def booking(model: ScriptedModel, client: Any = None, **settings: Any) -> Agent:
    def book(context: Context) -> str:
        """Book a day."""
        return f"{context.ask('Which day?', str)}, {context.ask('How many?', int)}"

    return Agent(
        model, find_tools(book) if client is None else client, approval=EVERYTHING, **settings
    )


def by_form(question: Elicitation) -> Any:
    (field,) = question.schema["properties"].values()
    return dict.fromkeys(
        question.schema["properties"], "Sunday" if field["type"] == "string" else 2
    )


def check_that_questions_are_told(outcome: Any, told: Any, tool: str | None = "book") -> None:
    during = [
        event
        for event in told
        if isinstance(event, CallStarted | ToolAsked | FormAnswered | CallFinished)
    ]
    assert kinds(during) == [
        "CallStarted", "ToolAsked", "FormAnswered", "ToolAsked", "FormAnswered", "CallFinished"
    ]  # fmt: skip
    asked, answered = of(ToolAsked, told), of(FormAnswered, told)
    assert [(event.tool, event.message) for event in asked] == [
        (tool, "Which day?"),
        (tool, "How many?"),
    ]
    assert [(event.action, list(event.content.values())) for event in answered] == [
        ("accept", ["Sunday"]),
        ("accept", [2]),
    ]
    assert during[-1].result == "Sunday, 2"
    check_transcript(told)
    assert tuple(outcome.transcript) == tuple(told)


def test_elicitations_of_local_tools_are_events_and_are_replayed(
    backend: str, tmp_path: Any
) -> None:
    path = tmp_path / "run.jsonl"
    model = ScriptedModel([act("book"), final("done")])
    agent = booking(model, on_ask=lambda question: by_form(question), transcript=path)
    outcome = answer(backend, agent)
    check_that_questions_are_told(outcome, load(path))
    assert play(backend, lambda: replayed(path)) == outcome.transcript


@pytest.mark.process
@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize("blocks", [False, True])
def test_elicitations_of_servers_are_events_and_are_replayed(
    backend: str, tmp_path: Any, era: Any, blocks: bool
) -> None:
    (tmp_path / "asking.py").write_text(BOOK)
    opening = connect(
        [sys.executable, "-m", "toolwire", "serve", str(tmp_path / "asking.py")],
        on_ask=by_form,
        era=era,
    )
    model = ScriptedModel([act("book"), final("done")])

    async def scenario() -> Any:
        if blocks:
            with opening as client:
                return await booking(model, client).answer("Book!")
        async with opening as client:
            return await booking(model, client).answer("Book!")

    outcome = play(backend, scenario)
    check_that_questions_are_told(outcome, outcome.transcript, "book" if era == "modern" else None)
    assert play(backend, lambda: replayed(outcome.transcript)) == outcome.transcript


def test_text_is_converted_to_the_type_of_the_form_field(backend: str) -> None:
    model = ScriptedModel([act("book"), final("done")])
    outcome = answer(backend, booking(model, on_ask=lambda question: "2"))
    assert [event.content for event in of(FormAnswered, outcome.transcript)] == [
        {"answer": "2"},
        {"answer": 2},
    ]


def test_waits_for_forms_do_not_count_as_time_of_the_question(backend: str) -> None:
    clock = Times()

    def slow(question: Elicitation) -> Any:
        clock.now += 1000
        return by_form(question)

    model = ScriptedModel([act("book"), final("done")])
    outcome = answer(
        backend, booking(model, on_ask=slow, clock=clock, budgets=Budgets(seconds=100))
    )
    assert outcome.status == "answered"
    assert not of(FinalForced, outcome.transcript)


def test_run_cancelled_during_a_form_is_replayed_and_resumed(backend: str, tmp_path: Any) -> None:
    path = tmp_path / "run.jsonl"

    async def cancels(question: Elicitation) -> Any:
        session.cancel("enough")
        await anyio.sleep_forever()

    async def scenario() -> Any:
        nonlocal session
        session = booking(ScriptedModel([act("book")]), on_ask=cancels, transcript=path).session()
        return await session.answer("Book!")

    session: Any = None
    outcome = play(backend, scenario)
    assert kinds(outcome.transcript)[-3:] == ["CallStarted", "ToolAsked", "Ended"]
    assert play(backend, lambda: replayed(path)) == outcome.transcript
    for cut in (1, 2):  # the process was killed
        rest = outcome.transcript[:-cut]
        assert play(backend, lambda rest=rest: replayed(rest)) == rest
    again = booking(ScriptedModel([final("done")]), on_ask=by_form, transcript=path).resume(path)
    assert play(backend, again.answer).status == "answered"
    assert play(backend, lambda: replayed(path)) == tuple(load(path))
