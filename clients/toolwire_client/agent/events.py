"""What happens in a run, as values: what an agent yields, and what a transcript holds.

Strategy. A run is what its events say. Those that tell what came from outside (a question, a reply, a result, what a
person answered) are all that is needed to bring an exchange to where it was; the others tell what followed, for whoever
reads. So one list of events serves to watch a run, to take it up again, and to repeat it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from ..react.messages import Action  # noqa: TC001 - read by msgspec
from ..react.model_reply import ModelReply, Usage
from .approvals import Trust  # noqa: TC001 - read by msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence


Params = dict[str, Any]

Status = Literal["answered", "unsolvable", "needs_input", "turn_limit", "budget", "model_error", "cancelled"]
"""How a run ended.

`answered` and `unsolvable` are the model's own words. `needs_input` waits for a person, and can be taken up again. With
`turn_limit` and `budget` there were no turns, or not enough tokens or time, to come to an answer. With `model_error`
the model gave no reply, or none that can be used. `cancelled` was ended from outside.
"""


NEVER = datetime.fromtimestamp(0, UTC)
"""When an event happened whose time was not recorded."""


class Event(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Something that happened, and when."""

    at: Annotated[datetime, msgspec.Meta(tz=True)] = NEVER


class Started(Event, frozen=True, kw_only=True):
    """An exchange begins. `version` is that of these events."""

    version: Literal[1] = 1
    model: str = ""
    protocol: str = ""


class Resumed(Event, frozen=True, kw_only=True):
    """An exchange is taken up again, perhaps by another process."""


class ToolsListed(Event, frozen=True, kw_only=True):
    """The tools that the model is told of from here on: entries of `tools/list`.

    `missing` says of each source that could not be asked for its tools why not. `trust` says which tools are functions
    of the agent's own process, and which have trusted hints.
    """

    tools: list[dict[str, Any]]
    missing: dict[str, str] = {}
    trust: dict[str, Trust] = {}


class QuestionAsked(Event, frozen=True, kw_only=True):
    """The user wants something."""

    content: str


class ModelAsked(Event, frozen=True, kw_only=True):
    """The model is asked for a reply: to the first `kept` messages of the last time, and then to `messages`."""

    kept: int
    messages: list[dict[str, Any]]


class ModelReplied(Event, frozen=True, kw_only=True):
    """The model replied. What that leads to is the next event."""

    reply: ModelReply


class ModelFailed(Event, frozen=True, kw_only=True):
    """The model gave no reply; `out_of_time` if nobody waited any longer."""

    reason: str
    out_of_time: bool = False


class ReplyRefused(Event, frozen=True, kw_only=True):
    """The reply cannot be used, and the model is told why. With an `action`, it is that which cannot be done."""

    reason: str
    action: Action | None = None


class ActionChosen(Event, frozen=True, kw_only=True):
    """The model wants a tool to be called. `warnings` tell what was odd about the reply."""

    thought: str
    tool: str
    params: Params
    warnings: list[str] = []


class ApprovalAsked(Event, frozen=True, kw_only=True):
    """A person has to allow the call. `reason` says why; `interrupted` that it was started before, and may be done."""

    tool: str
    params: Params
    reason: str
    interrupted: bool = False


class Approved(Event, frozen=True, kw_only=True):
    """The call was allowed; with `params`, if the person has changed them."""

    params: Params | None = None


class Refused(Event, frozen=True, kw_only=True):
    """The call was not allowed, by a person or by the settings; the model is told the reason."""

    reason: str
    by_user: bool = True


class CallStarted(Event, frozen=True, kw_only=True):
    """A tool is called. From here on its effect may have happened."""

    tool: str
    params: Params


class ToolAsked(Event, frozen=True, kw_only=True):
    """The tool that is called wants to know something from the user, as the form says. `tool` may not be told.

    It is written down when it happens, and yielded when the call is over.
    """

    tool: str | None
    message: str
    form: dict[str, Any]


class FormAnswered(Event, frozen=True, kw_only=True):
    """What the user did about the form: accepted it with this `content`, declined it or cancelled it."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] = {}


class CallFinished(Event, frozen=True, kw_only=True):
    """What the call came to, as the model is told: `result` is cut if it is long, which `note` says."""

    success: bool
    result: Any
    note: str = ""


class UserAsked(Event, frozen=True, kw_only=True):
    """The model wants to know something from the user."""

    thought: str
    content: str
    warnings: list[str] = []


class UserAnswered(Event, frozen=True, kw_only=True):
    """What the user answered; `None` if nobody was there to ask."""

    content: str | None


class FinalForced(Event, frozen=True, kw_only=True):
    """The model is told that its next reply is the last one, and why. Without an answer the run ends with `status`."""

    reason: str
    status: Literal["turn_limit", "budget"]


class Ended(Event, frozen=True, kw_only=True):
    """The run is over. `result` is the model's answer, or what it says there is none; `reason` why it ended so."""

    status: Status
    result: str | None = None
    reason: str = ""
    thought: str = ""
    turns: int = 0
    usage: Usage = Usage()


Recorded = (
    Started
    | Resumed
    | ToolsListed
    | QuestionAsked
    | ModelAsked
    | ModelReplied
    | ModelFailed
    | ReplyRefused
    | ActionChosen
    | ApprovalAsked
    | Approved
    | Refused
    | CallStarted
    | ToolAsked
    | FormAnswered
    | CallFinished
    | UserAsked
    | UserAnswered
    | FinalForced
    | Ended
)
"""Every event that a run yields and a transcript holds."""


class TextArrived(msgspec.Struct, frozen=True):
    """A piece of the reply that is being written. It may turn out to be no valid reply."""

    text: str


class ToolProgress(msgspec.Struct, frozen=True):
    """How far a call is: `done` of `total`, which may not be known."""

    tool: str
    done: float
    total: float | None = None
    message: str | None = None


Live = TextArrived | ToolProgress
"""What goes on between two events. Nobody records it: a `ModelReplied` or a `CallFinished` says the same."""

OnLive = Callable[[Live], object]


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
