"""A pool of worker processes: one for each concurrent call, up to a limit, and reused."""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from toolwire_tools import ToolError

from ..idle_end import NEVER, IdleEnd
from .worker_spec import TIMERS

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from ..guarded_process import GuardedProcess
    from ..protocol.call import Call
    from .cluster.connections import NodeTransport
    from .worker_process import WorkerProcess
    from .worker_spec import News

    StartWorker = Callable[[Call, News], GuardedProcess | NodeTransport]


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
                call.worker = (
                    None  # which runs other calls now, and must not be abandoned for this one
                )
                self._waiting.append(call)
                return False
            self._room -= 1
            return True

    def leave(self, call: Call) -> Call | None:
        """Free the place of *call*, which has ended; return the call that gets it, which is to
        `enter` now.
        """
        with self._lock:
            if self._waiting:
                call = self._waiting.popleft()
                self._called.add(call)  # even if it has ended: the worker that runs it releases it
                return call
            self._room += 1
            return None


_IDLE_SECONDS = 300.0
"""How long an idle process is kept: longer than a model or its user thinks between calls, since a
start takes as long as the imports of its tools; not for ever, since it may hold much memory."""

KEEP_ALWAYS = NEVER
"""As *idle_seconds* of a `ProcessPool`: its processes hold a state that would be lost."""


class ProcessPool(ConcurrencyLimit):
    """Up to *room* worker processes, reused while they are healthy and in use.

    *start* returns the transport to a new one for a call, or raises `NotStarted`. While it waits
    for a place, the queue that it gets receives `None` when another process has become idle; then
    it raises `InterruptedError`. *end_seconds* is the time to leave lifespans for a process that
    ends, *idle_seconds* how long an idle one is kept.
    """

    def __init__(
        self,
        start: StartWorker,
        room: int,
        *,
        end_seconds: float = 0.0,
        idle_seconds: float | None = None,
    ) -> None:
        super().__init__(room)
        self._start = start
        self._end_seconds = end_seconds
        self._idle_seconds = _IDLE_SECONDS if idle_seconds is None else idle_seconds
        self._ending: list[Future[None]] = []
        self._changing = threading.Lock()
        self._idle: dict[WorkerProcess, IdleEnd] = {}
        """Idle processes, each with its end; the last used one is the last."""
        self._starting: deque[News] = deque()
        self._retired = False

    async def run(self, name: str, arguments: Any, call: Call) -> dict[str, Any]:
        """Return the result of the tool of *call*, called in an idle or a new process, where its
        name is *name*.

        Raises:
            ToolError: if the process ended.
            Cancelled: if the call ended.
        """
        is_repeated = False
        while True:
            worker = self._take_idle_worker() or self._start_worker(call)
            if worker is None:
                continue
            try:
                result = await worker.call(name, arguments, call)
            except ToolError:
                if is_repeated or not (call.entry.options.idempotent and worker.is_lost):
                    raise
                is_repeated, result = True, None
            finally:
                self._put_back(worker)
            if result is not None:  # else the idle process had ended before
                return result

    def retire(self) -> None:
        """End the processes, busy ones after their call: these tools are not served any more."""
        with self._changing:
            self._retired, idle, self._idle = True, self._idle, {}
        for idle_end in idle.values():
            idle_end.cancel()
        self._ending = self._end(list(idle))

    def wait(self, deadline: float) -> None:
        """Return when the processes that were idle at `retire` have ended, or at *deadline*
        (monotonic time).
        """
        from concurrent.futures import wait

        wait(self._ending, max(0.0, deadline - time.monotonic()))

    def _take_idle_worker(self) -> WorkerProcess | None:
        while True:
            with self._changing:
                if not self._idle:
                    return None
                worker, idle_end = self._idle.popitem()
            idle_end.cancel()
            if worker.is_free:
                return worker
            worker.discard()  # it has ended by itself

    def _start_worker(self, call: Call) -> WorkerProcess | None:
        """Return a new process; `None` if another one has become idle first."""
        from .worker_process import WorkerProcess  # with the client, for the first call

        try:
            with call.host.pause(call):
                return WorkerProcess(partial(self._start_process, call), call)
        except InterruptedError:
            return None

    def _start_process(self, call: Call) -> GuardedProcess | NodeTransport:
        news: News = SimpleQueue()
        self._starting.append(news)
        if self._idle:  # since a moment ago
            news.put(None)
        try:
            return self._start(call, news)
        finally:
            with suppress(ValueError):  # it got news
                self._starting.remove(news)

    def _put_back(self, worker: WorkerProcess) -> None:
        with self._changing:
            is_kept = worker.is_free and not self._retired
            if is_kept:
                self._idle[worker] = IdleEnd(TIMERS, partial(self._end_idle, worker))
                self._idle[worker].schedule(self._idle_seconds)
        if not is_kept:
            worker.discard()
            return
        with suppress(IndexError):
            self._starting.popleft().put(None)

    def _end_idle(self, worker: WorkerProcess) -> None:
        """End *worker*, unless a call has taken it just now."""
        with self._changing:
            if worker not in self._idle:
                return
            del self._idle[worker]
        self._end([worker])

    def _end(self, workers: list[WorkerProcess]) -> list[Future[None]]:
        with suppress(
            RuntimeError
        ):  # the system allows no more threads: they end with this process
            return [worker.end_soon(self._end_seconds) for worker in workers]
        return []
