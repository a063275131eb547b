"""A run of an agent as a timeline: as HTML, as a page, and as Markdown."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from toolwire_client.pages.markdown import as_code, as_html, fence, fitted, folded_part
from toolwire_client.pages.markup import (
    Child,
    Html,
    block,
    counted,
    cut,
    duration,
    element,
    folded,
    pairs,
    together,
)
from toolwire_client.pages.page import page
from toolwire_client.pages.results import text_html, tree

from .agent import events
from .react.messages import Action
from .terminal.event_lines import as_json, called, closing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .agent.events import Recorded

    Run = Sequence[Recorded]

_MAX_EVENTS = 2000
_MAX_CHARS = 5000
_MAX_PARAMS = 50
_MAX_DEPTH = 8  # of runs within runs

_WAITS: dict[str, tuple[type, ...]] = {
    "for the model": (events.ModelReplied, events.ModelFailed),
    "in tools": (events.CallFinished, events.ToolAsked),
    "for people": (events.UserAnswered, events.FormAnswered, events.Approved, events.Refused),
}
_WAITED = tuple(kind for kinds in _WAITS.values() for kind in kinds)


# --- one event ---


def event_html(
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
    found = _shown(event)
    if found is None:
        return Html("")
    kind, label, *parts = found
    seconds = _seconds(before, event) if isinstance(event, _WAITED) else 0.0
    took = element("p", duration(seconds), class_="took") if seconds else None
    copied = " copied" if is_copied else ""
    return element(
        "li", element("div", label, class_="label"), took, parts, inside, class_=f"{kind}{copied}"
    )


def _seconds(before: Recorded | None, event: Recorded) -> float:
    return (
        0.0
        if before is None or events.NEVER in (before.at, event.at)
        else (event.at - before.at).total_seconds()
    )


def _shown(event: Recorded) -> tuple[Child, ...] | None:
    """The kind of an event, which colours it, its name, and what to show of it."""
    match event:
        case events.Started(warnings=warnings):
            return ("warn", "warning", *map(_text, warnings)) if warnings else None
        case events.Resumed():
            return "", "the session goes on"
        case events.ToolsListed(tools=tools, missing=missing):
            names = ", ".join(str(tool.get("name")) for tool in tools)
            absent = [
                _text(f"{source} has no tools: {reason}", "bad")
                for source, reason in missing.items()
            ]
            return (
                "warn" if missing else "",
                counted(len(tools), "tool"),
                _text(names, "muted"),
                absent,
            )
        case events.QuestionAsked(content=content, result_schema=schema):
            return (
                "question",
                "question",
                _text(content),
                folded("Schema of the answer", tree(schema)) if schema else None,
            )
        case events.ModelAsked(messages=messages):
            sent = [
                [element("p", str(one.get("role")), class_="caption"), _message(one)]
                for one in messages[:50]
            ]
            return "", folded(f"to the model, {counted(len(messages), 'new message')}", sent)
        case events.ModelReplied(reply=reply):
            used = reply.usage
            tokens = (
                f", {used.input_tokens:,} tokens read, {used.output_tokens:,} written"
                if used
                else ""
            )
            thoughts = [
                element("p", "reasoning", class_="caption"),
                block(reply.reasoning, _MAX_CHARS),
            ]
            parts = [
                thoughts if reply.reasoning else None,
                block(reply.text, _MAX_CHARS) if reply.text else None,
            ]
            return "", folded(f"from the model{tokens}", parts)
        case events.ModelFailed(reason=reason):
            return "bad", "the model failed", _text(reason)
        case events.ReplyRefused(reason=reason, action=action, said=said):
            return (
                "bad",
                "the reply cannot be used",
                _call(action) if action else None,
                _text(said or reason),
            )
        case events.ActionChosen(tool=tool, params=params, thought=thought, warnings=warnings):
            remarks = [_text(warning, "muted") for warning in warnings]
            return "call", "call", _call(Action(thought, tool, params)), remarks
        case events.ApprovalAsked(tool=tool, params=params, reason=reason):
            return "asked", "approval needed", _text(reason), _call(Action("", tool, params))
        case events.Approved(params=params):
            return "good", "allowed", tree(params, "with") if params is not None else None
        case events.Refused(reason=reason):
            return "bad", "not allowed", _text(reason)
        case events.ToolAsked(message=message, form=form):
            return "asked", "the tool asks", _text(message), folded("Form", tree(form))
        case events.FormAnswered(action=action, content=content):
            return "", f"the user answers: {action}", tree(content) if content else None
        case events.CallFinished(success=success, result=result, note=note):
            value = text_html(result) if isinstance(result, str) else tree(result)
            return (
                "good" if success else "bad",
                "result" if success else "failure",
                value,
                _text(note, "muted"),
            )
        case events.UserAsked(thought=thought, content=content):
            return "asked", "question to the user", _text(thought, "thought"), _text(content)
        case events.UserAnswered(content=content):
            return (
                "",
                "answer" if content is not None else "no answer: there is no user",
                _text(content),
            )
        case events.FinalForced(reason=reason):
            return "warn", "the next reply is the last", _text(reason)
        case events.Ended(status=status, result=result, reason=reason, thought=thought):
            kind = "good" if status == "answered" else "warn" if status == "needs_input" else "bad"
            return (
                kind,
                status,
                _text(thought, "thought"),
                text_html(result, "text/markdown") if result else None,
                _text(reason),
            )
    return None


def _text(text: str | None, kind: str = "") -> Html | None:
    return element("p", cut(text, _MAX_CHARS), class_=f"text {kind}".strip()) if text else None


def _message(message: dict[str, Any]) -> Html:
    content = message.get("content")
    others = {
        name: value for name, value in message.items() if name not in ("role", "content") and value
    }
    shown = (
        block(content, _MAX_CHARS)
        if isinstance(content, str)
        else tree(content)
        if content
        else None
    )
    return together(shown, tree(others) if others else None)


def _call(action: Action) -> Html:
    tool = element("p", cut(action.tool, 300), class_="tool")
    params = [tree(value, name) for name, value in list(action.params.items())[:_MAX_PARAMS]]
    return together(_text(action.thought, "thought"), tool, params)


# --- a run ---


def run_html(record: Run, related: Sequence[Run] = ()) -> Html:
    """Return the events of a session as a timeline.

    Of the *related* sessions, those of agents that it called as tools are shown in these calls, and
    its forks where they leave it.
    """
    return _timeline(record, list(related))


def _timeline(record: Run, left: list[Run], depth: int = 0) -> Html:
    """Return the timeline of *record*, and take the runs that it shows from *left*: each is shown
    once.
    """
    inside: dict[int, list[Html]] = {}
    fork = _fork(record)
    placed = (
        [(place, run) for run in left if (place := _place(record, run)) is not None]
        if depth < _MAX_DEPTH
        else []
    )
    ids = {id(run) for _, run in placed}
    left[:] = [run for run in left if id(run) not in ids]
    for place, run in placed:
        own = _fork(run)
        what = element("strong", "fork: " if own else "run: ", cut(_question(run), 200))
        shown = _timeline(run[own.events :] if own else run, left, depth + 1)
        inside.setdefault(place, []).append(folded([what, " ", _status(run)], shown))
    items = [
        event_html(
            event,
            before,
            inside=inside.get(place),
            is_copied=fork is not None and place < fork.events,
        )
        for place, (before, event) in enumerate(pairwise([None, *record[:_MAX_EVENTS]]))
        if event is not None
    ]
    if fork:
        origin = f"{fork.transcript}, line {fork.line}" if fork.transcript else "another session"
        label = element("p", f"fork of {origin}, from here on", class_="label")
        items.insert(fork.events, element("li", label, class_="warn"))
    if len(record) > _MAX_EVENTS:
        items.append(
            element("li", f"… {counted(len(record) - _MAX_EVENTS, 'more event')}", class_="cut")
        )
    return element("ol", items, class_="run")


def _fork(record: Run) -> events.ForkOf | None:
    return record[0].fork_of if record and isinstance(record[0], events.Started) else None


def _place(record: Run, run: Run) -> int | None:
    """The place of the event to which *run* belongs: where it forks, or the end of the call that
    asked its question.
    """
    if fork := _fork(run):
        is_shared = 1 < fork.events <= len(record) and [*run[1 : fork.events]] == [
            *record[1 : fork.events]
        ]
        return fork.events - 1 if is_shared else None
    question = _question(run)
    asking: dict[int, Recorded] = {}
    for place, event in enumerate(record):
        match event:
            case events.CallStarted(call=call, params=params) if (
                question and question in params.values()
            ):
                asking[call] = event
            case events.CallFinished(call=call) if (started := asking.pop(call, None)) is not None:
                if started.at <= run[0].at <= event.at:
                    return place
    return None


def _question(run: Run) -> str:
    return next(
        (event.content for event in reversed(run) if isinstance(event, events.QuestionAsked)), ""
    )


def _status(run: Run) -> str:
    last = run[-1] if run else None
    return (
        closing(last, _seconds(_start(run), last))
        if isinstance(last, events.Ended)
        else "not ended"
    )


def _start(run: Run) -> Recorded | None:
    return next(
        (
            event
            for event in reversed(run)
            if isinstance(event, events.QuestionAsked | events.Resumed)
        ),
        None,
    )


def run_page(record: Run, related: Sequence[Run] = ()) -> str:
    """Return `run_html` as a page, with a summary."""
    started = record[0] if record and isinstance(record[0], events.Started) else events.Started()
    question = _question(record) or "A run without a question"
    head = element(
        "header",
        element("p", "Run of an agent", class_="eyebrow"),
        element("h1", cut(question, 300)),
        element("p", _status(record), class_="lead"),
        pairs(
            ("model", ", ".join(filter(None, (started.model, started.protocol)))),
            ("started", "" if started.at == events.NEVER else f"{started.at:%Y-%m-%d %H:%M:%S %Z}"),
            ("time", _times(record)),
            (
                "instructions",
                started.instructions
                and folded("added to the prompt", block(started.instructions, _MAX_CHARS)),
            ),
        ),
    )
    return page(
        question[:200], head, element("section", element("h2", "Events"), run_html(record, related))
    )


def _times(record: Run) -> str:
    sums = {
        name: sum(
            _seconds(before, event)
            for before, event in pairwise(record)
            if isinstance(event, kinds)
        )
        for name, kinds in _WAITS.items()
    }
    return ", ".join(f"{duration(seconds)} {name}" for name, seconds in sums.items() if seconds)


def run_markdown(record: Run) -> str:
    """Return a run in short: the question, each call with its result, and the answer."""
    parts = [f"### {as_code(_question(record) or 'A run')}", f"{as_code(_status(record))}"]
    calls: dict[int, str] = {}
    for event in record:
        match event:
            case events.CallStarted(call=call, tool=tool, params=params):
                calls[call] = called(tool, params)
            case events.CallFinished(call=call, success=success, result=result):
                value = result if isinstance(result, str) else as_json(result)
                about = as_html(calls.get(call, ""))
                parts.append(folded_part(f"{'' if success else 'failed: '}{about}", fence([value])))
            case events.Ended(result=result) if result:
                parts.append(fence([result]))
    return fitted(parts)
