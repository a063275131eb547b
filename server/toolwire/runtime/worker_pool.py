"""The threads that read, run synchronous tools and answer: as many as are needed, none that is not.

Strategy. To wake a thread takes longer than all else an answer needs, so a worker that has read some calls runs them
itself, one after another, and reads on. That would be wrong for a tool that takes its time: cancellations and other
calls must get through. So while anything runs, a monitor looks every two milliseconds, as the runtime of Go does:

- If nobody reads, because every worker is inside a tool or waits for the host to take an answer, another worker does.
- If calls wait that the workers will not get to soon, though the process is idle, then the workers are blocked, and
  their number is doubled. The same is done when a long computation has let no call begin for a while. (Quick calls
  need no second thread, which would only contend for the interpreter's lock.)

A worker whose call was cancelled or ran out of time cannot be stopped. It is counted out, replaced when needed, and
ends when its tool returns. There may be so many of these; those beyond keep their places, and once they hold all
places, the calls that wait are refused. A worker that nobody has needed for a while ends, too.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from .. import log
from .stall_monitor import Job, Monitor

if TYPE_CHECKING:
    from ..protocol.call import Call
    from ..timers import Clock
    from ..transport.watchdog import Board

DEFAULT_MAX_WORKERS = 128

DEFAULT_MAX_ABANDONED = 128
"""As many again: tools that hang may then be given up as often as they can be called."""

_IDLE_SECONDS = 10.0
"""How long a worker waits to be needed again: long beside what it takes to make one (a tenth of a millisecond)."""

Answers = list[bytes]
Read = Callable[[], Answers | None]
"""Waits for input and decides about it: what is to be written at once is returned, what is to be run is added to the
backlog. `None` is the end of input."""


class Workers:
    """Runs calls on threads through *run*. What was read and answered goes through *send*, which may have to wait for
    the host, or through *post*, which does not. None of them may raise."""

    def __init__(
        self,
        run: Callable[[Call], None],
        send: Callable[[Answers], None],
        post: Callable[[Answers], None],
        refuse: Callable[[Call, str], None],
        clock: Clock,
        board: Board,
        *,
        each_tick: Callable[[], None],
        max_workers: int = DEFAULT_MAX_WORKERS,
        max_abandoned: int = DEFAULT_MAX_ABANDONED,
    ) -> None:
        self.run = run
        self.send = send
        self.post = post
        self.board = board
        self.read: Read | None = None
        # Changed by several threads, by operations that are atomic: no lock on the path of a quick call.
        self.backlog: deque[Call] = deque()
        self.idle: list[_Worker] = []
        self.reading = threading.Lock()  # held by whoever reads
        self.reads = 0
        self.begun = 0  # how many calls, about: it may miss some
        self.finishing = False
        self._reader: _Worker | None = None
        self._refuse = refuse
        self._max_workers = max_workers
        self._max_abandoned = max_abandoned
        self._only_waiting = 0
        self._lock = threading.Lock()  # for the two sets
        self._workers: set[_Worker] = set()
        self._abandoned: set[_Worker] = set()
        self._monitor = Monitor(self, clock, each_tick)

    def start_reading(self, read: Read) -> None:
        """Have workers call *read* again and again, one at a time, until the end of input."""
        self.read = read
        self.wake(1, Job.SERVE)
        if not self._workers:  # no thread could be started; the monitor tries again
            self._monitor.watch()

    def serve_backlog(self) -> None:
        """Have the backlog run, which somebody who is no worker has added to. Never waits."""
        if self.backlog:
            if self.idle or not self.active():
                self.wake(1, Job.SERVE)
            self._monitor.watch()

    def abandon(self, call: Call) -> None:
        """Count out the worker that runs *call*, which was given up, if one does. It ends when the tool returns."""
        worker = call.worker
        if not isinstance(worker, _Worker):  # it waits, and whoever gets to it sees that it has ended
            return
        with self._lock:
            if worker in self._workers:
                self._abandoned.add(worker)
        if self._stuck() > 0:
            log.rarely("abandoned", f"{len(self._abandoned)} calls {_STUCK}")
        self._monitor.watch()

    def refuse_hopeless(self) -> None:
        """Refuse the calls that wait if calls that were given up hold every place. Never waits."""
        if self._stuck() < self._max_workers:
            return
        problem = f"Overloaded: {len(self._abandoned)} calls {_STUCK}"
        with suppress(IndexError):
            while True:
                self._refuse(self.backlog.popleft(), problem)

    def finish(self, deadline: float) -> None:
        """Let the workers run what is waiting and end; return when they have, or at *deadline* (monotonic time)."""
        self.finishing = True
        while True:
            self.wake(len(self.idle), Job.SERVE)
            with self._lock:
                waiting_for = self._workers - self._abandoned - {self._reader}
            if not waiting_for or (left := deadline - time.monotonic()) <= 0:
                return
            # One by one, and each briefly: more may come and some may be counted out meanwhile.
            waiting_for.pop().thread.join(min(left, 0.02))

    def wake(self, number: int, job: Job) -> None:
        """Give *job* to *number* workers, idle ones first; to fewer, if the limit, or the system's, is reached."""
        for _ in range(number):
            try:
                worker = self.idle.pop()
            except IndexError:
                with self._lock:
                    # One more than may run calls, so that one can read; and another one to read while it sends.
                    if self.active() > self._max_workers + self._only_waiting + (job is Job.READ):
                        return
                    worker = _Worker(self)
                    try:
                        worker.thread.start()
                    except RuntimeError:  # there are no more threads; the monitor will try again
                        self.board.give_back(worker.slot)
                        return
                    self._workers.add(worker)
            worker.inbox.put(job)

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """Allow one more worker meanwhile: the one that calls this only waits."""
        with self._lock:
            self._only_waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._only_waiting -= 1

    def active(self) -> int:
        """Return how many workers there are that have not been counted out."""
        return len(self._workers) - min(len(self._abandoned), self._max_abandoned)

    def busy(self) -> int:
        """Return how many of them run or answer something."""
        return self.active() - len(self.idle) - self.reading.locked()

    def room(self) -> int:
        """Return how many more may run calls."""
        return max(0, self._max_workers + self._only_waiting - self.busy())

    def is_crowded(self) -> bool:
        """Whether more workers are busy than may run calls, since one of them was only to read."""
        return len(self._workers) > self._max_workers and self.busy() > self._max_workers + self._only_waiting

    def _stuck(self) -> int:
        """How many workers run calls that were given up, and could not be counted out."""
        return len(self._abandoned) - self._max_abandoned

    def retire(self, worker: _Worker) -> None:
        """Forget *worker*, which ends."""
        with self._lock:
            self.board.give_back(worker.slot)
            self._workers.discard(worker)
            self._abandoned.discard(worker)

    def read_once(self, worker: _Worker, send: Callable[[Answers], None]) -> bool:
        """Read as *worker* and *send* what is to be sent; false if somebody else reads, or at the end of input."""
        if self.read is None or not self.reading.acquire(blocking=False):
            return False
        self._reader = worker
        answers = self.read()
        if answers is None:
            self.read = None
        self.reads += 1
        self._reader = None
        self.reading.release()
        if answers is None:
            return False
        self._monitor.watch()
        if answers:
            send(answers)
        return True


_STUCK = (
    "were cancelled or timed out, and their tools still run, which is as many as may (--max-workers and "
    "--max-abandoned); tools that may hang can be ended if they run in processes of their own: "
    'runs_in="process", or --isolate'
)


class _Worker:
    """One thread, and the way to wake it."""

    def __init__(self, team: Workers) -> None:
        self.inbox: SimpleQueue[Job] = SimpleQueue()
        self.slot = team.board.take_slot()
        self.thread = threading.Thread(target=self._work, args=(team,), name="toolwire-worker", daemon=True)

    def _work(self, team: Workers) -> None:
        try:
            self._work_until_unneeded(team)
        finally:
            team.retire(self)

    def _work_until_unneeded(self, team: Workers) -> None:
        while (job := self._next_job(team)) is not None:
            # Whoever only reads never waits for the host, and leaves the calls to the others, unless there are none.
            serves = job is Job.SERVE or (team.read_once(self, team.post) and team.busy() <= 1)
            if serves and not self._serve(team):
                break
            if team.finishing and not team.backlog:
                break
            team.idle.append(self)
            if job is Job.SERVE and self._would_be_missed(team):
                self.inbox.put(Job.SERVE)

    def _next_job(self, team: Workers) -> Job | None:
        """Wait for something to do; `None` if for so long there was nothing that this worker may end."""
        while True:
            try:
                return self.inbox.get(timeout=_IDLE_SECONDS)
            except Empty:
                with suppress(ValueError):  # it is being woken just now
                    team.idle.remove(self)
                    return None

    def _serve(self, team: Workers) -> bool:
        """Run calls and read, until there are none and somebody else reads; false if this worker was counted out."""
        backlog, run, board, slot = team.backlog, team.run, team.board, self.slot
        codes = board.codes
        while True:
            try:
                call = backlog.popleft()
            except IndexError:
                board.marks[slot] = 0
                if not team.read_once(self, team.send) or team.is_crowded():
                    return True
                continue
            team.begun += 1
            if call.ended:  # cancelled while it waited: `run` lets go of it, and this worker has not been given up
                run(call)
                continue
            call.worker = self
            tool = call.tool
            board.marks[slot] = codes[tool.name] if tool.gate is None else 0
            run(call)
            if call.given_up:
                return False

    def _would_be_missed(self, team: Workers) -> bool:
        """Whether, just when this worker became idle, something came up that nobody would wake it for."""
        if not (team.backlog or team.finishing or (team.read is not None and not team.reading.locked())):
            return False
        if not team.room():  # the monitor sees to reading, and those that run will get to the backlog
            return False
        try:
            team.idle.remove(self)
        except ValueError:
            return False  # it has been woken after all
        return True
