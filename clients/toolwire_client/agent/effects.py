"""What a run waits for: the model, the tools, and whoever is asked. Each comes back as the event of what came of it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Mapping
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import anyio
import msgspec

from ..errors import ClientError, ServerGone, TimedOut
from ..models.errors import ModelError
from ..models.model import kept_open, reply_from
from ..react.result_text import shown
from ..session.elicitation import Witness, witness
from ..validation import told
from ..waiting.threads import here
from .approvals import Allow, ApprovalRequest, Pause, Refuse
from .events import (
    Approved,
    CallFinished,
    FormAnswered,
    ModelFailed,
    ModelReplied,
    Refused,
    TextArrived,
    ToolAsked,
    ToolProgress,
    ToolsListed,
)
from .trimming import trimmed

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from ..models.model import Model
    from ..protocol.results import CallResult
    from ..session.elicitation import Question
    from ..toolbox import AsyncToolbox
    from .approvals import Approvals
    from .events import Live, OnLive, Recorded
    from .run_state import AskApproval, AskUser, Call, Course
    from .trimming import Trim
    from .user import User

T = TypeVar("T")
Message = dict[str, Any]

LIST_SECONDS = 60.0
"""How long a run waits for a server to list its tools, before it goes on without them."""


class Performer(Protocol):
    """Does what a `Course` cannot do itself. `None` instead of an event: nobody decides now."""

    def kept_open(self) -> AbstractAsyncContextManager[None]:
        """Return what a run lies within, so that connections stay open from one request to the next."""

    async def tools(self, seconds: float | None) -> ToolsListed | None:
        """Return the tools; `None` if they are as they were, or nobody waited for them.

        Their sources have so many *seconds* at most to list them.
        """

    async def trimmed(self, messages: list[Message]) -> list[Message]:
        """Return the messages that are really sent."""

    async def model(self, course: Course, messages: list[Message], seconds: float | None) -> Recorded:
        """Ask the model."""

    async def user(self, step: AskUser) -> Recorded | None:
        """Ask the user what the model wants to know."""

    async def approval(self, course: Course, step: AskApproval) -> Recorded | None:
        """Ask whether a call is allowed."""

    async def call(self, course: Course, step: Call, aside: Callable[[Recorded], object]) -> Recorded:
        """Call a tool. *aside* is told what happens meanwhile."""


class Performing:
    """See `Performer`: with a real model, real tools and real persons."""

    def __init__(
        self,
        model: Model,
        toolbox: AsyncToolbox,
        *,
        approvals: Approvals,
        user: User,
        tool_seconds: float | Mapping[str, float] | None,
        trim: Trim | None,
        on_live: OnLive | None,
    ) -> None:
        self._model = model
        self._toolbox = toolbox
        self._approvals = approvals
        self._user = user
        self._tool_seconds = tool_seconds
        self._trim = trim
        self._on_live = on_live
        self._entries: dict[str, dict[str, Any]] = {}

    def kept_open(self) -> AbstractAsyncContextManager[None]:
        """As `Performer.kept_open`."""
        return kept_open(self._model)

    async def tools(self, seconds: float | None) -> ToolsListed:
        """As `Performer.tools`."""
        limit = LIST_SECONDS if seconds is None else min(seconds, LIST_SECONDS)
        entries = [tool.raw for tool in await self._toolbox.list_tools(timeout_seconds=limit)]
        self._entries = {entry["name"]: entry for entry in entries}
        box = self._toolbox
        trusts = {
            name: self._approvals.trust(box.origin(name).source, is_local=box.is_local(name)) for name in self._entries
        }
        return ToolsListed(
            tools=entries,
            missing={source: str(error) for source, error in self._toolbox.errors.items()},
            trust={name: trust for name, trust in trusts.items() if trust},
        )

    async def trimmed(self, messages: list[Message]) -> list[Message]:
        """As `Performer.trimmed`."""
        return messages if self._trim is None else await trimmed(messages, self._trim)

    async def model(self, course: Course, messages: list[Message], seconds: float | None) -> Recorded:
        """As `Performer.model`."""
        strict = bool(getattr(self._model, "strict_schemas", False))
        ask = partial(
            self._model.reply,
            messages,
            tools=course.conversation.offered or None,
            reply_schema=course.conversation.reply_schema(strict=strict),
            on_text=self._hears(TextArrived),
        )
        try:
            with anyio.move_on_after(seconds):
                return ModelReplied(reply=reply_from(await ask(), f"the model {type(self._model).__name__}"))
        except ModelError as error:
            return ModelFailed(reason=str(error))
        except Exception as error:  # a model is anybody's code
            return ModelFailed(reason=f"{type(error).__name__}: {error}")
        return ModelFailed(reason="the model did not reply in time", out_of_time=True)

    async def user(self, step: AskUser) -> Recorded | None:
        """As `Performer.user`."""
        return await self._user.answer(step.ask.content)

    async def approval(self, course: Course, step: AskApproval) -> Recorded | None:
        """As `Performer.approval`. Parameters that were changed have to fit, or the person is asked again."""
        action, asked = step.action, step.asked
        request = ApprovalRequest(
            tool=action.tool,
            params=action.params,
            reason=asked.reason,
            thought=action.thought,
            interrupted=asked.interrupted,
            description=self._entries.get(action.tool, {}),
        )
        if self._approvals.ask is None:
            if self._approvals.nobody == "pause":
                return None
            return Refused(reason=course.undone("nobody", tool=action.tool), by_user=False)
        said = ""
        for _ in range(_MOST_MISFITS):
            verdict = await _settled(self._approvals.ask(request))
            match verdict:
                case Pause():
                    return None
                case True | Allow(params=None):
                    return Approved()
                case Allow(params=dict() as params):
                    fitted, faults = course.conversation.tools.fitted(action.tool, params)
                    if not faults:
                        return Approved(params=fitted)
                    said = told(faults)
                    request = msgspec.structs.replace(request, reason=f"the changed parameters do not fit: {said}")
                case False:
                    return Refused(reason="")
                case Refuse(reason=reason):
                    return Refused(reason=reason)
                case _:
                    raise TypeError(f"whoever approves returns Allow, Refuse, Pause or a bool, not {verdict!r}")
        return Refused(reason=course.undone("misfit", faults=said), by_user=False)

    async def call(self, course: Course, step: Call, aside: Callable[[Recorded], object]) -> Recorded:
        """As `Performer.call`."""
        hears = witness.set(_Witness(here(aside)))
        try:
            return await self._called(course, step)
        finally:
            witness.reset(hears)

    async def _called(self, course: Course, step: Call) -> Recorded:
        tool = step.action.tool
        limits = [seconds for seconds in (self._limit(tool), step.seconds) if seconds is not None]
        limit = min(limits, default=None)
        try:
            result = await self._toolbox.call_tool(
                tool,
                step.action.params,
                timeout_seconds=limit,
                on_progress=self._hears(partial(ToolProgress, tool)),
            )
        except TimedOut:
            return CallFinished(success=False, result=course.words("timed_out", tool=tool, seconds=f"{limit or 0:.3g}"))
        except ServerGone as error:
            # Its stderr is for people.
            return CallFinished(success=False, result=course.words("gone", reason=error.reason))
        except ClientError as error:
            return CallFinished(success=False, result=str(error))
        value, note = _told(course, result)
        return CallFinished(success=not result.is_error, result=value, note=note)

    def _limit(self, tool: str) -> float | None:
        limits = self._tool_seconds
        if not isinstance(limits, Mapping):
            return limits
        return next((seconds for pattern, seconds in limits.items() if fnmatchcase(tool, pattern)), None)

    def _hears(self, live: Callable[..., Live]) -> Callable[..., None] | None:
        """What makes a *live* event of its arguments and tells it, from any thread; `None` if nobody listens."""
        if self._on_live is None:
            return None
        tell = here(self._on_live)
        return lambda *parts: tell(live(*parts))


class _Witness(Witness):
    """Makes events of the questions that tools ask."""

    def __init__(self, tell: Callable[[Recorded], None]) -> None:
        self._tell = tell

    def asked(self, question: Question) -> None:
        self._tell(ToolAsked(tool=question.tool, message=question.message, form=question.schema))

    def answered(self, reply: dict[str, Any]) -> None:
        self._tell(FormAnswered(action=reply["action"], content=reply.get("content", {})))


_MOST_MISFITS = 3


def _told(course: Course, result: CallResult) -> tuple[Any, str]:
    """What the model is shown of a result, and what is to be said about that."""
    value = result.text if result.is_error or result.structured is None else result.structured
    if isinstance(value, dict) and value.keys() == {"result"}:  # how MCP's servers wrap what is no object
        value = value["result"]
    # One letter less, so that the conversation, which counts as well, has nothing more to cut.
    value, remarks = shown(value, course.conversation.limits.max_result_chars - 1)
    others = sorted({str(block.get("type")) for block in result.content} - {"text"})
    more = course.words("other_content", kinds=", ".join(others)) if others else ""
    language = course.conversation.protocol.language
    return value, language.together(language.tell(*remarks), more)


async def _settled(value: T | Awaitable[T]) -> T:
    return await value if inspect.isawaitable(value) else value
