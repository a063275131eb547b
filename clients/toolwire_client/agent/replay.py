"""Repeats a recorded session: decisions are made again, and the record supplies everything from outside."""

from __future__ import annotations

from contextlib import aclosing, nullcontext
from typing import TYPE_CHECKING, Any

from anyio.lowlevel import checkpoint

from .effects import Effects
from .events import (
    NEVER,
    Approved,
    CallFinished,
    Ended,
    FormAnswered,
    ModelAsked,
    ModelFailed,
    ModelReplied,
    QuestionAsked,
    Recorded,
    Refused,
    Resumed,
    Started,
    ToolAsked,
    ToolsListed,
    UserAnswered,
)
from .redaction import Redactor
from .session import Abandoned, Clock, Session

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from .run_state import AskApproval, AskUser, CallTool, RunState


class ReplayMissed(Abandoned):
    """A repeated run differs from its record. The text says where and how."""


class RecordedRun:
    """A transcript, and how many of its events have been repeated."""

    def __init__(self, events: Sequence[Recorded]) -> None:
        redactor = Redactor()
        self.hidden = redactor.event
        self.events = [redactor.event(event) for event in events]
        self.place = 0

    @property
    def next(self) -> Recorded | None:
        """The next recorded event; `None` at the end."""
        return self.events[self.place] if self.place < len(self.events) else None

    def pass_over(self, event: Recorded) -> None:
        """Advance past *event*.

        Raises:
            ReplayMissed: if the record has a different event here.
        """
        if self.hidden(event) != self.next:
            raise self.missed(event)
        self.place += 1

    def missed(self, instead: object) -> ReplayMissed:
        """Return the error for *instead* in place of the next recorded event."""
        return ReplayMissed(f"event {self.place + 1} of the record is\n  {self.next!r}\nand now it is\n  {instead!r}")


class RecordedEffects(Effects):
    """Effects that repeat the record. With *trims*, messages are sent as they were recorded."""

    def __init__(self, record: RecordedRun, *, trims: bool) -> None:
        self._record = record
        self._trims = trims
        self._sent: list[dict[str, Any]] = []

    def kept_open(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def tools(self, seconds: float | None) -> ToolsListed | None:
        listed = self._record.next
        return listed if isinstance(listed, ToolsListed) else None

    async def trimmed(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        asked = self._record.next
        if not self._trims or not isinstance(asked, ModelAsked):
            return messages
        self._sent = [*self._sent[: asked.kept], *asked.messages]
        return self._sent

    async def model(self, state: RunState, messages: list[dict[str, Any]], seconds: float | None) -> Recorded:
        return await self._took(ModelReplied, ModelFailed)

    async def user(self, step: AskUser) -> Recorded | None:
        return await self._took_or_paused(UserAnswered)

    async def approval(self, state: RunState, step: AskApproval) -> Recorded | None:
        return await self._took_or_paused(Approved, Refused)

    async def call(self, state: RunState, step: CallTool, aside: Callable[[Recorded], object]) -> Recorded:
        while isinstance(event := self._record.next, ToolAsked | FormAnswered):
            aside(event)
        if event is None:
            raise Abandoned
        return await self._took(CallFinished)

    async def _took_or_paused(self, *kinds: type[Recorded]) -> Recorded | None:
        await checkpoint()
        if isinstance(self._record.next, Ended) and self._record.next.status == "needs_input":
            return None
        return await self._took(*kinds)

    async def _took(self, *kinds: type[Recorded]) -> Recorded:
        await checkpoint()  # lets a recorded cancellation take effect
        event = self._record.next
        if event is None or not isinstance(event, kinds):
            raise self._record.missed(f"one of {', '.join(kind.__name__ for kind in kinds)}")
        return event


class RecordedClock(Clock):
    """A clock that returns the time of the next recorded event."""

    def __init__(self, record: RecordedRun) -> None:
        self._record = record

    def seconds(self) -> float:
        return (self.date() - NEVER).total_seconds()

    def date(self) -> datetime:
        return self._record.next.at if self._record.next else NEVER


async def replayed(state: RunState, effects: RecordedEffects, record: RecordedRun) -> AsyncGenerator[Recorded, None]:
    """Repeat *record* in a new session and yield the events.

    Raises:
        ReplayMissed: if an event differs from the record.
    """

    def check(event: Recorded) -> None:
        record.pass_over(event)
        _interrupt(session, record.next)

    begin = next((event for event in record.events if isinstance(event, Started)), Started())
    session = Session(state, effects, begin=begin, clock=RecordedClock(record), record=check)
    yielded = 0
    while record.next is not None:
        async with aclosing(_part(session, record)) as events:
            try:
                async for event in events:
                    yielded += 1
                    yield event
            except ReplayMissed:
                raise
            except Abandoned:
                for event in session.events[yielded:]:  # events during an unfinished call
                    yielded += 1
                    yield event


def _part(session: Session, record: RecordedRun) -> AsyncGenerator[Recorded, None]:
    if isinstance(record.next, Resumed):
        return session.go_on()
    asked = (event for event in record.events[record.place :] if isinstance(event, QuestionAsked))
    question = next(asked, None)  # a run may have ended before its question was recorded
    return session.run(question.content if question else "(not recorded)")


def _interrupt(session: Session, following: Recorded | None) -> None:
    """Interrupt the run as the record shows before *following*."""
    match following:
        case Ended(status="cancelled", reason=reason):
            session.cancel(reason)
        case None:
            session.abandon()
