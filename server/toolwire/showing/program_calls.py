"""Runs the calls of one program as calls of the server.

Theory of operation. A call of a program is a `Call` without an id, which runs on the threads and
the event loop of its session as any other: its arguments, time limit, processes and errors are
those of the tool. Its result goes to the program (`take_result`), and what it asks or reports goes
to the client in the name of the call that runs the program, its *outer* call.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from toolwire_bundled.programs.frames import Outcome, ProgramCall
from toolwire_bundled.programs.program import describe_line, read_failure, read_result
from toolwire_dialects.search.program_names import Misfit, read_arguments
from toolwire_schemas.meta_tools import META_PROGRAM
from toolwire_schemas.output import make_printable
from toolwire_tools import Cancelled, ToolError

from .. import log
from ..protocol.call import Call, Origin
from .program_approvals import ProgramApprovals, find_remedy, may_change

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from toolwire_bundled.programs.program import AnyDoor, Program
    from toolwire_tools import Caller, Tool

    from ..runtime.session import Session

_LOOK_SECONDS = 0.05
"""How often a call that waits for its turn to ask looks whether the program has ended."""


class InnerCall(Call, kw_only=True, eq=False):
    """The call *wanted* by a program, one of its *calls*, which *outer* runs."""

    outer: Call
    calls: ProgramCalls
    wanted: ProgramCall

    def take_result(self, result: dict[str, Any]) -> None:
        """Give the *result* to the program."""
        self.calls.finish(self, result)

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Report *message*, or how far the call is, as progress of the program."""
        if self.ended:
            return
        if message is None:
            message = f"{done:g}" if total is None else f"{done:g} of {total:g}"
        self.calls.report(f"{self.entry.name}: {message}")

    def ask(self, message: str, schema: dict[str, Any], key: str = "answer") -> dict[str, Any]:
        """As `Call.ask`, in the name of the program."""
        with self.host.pause(self):
            reply: dict[str, Any] = self.calls.ask(lambda caller: caller.ask(message, schema, key))
        return reply

    async def ask_async(
        self, message: str, schema: dict[str, Any], key: str = "answer"
    ) -> dict[str, Any]:
        """As `Call.ask_async`, in the name of the program."""
        from anyio import to_thread

        ask = partial(self.ask, message, schema, key)
        return await to_thread.run_sync(ask, abandon_on_cancel=True)


class ProgramCalls:
    """The calls of one *program*, which the *outer* call runs, of the tools that *list_tools*
    returns by their names.

    *trusted* are the names of mounted servers whose hints are trusted.
    """

    def __init__(
        self,
        outer: Call,
        program: Program,
        list_tools: Callable[[], Mapping[str, Tool]],
        trusted: Collection[str],
    ) -> None:
        self._outer = outer
        self._program = program
        self._list_tools = list_tools
        self._trusted = trusted
        self._session = cast("Session", outer.host)
        self._approvals = ProgramApprovals(partial(describe_line, program.code), self.ask)
        self._asking = threading.Lock()
        self._lock = threading.Lock()
        self._running: set[InnerCall] = set()
        self._is_over = False
        self._began = time.monotonic()
        self._door: AnyDoor | None = None
        self.done = 0
        """How many calls have ended."""

    def attach(self, door: AnyDoor) -> None:
        """Answer calls at *door*."""
        self._door = door

    def start(self, wanted: ProgramCall) -> None:
        """Start the call *wanted* by the program; its outcome goes to the door.

        May wait for the user, whose approval some calls need. Never raises.
        """
        try:
            self._begin(wanted)
        except ToolError as error:
            self._answer(wanted, Outcome(failed=str(error)))
        except Cancelled:
            self._answer(wanted, Outcome(failed="The program was cancelled."))
        except Exception as bug:  # the outer edge of the thread that reads the door
            log.traceback(
                f"a call of {make_printable(wanted.tool)[:100]} could not be started", bug
            )
            self._answer(wanted, Outcome(failed=f"{wanted.tool} could not be called."))

    def end(self) -> None:
        """End all calls that still run: the program has ended."""
        with self._lock:
            self._is_over = True
            running = list(self._running)
        for call in running:
            if self._session.in_flight.end(call, given_up=True):
                self._session.stop(call)

    def finish(self, call: InnerCall, result: dict[str, Any]) -> None:
        """Give the program the *result* of *call*, which has ended."""
        with self._lock:
            self._running.discard(call)
        if result.get("isError"):
            data = result.get("structuredContent")
            self._answer(call.wanted, Outcome(failed=read_failure(result), data=data))
        else:
            self._answer(call.wanted, Outcome(read_result(result)))

    def report(self, message: str = "") -> None:
        """Report progress: how many calls have ended, in which time, and a *message*."""
        calls = "1 call" if self.done == 1 else f"{self.done:,} calls"
        text = f"{calls}, {self.seconds:.1f} s"
        self._outer.progress(self.done, None, f"{text}; {message}" if message else text)

    @property
    def seconds(self) -> float:
        """The seconds since the start of the program."""
        return time.monotonic() - self._began

    def ask(self, ask: Callable[[Caller], Any]) -> Any:
        """Return what *ask* returns for the outer call; one asks at a time, which the time
        limit of the program does not include.

        Raises:
            CannotAsk: or `NotAnswered`, `Declined` or `Dismissed`, as *ask* does.
            Cancelled: if the program has ended.
        """
        with self._turn(), self._program.clock.pause():
            return ask(self._outer)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        # The lock is polled: nothing wakes a thread that waits for it when the program ends.
        while not self._asking.acquire(timeout=_LOOK_SECONDS):
            self._check()
        try:
            self._check()
            yield
        finally:
            self._asking.release()

    def _check(self) -> None:
        if self._is_over or self._outer.ended:
            raise Cancelled("the program has ended")

    def _begin(self, wanted: ProgramCall) -> None:
        tool = self._list_tools().get(wanted.tool)
        if tool is None:
            name = make_printable(wanted.tool)[:200]
            raise ToolError(f"There is no tool {name} any more; search again.")
        try:
            arguments = read_arguments(tool.describe(), wanted.positional, wanted.arguments)
        except Misfit as error:
            raise ToolError(f"{tool.name} {error}.") from None
        if may_change(tool, self._trusted):
            remedy = find_remedy(tool)
            self._approvals.check(tool.name, arguments, wanted.line, remedy=remedy)
        self._run(tool, arguments, wanted)

    def _run(self, tool: Tool, arguments: dict[str, Any], wanted: ProgramCall) -> None:
        outer = self._outer
        call = InnerCall(
            id=None,
            entry=tool.entry,
            handler=tool.handler,
            arguments=arguments,
            origin=Origin(size=0, recipient=None, modern=outer.origin.modern),
            capabilities=outer.capabilities,
            strict_arguments=outer.strict_arguments,
            host=outer.host,
            token=outer.token,  # so that other servers are asked for progress
            log_level=outer.log_level,
            id_in_log=f"{outer.id}/{wanted.id}",
            meta={**(outer.meta or {}), META_PROGRAM: {"call": outer.id, "line": wanted.line}},
            outer=outer,
            calls=self,
            wanted=wanted,
        )
        log.debug(f"a program calls {tool.name}", id=call.id_in_log, line=wanted.line)
        with self._lock:
            self._check()  # else `end` would not find the call
            self._session.in_flight.begin_inner(call)
            self._running.add(call)
        self._session.accept(call)
        self._session.run_accepted()

    def _answer(self, wanted: ProgramCall, outcome: Outcome) -> None:
        assert self._door is not None
        with self._lock:
            self.done += 1
        if not self._is_over:
            self.report()
        self._door.answer(wanted, outcome)
