"""Things to do at a given time: one thread, started for the first of them, or before."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from itertools import count

Task = Callable[[], None]

_LONGEST_WAIT_SECONDS = 3600.0
"""Beyond some limit of the system's, infinity included, waiting raises; looking again after an hour costs nothing."""


class Appointment:
    """A task and its time. It has no task any more when that has been run or forgotten."""

    __slots__ = ("due", "number", "task")

    def __init__(self, due: float, number: int, task: Task) -> None:
        self.due = due
        self.number = number
        self.task: Task | None = task

    def __lt__(self, other: Appointment) -> bool:
        return (self.due, self.number) < (other.due, other.number)


class Clock:
    """Runs small tasks when their time has come. They must neither wait nor raise."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: list[Appointment] = []
        self._forgotten = 0  # how many of them have no task
        self._numbers = count()  # keeps tasks of the same time in order
        self._thread: threading.Thread | None = None
        self._stopped = False

    def after(self, seconds: float, task: Task) -> Appointment:
        """Run *task* when *seconds* have passed, unless what is returned is given to `forget` before."""
        appointment = Appointment(time.monotonic() + seconds, next(self._numbers), task)
        if self._thread is None:
            self.start()
        with self._changed:
            heapq.heappush(self._due, appointment)
            if self._due[0] is appointment:
                self._changed.notify()
        return appointment

    def start(self) -> None:
        """Start the thread, if there is none.

        Raises:
            RuntimeError: if the system allows no more threads.
        """
        with self._changed:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="toolwire-clock", daemon=True)
                thread.start()
                self._thread = thread

    def forget(self, appointment: Appointment) -> float:
        """Do not run the task of *appointment*, and let go of it: it may hold much that nobody needs any more.

        Return how many seconds were left; 0 if its time had come.
        """
        with self._changed:
            if appointment.task is None:
                return 0.0
            appointment.task = None
            self._forgotten += 1
            # Taking one out of a heap is dear; taking out half of them at once is not.
            if self._forgotten > 100 and self._forgotten > len(self._due) // 2:
                self._due = [kept for kept in self._due if kept.task is not None]
                heapq.heapify(self._due)
                self._forgotten = 0
        return max(0.0, appointment.due - time.monotonic())

    def stop(self) -> None:
        """Run nothing any more. Returns when the task that may be running has ended."""
        with self._changed:
            self._stopped = True
            thread = self._thread
            self._changed.notify()
        if thread is not None:
            thread.join(1)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._stopped and (not self._due or (wait := self._due[0].due - time.monotonic()) > 0):
                    self._changed.wait(min(wait, _LONGEST_WAIT_SECONDS) if self._due else None)
                if self._stopped:
                    return
                appointment = heapq.heappop(self._due)
                task, appointment.task = appointment.task, None
                if task is None:
                    self._forgotten -= 1
                    continue
            task()
