"""The shell of a run: takes the steps of its state, and records and yields every event."""

from __future__ import annotations

import time
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, overload

import anyio
import msgspec
from toolwire_schemas.language import say

from ..models.model import keep_open
from .events import (
    Ended,
    EventRecorded,
    Outcome,
    QuestionAsked,
    Recorded,
    ReplyRefused,
    Resumed,
    Started,
    ToolsListed,
    make_outcome,
)
from .open_calls import OpenCalls
from .result_type import ResultType
from .steps import AskModel, AskUser, CallTools, RecordEvent
from .transcripts.transcript import BrokenTranscript

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from typing_extensions import TypeForm

    from .effects import Effects
    from .events import T
    from .run_state import RunState
    from .steps import Step


class Clock:
    """The time: seconds since any moment, and the date at the start of each run."""

    def read_seconds(self) -> float:
        """Return seconds that never go backwards."""
        return time.monotonic()

    def read_date(self) -> datetime:
        """Return the date and time, in UTC."""
        return datetime.now(UTC)


class AgentSession:
    """A conversation of one or more questions, asked one after another.

    *events* are those of earlier runs; *names* say where each is from.

    Raises:
        BrokenTranscript: if *events* do not follow from one another.
    """

    def __init__(
        self,
        state: RunState,
        effects: Effects,
        *,
        begin: Started,
        events: Sequence[Recorded] = (),
        names: Sequence[str] = (),
        record: Callable[[Recorded], object] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.events: list[Recorded] = list(events)
        """All events so far."""
        self._state = state
        self._effects = effects
        self._begin = begin
        self._record = record
        self._clock = clock or Clock()
        self._is_running = False
        self._scope: anyio.CancelScope | None = None
        self._call: anyio.CancelScope | None = None
        self._cancelled: str | None = None
        self._tools: ToolsListed | None = None
        self._result: ResultType | None = None
        for place, event in enumerate(events):
            try:
                self._repeat(event)
            except Exception as error:  # a file may say anything
                where = f"event {place + 1}"
                if names:
                    where = names[place]
                other = _describe_other_protocol(events[0], begin)
                raise BrokenTranscript(
                    f"{where}, does not fit what is before it: {error}{other}"
                ) from error
        state.spending.forget_session_start()
        self._copied: list[Recorded] = []
        if begin.fork_of is not None:
            self.events[0] = msgspec.structs.replace(begin, at=self.events[0].at)
            self._copied = list(self.events)

    @property
    def can_go_on(self) -> bool:
        """Whether the last question has an open step: it waits for the user or was interrupted."""
        return self._state.can_go_on

    # --- running ---

    def run(self, question: str, *, result_type: object = str) -> AsyncGenerator[Recorded, None]:
        """Answer a question and yield the events, `Ended` last. An answer without the *result_type*
        is asked for again.

        Raises:
            ValueError: if *question* is empty.
            TypeError: if JSON has no form for the *result_type*.
            RuntimeError: if another question is running.
        """
        if not question.strip():
            raise ValueError("an empty question cannot be answered")
        if result_type is str:
            return self._effects.watch(self._iterate_events(QuestionAsked(content=question), None))
        result = ResultType(result_type)
        asked = QuestionAsked(content=question, result_schema=result.schema)
        return self._effects.watch(self._iterate_events(asked, result))

    def go_on(self, *, result_type: object = str) -> AsyncGenerator[Recorded, None]:
        """Continue the last question, which waited for the user or was interrupted; yields as
        `run`.

        Without the *result_type* of a typed question, its result is what JSON becomes in Python.

        Raises:
            ValueError: if it has been answered.
            RuntimeError: if it is running.
        """
        if not self.can_go_on:
            raise ValueError("there is nothing to go on with: the last question is done")
        result = self._result
        if result_type is not str:
            result = ResultType(result_type)
        return self._effects.watch(self._iterate_events(Resumed(), result))

    @overload
    async def answer(
        self, question: str | None = None, *, result_type: type[T] = ...
    ) -> Outcome[T]: ...
    @overload
    async def answer(
        self, question: str | None = None, *, result_type: TypeForm[T]
    ) -> Outcome[T]: ...
    async def answer(
        self, question: str | None = None, *, result_type: object = str
    ) -> Outcome[Any]:
        """Return the outcome of *question*, by default of continuing the last one; see
        `Agent.answer`.
        """
        if question is None:
            events = self.go_on(result_type=result_type)
        else:
            events = self.run(question, result_type=result_type)
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Ended):
                    outcome = make_outcome(event, self.events)
                    if self._result is None:
                        return outcome
                    return self._result.convert_outcome(outcome)
        raise AssertionError("every run ends with Ended")

    # --- ending it from outside ---

    def cancel(self, reason: str = "") -> None:
        """End the run as `cancelled`, and cancel a running call. Call it on the event loop."""
        self._cancelled = reason
        if self._scope is not None:
            self._scope.cancel()

    def cancel_call(self) -> bool:
        """Cancel the running call and report that to the model. Return whether a call was
        running.
        """
        if self._call is None:
            return False
        self._call.cancel()
        return True

    # --- how ---

    def _repeat(self, event: Recorded) -> None:
        """Apply an event of an earlier run."""
        self._state.apply(event)
        if isinstance(event, QuestionAsked):
            self._result = None
            if event.result_schema:
                self._result = ResultType(event.result_schema)
        elif isinstance(event, ToolsListed):
            self._tools = event

    async def _iterate_events(
        self, opening: QuestionAsked | Resumed, result: ResultType | None
    ) -> AsyncGenerator[Recorded, None]:
        if self._is_running:
            raise RuntimeError(
                "this session is answering a question; a second one needs a session of its own"
            )
        self._is_running = True
        self._cancelled = None
        self._result = result
        # Computed for each run: monotonic seconds may stop while the system sleeps.
        self._start = self._clock.read_date() - timedelta(seconds=self._clock.read_seconds())
        try:
            async with aclosing(self._record_run(opening)) as events:
                async for event in events:
                    yield event
        # A cancelled task, a closed generator, Ctrl-C, an error of a callback.
        except BaseException as error:
            if not self._state.has_ended:
                self._record_event(self._make_cancelled(type(error).__name__))
            raise
        finally:
            self._is_running = False

    async def _record_run(self, opening: QuestionAsked | Resumed) -> AsyncGenerator[Recorded, None]:
        if not self._state.has_ended:  # the previous process ended without notice
            end = self._make_cancelled("interrupted")
            self._record_event(end, at=self._state.spending.now)
        start = await self._make_start(opening)
        if start is not None:
            yield self._record_event(start)
        tools = await self._list_changed_tools(opening)
        if tools is not None:
            yield self._record_event(tools)
        if isinstance(opening, QuestionAsked):
            yield self._record_event(opening)
        async with keep_open(self._effects.model):
            while (step := self._choose_next_step()) is not None:
                announced = await self._announce(step)
                if announced is not None:
                    yield self._record_event(announced)
                yielded = len(self.events)
                event = await self._perform(step)
                if event is not None:
                    self._record_event(event)
                for event in self.events[yielded:]:  # with the events during the step
                    yield event

    async def _make_start(self, opening: QuestionAsked | Resumed) -> Started | Resumed | None:
        """Return the event that starts the run; `None` for a further question of the session."""
        if isinstance(opening, Resumed):
            return opening
        if self.events:
            return None
        return await self._effects.complete_start(self._begin, self._state.conversation.protocol)

    def _choose_next_step(self) -> Step | None:
        if self._state.has_ended:
            return None
        if self._cancelled is not None:
            return RecordEvent(self._make_cancelled(self._cancelled))
        return self._state.choose_next_step()

    async def _announce(self, step: Step) -> Recorded | None:
        """Return the event that precedes *step*, if any."""
        messages: list[dict[str, Any]] = []
        if isinstance(step, AskModel):
            messages = await self._effects.trim_messages(self._state.conversation.messages)
        return self._state.announce(step, messages)

    async def _perform(self, step: Step) -> Recorded | None:
        """Perform *step* and return its event; `None` if its events are recorded."""
        if isinstance(step, RecordEvent):
            return self._check_answer(step.event)
        with anyio.CancelScope() as self._scope:
            # `cancel` may have been called between two steps, when there was no scope.
            if self._cancelled is not None:
                self._scope.cancel()
            if isinstance(step, CallTools):
                await self._call_tools(step)
                return None
            event = await self._effects.ask(self._state, step)
            return event or self._state.make_end("needs_input", reason=_say_what_waits(step))
        return self._make_cancelled(self._cancelled or "")

    def _make_cancelled(self, reason: str) -> Ended:
        return self._state.make_end("cancelled", reason=reason)

    def _check_answer(self, event: Recorded) -> Recorded:
        """Return *event*, or a refusal if it is an answer without the requested type."""
        if self._result is None or not isinstance(event, Ended) or event.status != "answered":
            return event
        fault = self._result.find_fault(event.result or "")
        if fault:
            return ReplyRefused(reason=fault)
        return event

    async def _call_tools(self, step: CallTools) -> None:
        """Call the tools and record their results."""
        calls = OpenCalls(self._effects, self._state, self._record_during_calls)
        try:
            # A scope of its own, so that `cancel_call` leaves the run alone.
            with anyio.CancelScope() as self._call:
                await calls.run(step)
        finally:
            self._call = None
            left = calls.close()
        for event in left:
            self._record_event(event)

    def _record_during_calls(self, event: Recorded) -> None:
        recorded = self._record_event(event)
        if self._effects.on_live is not None:
            self._effects.on_live(EventRecorded(recorded))

    async def _list_changed_tools(self, opening: QuestionAsked | Resumed) -> ToolsListed | None:
        """Return the tools for the run that *opening* starts if they have changed; nothing if it is
        cancelled before all of them are known.
        """
        asked = [event for event in [*self.events, opening] if isinstance(event, QuestionAsked)]
        questions = [event.content for event in reversed(asked)]
        with anyio.CancelScope() as self._scope:
            tools = await self._effects.list_tools(
                self._state.spending.budgets.seconds, self._state.context_tokens, questions
            )
            if self._tools is None or tools != msgspec.structs.replace(self._tools, at=tools.at):
                self._tools = tools
                return tools
        return None

    def _record_event(self, event: Recorded, *, at: datetime | None = None) -> Recorded:
        """Record *event*, then apply it; only then is it yielded."""
        now = self._start + timedelta(seconds=self._clock.read_seconds())
        # A clock that was set back must not turn the order of the events.
        event = msgspec.structs.replace(event, at=at or max(self._state.spending.now, now))
        # On disk first: an effect must not happen without a trace.
        if self._record is not None:
            while self._copied:  # of a fork, whose own transcript has none yet
                self._record(self._copied.pop(0))
            self._record(event)
        self.events.append(event)
        self._state.apply(event)
        return event


def _describe_other_protocol(first: Recorded, begin: Started) -> str:
    was = first.protocol if isinstance(first, Started) else ""
    if was == begin.protocol:
        return ""
    return f" (it was written with {was}, and this is {begin.protocol})"


def _say_what_waits(step: Step) -> str:
    if isinstance(step, AskUser):
        return say("a question waits for the user")
    return say("a call waits for approval")
