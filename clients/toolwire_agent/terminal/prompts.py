"""Asks the user at the terminal: for approval, for answers to the model, and for the forms of
tools.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client.session.elicitation import NoAnswer, find_misfit
from toolwire_schemas.language import describe_json_error, say
from toolwire_schemas.wire import codec

from ..agent.approvals import MAX_GRANTED, Allow, ApprovalRequest, Pause, Refuse, Verdict
from ..presentation import format_call, is_shortened, to_json
from .event_lines import Line, make_line
from .forms import FormField, read_fields

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_client.session.elicitation import Answer, Elicitation

_CHOICES = "yes | no | edit | always (for this tool) > "
_HOW = (
    "y: allow. n: refuse, optionally with a reason (n not now). e: edit the arguments. a: always"
    " allow this tool."
)
_CHOICES_IN_PROGRAM = (
    "yes | no | edit | always (for this tool) | same (values) | program (all of it) | a number of"
    " calls > "
)
_HOW_IN_PROGRAM = (
    "s: allow this tool with the same values in this program. p: allow all calls of this program."
    " 20: allow 20 calls of this tool, this one included."
)
_DECLINE = "/decline"


class Person:
    """Asks the user at the terminal: *read* (see `Keyboard.read`) reads their input, *say* shows
    them lines.
    """

    def __init__(self, read: Callable[..., str | None], say: Callable[[Line], object]) -> None:
        self._read = read
        self._say = say
        self._always: set[str] = set()
        self._edited: tuple[ApprovalRequest, str] | None = None

    def approve(self, request: ApprovalRequest) -> Verdict:
        """Ask whether a call is allowed; the end of input decides later."""
        if request.tool in self._always and not request.interrupted:
            return Allow()
        text = self._find_misfit(request)
        self._show_request(request, is_again=text is not None)
        choices = _CHOICES_IN_PROGRAM if request.program else _CHOICES
        while (typed := self._read(say(choices))) is not None:
            word, _, reason = typed.strip().partition(" ")
            if request.program and (verdict := _read_scope(word)) is not None:
                return verdict
            match word.lower():
                case "y" | "yes":
                    return Allow()
                case "n" | "no":
                    return Refuse(
                        reason.strip() or (self._read(say("reason (optional) > ")) or "").strip()
                    )
                case "a" | "always":
                    self._always.add(request.tool)
                    return Allow()
                case "e" | "edit":
                    if (verdict := self._edit(request, text)) is not None:
                        return verdict
                case _:
                    self._explain_choices(request)
        return Pause()

    def _show_request(self, request: ApprovalRequest, *, is_again: bool) -> None:
        """Show what no event has shown; *is_again* after arguments that do not fit."""
        if request.program:
            call = format_call(request.tool, request.params)
            self._say(make_line("asked", say("Allow {call}?", call=call)))
            self._say(make_line("action", f"{request.reason}\n{request.program}"))
        if is_again:
            self._say(make_line("failure", request.reason))
        elif is_shortened(request.params):  # the user sees all that they allow
            self._say(make_line("action", json.dumps(request.params, ensure_ascii=False, indent=2)))

    def _explain_choices(self, request: ApprovalRequest) -> None:
        self._say(Line("note", say(_HOW)))
        if request.program:
            self._say(Line("note", say(_HOW_IN_PROGRAM)))

    def reply(self, question: Elicitation) -> str | None:
        """Ask for the answer to the model's question, which is already shown; the end of input
        answers later.
        """
        while (typed := self._read("> ")) is not None:
            if typed.strip():
                return typed
        return None

    def fill_in(self, question: Elicitation) -> Answer:
        """Ask a tool's question; the end of input dismisses it."""
        by = say("{tool} asks: ", tool=question.tool) if question.tool else ""
        self._say(make_line("asked", by + question.message))
        form = read_fields(question.schema)
        self._say(
            Line("note", say("{word} declines the question, Ctrl-D closes it", word=_DECLINE))
        )
        if not form and self._read(say("press Enter to agree > ")) is None:
            return NoAnswer.DISMISSED
        while not isinstance(answer := self._ask_values(form), NoAnswer) and (
            wrong := find_misfit(answer, question)
        ):
            self._say(make_line("failure", wrong))
            if not form:  # the form has no field to correct
                return NoAnswer.DISMISSED
        return answer

    def _ask_values(self, form: list[FormField]) -> Answer:
        values: dict[str, Any] = {}
        for field in form:
            value = self._ask_value(field)
            if isinstance(value, NoAnswer):
                return value
            if value is not msgspec.UNSET:
                values[field.name] = value
        return values

    def _ask_value(self, field: FormField) -> Any:
        """Return the value typed for *field*, or the reason why the user gave no value."""
        hint = f" ({field.hint})" if field.hint else ""
        prompt = f"{field.label}{hint}".replace("\n", " ") + " > "
        while (typed := self._read(prompt)) is not None:
            if typed.strip() == _DECLINE:
                return NoAnswer.DECLINED
            try:
                return field.read_value(typed)
            except ValueError as error:
                self._say(make_line("failure", str(error)))
        return NoAnswer.DISMISSED

    def _edit(self, request: ApprovalRequest, text: str | None) -> Allow | None:
        """Return approval with the parameters as edited; `None` if they stay unchanged."""
        text = to_json(request.params) if text is None else text
        while text := (self._read(say("arguments > "), prefill=text) or "").strip():
            try:
                params = codec.decode(text)
            except codec.DecodingError as error:
                fault = _explain_fault(text, error)
                refusal = say("not JSON: {error}; an empty line keeps the arguments", error=fault)
                self._say(make_line("failure", refusal))
                continue
            if isinstance(params, dict):
                self._edited = request, text
                return Allow(params)
            self._say(
                Line(
                    "failure",
                    say("the arguments are an object, such as {example}", example='{"a": 1}'),
                )
            )
        return None

    def _find_misfit(self, request: ApprovalRequest) -> str | None:
        """Return the rejected edit of the same call, if that is why it is asked again."""
        if self._edited is None:
            return None
        before, text = self._edited
        same = (before.tool, before.params) == (request.tool, request.params)
        if same and before.reason != request.reason:
            return text
        return None


def _read_scope(word: str) -> Allow | None:
    """Return what *word* allows a program; `None` for any other word."""
    match word.lower():
        case "s" | "same":
            return Allow(scope="values")
        case "p" | "program":
            return Allow(scope="program")
    if word.isascii() and word.isdigit() and 1 <= int(word[:9]) <= MAX_GRANTED:
        return Allow(scope="tool", calls=int(word))
    return None


def _explain_fault(text: str, error: codec.DecodingError) -> str:
    """Return why *text* is not JSON in the language spoken here; that of *error* is English."""
    try:
        json.loads(text)
    except json.JSONDecodeError as fault:
        return describe_json_error(fault)
    except (ValueError, RecursionError):
        pass  # it has too many digits, or is nested too deeply
    return str(error)
