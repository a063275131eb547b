"""Repeats a recorded session: decisions are made again, and the record supplies everything from
outside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from toolwire_client.redaction.redactor import Redactor

from . import events
from .run_state import RecordEvent
from .transcript import may_follow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .run_state import RunState

_FROM_OUTSIDE = (events.Started, events.ToolsListed, events.QuestionAsked, events.Resumed)
_WAITS = (events.ModelAsked, events.UserAsked, events.ApprovalAsked)


class ReplayMissed(Exception):
    """A repeated run differs from its record. The text says where and how."""


def replayed(
    state: RunState, record: Sequence[events.Recorded], *, trims: bool
) -> Iterator[events.Recorded]:
    """Repeat *record* from a new *state* and yield its events, secrets hidden.

    With *trims*, the messages to the model are those of the record.

    Raises:
        ReplayMissed: if the state leads to another event than the recorded one.
    """
    hidden = Redactor().event
    before: events.Recorded | None = None
    origin = record[0].fork_of if record and isinstance(record[0], events.Started) else None
    for number, event in enumerate(map(hidden, record), start=1):
        if origin is not None and number <= origin.events:  # another agent led to it
            state.apply(event)
            yield event
            before = event
            continue
        now = _expected(state, before, event, trims=trims) if may_follow(before, event) else None
        if now is None or hidden(msgspec.structs.replace(now, at=event.at)) != event:
            raise ReplayMissed(
                f"event {number} of the record is\n  {event!r}\nand now it is\n  {now!r}"
            )
        state.apply(event)
        yield event
        before = event


def _expected(
    state: RunState, before: events.Recorded | None, event: events.Recorded, *, trims: bool
) -> events.Recorded | None:
    """Return what *state* leads to in place of *event*: an event from outside itself, `None` if
    nothing follows.
    """
    is_awaited = isinstance(before, _WAITS)
    match event:
        case events.Ended(status="cancelled", reason=reason):
            return state.ending("cancelled", reason=reason)
        case events.Ended(status="needs_input", reason=reason) if is_awaited:
            return state.ending("needs_input", reason=reason)
        case events.Ended():
            pass
        case events.ReplyRefused() if isinstance(due := state.next(), RecordEvent) and isinstance(
            due.event, events.Ended
        ):
            return event  # the requested type refused the answer
        case (
            events.ToolAsked(call=call)
            | events.FormAnswered(call=call)
            | events.CallFinished(call=call)
        ) if call in state.open:
            return event
        case _ if is_awaited or isinstance(event, _FROM_OUTSIDE):
            return event
    step = state.next()
    if step is None:
        return None
    if isinstance(step, RecordEvent):
        return step.event
    expected = state.announcement(step, state.conversation.messages)
    return (
        event
        if trims and isinstance(event, events.ModelAsked) and type(expected) is type(event)
        else expected
    )
