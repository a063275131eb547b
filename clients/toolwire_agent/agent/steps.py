"""The steps of a run: what a `RunState` asks its session to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from . import events  # noqa: TC001 - msgspec reads the annotations

if TYPE_CHECKING:
    from ..react.messages import Action, Ask


class RecordEvent(msgspec.Struct, frozen=True):
    """Record this event; there is nothing to wait for."""

    event: events.Recorded


class AskModel(msgspec.Struct, frozen=True):
    """Ask the model for a reply of *max_tokens*, within *seconds*."""

    seconds: float | None
    max_tokens: int | None


class AskUser(msgspec.Struct, frozen=True):
    """Ask the user."""

    ask: Ask


class AskApproval(msgspec.Struct, frozen=True):
    """Ask whether the action is allowed."""

    action: Action
    asked: events.ApprovalAsked


class CallTool(msgspec.Struct, frozen=True):
    """Call the tool, for at most *seconds*, or wait for the *task* that an earlier run's call has
    become.
    """

    action: Action
    seconds: float | None
    task: str | None = None


class CallTools(msgspec.Struct, frozen=True):
    """Call the tools side by side; the keys are the numbers of the calls in their reply."""

    calls: dict[int, CallTool]


Step = RecordEvent | AskModel | AskUser | AskApproval | CallTools
