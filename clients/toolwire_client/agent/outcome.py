"""What a run came to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ..react.model_reply import Usage
from .events import ApprovalAsked, Ended, Recorded, Status, UserAsked

if TYPE_CHECKING:
    from collections.abc import Sequence


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended.

    `result` is what the model answered, or says against an answer; `None` if it came to none: nothing is made up in
    its place. `reason` says why the run ended as it did, where that needs saying. `turns` counts the model's replies
    since the question, `usage` its tokens, as far as it told them. `transcript` is all that happened, and too long to
    be shown when an outcome is.
    """

    status: Status
    result: str | None = None
    reason: str = ""
    turns: int = 0
    usage: Usage = Usage()
    transcript: tuple[Recorded, ...] = ()

    def __repr__(self) -> str:
        return (
            f"Outcome(status={self.status!r}, result={self.result!r}, reason={self.reason!r}, turns={self.turns}, "
            f"usage={self.usage!r}, transcript=<{len(self.transcript)} events>)"
        )

    @property
    def ok(self) -> bool:
        """Whether the question was answered."""
        return self.status == "answered"

    @property
    def pending(self) -> UserAsked | ApprovalAsked | None:
        """What a person has to answer, or to allow, before the run goes on; with `needs_input` alone."""
        if self.status != "needs_input":
            return None
        waiting = (event for event in reversed(self.transcript) if isinstance(event, UserAsked | ApprovalAsked))
        return next(waiting, None)


def outcome_of(ended: Ended, transcript: Sequence[Recorded]) -> Outcome:
    """Return the outcome of a run that ended so."""
    return Outcome(
        status=ended.status,
        result=ended.result,
        reason=ended.reason,
        turns=ended.turns,
        usage=ended.usage,
        transcript=tuple(transcript),
    )
