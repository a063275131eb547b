"""The look, every two milliseconds while anything runs, at whether the workers get on.

See `workers.py` for why there must be one.
"""

from __future__ import annotations

import enum
import os
import sys
import threading
import time
from typing import TYPE_CHECKING

from .. import log

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..timers import Clock
    from .worker_pool import Workers

_TICK_SECONDS = 0.002
"""Long beside a quick call (microseconds), short beside what anybody notices."""

_QUIET_TICKS = 50
"""For how many ticks (a tenth of a second) nothing must have happened before the monitor sleeps."""

_LONG_SECONDS = 0.02
"""How long a busy process may read nothing, or begin no call, before more threads share the processor: four times
the interpreter's switch interval."""

_BUSY = 0.5
"""The share of the processor time it could have had, above which the process counts as busy."""

_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
_PROCESSORS = 1 if _gil else os.cpu_count() or 1
"""How many threads can compute at once: with the interpreter's lock, one."""


class Job(enum.Enum):
    """What a worker is woken for."""

    SERVE = "run calls and, if nobody else does, read"
    READ = "read what there is, and leave it to the others"


class Monitor:
    """Wakes workers of *team* when the others are stuck, and calls *each_tick* meanwhile, which must not wait."""

    def __init__(self, team: Workers, clock: Clock, each_tick: Callable[[], None]) -> None:
        self._team = team
        self._clock = clock
        self._each_tick = each_tick
        self._lock = threading.Lock()
        self._looking = False
        self._quiet = 0
        self._begun = _Change(0, 0.0)
        self._reads = _Change(0, 0.0)
        self._looked = 0.0
        self._computed = 0.0

    def watch(self) -> None:
        """Look from now on: something may be about to run."""
        if self._looking:
            return
        with self._lock:
            if self._looking:
                return
            self._looking = True
        self._quiet = 0
        self._looked, self._computed = time.monotonic(), time.process_time()
        self._begun = _Change(self._team.begun, self._looked)
        self._reads = _Change(self._team.reads, self._looked)
        try:
            self._clock.after(_TICK_SECONDS, self._look)
        except BaseException:  # there is no thread to look with; the next one who asks may get it
            self._looking = False
            raise

    def _look(self) -> None:
        try:
            is_quiet = self._wake_where_needed()
        except Exception as bug:  # without the monitor, calls would wait for ever
            log.traceback("the workers could not be looked after; please report this", bug)
            is_quiet = False
        self._quiet = self._quiet + 1 if is_quiet else 0
        if self._quiet <= _QUIET_TICKS:
            self._clock.after(_TICK_SECONDS, self._look)
        else:
            self._sleep()

    def _wake_where_needed(self) -> bool:
        """Do what a look is for; return whether nothing is under way."""
        team = self._team
        self._each_tick()
        now = time.monotonic()
        begun = self._begun.update(team.begun, now)
        self._reads.update(team.reads, now)
        idle = self._process_was_idle(now)
        if team.read is not None and not team.reading.locked():
            if not begun:
                team.wake(1, Job.SERVE if team.room() else Job.READ)
            elif now - self._reads.when > _LONG_SECONDS:
                team.wake(1, Job.READ)
        waiting = len(team.backlog)
        if waiting > begun and (idle or now - self._begun.when > _LONG_SECONDS):
            team.wake(min(waiting, max(team.busy(), 1), team.room()), Job.SERVE)
            team.refuse_hopeless()
        nobody_reads = team.read is not None and not team.reading.locked()
        return not (begun or waiting or team.busy() or nobody_reads)

    def _sleep(self) -> None:
        self._looking = False
        # Who began something just before has still seen the monitor awake.
        if self._team.busy() or self._team.backlog:
            self.watch()

    def _process_was_idle(self, now: float) -> bool:
        computed = time.process_time()
        share = (computed - self._computed) / ((now - self._looked) * _PROCESSORS or 1.0)
        self._looked, self._computed = now, computed
        return share < _BUSY


class _Change:
    """A number, and when it was last seen to change."""

    def __init__(self, number: int, when: float) -> None:
        self.number = number
        self.when = when

    def update(self, number: int, now: float) -> int:
        """Return by how much the number has grown."""
        grown = number - self.number
        if grown:
            self.number, self.when = number, now
        return grown
