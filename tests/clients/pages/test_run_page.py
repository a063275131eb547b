"""Runs as a timeline: everything that happened, the runs of other agents within it, and any text
only as text.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest
from hypothesis import given
from markdown_it import MarkdownIt
from support.agent_scripts import act, agent, ask, final
from support.parsed_html import Parsed, assert_inert, texts
from toolwire_agent.agent import events
from toolwire_agent.agent.transcripts.transcript import load, load_sessions
from toolwire_agent.presentation import present
from toolwire_agent.react.messages import Action, ModelReply, Usage
from toolwire_agent.run_page import (
    write_event_html,
    write_run_html,
    write_run_markdown,
    write_run_page,
)
from toolwire_schemas.output import make_printable

AT = datetime(2026, 5, 1, 12, tzinfo=UTC)


def every_event(text: str) -> list[Any]:
    """Return a list with an event of each kind, with *text* in every place."""
    params = {text: text, "list": [text]}
    made: list[Any] = [
        events.Started(model=text, protocol=text, instructions=text, warnings=[text]),
        events.ToolsListed(tools=[{"name": text}], missing={text: text}),
        events.QuestionAsked(content=text, result_schema={"title": text}),
        events.ModelAsked(kept=0, messages=[{"role": text, "content": text, "tool_calls": [text]}]),
        events.ModelReplied(
            reply=ModelReply(
                text=text, reasoning=text, usage=Usage(input_tokens=9, output_tokens=1)
            )
        ),
        events.ReplyRefused(reason=text, action=Action(text, text, params)),
        events.ActionChosen(thought=text, tool=text, params=params, warnings=[text]),
        events.ApprovalAsked(tool=text, params=params, reason=text),
        events.Approved(params=params),
        events.CallStarted(tool=text, params=params),
        events.TaskStarted(task=text),
        events.ToolAsked(tool=text, message=text, form={"title": text}),
        events.FormAnswered(action="accept", content={text: text}),
        events.CallFinished(success=True, result=text, note=text),
        events.CallFinished(success=False, result={text: text}),
        events.Refused(reason=text),
        events.UserAsked(thought=text, content=text),
        events.UserAnswered(content=text),
        events.ModelFailed(reason=text),
        events.FinalForced(reason=text, status="budget"),
        events.Resumed(),
        events.Ended(status="answered", result=text, reason=text, thought=text),
    ]
    return [
        type(event)(**{**fields(event), "at": AT + timedelta(seconds=n)})
        for n, event in enumerate(made)
    ]


def fields(event: Any) -> dict[str, Any]:
    return {name: getattr(event, name) for name in event.__struct_fields__}


@given(texts)
def test_any_text_in_any_place_of_a_run_is_text_only(text: str) -> None:
    page = Parsed(write_run_page(every_event(text)))
    assert_inert(page)
    markdown = {
        "div",
        "em",
        "strong",
        "s",
        "a",
        "hr",
        "br",
        "blockquote",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }
    markdown |= {"ul", "ol", "li", "h3", "h4", "h5", "h6", "p", "pre", "code", "details", "summary"}
    assert {*page.tags} <= {*Parsed(write_run_page(every_event("x"))).tags} | markdown
    if text.strip() and "\n" not in text:  # else it is laid out, or quoted
        assert page.text.count(make_printable(text)) >= 20


@given(texts)
def test_any_text_in_any_place_of_a_run_is_code_in_markdown(text: str) -> None:
    renderer = MarkdownIt("commonmark", {"html": True}).enable("table")
    made, usual = (
        Parsed(renderer.render(write_run_markdown(every_event(one)))).tags for one in (text, "x")
    )
    assert [tag for tag in made if tag != "code"] == [tag for tag in usual if tag != "code"]


def test_the_table_of_presentations_has_a_row_for_each_kind_of_event() -> None:
    assert {type(event) for event in every_event("x")} == set(get_args(events.Recorded))
    for event in every_event("x"):
        assert (present(event) is None) == isinstance(event, events.CallStarted)


def test_each_event_is_an_item_except_those_that_the_next_one_shows() -> None:
    hidden = (events.CallStarted,)
    for event in every_event("x"):
        made = write_event_html(event)
        assert (made == "") == isinstance(event, hidden), event
        assert not made or Parsed(made).tags[0] == "li"


def test_waits_have_their_duration_and_replies_their_tokens() -> None:
    page = Parsed(write_run_page(every_event("x")))
    assert page.text.count("1.0 s") >= 5
    assert "9 tokens read, 1 written" in page.text
    assert "2.0 s for the model, 3.0 s in tools, 4.0 s for people" in page.text


def test_a_run_without_times_or_without_events_is_shown() -> None:
    untimed = [type(event)(**{**fields(event), "at": events.NEVER}) for event in every_event("x")]
    assert "1970" not in write_run_page(untimed)
    assert "took" not in write_run_html(untimed)
    assert "A run without a question" in write_run_page([])


def test_long_runs_and_results_are_cut() -> None:
    result = events.CallFinished(success=True, result="x" * 5_000_000)
    assert len(write_run_html([result] * 20)) < 20 * 21_000
    assert "8,000 more events" in write_run_html([events.Resumed()] * 10_000)


def test_a_real_run_reads_from_the_question_to_the_answer() -> None:
    made = agent(
        [
            act("add", a=1, b=2),
            act("fail", reason="no luck"),
            ask("Which one?"),
            final("It is **3**"),
        ]
    )
    outcome = anyio.run(made.answer, "What is it?")
    assert outcome.pending is not None
    text = Parsed(write_run_page(outcome.transcript)).text
    order = [
        "What is it?",
        "I need add",
        "add",
        "I need fail",
        "no luck",
        "Which one?",
        "needs_input",
    ]
    places = [text.rindex(part) for part in order[3:]]
    assert places == sorted(places)
    assert all(part in text for part in order)


def answered(made: Any, question: str) -> None:
    anyio.run(made.answer, question)


def test_the_run_of_an_agent_that_was_called_as_a_tool_is_in_the_call(tmp_path: Path) -> None:
    inner = agent(
        [act("add", a=20, b=22), final("forty-two")],
        transcript=tmp_path / "inner.jsonl",
        name="helper",
    )
    answered(inner, "another question")
    inner = agent(
        [act("add", a=20, b=22), final("forty-two")],
        transcript=tmp_path / "inner.jsonl",
        name="helper",
    )
    script = [act("helper", question="Add 20 and 22"), final("It is 42")]
    outer = agent(
        script, [inner.as_tool("helper", "It helps.")], transcript=tmp_path / "outer.jsonl"
    )
    answered(outer, "How much?")
    related = [session.events for session in load_sessions(tmp_path / "inner.jsonl")]
    assert len(related) == 2
    html = write_run_html(load(tmp_path / "outer.jsonl"), related)
    assert html.count('<ol class="run">') == 2
    assert "another question" not in html
    inside = html[html.rindex('<ol class="run">') :]
    assert "I need add" in inside
    assert Parsed(html).text.count("forty-two") >= 2


def test_the_run_of_an_agent_called_as_a_tool_is_shown_in_its_own_call() -> None:
    def at(second: int, event: Any) -> Any:
        return type(event)(**{**fields(event), "at": AT + timedelta(seconds=second)})

    outer = [at(0, events.Started()), at(0, events.QuestionAsked(content="Both?"))]
    for call in (0, 1):
        about: dict[str, Any] = {
            "call": call,
            "tool": "helper",
            "params": {"question": f"Part {call}?"},
        }
        outer += [
            at(1, events.ActionChosen(thought="", **about)),
            at(1, events.CallStarted(**about)),
        ]
    outer += [
        at(9, events.CallFinished(call=call, success=True, result=f"result {call}"))
        for call in (0, 1)
    ]
    inner = [
        [at(2, events.Started()), at(2, events.QuestionAsked(content=f"Part {call}?"))]
        for call in (1, 0)
    ]
    found = Parsed(write_run_html(outer, inner)).text
    order = ["result 0", "run: Part 0?", "result 1", "run: Part 1?"]
    assert [found.index(part) for part in order] == sorted(found.index(part) for part in order)


def test_a_fork_says_where_it_starts_and_is_shown_where_it_leaves(tmp_path: Path) -> None:
    source = tmp_path / "run.jsonl"
    first = agent([act("add", a=1, b=2), final("three")], transcript=source)
    answered(first, "How much?")
    at = 1 + [type(event) for event in load(source)].index(events.CallFinished)
    other = agent([final("a third way")], transcript=tmp_path / "fork.jsonl")
    anyio.run(other.fork(source, at).answer)
    fork = load(tmp_path / "fork.jsonl")
    html = write_run_html(fork)
    assert (
        html.count(" copied") + html.count('"copied') == at - 2
    )  # neither the start nor the start of the call is shown
    assert f"{source}, line {at}" in Parsed(html).text
    both = write_run_html(load(source), [fork])
    assert both.count('<ol class="run">') == 2
    assert "a third way" in both
    assert "a third way" not in write_run_html(load(source))


def test_each_related_run_is_shown_once_even_if_all_seem_to_call_each_other() -> None:
    call = events.CallStarted(tool="again", params={"question": "Again?"})
    run = [
        events.Started(),
        events.QuestionAsked(content="Again?"),
        call,
        events.CallFinished(success=True, result=1),
    ]
    html = write_run_html(list(run), [list(run) for _ in range(300)])
    assert html.count('<ol class="run">') == 301


@pytest.mark.parametrize("name", ["html", "markdown"])
def test_a_transcript_of_many_sessions_shows_the_last(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    for question in ("first?", "second?"):
        answered(agent([final("done")], transcript=path), question)
    assert [len(session.events) for session in load_sessions(path)] == [6, 6]
    made = (write_run_page if name == "html" else write_run_markdown)(load(path))
    assert "second?" in Parsed(made).text if name == "html" else "second?" in made
