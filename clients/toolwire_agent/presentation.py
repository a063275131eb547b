"""The presentation of each event of a run: one table for all renderers. No I/O.

Strategy. `_ROWS` has one row for each kind of event: a label, a tone and parts. A renderer knows
the kinds of parts, and no events: lines of a terminal (`terminal/event_lines.py`), HTML and
Markdown (`run_page.py`). So a new kind of event is one row here, and is shown everywhere.

The texts of parts are those of models, tools and users: each renderer escapes them for its medium.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_schemas.language import say
from toolwire_schemas.output import make_printable
from toolwire_schemas.wire import codec

from .agent import events

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .models.prices import Price
    from .react.messages import Usage

Tone = Literal["", "question", "call", "asked", "good", "bad", "warn"]
"""The meaning of an event for its reader; renderers derive colours and marks from it."""

# --- parts ---


class Thought(msgspec.Struct, frozen=True):
    """A thought of the model."""

    text: str


class Text(msgspec.Struct, frozen=True):
    """A text that is shown whole, in the tone of its event unless it has a *tone* of its own."""

    text: str
    tone: Tone | None = None


class Quote(msgspec.Struct, frozen=True):
    """A text of a model or a tool, which may be long: lines show its beginning."""

    text: str


class Note(msgspec.Struct, frozen=True):
    """A remark on the event."""

    text: str


class Call(msgspec.Struct, frozen=True):
    """A tool and its arguments."""

    tool: str
    params: dict[str, Any]


class Value(msgspec.Struct, frozen=True):
    """The result of a tool: lines show its beginning."""

    value: Any


class Answer(msgspec.Struct, frozen=True):
    """The model's answer; without *is_final* the reason why it has no answer."""

    text: str
    is_final: bool


class Detail(msgspec.Struct, frozen=True):
    """A text for pages alone."""

    text: str


class Data(msgspec.Struct, frozen=True):
    """A JSON value for pages alone, under a *label*."""

    value: Any
    label: str = ""


class Block(msgspec.Struct, frozen=True):
    """A text for pages alone, with its line breaks, under a *caption*."""

    text: str
    caption: str = ""


class Folded(msgspec.Struct, frozen=True):
    """Parts for pages alone, which a click on *title* shows."""

    title: str
    parts: tuple[Detail | Data | Block, ...]


Part = Thought | Text | Quote | Note | Call | Value | Answer | Detail | Data | Block | Folded


class Presentation(msgspec.Struct, frozen=True):
    """What to show of an event.

    With *is_headline* the label opens the line of a terminal too; without it, a mark says enough
    there. With *is_for_pages* a terminal shows nothing: the user has seen it, or the next event
    says the same.
    """

    label: str
    parts: tuple[Part, ...] = ()
    tone: Tone = ""
    is_headline: bool = False
    is_for_pages: bool = False


def present(event: events.Recorded) -> Presentation | None:
    """Return what to show of *event*; `None` if the events around it show it."""
    row = _ROWS[type(event)]
    return row(event)


# --- the rows ---


def _present_started(event: events.Started) -> Presentation | None:
    if not event.warnings:
        return None
    return Presentation(say("warning"), tuple(map(Text, event.warnings)), "warn")


def _present_resumed(event: events.Resumed) -> Presentation:
    return Presentation(say("the session goes on"), is_for_pages=True)


def _present_tools_listed(event: events.ToolsListed) -> Presentation:
    parts: list[Part] = [Detail(", ".join(str(tool.get("name")) for tool in event.tools))]
    for source, reason in event.missing.items():
        sentence = say("{source} has no tools now: {reason}", source=source, reason=reason)
        parts.append(Text(sentence, "bad"))
    count = len(event.tools)
    label = say("1 tool") if count == 1 else say("{count:,} tools", count=count)
    return Presentation(label, tuple(parts), "warn" if event.missing else "")


def _present_question_asked(event: events.QuestionAsked) -> Presentation:
    parts: list[Part] = [Text(event.content)]
    if event.result_schema:
        parts.append(Folded(say("Schema of the answer"), (Data(event.result_schema),)))
    return Presentation(say("question"), tuple(parts), "question")


def _present_model_asked(event: events.ModelAsked) -> Presentation:
    parts: list[Detail | Data | Block] = []
    for message in event.messages[:_MAX_MESSAGES]:
        parts += _list_message_parts(message)
    count = len(event.messages)
    title = say("to the model, 1 new message")
    if count != 1:
        title = say("to the model, {count:,} new messages", count=count)
    return Presentation("", (Folded(title, tuple(parts)),), is_for_pages=True)


def _list_message_parts(message: dict[str, Any]) -> list[Detail | Data | Block]:
    role, content = str(message.get("role")), message.get("content")
    parts: list[Detail | Data | Block] = []
    if isinstance(content, str):
        parts.append(Block(content, role))
    else:
        parts.append(Data(content, role))
    others = {
        name: value for name, value in message.items() if name not in ("role", "content") and value
    }
    if others:
        parts.append(Data(others))
    return parts


def _present_model_replied(event: events.ModelReplied) -> Presentation:
    reply = event.reply
    title = say("from the model")
    if reply.usage:
        title += say(", {usage}", usage=format_usage(reply.usage))
    parts = []
    if reply.reasoning:
        parts.append(Block(reply.reasoning, say("reasoning")))
    if reply.text:
        parts.append(Block(reply.text))
    return Presentation("", (Folded(title, tuple(parts)),), is_for_pages=True)


def _present_model_failed(event: events.ModelFailed) -> Presentation:
    # The end of the run, which follows, gives the reason at a terminal.
    return Presentation(say("the model failed"), (Text(event.reason),), "bad", is_for_pages=True)


def _present_reply_refused(event: events.ReplyRefused) -> Presentation:
    unusable = say("the reply cannot be used")
    if event.action is not None:
        action = event.action
        parts = (Thought(action.thought), Call(action.tool, action.params), Quote(event.reason))
        return Presentation(unusable, parts, "bad")
    if event.said:
        label = say("the reply is not in the form that was asked for")
        return Presentation(label, (Quote(event.said),), "bad", is_headline=True)
    return Presentation(unusable, (Quote(event.reason),), "bad", is_headline=True)


def _present_action_chosen(event: events.ActionChosen) -> Presentation:
    notes = map(Note, event.warnings)
    return Presentation(
        say("call"), (Thought(event.thought), Call(event.tool, event.params), *notes), "call"
    )


def _present_approval_asked(event: events.ApprovalAsked) -> Presentation:
    # The label has the call, since a run that was resumed has not shown it before.
    label = say("Allow {call}?", call=format_call(event.tool, event.params))
    parts = (Text(event.reason), Data(event.params, event.tool))
    return Presentation(label, parts, "asked", is_headline=True)


def _present_approved(event: events.Approved) -> Presentation:
    if event.params is None:
        return Presentation(say("allowed"), tone="good", is_headline=True)
    label = say("allowed with {arguments}", arguments=format_arguments(event.params))
    return Presentation(label, (Data(event.params, say("with")),), "good", is_headline=True)


def _present_refused(event: events.Refused) -> Presentation:
    return Presentation(say("not allowed"), (Text(event.reason),), "bad", is_headline=True)


def _present_task_started(event: events.TaskStarted) -> Presentation:
    return Presentation(
        say("the call goes on at its server"), (Detail(event.task),), is_for_pages=True
    )


def _present_tool_asked(event: events.ToolAsked) -> Presentation:
    form = Folded(say("Form"), (Data(event.form),))
    return Presentation(
        say("the tool asks"), (Text(event.message), form), "asked", is_for_pages=True
    )


def _present_form_answered(event: events.FormAnswered) -> Presentation:
    parts = (Data(event.content),) if event.content else ()
    label = say("the user answers: {action}", action=event.action)
    return Presentation(label, parts, is_for_pages=True)


def _present_call_finished(event: events.CallFinished) -> Presentation:
    parts = (Value(event.result), Detail(event.note))
    if event.success:
        return Presentation(say("result"), parts, "good")
    return Presentation(say("failure"), parts, "bad")


def _present_user_asked(event: events.UserAsked) -> Presentation:
    return Presentation(
        say("question to the user"), (Thought(event.thought), Text(event.content)), "asked"
    )


def _present_user_answered(event: events.UserAnswered) -> Presentation:
    if event.content is None:
        return Presentation(say("no answer: there is no user"), is_for_pages=True)
    return Presentation(say("answer"), (Text(event.content),), is_for_pages=True)


def _present_final_forced(event: events.FinalForced) -> Presentation:
    label = say("the next reply is the last")
    return Presentation(label, (Text(event.reason),), "warn", is_headline=True)


def _present_ended(event: events.Ended) -> Presentation:
    parts: list[Part] = [Thought(event.thought)]
    if event.result:
        parts.append(Answer(event.result, is_final=event.status == "answered"))
    parts.append(Detail(event.reason))
    tones: dict[str, Tone] = {"answered": "good", "needs_input": "warn"}
    return Presentation(say(event.status), tuple(parts), tones.get(event.status, "bad"))


_ROWS: dict[type[events.Recorded], Callable[[Any], Presentation | None]] = {
    events.Started: _present_started,
    events.Resumed: _present_resumed,
    events.ToolsListed: _present_tools_listed,
    events.QuestionAsked: _present_question_asked,
    events.ModelAsked: _present_model_asked,
    events.ModelReplied: _present_model_replied,
    events.ModelFailed: _present_model_failed,
    events.ReplyRefused: _present_reply_refused,
    events.ActionChosen: _present_action_chosen,
    events.ApprovalAsked: _present_approval_asked,
    events.Approved: _present_approved,
    events.Refused: _present_refused,
    events.CallStarted: lambda event: None,  # the event before it has shown the call
    events.TaskStarted: _present_task_started,
    events.ToolAsked: _present_tool_asked,
    events.FormAnswered: _present_form_answered,
    events.CallFinished: _present_call_finished,
    events.UserAsked: _present_user_asked,
    events.UserAnswered: _present_user_answered,
    events.FinalForced: _present_final_forced,
    events.Ended: _present_ended,
}

# --- texts in one line ---

_MAX_MESSAGES = 50
_MAX_VALUE_CHARS = 80
_MAX_EXCERPT_CHARS = 600
_MAX_EXCERPT_LINES = 8
_SPACES = str.maketrans("\n\t", "  ")


def format_call(tool: str, params: dict[str, Any]) -> str:
    """Return a call as one line, safe to print: `add(a=2, b=3)`."""
    return f"{_shorten(tool)}({format_arguments(params)})"


def format_arguments(params: dict[str, Any]) -> str:
    """Return arguments as one line, safe to print: `a=2, b=3`."""
    arguments = [f"{_shorten(name)}={_shorten(to_json(value))}" for name, value in params.items()]
    return ", ".join(arguments)


def format_excerpt(value: Any) -> str:
    """Return the start of a value, safe to print, and its length if that is not all."""
    text = value if isinstance(value, str) else to_json(value)
    lines = text[:_MAX_EXCERPT_CHARS].rstrip("\n").split("\n")
    if len(text) <= _MAX_EXCERPT_CHARS and len(lines) <= _MAX_EXCERPT_LINES:
        return make_printable("\n".join(lines))
    beginning = "\n".join(lines[:_MAX_EXCERPT_LINES])
    length = say("({count:,} characters)", count=len(text))
    return f"{make_printable(beginning)} … {length}"


def is_shortened(params: dict[str, Any]) -> bool:
    """Whether `format_arguments` shortens *params*."""
    for name, value in params.items():
        if len(name) > _MAX_VALUE_CHARS or len(to_json(value)) > _MAX_VALUE_CHARS:
            return True
    return False


def to_json(value: Any) -> str:
    """Return *value* as JSON in one line, or as text if JSON cannot represent it."""
    try:
        return codec.encode(value).decode()
    except (codec.EncodingError, RecursionError):
        return str(value)


def format_usage(usage: Usage) -> str:
    """Return the tokens that the model has read and written."""
    return say(
        "{read:,} tokens read, {written:,} written",
        read=usage.input_tokens,
        written=usage.output_tokens,
    )


def format_cost(usage: Usage, price: Price) -> str:
    """Return what *usage* costs, in the currency of *price*."""
    if not usage.total_tokens:
        return say("cost unknown: the model reports no tokens")
    return say("cost {cost:.6f}", cost=price.compute_cost(usage))


def format_end(
    ended: events.Ended, seconds: float | None = None, price: Price | None = None
) -> str:
    """Return one line on how the run ended and what it cost; *seconds* is its duration."""
    parts = [say("1 turn") if ended.turns == 1 else say("{count} turns", count=ended.turns)]
    if ended.usage.total_tokens:
        parts.append(format_usage(ended.usage))
    if price is not None:
        parts.append(format_cost(ended.usage, price))
    if seconds is not None:
        parts.append(say("{seconds:.1f} s", seconds=seconds))
    ending = say(ended.status)
    if ended.reason:
        ending = say("{label}: {text}", label=ending, text=format_excerpt(ended.reason))
    return say("{ending} ({details})", ending=ending, details=say(", ").join(parts))


def _shorten(text: str) -> str:
    if len(text) > _MAX_VALUE_CHARS:
        text = f"{text[: _MAX_VALUE_CHARS - 1]}…"
    return make_printable(text).translate(_SPACES)


# --- what a run waits for ---


def find_open_steps(record: Sequence[events.Recorded]) -> list[events.Recorded]:
    """Return the calls and the question to the user in *record* that have no outcome yet, in their
    order.
    """
    waiting: list[events.ActionChosen | events.UserAsked] = []
    for event in record:
        match event:
            case events.ActionChosen() | events.UserAsked():
                waiting.append(event)
            case events.CallFinished(call=int(call)) | events.Refused(call=int(call)):
                waiting = [step for step in waiting if not _is_call(step, call)]
            case events.Refused() if waiting:
                waiting.pop()  # without a number, it follows the call that was chosen last
            case events.UserAnswered() | events.QuestionAsked() | events.ModelAsked():
                waiting = []
    return list(waiting)


def _is_call(event: events.ActionChosen | events.UserAsked, number: int) -> bool:
    return isinstance(event, events.ActionChosen) and event.call == number
