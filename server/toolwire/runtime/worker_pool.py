"""The threads that read, run synchronous tools and write responses: as many as needed, and no more.

Strategy. To wake a thread takes longer than everything else in a quick call, so a worker that has
read some calls runs them itself, one after another, and reads on. That would be wrong for a slow
tool: cancellations and other calls must get through. So while calls run, a monitor ticks every two
milliseconds, like the one of Go's runtime:

- If no worker reads, since every one is inside a tool or waits for the host to read, another worker
  does.
- If calls wait though the process is idle, the workers are blocked, and their number is doubled;
  likewise when a long computation has let no call start for a while. (Quick calls need no second
  thread, which would only contend for the interpreter's lock.)

A worker whose call was cancelled or ran out of time cannot be stopped. It is abandoned, replaced
when needed, and ends when its tool returns. Abandoned workers beyond their limit keep their places;
once they hold all places, waiting calls are refused. A worker that was idle for a while ends, too.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from _queue import (
    Empty,
    SimpleQueue,
)  # `queue` is more to import, and has nothing else that is needed
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from toolwire_schemas.threads import start_thread

from .. import log

if TYPE_CHECKING:
    from ..protocol.call import Call
    from ..settings import Settings
    from ..timers import Timers
    from ..watchdog.board import Board
    from .writer import MessageWriter

_IDLE_SECONDS = 10.0
"""How long an idle worker is kept: long compared with making one (a tenth of a millisecond)."""

_TICK_SECONDS = 0.002
"""Long compared with a quick call (microseconds), too short to be noticed."""

_QUIET_TICKS = 50
"""After how many ticks without work (a tenth of a second) the monitor sleeps."""

_LONG_SECONDS = 0.02
"""How long a busy process may read nothing, or start no call, before more threads share the
processor: four times the interpreter's switch interval."""

_BUSY = 0.5
"""The share of its possible processor time above which the process counts as busy."""

_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
_PROCESSORS = 1 if _gil else os.cpu_count() or 1
"""How many threads can compute at once: one, with the interpreter's lock."""


Answers = list[bytes]
Read = Callable[[], Answers | None]
"""Waits for input and decides about it: returns what is to be written at once and adds calls to the
backlog. `None` is the end of input."""


class WorkerPool:
    """Runs calls on threads through *run*, and refuses them through *refuse* when nothing can run.

    Neither may raise.
    """

    board: Board | None = None

    def __init__(
        self,
        run: Callable[[Call], None],
        refuse: Callable[[Call, str], None],
        writer: MessageWriter,
        timers: Timers,
        settings: Settings,
    ) -> None:
        self.run = run
        self.writer = writer
        self.watch = _StallMonitor(self, timers).watch
        self.read: Read | None = None
        # Changed by several threads, by atomic operations: no lock on the path of a quick call.
        self.backlog: deque[Call] = deque()
        self.idle: list[_Worker] = []
        self.reading = threading.Lock()  # held by the worker that reads
        self.reads = 0
        self.begun = 0  # how many calls, about: it may miss some
        self.finishing = False
        self._reader: _Worker | None = None
        self._refuse = refuse
        self._max_workers = settings.max_workers
        self._max_abandoned = settings.max_abandoned
        self._only_waiting = 0
        self._lock = threading.Lock()  # for the two sets
        self._workers: set[_Worker] = set()
        self._abandoned: set[_Worker] = set()

    def start_reading(self, read: Read) -> None:
        """Have the workers call *read*, one at a time, until the end of input."""
        self.read = read
        self.wake(1)
        if not self._workers:  # the system allows no thread now; the monitor tries again
            self.watch()

    def serve_backlog(self) -> None:
        """Have the backlog run after a thread outside the pool has added to it. Never blocks."""
        if self.backlog:
            if self.idle or not self.count_active():
                self.wake(1)
            self.watch()

    def abandon(self, call: Call) -> None:
        """Abandon the worker of *call*, which was given up, if it has one. It ends when the tool
        returns.
        """
        worker = call.worker
        # A call has no worker while it waits in the backlog, at a gate, or without a thread for
        # another process. Nothing is stuck then: its next step sees that it has ended.
        if not isinstance(worker, _Worker):
            return
        with self._lock:
            if worker in self._workers:
                self._abandoned.add(worker)
        if self._count_beyond_limit() > 0:
            log.warn_rarely("abandoned", f"{len(self._abandoned)} calls {_STUCK}")
        self.watch()

    def refuse_hopeless(self) -> None:
        """Refuse the waiting calls if abandoned workers hold every place. Never blocks."""
        if self._count_beyond_limit() < self._max_workers:
            return
        problem = f"Overloaded: {len(self._abandoned)} calls {_STUCK}"
        with suppress(IndexError):
            while True:
                self._refuse(self.backlog.popleft(), problem)

    def finish(self, deadline: float) -> None:
        """Let the workers run the backlog and end; return when they have, or at *deadline*
        (monotonic time).
        """
        self.finishing = True
        while True:
            self.wake(len(self.idle))
            with self._lock:
                waiting_for = self._workers - self._abandoned - {self._reader}
            if not waiting_for or (left := deadline - time.monotonic()) <= 0:
                return
            # One by one, and each briefly: the set may change at any time.
            waiting_for.pop().thread.join(min(left, 0.02))

    def wake(self, number: int, serve: bool = True) -> None:
        """Wake *number* workers, idle ones first; fewer if a limit is reached, ours or the
        system's.

        They run calls and, if no other worker does, read. Without *serve*, they read and leave the
        calls to the others.
        """
        for _ in range(number):
            try:
                worker = self.idle.pop()
            except IndexError:
                with self._lock:
                    # One more than may run calls, so that one can read; and another to read while
                    # that one writes.
                    if self.count_active() > self._max_workers + self._only_waiting + (not serve):
                        return
                    worker = _Worker()
                    try:
                        worker.start(self)
                    except (
                        RuntimeError
                    ):  # the system allows no more threads; the monitor will try again
                        return
                    self._workers.add(worker)
            worker.inbox.put(serve)

    @contextmanager
    def allow_one_more(self) -> Iterator[None]:
        """Allow one more worker inside the `with` block, since the calling one only waits."""
        with self._lock:
            self._only_waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._only_waiting -= 1

    def count_active(self) -> int:
        """Return the number of workers that hold a place: all but the abandoned ones, of which
        those beyond their limit hold theirs, too.
        """
        return len(self._workers) - min(len(self._abandoned), self._max_abandoned)

    def count_busy(self) -> int:
        """Return how many workers that hold a place run calls or write."""
        return self.count_active() - len(self.idle) - self.reading.locked()

    def count_room(self) -> int:
        """Return how many more workers may run calls."""
        return max(0, self._max_workers + self._only_waiting - self.count_busy())

    def is_crowded(self) -> bool:
        """Return whether more workers are busy than may run calls, since one of them was only to
        read.
        """
        # The first comparison is a shortcut after a read: as few workers as may run calls cannot be
        # too many busy ones.
        return (
            len(self._workers) > self._max_workers
            and self.count_busy() > self._max_workers + self._only_waiting
        )

    def _count_beyond_limit(self) -> int:
        """Return how many more workers are abandoned than may be: as many keep their places.

        Negative while more may be abandoned.
        """
        return len(self._abandoned) - self._max_abandoned

    def retire(self, worker: _Worker) -> None:
        """Remove *worker*, which ends."""
        with self._lock:
            if worker.slot and self.board is not None:
                self.board.give_back(worker.slot)
            self._workers.discard(worker)
            self._abandoned.discard(worker)

    def read_once(self, worker: _Worker, *, writes: bool) -> bool:
        """Read as *worker*, which may wait for the host if it *writes*; false if another reads, or
        at the end.
        """
        if self.read is None or not self.reading.acquire(blocking=False):
            return False
        self._reader = worker
        answers = self.read()
        if answers is None:
            self.read = None
        # Before `reading` is released: the next worker to read refuses requests if too much is
        # unsent, and sees all earlier answers in the queue, but for those that this one writes
        # itself.
        has_claimed = self.writer.claim_or_enqueue(answers or [], writes)
        self.reads += 1
        self._reader = None
        self.reading.release()
        if answers is None:
            return False
        try:
            self.watch()
        finally:
            if has_claimed:
                self.writer.write_claimed(answers)
        return True


_STUCK = (
    "were cancelled or timed out but their tools still run, and the limit is reached (--limit"
    " max_workers and max_abandoned); a tool that may hang can be stopped if it runs in a process"
    ' of its own: runs_in="process" or --isolate'
)


class _Worker:
    def __init__(self) -> None:
        self.inbox: SimpleQueue[bool] = SimpleQueue()
        # Its place on the board, where the watchdog process reads which tools run; 0 without one.
        self.slot = 0
        self.thread: threading.Thread

    def start(self, pool: WorkerPool) -> None:
        self.thread = start_thread(self._work, "toolwire-worker", pool)

    def _work(self, pool: WorkerPool) -> None:
        try:
            self._work_until_unneeded(pool)
        finally:
            pool.retire(self)

    def _work_until_unneeded(self, pool: WorkerPool) -> None:
        while (serve := self._take_job(pool)) is not None:
            # A worker that only reads never waits for the host, and leaves the calls to the others,
            # if there are any.
            serves = serve or (pool.read_once(self, writes=False) and pool.count_busy() <= 1)
            if serves and not self._serve(pool):
                break
            if pool.finishing and not pool.backlog:
                break
            pool.idle.append(self)
            if serve and self._would_be_missed(pool):
                self.inbox.put(True)

    def _take_job(self, pool: WorkerPool) -> bool | None:
        """Wait until woken; return whether to serve, `None` if this worker was idle for so long
        that it ends.
        """
        while True:
            try:
                return self.inbox.get(timeout=_IDLE_SECONDS)
            except Empty:
                with suppress(ValueError):  # another thread is just waking it
                    pool.idle.remove(self)
                    return None

    def _serve(self, pool: WorkerPool) -> bool:
        """Run calls and read, until no call waits and another worker reads; false if this worker
        was abandoned.
        """
        backlog, run = pool.backlog, pool.run
        marked = ""
        while True:
            try:
                call = backlog.popleft()
            except IndexError:
                if self.slot and pool.board is not None:  # no tool runs in this thread
                    pool.board.marks[self.slot] = 0
                marked = ""
                if not pool.read_once(self, writes=True) or pool.is_crowded():
                    return True
                continue
            pool.begun += 1
            # Cancelled while it waited: `run` releases it, and this worker is not abandoned.
            if call.ended:
                run(call)
                continue
            call.worker = self
            # The next call is often of the same tool, whose mark is there.
            if call.entry.name != marked and pool.board is not None:
                marked = call.entry.name
                # A tool behind a gate runs in another process: it cannot block this one.
                name = "" if call.handler.gate else marked
                self.slot = pool.board.mark(self.slot, name)
            run(call)
            # A call that waits without a thread has left this worker; others may run it later.
            if call.given_up and call.worker is self:
                return False

    def _would_be_missed(self, pool: WorkerPool) -> bool:
        """Return whether, just when this worker became idle, work arrived that no thread would wake
        it for.
        """
        if not (
            pool.backlog or pool.finishing or (pool.read is not None and not pool.reading.locked())
        ):
            return False
        if (
            not pool.count_room()
        ):  # the monitor takes care of reading, and the busy workers of the backlog
            return False
        try:
            pool.idle.remove(self)
        except ValueError:
            return False  # it has been woken after all
        return True


class _StallMonitor:
    """Checks every 2 ms, while calls run, whether workers are blocked; wakes others then."""

    def __init__(self, pool: WorkerPool, timers: Timers) -> None:
        self._pool = pool
        self._timers = timers
        self._lock = threading.Lock()
        self._ticking = False
        self._quiet = 0
        self._begun = self._reads = 0  # as of the last tick
        self._begun_at = self._read_at = 0.0
        self._looked = self._computed = 0.0

    def watch(self) -> None:
        """Tick from now on: a call may be about to run."""
        if self._ticking:
            return
        with self._lock:
            if self._ticking:
                return
            self._ticking = True
        self._quiet = 0
        self._looked, self._computed = time.monotonic(), time.process_time()
        self._begun, self._reads = self._pool.begun, self._pool.reads
        self._begun_at = self._read_at = self._looked
        try:
            self._timers.after(_TICK_SECONDS, self._tick)
        except BaseException:  # no thread for the timers; the next `watch` tries again
            self._ticking = False
            raise

    def _tick(self) -> None:
        try:
            is_quiet = self._wake_where_needed()
        except Exception as bug:  # without the monitor, calls would wait for ever
            log.traceback("the stall monitor failed; please report this", bug)
            is_quiet = False
        self._quiet = self._quiet + 1 if is_quiet else 0
        if self._quiet <= _QUIET_TICKS:
            self._timers.after(_TICK_SECONDS, self._tick)
            return
        self._ticking = False
        # A thread that began something just before has still seen the monitor awake.
        if self._pool.count_busy() or self._pool.backlog:
            self.watch()

    def _wake_where_needed(self) -> bool:
        """Wake workers where needed; return whether nothing is in flight."""
        pool = self._pool
        pool.writer.flush_soon()
        now = time.monotonic()
        begun, self._begun = pool.begun - self._begun, pool.begun
        if begun:
            self._begun_at = now
        if pool.reads != self._reads:
            self._reads, self._read_at = pool.reads, now
        idle = self._was_process_idle(now)
        if pool.read is not None and not pool.reading.locked():
            if not begun:
                pool.wake(1, serve=pool.count_room() > 0)
            elif now - self._read_at > _LONG_SECONDS:
                pool.wake(1, serve=False)
        waiting = len(pool.backlog)
        # If as many have begun in the last tick as wait, the workers get through the backlog within
        # the next one.
        if waiting > begun and (idle or now - self._begun_at > _LONG_SECONDS):
            pool.wake(min(waiting, max(pool.count_busy(), 1), pool.count_room()))
            pool.refuse_hopeless()
        nobody_reads = pool.read is not None and not pool.reading.locked()
        return not (begun or waiting or pool.count_busy() or nobody_reads)

    def _was_process_idle(self, now: float) -> bool:
        computed = time.process_time()
        share = (computed - self._computed) / ((now - self._looked) * _PROCESSORS or 1.0)
        self._looked, self._computed = now, computed
        return share < _BUSY
