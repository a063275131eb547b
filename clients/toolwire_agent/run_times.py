"""The times of a run, as spans: replies of the model, calls of tools, and waits for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from .agent import events

if TYPE_CHECKING:
    from datetime import datetime

    from .agent.events import Recorded
    from .react.messages import Usage

_PEOPLE = (events.UserAnswered, events.FormAnswered, events.Approved, events.Refused)


class RunSpan(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Something that took time, with the tokens that the model *read* and *written*."""

    kind: Literal["call", "question", "model"]
    name: str
    start: datetime
    end: datetime
    is_error: bool = False
    read: int = 0
    written: int = 0
    cached: int = 0


class RunTimes:
    """Makes the spans of a run from its events, in their order."""

    def __init__(self) -> None:
        self._before: Recorded | None = None
        self._calls: dict[int, events.CallStarted] = {}
        self._approvals: dict[int, events.ApprovalAsked] = {}

    def add(self, event: Recorded) -> RunSpan | None:
        """Return the span that *event* ends, if it ends one whose times are known."""
        before, self._before = self._before, event
        match event:
            case events.CallStarted(call=call):
                self._calls[call] = event
            case events.CallFinished(call=call, success=success):
                started = self._calls.pop(call, None)
                if started is not None:
                    return _make_span("call", started.tool, started, event, is_error=not success)
            case events.ModelReplied(reply=reply):
                return _make_span("model", "model", before, event, usage=reply.usage)
            case events.ModelFailed():
                return _make_span("model", "model", before, event, is_error=True)
            case events.ApprovalAsked(call=int(call)):
                self._approvals[call] = event
            case events.Approved(call=int(call)) | events.Refused(call=int(call)):
                return _make_span("question", "user", self._approvals.pop(call, None), event)
            case _ if isinstance(event, _PEOPLE):
                return _make_span("question", "user", before, event)
        return None


def _make_span(
    kind: Literal["call", "question", "model"],
    name: str,
    start: Recorded | None,
    end: Recorded,
    *,
    is_error: bool = False,
    usage: Usage | None = None,
) -> RunSpan | None:
    if start is None or events.NEVER in (start.at, end.at):
        return None
    tokens = {}
    if usage is not None:
        tokens = {
            "read": usage.input_tokens,
            "written": usage.output_tokens,
            "cached": usage.cached_tokens,
        }
    return RunSpan(kind=kind, name=name, start=start.at, end=end.at, is_error=is_error, **tokens)
