"""Tasks at a given time, on one thread."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from itertools import count

from toolwire_schemas.threads import start_thread

Task = Callable[[], None]

_LONGEST_WAIT_SECONDS = 3600.0
"""Waiting raises beyond some limit of the system, and for infinity; a look once an hour costs
nothing.
"""


class Timer:
    """A task and its time. `task` is `None` after it was run or cancelled."""

    __slots__ = ("due", "task")

    def __init__(self, due: float, task: Task) -> None:
        self.due = due
        self.task: Task | None = task


class Timers:
    """Runs small tasks at their time. They must neither block nor raise."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, Timer]] = []
        self._cancelled = 0  # how many of them have no task
        self._numbers = count()  # keeps tasks of the same time in order
        self._thread: threading.Thread | None = None
        self._stopped = False

    def after(self, seconds: float, task: Task) -> Timer:
        """Run *task* after *seconds*, unless the timer is cancelled before."""
        timer = Timer(time.monotonic() + seconds, task)
        if self._thread is None:
            self.start()
        with self._changed:
            heapq.heappush(self._due, (timer.due, next(self._numbers), timer))
            if self._due[0][2] is timer:
                self._changed.notify()
        return timer

    def start(self) -> None:
        """Start the thread, if it does not run yet.

        Raises:
            RuntimeError: if the system allows no more threads.
        """
        with self._changed:
            if self._thread is None:
                self._thread = start_thread(self._run, "toolwire-timers")

    def cancel(self, timer: Timer) -> float:
        """Cancel *timer* and drop its task, which may hold much memory; return the seconds that
        were left.
        """
        with self._changed:
            if timer.task is None:
                return 0.0
            timer.task = None
            self._cancelled += 1
            # Removing one from a heap is expensive; removing half of them at once is not.
            if self._cancelled > 100 and self._cancelled > len(self._due) // 2:
                self._due = [entry for entry in self._due if entry[2].task is not None]
                heapq.heapify(self._due)
                self._cancelled = 0
        return max(0.0, timer.due - time.monotonic())

    def stop(self) -> None:
        """Run no more tasks. Returns when the task that may be running has ended."""
        with self._changed:
            self._stopped = True
            thread = self._thread
            self._changed.notify()
        if thread is not None:
            thread.join(1)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._stopped and (
                    not self._due or (wait := self._due[0][0] - time.monotonic()) > 0
                ):
                    self._changed.wait(min(wait, _LONGEST_WAIT_SECONDS) if self._due else None)
                if self._stopped:
                    return
                timer = heapq.heappop(self._due)[2]
                task, timer.task = timer.task, None
                if task is None:
                    self._cancelled -= 1
                    continue
            task()
