"""The lines of a terminal that show an event, for every renderer there. No I/O.

Every text is safe to print, except the answer, which a program may want unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
from toolwire_schemas.language import say
from toolwire_schemas.output import make_printable

from ..presentation import (
    Answer,
    Call,
    Note,
    Part,
    Presentation,
    Quote,
    Text,
    Thought,
    Tone,
    Value,
    format_call,
    format_excerpt,
    present,
)

if TYPE_CHECKING:
    from ..agent import events

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

_KINDS: dict[Tone, Kind] = {
    "good": "result",
    "bad": "failure",
    "asked": "asked",
    "question": "asked",
}
"""The kinds of lines with the texts of an event; of other tones they are notes."""


class Line(msgspec.Struct, frozen=True):
    """A text to show, perhaps of several lines."""

    kind: Kind
    text: str


def make_line(kind: Kind, text: str) -> Line:
    """Return a line of foreign text, made safe to print."""
    return Line(kind, make_printable(text))


def make_event_lines(event: events.Recorded) -> list[Line]:
    """Return the lines that show *event*, without the answer."""
    shown = present(event)
    if shown is None or shown.is_for_pages:
        return []
    if shown.is_headline:
        return [Line(_choose_headline_kind(shown), _format_headline(shown))]
    lines = []
    for part in shown.parts:
        line_of_part = _format_part(part, shown.tone)
        if line_of_part is not None:
            lines.append(line_of_part)
    return lines


def _format_part(part: Part, tone: Tone) -> Line | None:
    match part:
        case Thought(text):
            if text.strip():
                return make_line("thought", text.strip())
            return None
        case Call(tool, params):
            return Line("action", format_call(tool, params))
        case Note(text):
            return make_line("note", text)
        case Text(text, own_tone):
            return make_line(_KINDS.get(own_tone or tone, "note"), text)
        case Quote(text):
            return Line(_KINDS.get(tone, "note"), format_excerpt(text))
        case Value(value):
            return Line(_KINDS.get(tone, "note"), format_excerpt(value))
        case Answer(text, is_final=False):
            return make_line("failure", text)
    return None


def _choose_headline_kind(shown: Presentation) -> Kind:
    # An approval is no result, which is what the tone "good" means elsewhere.
    if shown.tone == "good":
        return "note"
    return _KINDS.get(shown.tone, "note")


def _format_headline(shown: Presentation) -> str:
    texts = []
    for part in shown.parts:
        match part:
            case Text(text) if text:
                texts.append(make_printable(text))
            case Quote(text):
                texts.append(format_excerpt(text))
    if not texts:
        return shown.label
    text = " ".join(texts)
    if shown.label.endswith(("?", "？")):
        return f"{shown.label} {text}"
    return say("{label}: {text}", label=shown.label, text=text)
