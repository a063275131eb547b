"""Checks every 2 ms, while calls run, whether workers are blocked. `worker_pool.py` says why."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING

from .. import log
from .worker_pool import Job

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..timers import Timers
    from .worker_pool import WorkerPool

_TICK_SECONDS = 0.002
"""Long compared with a quick call (microseconds), too short to be noticed."""

_QUIET_TICKS = 50
"""After how many ticks without work (a tenth of a second) the monitor sleeps."""

_LONG_SECONDS = 0.02
"""How long a busy process may read nothing, or start no call, before more threads share the processor: four times
the interpreter's switch interval."""

_BUSY = 0.5
"""The share of its possible processor time above which the process counts as busy."""

_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
_PROCESSORS = 1 if _gil else os.cpu_count() or 1
"""How many threads can compute at once: one, with the interpreter's lock."""


class StallMonitor:
    """Wakes workers of *pool* when the others are blocked, and calls *each_tick*, which must not block."""

    def __init__(self, pool: WorkerPool, timers: Timers, each_tick: Callable[[], None]) -> None:
        self._pool = pool
        self._timers = timers
        self._each_tick = each_tick
        self._lock = threading.Lock()
        self._ticking = False
        self._quiet = 0
        self._begun = _Change(0, 0.0)
        self._reads = _Change(0, 0.0)
        self._looked = 0.0
        self._computed = 0.0

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
        self._begun = _Change(self._pool.begun, self._looked)
        self._reads = _Change(self._pool.reads, self._looked)
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
        else:
            self._sleep()

    def _wake_where_needed(self) -> bool:
        """Wake workers where needed; return whether nothing is in flight."""
        pool = self._pool
        self._each_tick()
        now = time.monotonic()
        begun = self._begun.update(pool.begun, now)
        self._reads.update(pool.reads, now)
        idle = self._process_was_idle(now)
        if pool.read is not None and not pool.reading.locked():
            if not begun:
                pool.wake(1, Job.SERVE if pool.room() else Job.READ)
            elif now - self._reads.when > _LONG_SECONDS:
                pool.wake(1, Job.READ)
        waiting = len(pool.backlog)
        if waiting > begun and (idle or now - self._begun.when > _LONG_SECONDS):
            pool.wake(min(waiting, max(pool.busy(), 1), pool.room()), Job.SERVE)
            pool.refuse_hopeless()
        nobody_reads = pool.read is not None and not pool.reading.locked()
        return not (begun or waiting or pool.busy() or nobody_reads)

    def _sleep(self) -> None:
        self._ticking = False
        # A thread that began something just before has still seen the monitor awake.
        if self._pool.busy() or self._pool.backlog:
            self.watch()

    def _process_was_idle(self, now: float) -> bool:
        computed = time.process_time()
        share = (computed - self._computed) / ((now - self._looked) * _PROCESSORS or 1.0)
        self._looked, self._computed = now, computed
        return share < _BUSY


class _Change:
    """A number, and the time of its last change."""

    def __init__(self, number: int, when: float) -> None:
        self.number = number
        self.when = when

    def update(self, number: int, now: float) -> int:
        """Set the number; return by how much it has grown."""
        grown = number - self.number
        if grown:
            self.number, self.when = number, now
        return grown
