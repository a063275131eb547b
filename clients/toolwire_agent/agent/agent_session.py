"""The shell of a run: takes the steps of its state, and records and yields every event."""

from __future__ import annotations

import time
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import anyio
import msgspec
from toolwire_client.waiting.event_loop import gather

from ..models.model import keep_open
from .events import (
    CallFinished,
    Ended,
    Event,
    Outcome,
    QuestionAsked,
    Recorded,
    ReplyRefused,
    Resumed,
    Started,
    ToolsListed,
    outcome_of,
)
from .result_type import ResultType
from .run_state import AskApproval, AskModel, AskUser, CallTools, RecordEvent
from .transcript import BrokenTranscript

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from typing_extensions import TypeForm

    from .effects import Effects
    from .events import T
    from .run_state import CallTool, RunState, Step


class Clock:
    """The time: `seconds` since any moment, and the `date` at the start of each run."""

    def seconds(self) -> float:
        """Return seconds that never go backwards."""
        return time.monotonic()

    def date(self) -> datetime:
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
                state.apply(event)
                if isinstance(event, QuestionAsked):
                    self._result = ResultType(event.result_schema) if event.result_schema else None
            except Exception as error:  # a file may say anything
                where = names[place] if names else f"event {place + 1}"
                was = events[0].protocol if isinstance(events[0], Started) else ""
                other = (
                    f" (it was written with {was}, and this is {begin.protocol})"
                    if was != begin.protocol
                    else ""
                )
                raise BrokenTranscript(
                    f"{where}, does not fit what is before it: {error}{other}"
                ) from error
            if isinstance(event, ToolsListed):
                self._tools = event
        state.forget_start()
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
        result = None if result_type is str else ResultType(result_type)
        asked = QuestionAsked(content=question, result_schema=result.schema if result else None)
        return self._effects.watch(self._events(asked, result))

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
        result = self._result if result_type is str else ResultType(result_type)
        return self._effects.watch(self._events(Resumed(), result))

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
        given = {"result_type": result_type}
        events = self.go_on(**given) if question is None else self.run(question, **given)
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Ended):
                    outcome = outcome_of(event, self.events)
                    return outcome if self._result is None else self._result.outcome(outcome)
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

    async def _events(
        self, opening: QuestionAsked | Resumed, result: ResultType | None
    ) -> AsyncGenerator[Recorded, None]:
        if self._is_running:
            raise RuntimeError(
                "this session is answering a question; a second one needs a session of its own"
            )
        self._is_running, self._cancelled, self._result = True, None, result
        # Computed for each run: monotonic seconds may stop while the system sleeps.
        self._start = self._clock.date() - timedelta(seconds=self._clock.seconds())
        try:
            if not self._state.has_ended:  # the previous process ended without notice
                self._note(
                    self._state.ending("cancelled", reason="interrupted"), at=self._state.now
                )
            if isinstance(opening, Resumed):
                yield self._note(opening)
            elif not self.events:
                yield self._note(
                    await self._effects.complete_start(
                        self._begin, self._state.conversation.protocol
                    )
                )
            if listed := await self._listed():
                yield self._note(listed)
            if isinstance(opening, QuestionAsked):
                yield self._note(opening)
            async with keep_open(self._effects.model):
                while (step := self._next()) is not None:
                    is_for_model = isinstance(step, AskModel)
                    messages = (
                        await self._effects.trim_messages(self._state.conversation.messages)
                        if is_for_model
                        else []
                    )
                    if announced := self._state.announcement(step, messages):
                        yield self._note(announced)
                    yielded = len(self.events)
                    if isinstance(event := await self._performed(step), Event):
                        self._note(event)
                    for event in self.events[yielded:]:  # with the events during the step
                        yield event
        except (
            BaseException
        ) as error:  # a cancelled task, a closed generator, Ctrl-C, an error of a callback
            if not self._state.has_ended:
                self._note(self._state.ending("cancelled", reason=type(error).__name__))
            raise
        finally:
            self._is_running = False

    def _next(self) -> Step | None:
        if self._state.has_ended:
            return None
        if self._cancelled is not None:
            return RecordEvent(self._state.ending("cancelled", reason=self._cancelled))
        return self._state.next()

    async def _performed(self, step: Step) -> Recorded | None:
        """Perform *step* and return its event; `None` if its events are recorded."""
        if isinstance(step, RecordEvent):
            return self._checked(step.event)
        with anyio.CancelScope() as self._scope:
            if self._cancelled is not None:
                self._scope.cancel()
            if isinstance(step, CallTools):
                await self._called(step)
                return None
            event = await self._effects.ask(self._state, step)
            return event or self._state.ending("needs_input", reason=_WAITS[type(step)])
        return self._state.ending("cancelled", reason=self._cancelled or "")

    def _checked(self, event: Recorded) -> Recorded:
        """Return *event*, or a refusal if it is an answer without the requested type."""
        if self._result is None or not isinstance(event, Ended) or event.status != "answered":
            return event
        fault = self._result.fault(event.result or "")
        return ReplyRefused(reason=fault) if fault else event

    async def _called(self, step: CallTools) -> None:
        """Call the tools, and record their results in the order of the calls, each as soon as those
        before it.
        """
        waiting, ended = dict(step.calls), dict[int, Recorded]()

        async def call(number: int, one: CallTool) -> None:
            def aside(event: Recorded) -> None:
                if number in waiting:  # an abandoned thread may still report
                    self._note(msgspec.structs.replace(event, call=number))

            ended[number] = await self._effects.call(self._state, one, aside)
            while (first := next(iter(waiting), None)) in ended:
                del waiting[first]
                self._note(msgspec.structs.replace(ended[first], call=first))

        try:
            with anyio.CancelScope() as self._call:
                await gather([partial(call, *each) for each in step.calls.items()])
        finally:
            self._call = None
            left, waiting = waiting, {}
        for number in left:
            cancelled = CallFinished(success=False, result=self._state.words("cancelled"))
            self._note(msgspec.structs.replace(ended.get(number, cancelled), call=number))

    async def _listed(self) -> ToolsListed | None:
        """Return the tools if they have changed; nothing if the run is cancelled before all of them
        are known.
        """
        with anyio.CancelScope() as self._scope:
            tools = await self._effects.tools(self._state.budgets.seconds)
            if self._tools is None or tools != msgspec.structs.replace(self._tools, at=tools.at):
                self._tools = tools
                return tools
        return None

    def _note(self, event: Recorded, *, at: datetime | None = None) -> Recorded:
        """Record *event*, then apply it; only then is it yielded."""
        now = self._start + timedelta(seconds=self._clock.seconds())
        event = msgspec.structs.replace(event, at=at or max(self._state.now, now))
        if self._record is not None:
            while self._copied:  # of a fork, whose own transcript has none yet
                self._record(self._copied.pop(0))
            self._record(event)
        self.events.append(event)
        self._state.apply(event)
        return event


_WAITS: dict[type[Step], str] = {
    AskUser: "a question waits for the user",
    AskApproval: "a call waits for approval",
}
