"""The common parts of the sessions of a shared process: lifespans, the event loop, the watchdog.

Strategy. `Session`, `Lifespans` and `Watchdog` know one session each. Here stands an object that
looks like a session to the lifespans and to the watchdog, and each real session gets views of its
lifespans and of its event loop that do not end them.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from ..runtime.session import Session, estimate_size
from ..server import Server
from ..timers import Timers
from .absent_sessions import AbsentSessions

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

    from toolwire_tools import Tool

    from ..protocol.call import Call
    from ..runtime.event_loop import EventLoop
    from ..runtime.lifespans import Lifespan, Lifespans
    from ..runtime.loop_responses import LoopResponses
    from ..tasks.session_tasks import SessionTasks
    from ..watchdog.board import Board
    from ..workers.process_pool import ProcessPool
    from ..workers.session_processes import SessionProcesses
    from .common_servers import CommonServers


class CommonParts:
    """One of each for all sessions."""

    def __init__(self) -> None:
        self.timers = Timers()
        self.lifespans: Lifespans | None = None
        self.in_flight = _AllCalls(self)
        self.sessions: list[Session] = []
        self.absent = AbsentSessions(self.timers)
        self.keeps_tasks = True
        """Whether a session stays for its tasks when its client has gone."""
        self.servers: CommonServers | None = None
        """The servers of others, for `wrap --share`."""
        self._board: Board | None = None
        self._loop: EventLoop | None = None
        self._lock = threading.Lock()

    def add(self, session: Session) -> None:
        """Let *session* use the parts."""
        with self._lock:
            self.sessions = [*self.sessions, session]
        if self._board is not None:
            session.show_calls(self._board)

    def remove(self, session: Session) -> None:
        """Forget *session*, which has ended."""
        with self._lock:
            self.sessions = [other for other in self.sessions if other is not session]

    def get_event_loop(self) -> EventLoop:
        """Return the event loop, which its first task starts."""
        from ..runtime.event_loop import EventLoop

        with self._lock:
            self._loop = self._loop or EventLoop(
                self.timers,
                lambda call: _find_session(call).begin_async(call),
                lambda call, outcome: _find_session(call).responses.deliver(call, outcome),
                lambda call: _find_session(call).end_async(call),
                lambda call: not _find_session(call).writer.is_full,
            )
            return self._loop

    def end(self) -> None:
        """Do nothing: the process ends, since its lifespans cannot be entered."""

    def finish(self, deadline: float, clean_up_seconds: float) -> None:
        """Leave the lifespans until *deadline* (monotonic time), then end the event loop and the
        servers.
        """
        if self.lifespans is not None:
            self.lifespans.leave(deadline)
        if self._loop is not None:
            self._loop.finish(clean_up_seconds)
        if self.servers is not None:
            self.servers.close()

    # As the watchdog uses a session

    def is_idle(self) -> bool:
        """Return whether no call runs."""
        return all(session.is_idle() for session in self.sessions)

    @property
    def are_calls_watched(self) -> bool:
        """Whether the watchdog gets heartbeats."""
        return any(session.are_calls_watched for session in self.sessions)

    @are_calls_watched.setter
    def are_calls_watched(self, are_watched: bool) -> None:
        for session in self.sessions:
            session.are_calls_watched = are_watched

    def show_calls(self, board: Board) -> None:
        """Mark the running calls of all sessions on *board* from now on."""
        self._board = board
        for session in self.sessions:
            session.show_calls(board)


class _AllCalls:
    """The calls of all sessions, as lifespans look at those of one."""

    def __init__(self, common: CommonParts) -> None:
        self._common = common
        self.returned = threading.Condition()

    @property
    def lingering(self) -> list[Call]:
        """The calls that no request waits for, and whose tools run."""
        found: list[Call] = []
        for session in self._common.sessions:
            found += list(session.in_flight.lingering)
        return found

    def list_running(self) -> list[Call]:
        """Return the calls whose tools have not returned."""
        found: list[Call] = []
        for session in self._common.sessions:
            found += session.in_flight.list_running()
        return found


class SharingSession(Session):
    """A session that uses *common*, and leaves it to others when it ends."""

    def __init__(self, common: CommonParts, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._common = common
        lifespans: Any = _LifespansOfAll(common)
        self.lifespans = lifespans
        self.responses: LoopResponses
        self._pools: dict[SessionProcesses, ProcessPool] = {}

    def find_pool(
        self, tools: SessionProcesses, make_pool: Callable[[], ProcessPool]
    ) -> ProcessPool:
        """Return the pool of this session for *tools* that must not be shared."""
        with self.in_flight.lock:
            pool = self._pools.get(tools)
            if pool is None:
                pool = self._pools[tools] = make_pool()
            return pool

    def get_tasks(self) -> SessionTasks:
        """As `Session.get_tasks`; another session may have had a task."""
        tasks = super().get_tasks()
        tasks.absent = self._common.absent
        return tasks

    def stop(self, call: Call) -> None:
        """As `Session.stop`; the call of a task may run in another session."""
        if call.host is self:
            super().stop(call)
        else:
            _find_session(call).stop(call)

    @property
    def runs_task(self) -> bool:
        """Whether the call of a task runs here, whichever session has the task."""
        calls = self.in_flight.list_running()
        return any(call.task is not None and not call.ended for call in calls)

    def end(self) -> None:
        """As `Session.end`, but stay as long as the tasks are needed that the client has left."""
        if self._common.keeps_tasks and self._tasks is not None:
            is_idle = threading.Event()
            self.in_flight.notify_when_idle(is_idle.set)
            is_idle.wait(min(self._settings.grace_seconds, threading.TIMEOUT_MAX))
            if self._common.absent.add(self, self._tasks):
                self._end_other_calls()
                return
        self.end_now()

    def _end_other_calls(self) -> None:
        """End the calls that are no tasks, and subscriptions: their client has gone."""
        self._protocol.end_subscriptions()
        for call in self.in_flight.list_running():
            if call.task is None and not call.lingers and self.in_flight.end(call, given_up=True):
                self.stop(call)

    def end_now(self) -> None:
        """As `Session.end`; end the processes of tools that are not shared, too."""
        super().end()
        pools = self._pools.values()
        for pool in pools:
            pool.retire()
        deadline = time.monotonic() + self._settings.grace_seconds
        for pool in pools:
            pool.wait(deadline)
        self._common.remove(self)

    def get_event_loop(self) -> EventLoop:
        """Return the event loop of all sessions."""
        if self.loop is None:
            from ..runtime.loop_responses import LoopResponses

            loop: Any = _LoopOfAll(self._common.get_event_loop())
            self.loop = loop
            self.responses = LoopResponses(self, estimate_size)
        return self.loop


class _LifespansOfAll:
    """The lifespans of all sessions, for one that ends before the others."""

    def __init__(self, common: CommonParts) -> None:
        self._common = common

    def get_value(self, lifespan: Lifespan) -> Any:
        """Return the value of *lifespan*."""
        if self._common.lifespans is None:
            raise RuntimeError("there is no context.state: no lifespan was entered")
        return self._common.lifespans.get_value(lifespan)

    def leave_unused(self) -> None:
        """Leave those that no tool has any more."""
        if self._common.lifespans is not None:
            self._common.lifespans.leave_unused()

    def leave(self, deadline: float) -> None:
        """Do nothing: other sessions need them."""


class _LoopOfAll:
    """The event loop of all sessions, for one that ends before the others."""

    def __init__(self, loop: EventLoop) -> None:
        self.put = loop.put
        self.cancel = loop.cancel
        self.make_room = loop.make_room
        self.run_soon = loop.run_soon
        self._loop = loop

    def spawn(self, task: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run *task* on the loop."""
        self._loop.spawn(task)

    def finish(self, seconds: float) -> None:
        """Do nothing: other sessions need it."""


class SharingServer(Server):
    """A server whose sessions have parts in common."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        common = self.common = CommonParts()

        def make_session(*arguments: Any) -> SharingSession:
            return SharingSession(common, *arguments)

        self.make_session = make_session
        self.loading: dict[str, Any] = {}
        """The arguments with which `load` returns the tools."""

    def replace(self, tools: Iterable[Any]) -> None:
        """As `Server.replace`; tools that must not be shared run in processes of the sessions."""
        tools = list(tools)
        if not all(tool.entry.options.shared for tool in tools):
            from ..workers.isolated_tool import isolate_unshared

            tools = isolate_unshared(tools, self.loading, self.settings)
        super().replace(tools)

    def enter_lifespans(self, session: Session, tools: list[Tool]) -> None:
        """Enter the lifespans of *tools* once, whatever sessions there are."""
        common: Any = self.common
        super().enter_lifespans(common, tools)


def _find_session(call: Call) -> SharingSession:
    session: Any = call.host
    return session  # type: ignore[no-any-return]
