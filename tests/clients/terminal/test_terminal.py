"""A run at a terminal, without one: what is told of it, and what is made of what a person types."""

from __future__ import annotations

import ctypes
import io
import json
import os
import signal
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import msgspec
import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import example, given
from hypothesis import strategies as st
from support.chinese import english_in
from support.server_process import PATIENCE_SECONDS, wait_until
from toolwire_agent.agent import Allow, ApprovalRequest, Pause, Refuse
from toolwire_agent.agent.events import (
    ActionChosen,
    ApprovalAsked,
    CallFinished,
    CallStarted,
    Ended,
    EventRecorded,
    FinalForced,
    ModelFailed,
    QuestionAsked,
    Recorded,
    Refused,
    ReplyRefused,
    Resumed,
    ToolAsked,
    ToolsListed,
    UserAnswered,
    UserAsked,
)
from toolwire_agent.models import Price
from toolwire_agent.presentation import find_open_steps, format_end
from toolwire_agent.react.messages import Usage
from toolwire_agent.terminal import (
    Interrupted,
    JsonRenderer,
    Line,
    MainThread,
    Person,
    PlainRenderer,
    make_event_lines,
)
from toolwire_agent.terminal.forms import read_fields
from toolwire_agent.terminal.rich_renderer import RichRenderer
from toolwire_agent.terminal.terminal_run import TerminalRun
from toolwire_client import Elicitation, NoAnswer
from toolwire_schemas.language import use_language

STEERING = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), 0x202E, 0x2066)} - {"\n", "\t"}


def events_with(text: str) -> list[Recorded]:
    """An event of each kind that is told, with *text* wherever there is text of others."""
    return [
        ToolsListed(tools=[], missing={text: text}),
        ActionChosen(thought=text, tool=text, params={text: text}),
        ReplyRefused(reason=text),
        CallFinished(success=True, result=text),
        CallFinished(success=False, result={text: [text]}),
        Refused(reason=text),
        UserAsked(thought=text, content=text),
        FinalForced(reason=text, status="budget"),
        Ended(status="unsolvable", thought=text, result=text, reason=text),
    ]


@given(st.text())
def test_no_foreign_text_controls_the_terminal(text: str) -> None:
    for event in events_with(text):
        assert not any(STEERING & set(line.text) for line in make_event_lines(event))


@given(st.text())
def test_every_renderer_shows_every_text(text: str) -> None:
    out, err = io.StringIO(), io.StringIO()
    for face in (PlainRenderer(out, err), JsonRenderer(out, err)):
        for event in (QuestionAsked(content=text), *events_with(text), ModelFailed(reason=text)):
            face.show(event)
    lines = [line for line in out.getvalue().split("\n") if line.startswith('{"type":')]
    assert [msgspec.json.decode(line)["type"] for line in lines][-2:] == ["Ended", "ModelFailed"]


FIRST, SECOND = (
    ActionChosen(call=call, thought="", tool="add", params={"a": call}) for call in (0, 1)
)
ASKED = UserAsked(thought="", content="Which?")


@pytest.mark.parametrize(
    ("record", "waiting"),
    [
        ([], []),
        ([FIRST], [FIRST]),
        ([FIRST, ApprovalAsked(tool="add", params={}, reason="")], [FIRST]),
        ([FIRST, CallStarted(tool="add", params={})], [FIRST]),
        ([FIRST, CallStarted(tool="add", params={}), CallFinished(success=True, result=1)], []),
        ([FIRST, SECOND, CallFinished(call=1, success=True, result=1)], [FIRST]),
        ([FIRST, SECOND, Refused(reason="no")], [FIRST]),
        ([FIRST, SECOND, Refused(call=0, reason="no")], [SECOND]),
        ([ASKED], [ASKED]),
        ([ASKED, Ended(status="needs_input"), Resumed()], [ASKED]),
        ([ASKED, UserAnswered(content="this")], []),
        ([FIRST, Ended(status="cancelled"), QuestionAsked(content="Another?")], []),
    ],
)
def test_find_open_steps_returns_steps_without_an_outcome(
    record: list[Recorded], waiting: list[Recorded]
) -> None:
    assert find_open_steps(record) == waiting


USAGE = Usage(input_tokens=1_200_000, output_tokens=3_400)


@pytest.mark.parametrize(
    ("ended", "price", "text"),
    [
        (Ended(status="answered", turns=1), None, "answered (1 turn)"),
        (Ended(status="answered", turns=2), None, "answered (2 turns)"),
        (
            Ended(status="answered", turns=2, usage=USAGE),
            None,
            "answered (2 turns, 1,200,000 tokens read, 3,400 written)",
        ),
        (
            Ended(status="answered", turns=2, usage=USAGE),
            Price(input=0.5, output=10),
            "answered (2 turns, 1,200,000 tokens read, 3,400 written, cost 0.634000)",
        ),
        (
            Ended(status="answered", turns=2),
            Price(input=0.5, output=10),
            "answered (2 turns, cost unknown: the model reports no tokens)",
        ),
    ],
)
def test_the_last_line_has_turns_tokens_and_cost(
    ended: Ended, price: Price | None, text: str
) -> None:
    assert format_end(ended, price=price) == text


def test_rich_markup_in_texts_is_shown_as_text() -> None:
    from rich.console import Console

    out = io.StringIO()
    face = RichRenderer(Console(file=out, width=60), moves=False)
    face.show(Ended(status="answered", result="[bold]not bold[/bold] :smile:", turns=1))
    assert out.getvalue().splitlines()[1].rstrip() == "[bold]not bold[/bold] :smile:"


def test_long_results_and_arguments_are_shortened() -> None:
    (result,) = make_event_lines(CallFinished(success=True, result="x\n" * 10_000))
    assert result.text == "\n".join("x" * 8) + " … (20,000 characters)"
    (action,) = make_event_lines(ActionChosen(thought="", tool="t", params={"text": "x" * 1000}))
    assert len(action.text) < 120


# --- the person ---


def person(*typed: str | None) -> tuple[Person, list[Any]]:
    """A person who types these lines, and what they are told and asked."""
    lines, seen = list(typed), []

    def read(prompt: str, /, *, prefill: str = "") -> str | None:
        seen.append(prompt + prefill)
        return lines.pop(0)

    return Person(read, seen.append), seen


REQUEST = ApprovalRequest(tool="delete", params={"path": "a"}, reason="it may destroy something")


@pytest.mark.parametrize(
    ("typed", "verdict"),
    [
        (["y"], Allow()),
        ([" YES "], Allow()),
        (["what", "", "a"], Allow()),
        (["no not this one"], Refuse("not this one")),
        (["n", "why not"], Refuse("why not")),
        (["n", None], Refuse("")),
        (["e", '{"path": "b"}'], Allow({"path": "b"})),
        (["e", "{", "[]", '{"path": "b"}'], Allow({"path": "b"})),
        (["e", "", "y"], Allow()),
        (["e", "NaN", "9" * 4301, "[" * 100_000, "", "y"], Allow()),
        ([None], Pause()),
    ],
)
def test_typed_line_decides_about_the_call(typed: list[str | None], verdict: object) -> None:
    assert person(*typed)[0].approve(REQUEST) == verdict


IN_PROGRAM = msgspec.structs.replace(REQUEST, program="> 3  delete('a')")


@pytest.mark.parametrize(
    ("typed", "verdict"),
    [
        (["s"], Allow(scope="values")),
        (["PROGRAM"], Allow(scope="program")),
        (["20"], Allow(scope="tool", calls=20)),
        (["0", "1001", "9" * 5000, "-1", "²", "y"], Allow()),
        (["n"], Refuse("")),
    ],
)
def test_typed_line_decides_about_calls_of_a_program(
    typed: list[str | None], verdict: object
) -> None:
    approver, seen = person(*typed, "")
    assert approver.approve(IN_PROGRAM) == verdict
    assert [each.text for each in seen[:2] if isinstance(each, Line)] == [
        'Allow delete(path="a")?',
        "it may destroy something\n> 3  delete('a')",
    ]


def test_words_for_programs_mean_nothing_for_other_calls() -> None:
    approver, _ = person("s", "p", "20", "y")
    assert approver.approve(REQUEST) == Allow()


def test_always_allows_one_tool_but_no_interrupted_call() -> None:
    approver, seen = person("always", "n x", "n y")
    assert approver.approve(REQUEST) == Allow()
    assert approver.approve(REQUEST) == Allow()
    assert len(seen) == 1
    assert approver.approve(msgspec.structs.replace(REQUEST, interrupted=True)) == Refuse("x")
    assert approver.approve(msgspec.structs.replace(REQUEST, tool="other")) == Refuse("y")


def test_shortened_arguments_are_shown_whole_before_approval() -> None:
    hidden = "x" * 500 + "rm -rf /"
    approver, seen = person("n no")
    approver.approve(msgspec.structs.replace(REQUEST, params={"command": hidden}))
    assert isinstance(seen[0], Line)
    assert hidden in seen[0].text


def test_a_user_of_chinese_reads_in_chinese_why_arguments_are_not_json() -> None:
    user, seen = person("e", "{", "", "y")
    with use_language("zh"):
        user.approve(REQUEST)
    (refusal,) = (line.text for line in seen if isinstance(line, Line))
    assert refusal.startswith("不是 JSON：")
    assert english_in(refusal) == []


def test_rejected_arguments_can_be_edited_again() -> None:
    approver, seen = person("e", '{"path": 1}', "e", '{"path": "1"}')
    assert approver.approve(REQUEST) == Allow({"path": 1})
    again = msgspec.structs.replace(REQUEST, reason="the changed parameters do not fit: path")
    assert approver.approve(again) == Allow({"path": "1"})
    assert Line("failure", again.reason) in seen
    assert seen[-1] == 'arguments > {"path": 1}'


FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "age": {"type": "integer", "minimum": 18},
        "sure": {"type": "boolean", "default": True},
        "colour": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
        "sizes": {
            "type": "array",
            "items": {"anyOf": [{"const": 1, "title": "small"}, {"const": 2, "title": "big"}]},
        },
    },
    "required": ["name", "age", "colour"],
}


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        (["Ann", "20", "n", "GREEN", "big, small"],
         {"name": "Ann", "age": 20, "sure": False, "colour": "g", "sizes": [2, 1]}),
        (["A", "", "Ann", "old", "17", "", "18", "", "", "blue", "r", "medium", ""],
         {"name": "Ann", "age": 18, "sure": True, "colour": "r"}),
        (["Ann", "/decline"], NoAnswer.DECLINED),
        (["Ann", None], NoAnswer.DISMISSED),
    ],
)  # fmt: skip
def test_a_form_is_filled_in_field_by_field(typed: list[str | None], answer: object) -> None:
    assert person(*typed)[0].fill_in(Elicitation("Who?", FORM, "book")) == answer


@pytest.mark.parametrize(
    ("labels", "typed", "chosen"),
    [
        (["this call", "all calls", "no"], "2", "all calls"),
        (["this call", "all calls", "no"], "all calls", "all calls"),
        (["this call", "all calls", "no"], "N", "no"),
        (["this call", "this tool", "no"], "this t", "this tool"),
        (["5 kg", "1 kg", "2"], "2", "2"),
        (["Red", "Green"], "g", "Green"),
    ],
)
def test_a_choice_is_named_by_its_beginning_or_its_number(
    labels: list[str], typed: str, chosen: str
) -> None:
    (field,) = read_fields({"properties": {"allow": {"enum": labels}}, "required": ["allow"]})
    assert field.read_value(typed) == chosen


@pytest.mark.parametrize(
    ("labels", "typed"),
    [
        (["this call", "this tool"], "this"),
        (["this call", "this tool"], "3"),
        (["this call", "this tool"], "0"),
        (["Red", "Green"], "1"),
        (["Red", "Green"], ""),
    ],
)
def test_a_choice_that_is_not_named_is_asked_again(labels: list[str], typed: str) -> None:
    (field,) = read_fields({"properties": {"allow": {"enum": labels}}, "required": ["allow"]})
    with pytest.raises(ValueError, match=r"is not one of|needed"):
        field.read_value(typed)


@pytest.mark.parametrize(
    ("labels", "hint"),
    [
        (["this call", "no"], "1 this call | 2 no"),
        (["yes", "no"], "yes | no"),
        (["2 kg", "5"], "2 kg | 5"),
    ],
)
def test_choices_that_are_long_to_type_have_numbers(labels: list[str], hint: str) -> None:
    (field,) = read_fields({"properties": {"allow": {"enum": labels}}})
    assert field.hint == hint


def test_form_that_fails_validation_is_filled_in_again() -> None:
    properties = {"age": FORM["properties"]["age"], "name": FORM["properties"]["name"]}
    form = {"type": "object", "properties": properties, "dependentRequired": {"age": ["name"]}}
    asked, seen = person("20", "", "20", "Ann")
    assert asked.fill_in(Elicitation("Who?", form)) == {"age": 20, "name": "Ann"}
    assert [each for each in seen if isinstance(each, Line) and each.kind == "failure"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["type", "enum", "anyOf", "oneOf", "items", "title", "const", "default", "enumNames"]), inner  # noqa: E501
    ),
    max_leaves=10,
)  # fmt: skip


@given(JSON, st.text(max_size=5))
@example({"anyOf": [False]}, "x")
def test_an_invalid_form_does_not_crash(schema: Any, typed: str) -> None:
    for field in read_fields({"properties": {"field": schema}, "required": ["field"]}):
        with suppress(ValueError):
            field.read_value(typed)


# --- the main thread ---


def threads() -> MainThread:
    return MainThread(lambda: None, lambda: None)


def test_events_of_running_calls_are_shown_at_once_and_once() -> None:
    out = io.StringIO()
    terminal = TerminalRun(
        JsonRenderer(out, io.StringIO()), answers=[], is_attended=False, reads_input=False
    )
    early = [CallFinished(success=True, result=number) for number in (1, 2)]
    session: Any = SimpleNamespace(events=[])
    heard: list[Recorded] = []

    async def iterate_events() -> AsyncGenerator[Recorded, None]:
        yield CallStarted(tool="add", params={})
        for event in early:
            terminal.show_live(EventRecorded(event))
        yield ToolAsked(tool="add", message="", form={})
        for event in early:
            yield event
        yield Ended(status="answered")

    async def work() -> int:
        await terminal.show(session, iterate_events(), heard.append)
        return 0

    terminal.run(work)
    kinds = [json.loads(line)["type"] for line in out.getvalue().splitlines()]
    assert kinds == ["CallStarted", "CallFinished", "CallFinished", "ToolAsked", "Ended"]
    assert [type(event).__name__ for event in heard] == kinds


def test_main_thread_runs_jobs_in_order_and_raises_their_errors() -> None:
    main, done = threads(), []

    def note(text: str) -> Callable[[], None]:
        return lambda: done.append((text, threading.current_thread() is threading.main_thread()))

    def fail() -> None:
        raise LookupError("not here")

    async def work() -> str:
        main.queue(note("first"))
        await main.do(note("second"))
        with pytest.raises(LookupError, match="not here"):
            await main.do(fail)
        return "result"

    assert main.run(work) == "result"
    assert done == [("first", True), ("second", True)]


def test_ctrl_c_at_the_start_interrupts_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted_start(*given: Any, **named: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return start_blocking_portal(*given, **named)

    monkeypatch.setattr(
        "toolwire_client.waiting.main_thread.start_blocking_portal", interrupted_start
    )
    scopes: list[anyio.CancelScope] = []
    main = MainThread(lambda: scopes[0].cancel(), lambda: None)

    async def work() -> str:
        with anyio.CancelScope() as scope:
            scopes.append(scope)
            await anyio.sleep_forever()
        return "interrupted"

    assert main.run(work) == "interrupted"


_kill: Any = getattr(signal, "pthread_kill", None)


def as_before_a_read(ident: int, number: int) -> None:
    """Deliver SIGINT as Python sees it just before a read begins: Python notes the signal, and the
    read continues.
    """
    if number == signal.SIGINT:
        ctypes.pythonapi.PyErr_SetInterruptEx(number)
    else:
        _kill(ident, number)


def main_thread_sleeps() -> bool:
    status = Path(f"/proc/self/task/{os.getpid()}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "S"


@pytest.mark.skipif(
    not hasattr(signal, "pthread_kill"), reason="this system cannot interrupt a thread"
)
@pytest.mark.parametrize("comes", ["during the read", "just before it"])
def test_input_is_not_read_after_the_question_ended(
    comes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, writing = os.pipe()
    main, ends = threads(), []
    if comes == "just before it":
        monkeypatch.setattr("signal.pthread_kill", as_before_a_read)

    def read() -> bytes:
        try:
            with main.allow_interrupt():
                begun.set()
                return os.read(reading, 1)
        except Interrupted:
            ends.append("interrupted")
            raise

    begun = threading.Event()

    async def work() -> str:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(main.do, read)
                await anyio.to_thread.run_sync(begun.wait)
                await anyio.to_thread.run_sync(wait_until, main_thread_sleeps)
                scope.cancel()
        return await main.do(lambda: "the next one")

    def end_the_read() -> None:
        ends.append("too late")
        os.write(writing, b"x")

    too_late = threading.Timer(PATIENCE_SECONDS, end_the_read)
    too_late.start()
    assert main.run(work) == "the next one"
    too_late.cancel()
    assert ends == ["interrupted"]
    os.close(reading)
    os.close(writing)
