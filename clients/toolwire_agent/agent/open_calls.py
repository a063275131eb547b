"""The calls of a reply that run side by side."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec
from toolwire_client.waiting.event_loop import open_task_group

from .events import CallFinished, TaskStarted
from .steps import AskApproval, CallTools

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio.abc import TaskGroup

    from .effects import Effects
    from .events import Recorded
    from .run_state import RunState
    from .steps import CallTool


class OpenCalls:
    """Runs calls side by side, and records their results in the order of the calls.

    A call that has become a task holds up no other: later results are recorded before its own, and
    calls that wait for nothing else start, or the user is asked to approve them.
    """

    def __init__(
        self, effects: Effects, state: RunState, record: Callable[[Recorded], object]
    ) -> None:
        self._effects = effects
        self._state = state
        self._record = record
        self._started: set[int] = set()
        self._tasks: set[int] = set()
        self._waiting: list[int] = []  # for the record of their results
        self._results: dict[int, Recorded] = {}

    async def run(self, step: CallTools) -> None:
        """Run the calls of *step*, and those that may start during them."""
        async with open_task_group() as group:
            self._start(group, step)
            self._start_further_calls(group)

    def close(self) -> list[Recorded]:
        """Record nothing more, and return the results that are not recorded: calls without one were
        cancelled.
        """
        left, self._waiting = self._waiting, []
        cancelled = CallFinished(success=False, result=self._state.say_to_model("cancelled"))
        results = []
        for number in left:
            result = self._results.get(number, cancelled)
            results.append(msgspec.structs.replace(result, call=number))
        return results

    def _start(self, group: TaskGroup, step: CallTools) -> None:
        for number, tool_call in step.calls.items():
            if number in self._started:
                continue
            self._started.add(number)
            self._waiting.append(number)
            if tool_call.task is not None:
                self._tasks.add(number)
            group.start_soon(self._call, group, number, tool_call)

    async def _call(self, group: TaskGroup, number: int, tool_call: CallTool) -> None:
        record = partial(self._record_during, group, number)
        self._results[number] = await self._effects.call(self._state, tool_call, record)
        self._record_results()
        self._start_further_calls(group)

    def _record_during(self, group: TaskGroup, number: int, event: Recorded) -> None:
        """Record *event* of a call that runs; an abandoned thread may still report one later."""
        if number not in self._waiting:
            return
        self._record(msgspec.structs.replace(event, call=number))
        if isinstance(event, TaskStarted):
            self._tasks.add(number)
            self._record_results()
            self._start_further_calls(group)

    def _record_results(self) -> None:
        """Record each result that waits for none but those of tasks."""
        for number in list(self._waiting):
            if number in self._results:
                self._waiting.remove(number)
                self._record(msgspec.structs.replace(self._results[number], call=number))
            elif number not in self._tasks:
                return

    def _start_further_calls(self, group: TaskGroup) -> None:
        """Start the calls that wait for none but tasks, or ask for their approval."""
        while (step := self._state.choose_step_ahead()) is not None:
            if isinstance(step, AskApproval):
                self._record(step.asked)
                group.start_soon(self._ask_approval, group, step)
                continue
            self._record(step.event)
            following = self._state.choose_next_step()
            if isinstance(following, CallTools):
                self._start(group, following)

    async def _ask_approval(self, group: TaskGroup, step: AskApproval) -> None:
        decided = await self._effects.ask(self._state, step)
        if decided is None:  # the user is asked again when it is the turn of the call
            return
        self._record(decided)
        self._start_further_calls(group)
