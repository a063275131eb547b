"""Repeats a recorded session: decisions are made again, and the record supplies everything from
outside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from toolwire_client.redaction.redactor import Redactor

from .. import events
from ..steps import RecordEvent
from .transcript import may_follow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..run_state import RunState

_WAITS = (events.ModelAsked, events.UserAsked, events.ApprovalAsked)


class ReplayMissed(Exception):
    """A repeated run differs from its record. The text says where and how."""


def replay_session(
    state: RunState, record: Sequence[events.Recorded], *, trims: bool
) -> Iterator[events.Recorded]:
    """Repeat *record* from a new *state* and yield its events, secrets hidden.

    With *trims*, the messages to the model are those of the record.

    Raises:
        ReplayMissed: if the state leads to another event than the recorded one.
    """
    hide = Redactor().redact_event
    before: events.Recorded | None = None
    copied = 0
    if record and isinstance(record[0], events.Started) and record[0].fork_of is not None:
        copied = record[0].fork_of.events  # another agent led to these
    for number, event in enumerate(map(hide, record), start=1):
        if number > copied:
            made = None
            if may_follow(before, event):
                made = _make_event(state, before, event, trims=trims)
            if made is None or hide(msgspec.structs.replace(made, at=event.at)) != event:
                raise ReplayMissed(
                    f"event {number} of the record is\n  {event!r}\nand now it is\n  {made!r}"
                )
        state.apply(event)
        yield event
        before = event


def _make_event(
    state: RunState, before: events.Recorded | None, event: events.Recorded, *, trims: bool
) -> events.Recorded | None:
    """Return what *state* leads to in place of *event*: an event from outside itself, `None` if
    nothing follows.
    """
    is_awaited = isinstance(before, _WAITS)
    if isinstance(event, events.Ended):
        if event.status == "cancelled":
            return state.make_end("cancelled", reason=event.reason)
        if event.status == "needs_input" and is_awaited:
            return state.make_end("needs_input", reason=event.reason)
    elif is_awaited or _is_from_outside(state, event):
        return event
    step = state.choose_next_step()
    if isinstance(event, events.ApprovalAsked) and event.call is not None:
        step = state.choose_step_ahead()
    if step is None:
        return None
    if isinstance(step, RecordEvent):
        return step.event
    expected = state.announce(step, state.conversation.messages)
    if trims and isinstance(event, events.ModelAsked) and isinstance(expected, events.ModelAsked):
        return event
    return expected


def _is_from_outside(state: RunState, event: events.Recorded) -> bool:
    """Whether no decision of *state* leads to *event*."""
    match event:
        case events.Started() | events.ToolsListed() | events.QuestionAsked() | events.Resumed():
            return True
        case events.ToolAsked(call=call) | events.FormAnswered(call=call):
            return call in state.open
        case events.TaskStarted(call=call) | events.CallFinished(call=call):
            return call in state.open
        case events.Approved(call=call) | events.Refused(call=call):
            return state.awaits_approval(call)
        case events.ReplyRefused():
            # The requested type refused the answer with which the run would have ended.
            step = state.choose_next_step()
            return isinstance(step, RecordEvent) and isinstance(step.event, events.Ended)
    return False
