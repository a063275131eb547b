"""What a run may need next."""

from __future__ import annotations

import msgspec

from ..react.messages import Action, Ask  # noqa: TC001
from .events import ApprovalAsked, Recorded  # noqa: TC001


class Tell(msgspec.Struct, frozen=True):
    """Nothing has to be waited for: this happens next."""

    event: Recorded


class AskModel(msgspec.Struct, frozen=True):
    """Get a reply of the model, within so many seconds."""

    seconds: float | None


class AskUser(msgspec.Struct, frozen=True):
    """Get an answer of the user."""

    ask: Ask


class AskApproval(msgspec.Struct, frozen=True):
    """Find out whether the action is allowed."""

    action: Action
    asked: ApprovalAsked


class Call(msgspec.Struct, frozen=True):
    """Call the tool, for so many seconds at most."""

    action: Action
    seconds: float | None


Step = Tell | AskModel | AskUser | AskApproval | Call
