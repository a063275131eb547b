"""Runs a program of the model, whose calls are calls of the agent: checked, approved and limited as
those of the model itself.

Strategy. The program runs in the sandbox of `PythonInterpreter`, watched by a thread, and another
thread reads its calls. The calls run as tasks of the event loop, in a group that ends with the
program. Cancelling the run has the thread end the program within a twentieth of a second.
"""

from __future__ import annotations

import inspect
import logging
import math
import time
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
from anyio import to_thread
from toolwire_bundled.programs.frames import Outcome, ProgramCall
from toolwire_bundled.programs.limits import ProgramLimits, ToolFunction
from toolwire_bundled.programs.permissions import Permissions
from toolwire_bundled.programs.program import (
    Program,
    describe_line,
    find_sandbox,
    read_result,
)
from toolwire_client.errors import ClientError, TimedOut
from toolwire_client.session.elicitation import elicitation_observer
from toolwire_client.validation import join_errors
from toolwire_client.waiting.event_loop import bind_to_loop
from toolwire_dialects.search.program_names import Misfit, read_arguments
from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError

from . import events
from .approvals import Allow, ApprovalRequest, Refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol

    from anyio.abc import TaskGroup
    from toolwire_bundled.programs.program import AnyDoor
    from toolwire_client.protocol.results import CallResult
    from toolwire_client.session.elicitation import ElicitationObserver
    from toolwire_dialects.search.program_names import ProgramName

    from .approvals import Approvals, Verdict
    from .run_state import RunState

    class ProgramTools(Protocol):
        """The tools of an agent, as its programs call them."""

        approvals: Approvals

        def find_entry(self, tool: str) -> dict[str, Any]:
            """Return the entry of *tool*, which is listed."""

        def judge(self, tool: str) -> Allow | Refuse | str:
            """Return whether *tool* may be called, or why it needs approval."""

        async def call_for_program(self, tool: str, params: dict[str, Any]) -> CallResult:
            """Call *tool*. Raises a `ClientError`."""


PROGRAM_SECONDS = 120.0
"""As a server's programs, unless the limits of calls are shorter."""


class _Stopped(Exception):
    """The run was cancelled."""


class ProgramRun:
    """One program: its *code*, and the *names* of its functions by tool.

    *tools* calls the tools, *aside* gets the events during that, *observer* the elicitations of
    tools, and *report* the progress.
    """

    def __init__(
        self,
        tools: ProgramTools,
        state: RunState,
        code: str,
        names: Mapping[str, ProgramName],
        *,
        seconds: float | None,
        aside: Callable[[events.Recorded], object],
        observer: ElicitationObserver,
        report: Callable[..., None] | None,
    ) -> None:
        self._tools = tools
        self._state = state
        limits = ProgramLimits(seconds=min(seconds or PROGRAM_SECONDS, PROGRAM_SECONDS))
        functions = [ToolFunction(tool, name.group, name.function) for tool, name in names.items()]
        self._program = Program(code, functions, limits, find_sandbox("auto"))
        self._names = names
        self._aside = aside
        self._observer = observer
        self._report = report
        self._permissions = Permissions()
        self._asking = anyio.Lock()
        self._began = time.monotonic()
        self._done = 0
        self._is_stopped = False
        self._door: AnyDoor
        self._wanted, self._arrived = anyio.create_memory_object_stream[ProgramCall](math.inf)

    async def run(self) -> events.CallFinished:
        """Return the outcome of the program; when it returns, no call and no process is left."""
        texts: list[str] = []
        failures: list[str] = []
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._stop_when_cancelled)
                tasks.start_soon(self._start_calls, tasks)
                texts = await self._run_in_thread(bind_to_loop(self._wanted.send_nowait))
                tasks.cancel_scope.cancel()  # calls that the program has not awaited
        except* ToolError as failed:
            failures = [str(error) for error in failed.exceptions]
        finally:
            self._wanted.close()
            self._arrived.close()
        if failures:
            return events.CallFinished(success=False, result="\n".join(failures))
        return events.CallFinished(success=True, result="\n\n".join(texts))

    async def _start_calls(self, tasks: TaskGroup) -> None:
        async for call in self._arrived:
            tasks.start_soon(self._answer, call)

    async def _run_in_thread(self, start: Callable[[ProgramCall], None]) -> list[str]:
        def attach(door: AnyDoor) -> None:
            self._door = door

        def check() -> None:
            if self._is_stopped:
                raise _Stopped

        try:
            return await to_thread.run_sync(
                self._program.run,
                start,
                attach,
                lambda: None,
                check,
                limiter=anyio.CapacityLimiter(1),
            )
        except _Stopped:
            await anyio.lowlevel.checkpoint()  # which raises what has cancelled this task
            raise

    async def _stop_when_cancelled(self) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            self._is_stopped = True

    async def _answer(self, wanted: ProgramCall) -> None:
        token = elicitation_observer.set(self._observer)
        try:
            outcome = await self._call(wanted)
        finally:
            elicitation_observer.reset(token)
        self._done += 1
        self._report_progress()
        self._door.answer(wanted, outcome)

    def _report_progress(self) -> None:
        if self._report is None:
            return
        seconds = time.monotonic() - self._began
        calls = say("{count} calls, {seconds:.1f} s", count=self._done, seconds=seconds)
        if self._done == 1:
            calls = say("1 call, {seconds:.1f} s", seconds=seconds)
        self._report(self._done, None, calls)

    async def _call(self, wanted: ProgramCall) -> Outcome:
        tool = wanted.tool
        if tool not in self._names:
            return Outcome(failed=say("There is no tool {tool}.", tool=tool[:200]))
        entry = self._tools.find_entry(tool)
        try:
            params = read_arguments(entry, wanted.positional, wanted.arguments)
        except Misfit as error:
            return Outcome(failed=f"{tool} {error}.")
        params, faults = self._state.conversation.tools.fit_params(tool, params)
        if faults:
            return Outcome(failed=join_errors(faults))
        verdict = await self._approve(tool, params, wanted.line)
        if isinstance(verdict, str):
            return Outcome(failed=verdict)
        return await self._run_tool(tool, verdict.params or params, wanted)

    async def _run_tool(self, tool: str, params: dict[str, Any], wanted: ProgramCall) -> Outcome:
        line = {"tool": tool, "line": wanted.line}
        logging.getLogger("toolwire").debug("a program calls %s", tool, extra=line)
        try:
            result = await self._tools.call_for_program(tool, params)
        except TimedOut:
            return Outcome(failed=say("{tool} did not answer in time.", tool=tool))
        except ClientError as error:
            return Outcome(failed=str(error))
        if result.is_error:
            return Outcome(failed=result.text, data=result.structured)
        members = {"structuredContent": result.structured, "content": result.content}
        return Outcome(read_result(members))

    # Approvals

    async def _approve(self, tool: str, params: dict[str, Any], line: int) -> Allow | str:
        """Return whether the call is allowed, or why not."""
        judged = self._tools.judge(tool)
        if isinstance(judged, Allow):
            return judged
        if isinstance(judged, Refuse):
            return say("{tool} did not run: the settings never allow it.", tool=tool)
        async with self._asking:
            if self._permissions.is_refused:
                return say("{tool} did not run: changes by this program are refused.", tool=tool)
            if self._permissions.use(tool, params):
                return Allow()
            with self._program.clock.pause():
                verdict = await self._ask(tool, params, judged, line)
            if isinstance(verdict, Allow):
                self._permissions.grant(verdict.scope, verdict.calls, tool, params)
                return verdict
            self._permissions.is_refused = True
            return verdict

    async def _ask(self, tool: str, params: dict[str, Any], reason: str, line: int) -> Allow | str:
        approvals = self._tools.approvals
        if approvals.ask is None:
            return say(
                "{tool} did not run: it needs approval ({reason}).", tool=tool, reason=reason
            )
        request = ApprovalRequest(
            tool=tool,
            params=params,
            reason=reason,
            description=self._tools.find_entry(tool),
            program=describe_line(self._program.code, line),
        )
        self._aside(events.ToolAsked(tool=tool, message=reason, form={}))
        verdict: Verdict | bool | Any = Refuse()
        try:
            verdict = approvals.ask(request)
            if inspect.isawaitable(verdict):
                verdict = await verdict
        finally:
            self._aside(_make_answer(verdict))
        if verdict is True:
            return Allow()
        if isinstance(verdict, Allow):
            return self._check_changed(tool, verdict)
        why = verdict.reason if isinstance(verdict, Refuse) else ""
        return say("{tool} did not run: the user said no. {reason}", tool=tool, reason=why).strip()

    def _check_changed(self, tool: str, verdict: Allow) -> Allow | str:
        """Return *verdict* if the user's arguments, if any, fit the tool; else what is wrong."""
        if verdict.params is None:
            return verdict
        fitted, faults = self._state.conversation.tools.fit_params(tool, verdict.params)
        if faults:
            return join_errors(faults)
        return msgspec.structs.replace(verdict, params=fitted)


def _make_answer(verdict: object) -> events.FormAnswered:
    if verdict is True:
        verdict = Allow()
    if isinstance(verdict, Allow):
        content = {"scope": verdict.scope, "calls": verdict.calls}
        return events.FormAnswered(action="accept", content=content)
    return events.FormAnswered(action="decline")
