"""A pool of worker processes: one for each concurrent call, up to a limit, and reused."""

from __future__ import annotations

import threading
from collections import deque
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import log
from .worker_process import WorkerGone, WorkerProcess

if TYPE_CHECKING:
    from toolwire_tools import Tool

    from ..protocol.call import Call
    from ..timers import Timers
    from .worker_spec import WorkerSpec


class ConcurrencyLimit:
    """A semaphore for *room* calls with a queue, in order of arrival. No method blocks."""

    def __init__(self, room: int) -> None:
        self._lock = threading.Lock()
        self._room = room
        self._waiting: deque[Call] = deque()
        self._called: set[Call] = set()  # have waited and got a place

    def enter(self, call: Call) -> bool:
        """Return whether *call* may run now; if not, it is queued until another one leaves."""
        with self._lock:
            if call in self._called:
                self._called.remove(call)
                return True
            if self._room == 0:
                call.worker = None  # which runs other calls now, and must not be abandoned for this one
                self._waiting.append(call)
                return False
            self._room -= 1
            return True

    def leave(self) -> Call | None:
        """Free the place of a call that has ended; return the call that gets it, which is to `enter` now."""
        with self._lock:
            if self._waiting:
                call = self._waiting.popleft()
                self._called.add(call)  # even if it has ended: the worker that runs it releases it
                return call
            self._room += 1
            return None


_IDLE_SECONDS = 300.0
"""How long an idle process is kept: longer than a model or its user thinks between calls, since a start takes as long
as the imports of its tools; not for ever, since it may hold much memory."""


class ProcessPool(ConcurrencyLimit):
    """Up to *room* processes of *spec*, reused while they are healthy and in use.

    *limited*: some of their tools have a memory limit. *end_seconds* is the time to leave lifespans for a process that
    ends.
    """

    def __init__(self, spec: WorkerSpec, room: int, *, limited: bool, end_seconds: float) -> None:
        super().__init__(room)
        self._end_seconds = end_seconds
        self._ending: list[WorkerProcess] = []
        self._spec = spec
        self._limited = limited
        self._has_warned = not limited
        """Whether the log says that a limit holds for each process, if it does."""
        self._changing = threading.Lock()
        self._idle: list[WorkerProcess] = []
        self._retired = False

    def run(self, tool: Tool, name: str, arguments: Any, call: Call) -> dict[str, Any]:
        """Return the result of *tool*, called in an idle or a new process, where its name is *name*.

        Raises:
            ToolError: if the process ended.
            Cancelled: if the call ended.
        """
        while True:
            process = self._take()
            if process is None:
                with call.host.pause(call):
                    process = WorkerProcess(self._spec, self._gone, call, self._cgroup())
            if not self._has_warned and (tool.memory_limit or self._spec.memory_limit):
                self._has_warned = True
                log.info(
                    "memory_limit applies to each process separately, not to a tool's process and its children: "
                    "the server has no cgroup (version 2) of its own that it may divide"
                )
            try:
                return process.call(tool, name, arguments, call)
            except WorkerGone:
                continue
            finally:
                self._put_back(process, call.host.timers)

    def _cgroup(self) -> str:
        """Return the path of a new cgroup; "" if it is not needed or not possible."""
        if not self._limited:
            return ""
        from toolwire_tools.processes import cgroups

        path = cgroups.new()
        self._has_warned = self._has_warned or path is not None
        return path or ""

    def retire(self) -> None:
        """End the processes, busy ones after their call: these tools are not served any more."""
        with self._changing:
            self._retired, self._ending, self._idle = True, self._idle, []
        for process in self._ending:
            process.end(self._end_seconds)

    def wait(self, deadline: float) -> None:
        """Return when the processes that were idle at `retire` have ended, or at *deadline* (monotonic time)."""
        for process in self._ending:
            process.wait(deadline)

    def _take(self) -> WorkerProcess | None:
        with self._changing:
            process = self._idle.pop() if self._idle else None
        if process is not None:
            process.stay()
        return process

    def _put_back(self, process: WorkerProcess, timers: Timers) -> None:
        with self._changing:
            if process.healthy and not self._retired:
                with suppress(RuntimeError):  # the system allows no more threads: it stays
                    timer = timers.after(_IDLE_SECONDS, partial(self._end_idle, process))
                    process.stay = partial(timers.cancel, timer)
                self._idle.append(process)
                return
        process.kill()
        process.pipes.close()

    def _end_idle(self, process: WorkerProcess) -> None:
        with self._changing:
            if process not in self._idle:
                return
            self._idle.remove(process)
        process.end(self._end_seconds)

    def _gone(self, process: WorkerProcess) -> None:
        """Close *process*, which has ended, unless a call still reads from it."""
        with self._changing:
            process.healthy = False
            if process in self._idle:
                self._idle.remove(process)
            elif not process.is_ending:
                return
        process.pipes.close()
