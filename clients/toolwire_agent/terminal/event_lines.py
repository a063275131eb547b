"""The lines that show an event, for every renderer. No I/O.

Every text is safe to print, except the answer, which a program may want unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_schemas.output import printable
from toolwire_schemas.wire import codec

from ..agent import events
from ..react import Action

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..models.prices import Price
    from ..react.messages import Usage

_MAX_VALUE = 80
_MAX_CHARS = 600
_MAX_LINES = 8


def called(tool: str, params: dict[str, Any]) -> str:
    """Return a call as one line: `add(a=2, b=3)`."""
    return f"{_one_line(tool)}({arguments(params)})"


def arguments(params: dict[str, Any]) -> str:
    """Return parameters as one line."""
    return ", ".join(
        f"{_one_line(name)}={_one_line(as_json(value))}" for name, value in params.items()
    )


def excerpt(value: Any) -> str:
    """Return the start of a tool's result, and its length if that is not all."""
    text = value if isinstance(value, str) else as_json(value)
    lines = text[:_MAX_CHARS].rstrip("\n").split("\n")
    if len(text) <= _MAX_CHARS and len(lines) <= _MAX_LINES:
        return printable("\n".join(lines))
    return printable("\n".join(lines[:_MAX_LINES])) + f" … ({len(text):,} characters)"


def as_json(value: Any) -> str:
    """Return *value* as JSON in one line, or as text if JSON cannot represent it."""
    try:
        return codec.encode(value).decode()
    except (codec.EncodingError, RecursionError):
        return str(value)


def is_cut(params: dict[str, Any]) -> bool:
    """Whether `called` shortens *params*."""
    return any(
        len(text) > _MAX_VALUE for name, value in params.items() for text in (name, as_json(value))
    )


def _one_line(text: str) -> str:
    cut = text if len(text) <= _MAX_VALUE else f"{text[: _MAX_VALUE - 1]}…"
    return printable(cut).translate(_SPACES)


_SPACES = str.maketrans("\n\t", "  ")


Kind = Literal["thought", "action", "result", "failure", "asked", "note"]

MARKS: dict[Kind, str] = {
    "thought": "  ",
    "action": "> ",
    "result": "  ",
    "failure": "! ",
    "asked": "? ",
    "note": "  ",
}
"""The start of the first line of each kind; further lines are indented as far."""


class Line(msgspec.Struct, frozen=True):
    """A text to show, perhaps of several lines."""

    kind: Kind
    text: str


def line(kind: Kind, text: str) -> Line:
    """Return a line of foreign text, made safe to print."""
    return Line(kind, printable(text))


def event_lines(event: events.Recorded) -> list[Line]:
    """Return the lines that show *event*, without the answer."""
    match event:
        case events.Started(warnings=warnings):
            return [line("note", warning) for warning in warnings]
        case events.ToolsListed(missing=missing):
            return [
                line("failure", f"{source} has no tools now: {reason}")
                for source, reason in missing.items()
            ]
        case events.ActionChosen(thought=thought, tool=tool, params=params, warnings=warnings):
            remarks = [line("note", warning) for warning in warnings]
            return [*_thought(thought), Line("action", called(tool, params)), *remarks]
        case events.ReplyRefused(action=None, said=said) if said:
            return [
                line("failure", f"the reply is not in the form that was asked for: {excerpt(said)}")
            ]
        case events.ReplyRefused(reason=reason, action=None):
            return [line("failure", f"the reply cannot be used. {excerpt(reason)}")]
        case events.ReplyRefused(
            reason=reason, action=Action(thought=thought, tool=tool, params=params)
        ):
            return [
                *_thought(thought),
                Line("action", called(tool, params)),
                Line("failure", excerpt(reason)),
            ]
        case events.ApprovalAsked(tool=tool, params=params, reason=reason):
            # A run that was resumed has not shown the action before.
            return [line("asked", f"Allow {called(tool, params)}? {reason}")]
        case events.Approved(params=params):
            return [
                Line("note", "allowed" if params is None else f"allowed with {arguments(params)}")
            ]
        case events.Refused(reason=reason):
            return [line("failure", f"not allowed: {reason}" if reason else "not allowed")]
        case events.CallFinished(success=success, result=result):
            return [Line("result" if success else "failure", excerpt(result))]
        case events.UserAsked(thought=thought, content=content):
            return [*_thought(thought), line("asked", content)]
        case events.FinalForced(reason=reason):
            return [line("note", f"{reason}; the next reply is the last")]
        case events.Ended(status="answered", thought=thought):
            return _thought(thought)
        case events.Ended(thought=thought, result=result):
            return [*_thought(thought), *([line("failure", result)] if result else [])]
    return []


def open_steps(record: Sequence[events.Recorded]) -> list[events.Recorded]:
    """Return the calls and the question to the user in *record* that have no outcome yet, in their
    order.
    """
    waiting: list[events.ActionChosen | events.UserAsked] = []
    for event in record:
        match event:
            case events.ActionChosen() | events.UserAsked():
                waiting.append(event)
            case events.CallFinished(call=call):
                waiting = [each for each in waiting if not _is_call(each, call)]
            case events.Refused() if waiting:
                waiting.pop()  # refusals have no number: they follow the call that was chosen last
            case events.UserAnswered() | events.QuestionAsked() | events.ModelAsked():
                waiting = []
    return list(waiting)


def _is_call(event: events.ActionChosen | events.UserAsked, number: int) -> bool:
    return isinstance(event, events.ActionChosen) and event.call == number


def closing(ended: events.Ended, seconds: float | None = None, price: Price | None = None) -> str:
    """Return one line on how the run ended and what it cost; *seconds* is its duration."""
    parts = ["1 turn" if ended.turns == 1 else f"{ended.turns} turns"]
    usage = ended.usage
    if usage.total_tokens:
        parts.append(f"{usage.input_tokens:,} tokens read, {usage.output_tokens:,} written")
    if price is not None:
        parts.append(cost_line(usage, price))
    if seconds is not None:
        parts.append(f"{seconds:.1f} s")
    reason = f": {excerpt(ended.reason)}" if ended.reason else ""
    return f"{ended.status}{reason} ({', '.join(parts)})"


def cost_line(usage: Usage, price: Price) -> str:
    """Return what *usage* costs, in the currency of *price*."""
    if not usage.total_tokens:
        return "cost unknown: the model reports no tokens"
    return f"cost {price.cost(usage):.6f}"


def _thought(text: str) -> list[Line]:
    return [line("thought", text.strip())] if text.strip() else []
