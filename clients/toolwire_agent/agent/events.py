"""The events of a run: what an agent yields, and what a transcript holds.

Strategy. The events alone describe a run. Those from outside (question, reply, result, the user's
answer) suffice to restore the state of a session; the others show readers what followed. So the
same list serves to watch, resume and repeat a run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal

import msgspec

from ..react.messages import Action, ModelReply, Usage
from .approvals import Trust  # noqa: TC001 - read by msgspec

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    T = TypeVar("T", default=str)
else:
    from typing import TypeVar  # before 3.13 without defaults, which only type checkers need

    T = TypeVar("T")

Params = dict[str, Any]

Status = Literal[
    "answered", "unsolvable", "needs_input", "turn_limit", "budget", "model_error", "cancelled"
]
"""How a run ended.

`answered` and `unsolvable` are the model's own verdicts. `needs_input` waits for the user and can
be resumed. `turn_limit` ran out of turns or repeated a call, `budget` ran out of tokens or time.
`model_error` got no reply, or no usable one. `cancelled` was ended from outside.
"""


NEVER = datetime.fromtimestamp(0, UTC)
"""The time of an event without a recorded time."""


class Event(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Something that happened, and when."""

    at: Annotated[datetime, msgspec.Meta(tz=True)] = NEVER


class ForkOf(msgspec.Struct, frozen=True, kw_only=True):
    """The origin of a fork: its first *events* are a copy of a session up to *line* of the file
    *transcript*.
    """

    events: int
    transcript: str | None = None
    line: int | None = None


class Started(Event, frozen=True, kw_only=True):
    """A session starts. `version` is that of these events; `instructions` are those added to the
    protocol's prompt.

    A fork has the model, protocol and instructions with which it goes on after the copied events.
    `context_tokens` is the size of the model's context, if it is known: longer histories are
    trimmed to it.
    """

    version: Literal[1] = 1
    model: str = ""
    protocol: str = ""
    instructions: str = ""
    fork_of: ForkOf | None = None
    context_tokens: int | None = None
    warnings: list[str] = []


class Resumed(Event, frozen=True, kw_only=True):
    """A session continues, perhaps in another process."""


class ToolsListed(Event, frozen=True, kw_only=True):
    """The tools offered to the model from here on: entries of `tools/list`.

    `missing` gives the reason for each source that could not list its tools. `trust` says which
    tools are functions of the agent's own process, and which have trusted hints. `shown` names the
    tools in the model's list, if it finds the others by a search, and `call_tool` the one that
    calls those.
    """

    tools: list[dict[str, Any]]
    missing: dict[str, str] = {}
    trust: dict[str, Trust] = {}
    shown: list[str] = []
    call_tool: str = ""


class QuestionAsked(Event, frozen=True, kw_only=True):
    """The user asks a question. `result_schema` is the JSON Schema of the answer, if it is more
    than text.
    """

    content: str
    result_schema: dict[str, Any] | None = None


class ModelAsked(Event, frozen=True, kw_only=True):
    """A request to the model: the first `kept` messages of the previous request, then
    `messages`.
    """

    kept: int
    messages: list[dict[str, Any]]


class ModelReplied(Event, frozen=True, kw_only=True):
    """The model replied. The next event shows the consequence."""

    reply: ModelReply


class ModelFailed(Event, frozen=True, kw_only=True):
    """The model gave no reply: `out_of_time` is the time limit, `too_long` what the messages are
    for the model.
    """

    reason: str
    out_of_time: bool = False
    too_long: bool = False


class ReplyRefused(Event, frozen=True, kw_only=True):
    """The reply is unusable, and the model receives the reason.

    `action` is set if only that was refused. It may also be an answer that does not have the
    requested type. `said` is the beginning of a reply without a readable action, for people;
    `reason` is written for the model.
    """

    reason: str
    action: Action | None = None
    said: str = ""


class ActionChosen(Event, frozen=True, kw_only=True):
    """The model requests a tool call, the `call`th of its reply, from 0. `warnings` name oddities
    of the reply.
    """

    call: int = 0
    thought: str
    tool: str
    params: Params
    warnings: list[str] = []


class ApprovalAsked(Event, frozen=True, kw_only=True):
    """The call needs approval, for `reason`. `interrupted`: it was started before and may have
    taken effect.

    `call` is the number of a call that is asked for early, while calls before it are open as tasks;
    `None` is the call whose turn it is.
    """

    call: int | None = None
    tool: str
    params: Params
    reason: str
    interrupted: bool = False


class Approved(Event, frozen=True, kw_only=True):
    """The call was allowed, with the user's `params` if set. `call` is as in `ApprovalAsked`."""

    call: int | None = None
    params: Params | None = None


class Refused(Event, frozen=True, kw_only=True):
    """The user or the settings refused the call; the model receives the reason. `call` is as in
    `ApprovalAsked`.
    """

    call: int | None = None
    reason: str
    by_user: bool = True


class CallStarted(Event, frozen=True, kw_only=True):
    """A tool is called. From here on it may have taken effect."""

    call: int = 0
    tool: str
    params: Params


class TaskStarted(Event, frozen=True, kw_only=True):
    """The server makes the call the task `task`, which a resumed session finds again.

    It is recorded at once and yielded after the call: see `EventRecorded`.
    """

    call: int = 0
    task: str


class ToolAsked(Event, frozen=True, kw_only=True):
    """A running tool asks the user to fill in a form. `tool` is `None` where the server does not
    say.

    It is recorded at once and yielded after the call: see `EventRecorded`.
    """

    call: int = 0
    tool: str | None
    message: str
    form: dict[str, Any]


class FormAnswered(Event, frozen=True, kw_only=True):
    """The user's answer to a form: accepted with this `content`, declined or cancelled."""

    call: int = 0
    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] = {}


class CallFinished(Event, frozen=True, kw_only=True):
    """The result of a call as the model receives it; a long `result` is cut, which `note` says."""

    call: int = 0
    success: bool
    result: Any
    note: str = ""


class UserAsked(Event, frozen=True, kw_only=True):
    """The model asks the user a question."""

    thought: str
    content: str
    warnings: list[str] = []


class UserAnswered(Event, frozen=True, kw_only=True):
    """The user's answer; `None` if there is no user."""

    content: str | None


class FinalForced(Event, frozen=True, kw_only=True):
    """The model learns that its next reply is the last, and why. Without an answer the run ends
    with `status`.
    """

    reason: str
    status: Literal["turn_limit", "budget", "model_error"]


class Ended(Event, frozen=True, kw_only=True):
    """The run is over. `result` is the model's answer, or its explanation; `reason` says why the
    run ended so.
    """

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
    | TaskStarted
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
    """A piece of a reply in progress, which may turn out to be invalid.

    `answer` is the text of the final answer in it, decoded, and `thought` what the model has
    thought before.
    """

    text: str
    answer: str = ""
    thought: str = ""


class ToolProgress(msgspec.Struct, frozen=True):
    """The progress of a call: `done` of `total`, if that is known."""

    tool: str
    done: float
    total: float | None = None
    message: str | None = None


class EventRecorded(msgspec.Struct, frozen=True):
    """An event while calls run, when it is recorded. The run yields it when they have ended."""

    event: Recorded


Live = TextArrived | ToolProgress | EventRecorded
"""Updates between two events that a run yields. They are not recorded, since the events say the
same.
"""

OnLive = Callable[[Live], object]


class Outcome(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """How a run ended.

    `result` is the model's answer or explanation; `None` if it gave neither: nothing is made up.
    With a `result_type` it is a value of that type or `None`, and `reason` has the explanation.
    `reason` says why the run ended, where that is not obvious. `turns` and `usage` count the
    model's replies and reported tokens since the question. `transcript` holds all events, and is
    left out of the repr.
    """

    status: Status
    result: T | None = None
    reason: str = ""
    turns: int = 0
    usage: Usage = Usage()
    transcript: tuple[Recorded, ...] = ()

    def __repr__(self) -> str:
        return (
            f"Outcome(status={self.status!r}, result={self.result!r}, reason={self.reason!r},"
            f" turns={self.turns}, usage={self.usage!r}, transcript=<{len(self.transcript)}"
            " events>)"
        )

    def _repr_html_(self) -> str:
        from toolwire_client.pages.notebook import show_outcome

        turns = f"{self.turns} turn" if self.turns == 1 else f"{self.turns} turns"
        summary = ", ".join(filter(None, (self.status, turns, self.reason)))
        return show_outcome(summary, msgspec.to_builtins(self.result))

    @property
    def ok(self) -> bool:
        """Whether the question was answered."""
        return self.status == "answered"

    @property
    def pending(self) -> UserAsked | ApprovalAsked | None:
        """The question or approval that a `needs_input` run waits for."""
        if self.status != "needs_input":
            return None
        waiting = (
            event
            for event in reversed(self.transcript)
            if isinstance(event, UserAsked | ApprovalAsked)
        )
        return next(waiting, None)


def make_outcome(ended: Ended, transcript: Sequence[Recorded]) -> Outcome:
    """Return the outcome of a run that ended with *ended*."""
    shared = {
        name: getattr(ended, name) for name in ("status", "result", "reason", "turns", "usage")
    }
    return Outcome(**shared, transcript=tuple(transcript))
