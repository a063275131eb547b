"""A run of an agent as a timeline: as HTML, as a page, and as Markdown."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from toolwire_client.pages.markdown import as_code, as_html, fence, fold_part, join_within_limit
from toolwire_client.pages.markup import (
    Child,
    Html,
    block,
    cut,
    element,
    fold,
    format_count,
    format_duration,
    join_html,
    pairs,
)
from toolwire_client.pages.page import write_page
from toolwire_client.pages.result_html import write_text_html
from toolwire_client.pages.tree import write_tree

from . import presentation as shown
from .agent import events

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .agent.events import Recorded

    Run = Sequence[Recorded]

_MAX_EVENTS = 2000
_MAX_CHARS = 5000
_MAX_TOOL_CHARS = 300
_MAX_PARAMS = 50
_MAX_DEPTH = 8  # of runs within runs

_WAITS: dict[str, tuple[type, ...]] = {
    "for the model": (events.ModelReplied, events.ModelFailed),
    "in tools": (events.CallFinished, events.ToolAsked),
    "for people": (events.UserAnswered, events.FormAnswered, events.Approved, events.Refused),
}
"""The events that end a wait, by what the run waited for."""
_ENDS_OF_WAITS = tuple(kind for kinds in _WAITS.values() for kind in kinds)


# --- one event ---


def write_event_html(
    event: Recorded,
    before: Recorded | None = None,
    *,
    inside: Child = None,
    is_copied: bool = False,
) -> Html:
    """Return *event* as an item of a list; empty if the next event shows it.

    It took the time since *before*. *inside* are runs of others within it; *is_copied* marks what a
    fork shares.
    """
    presentation = shown.present(event)
    if presentation is None:
        return Html("")
    children: list[Child] = []
    if presentation.label:
        children.append(element("div", presentation.label, class_="label"))
    seconds = _measure_seconds(before, event)
    if seconds and isinstance(event, _ENDS_OF_WAITS):
        children.append(element("p", format_duration(seconds), class_="took"))
    for part in presentation.parts:
        children.append(_write_part(part))
    children.append(inside)
    style: str = presentation.tone
    if is_copied:
        style += " copied"
    return element("li", children, class_=style)


def _measure_seconds(before: Recorded | None, event: Recorded) -> float:
    if before is None or events.NEVER in (before.at, event.at):
        return 0.0
    return (event.at - before.at).total_seconds()


def _write_part(part: shown.Part) -> Html | None:
    return _PART_HTML[type(part)](part)


def _write_paragraph(text: str, class_: str = "") -> Html | None:
    if text:
        return element("p", cut(text, _MAX_CHARS), class_=f"text {class_}".strip())
    return None


def _write_call(call: shown.Call) -> Html:
    # A hostile reply may have any number of arguments.
    arguments = list(call.params.items())[:_MAX_PARAMS]
    tool = element("p", cut(call.tool, _MAX_TOOL_CHARS), class_="tool")
    return join_html(tool, [write_tree(value, name) for name, value in arguments])


def _write_value(part: shown.Value) -> Html:
    if isinstance(part.value, str):
        return write_text_html(part.value)
    return write_tree(part.value)


def _write_block(part: shown.Block) -> Html:
    text = block(part.text, _MAX_CHARS)
    if not part.caption:
        return text
    return join_html(element("p", part.caption, class_="caption"), text)


def _fold_part(part: shown.Folded) -> Html:
    return fold(part.title, [_write_part(inner) for inner in part.parts])


_PART_HTML: dict[type[shown.Part], Callable[[Any], Html | None]] = {
    shown.Thought: lambda part: _write_paragraph(part.text, "thought"),
    shown.Text: lambda part: _write_paragraph(part.text, part.tone or ""),
    shown.Quote: lambda part: _write_paragraph(part.text),
    shown.Note: lambda part: _write_paragraph(part.text, "muted"),
    shown.Call: _write_call,
    shown.Value: _write_value,
    shown.Answer: lambda part: write_text_html(part.text, "text/markdown"),
    shown.Detail: lambda part: _write_paragraph(part.text, "muted"),
    shown.Data: lambda part: write_tree(part.value, part.label),
    shown.Block: _write_block,
    shown.Folded: _fold_part,
}


# --- a run ---


def write_run_html(record: Run, related: Sequence[Run] = ()) -> Html:
    """Return the events of a session as a timeline.

    Of the *related* sessions, those of agents that it called as tools are shown in these calls, and
    its forks where they leave it.
    """
    return _write_timeline(record, list(related))


def _write_timeline(record: Run, left: list[Run], depth: int = 0) -> Html:
    """Return the timeline of *record*, and take the runs that it shows from *left*: each is shown
    once.
    """
    fork = _fork_of(record)
    inside: dict[int, list[Html]] = {}
    for place, run in _take_runs_inside(record, left, depth):
        inside.setdefault(place, []).append(_run_inside(run, left, depth))
    items = []
    before = None
    for place, event in enumerate(record[:_MAX_EVENTS]):
        is_copied = fork is not None and place < fork.events
        items.append(write_event_html(event, before, inside=inside.get(place), is_copied=is_copied))
        before = event
    if fork is not None:
        items.insert(fork.events, _fork_label(fork))
    if len(record) > _MAX_EVENTS:
        more = f"… {format_count(len(record) - _MAX_EVENTS, 'more event')}"
        items.append(element("li", more, class_="cut"))
    return element("ol", items, class_="run")


def _take_runs_inside(record: Run, left: list[Run], depth: int) -> list[tuple[int, Run]]:
    """Remove from *left* the runs that belong to an event of *record*, and return them with the
    event's place.
    """
    if depth >= _MAX_DEPTH:
        return []
    found, others = [], []
    for run in left:
        place = _find_place(record, run)
        if place is None:
            others.append(run)
        else:
            found.append((place, run))
    # In place: the caller's caller must not show a run again that is shown here.
    left[:] = others
    return found


def _run_inside(run: Run, left: list[Run], depth: int) -> Html:
    fork = _fork_of(run)
    kind, own_events = "run: ", run
    if fork is not None:
        kind, own_events = "fork: ", run[fork.events :]
    title = element("strong", kind, cut(_find_last_question(run), 200))
    return fold([title, " ", _format_status(run)], _write_timeline(own_events, left, depth + 1))


def _fork_label(fork: events.ForkOf) -> Html:
    origin = "another session"
    if fork.transcript:
        origin = f"{fork.transcript}, line {fork.line}"
    label = element("p", f"fork of {origin}, from here on", class_="label")
    return element("li", label, class_="warn")


def _fork_of(record: Run) -> events.ForkOf | None:
    if record and isinstance(record[0], events.Started):
        return record[0].fork_of
    return None


def _find_place(record: Run, run: Run) -> int | None:
    """Return the place of the event in *record* to which *run* belongs: where it forks, or the end
    of the call that asked its question.
    """
    fork = _fork_of(run)
    if fork is None:
        return _find_call(record, run)
    # The first event of a fork has its own model and protocol; the others are copies.
    copied = list(run[1 : fork.events])
    is_shared = 1 < fork.events <= len(record) and copied == list(record[1 : fork.events])
    if is_shared:
        return fork.events - 1
    return None


def _find_call(record: Run, run: Run) -> int | None:
    """Return the place of the end of the call whose arguments have the question of *run*."""
    question = _find_last_question(run)
    if not question:
        return None
    asking: dict[int, Recorded] = {}
    for place, event in enumerate(record):
        match event:
            case events.CallStarted(call=call, params=params):
                if question in params.values():
                    asking[call] = event
            case events.CallFinished(call=call):
                started = asking.pop(call, None)
                if started is not None and started.at <= run[0].at <= event.at:
                    return place
    return None


def _find_last_question(run: Run) -> str:
    for event in reversed(run):
        if isinstance(event, events.QuestionAsked):
            return event.content
    return ""


def _format_status(run: Run) -> str:
    if not run or not isinstance(run[-1], events.Ended):
        return "not ended"
    last = run[-1]
    return shown.format_end(last, _measure_seconds(_find_last_start(run), last))


def _find_last_start(run: Run) -> Recorded | None:
    for event in reversed(run):
        if isinstance(event, events.QuestionAsked | events.Resumed):
            return event
    return None


def write_run_page(record: Run, related: Sequence[Run] = ()) -> str:
    """Return `write_run_html` as a page, with a summary."""
    question = _find_last_question(record) or "A run without a question"
    head = element(
        "header",
        element("p", "Run of an agent", class_="eyebrow"),
        element("h1", cut(question, 300)),
        element("p", _format_status(record), class_="lead"),
        _write_summary(record),
    )
    timeline = element("section", element("h2", "Events"), write_run_html(record, related))
    return write_page(question[:200], head, timeline)


def _write_summary(record: Run) -> Html:
    started = record[0] if record else None
    if not isinstance(started, events.Started):
        started = events.Started()
    model = ", ".join(filter(None, (started.model, started.protocol)))
    date = ""
    if started.at != events.NEVER:
        date = f"{started.at:%Y-%m-%d %H:%M:%S %Z}"
    instructions = None
    if started.instructions:
        instructions = fold("added to the prompt", block(started.instructions, _MAX_CHARS))
    return pairs(
        ("model", model),
        ("started", date),
        ("time", _format_waits(record)),
        ("instructions", instructions),
    )


def _format_waits(record: Run) -> str:
    sums = []
    for name, kinds in _WAITS.items():
        seconds = 0.0
        for before, event in pairwise(record):
            if isinstance(event, kinds):
                seconds += _measure_seconds(before, event)
        if seconds:
            sums.append(f"{format_duration(seconds)} {name}")
    return ", ".join(sums)


# --- Markdown ---


def write_run_markdown(record: Run) -> str:
    """Return a run in short: the question, each call with its result, and the answer."""
    question = _find_last_question(record) or "A run"
    parts = [f"### {as_code(question)}", as_code(_format_status(record))]
    calls: dict[int, str] = {}
    for event in record:
        match event:
            case events.CallStarted(call=number, tool=tool, params=params):
                calls[number] = as_html(shown.format_call(tool, params))
            case events.CallFinished(call=number):
                parts += _write_markdown_parts(event, calls.get(number, as_html("")))
            case events.Ended():
                parts += _write_markdown_parts(event, "")
    return join_within_limit(parts)


def _write_markdown_parts(event: Recorded, call: str) -> list[str]:
    presentation = shown.present(event)
    assert presentation is not None
    parts = []
    for part in presentation.parts:
        match part:
            case shown.Value(value):
                text = value
                if not isinstance(value, str):
                    text = shown.to_json(value)
                title = call
                if presentation.tone == "bad":
                    title = f"failed: {call}"
                parts.append(fold_part(title, fence([text])))
            case shown.Answer(text):
                parts.append(fence([text]))
    return parts
