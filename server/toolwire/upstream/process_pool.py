"""A pool of worker processes: one for each concurrent call, up to a limit, and reused."""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from toolwire_tools import ToolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..protocol.call import Call
    from ..timers import Timers
    from .worker_process import StartWorker, WorkerProcess


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
    """Up to *room* worker processes, reused while they are healthy and in use.

    *start* returns the transport to a new one, and may block until it has room. *end_seconds* is the time to leave
    lifespans for a process that ends, *idle_seconds* how long an idle one is kept. *on_idle* is called when
    one has become idle; it interrupts a *start* that waits.
    """

    def __init__(
        self,
        start: StartWorker,
        room: int,
        *,
        end_seconds: float = 0.0,
        idle_seconds: float | None = None,
        on_idle: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(room)
        self._start = start
        self._end_seconds = end_seconds
        self._idle_seconds = _IDLE_SECONDS if idle_seconds is None else idle_seconds
        self._on_idle = on_idle
        self._ending: list[WorkerProcess] = []
        self._changing = threading.Lock()
        self._idle: list[WorkerProcess] = []
        self._retired = False

    def run(self, name: str, arguments: Any, call: Call) -> dict[str, Any]:
        """Return the result of the tool of *call*, called in an idle or a new process, where its name is *name*.

        Raises:
            ToolError: if the process ended.
            Cancelled: if the call ended.
        """
        is_repeated = False
        while True:
            worker = self._take()
            if worker is None:
                from .worker_process import WorkerProcess  # with the client, for the first call

                with call.host.pause(call):
                    try:
                        worker = WorkerProcess(self._start, self._gone, call)
                    except InterruptedError:  # the wait for a place, since a worker is idle
                        continue
            try:
                result = worker.call(name, arguments, call)
            except ToolError:
                if is_repeated or not (call.tool.options.idempotent and worker.is_lost):
                    raise
                is_repeated, result = True, None
            finally:
                self._put_back(worker, call.host.timers)
            if result is not None:  # else the idle process had ended before
                return result

    def retire(self) -> None:
        """End the processes, busy ones after their call: these tools are not served any more."""
        with self._changing:
            self._retired, self._ending, self._idle = True, self._idle, []
        for worker in self._ending:
            worker.end_soon(self._end_seconds)

    def wait(self, deadline: float) -> None:
        """Return when the processes that were idle at `retire` have ended, or at *deadline* (monotonic time)."""
        for worker in self._ending:
            worker.transport.exit_status(max(0.0, deadline - time.monotonic()))

    def _take(self) -> WorkerProcess | None:
        with self._changing:
            worker = self._idle.pop() if self._idle else None
        if worker is not None:
            worker.stay()
        return worker

    def _put_back(self, worker: WorkerProcess, timers: Timers) -> None:
        with self._changing:
            if worker.is_free and not self._retired:
                with suppress(RuntimeError):  # the system allows no more threads: it stays
                    timer = timers.after(self._idle_seconds, partial(self._end_idle, worker))
                    worker.stay = partial(timers.cancel, timer)
                self._idle.append(worker)
                self._on_idle()
                return
        worker.discard()

    def _end_idle(self, worker: WorkerProcess) -> None:
        with self._changing:
            if worker not in self._idle:
                return
            self._idle.remove(worker)
        worker.end_soon(self._end_seconds)

    def _gone(self, worker: WorkerProcess) -> None:
        """Let go of *worker*, which has ended, unless it runs a call."""
        with self._changing:
            if worker in self._idle:
                self._idle.remove(worker)
            elif not worker.is_ending:
                return
        worker.discard()
