"""Things to do at a given time: one thread, started when there is the first of them."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from itertools import count

Task = Callable[[], None]


class Clock:
    """Runs small tasks when their time has come. They must neither wait nor raise."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, Task]] = []
        self._numbers = count()  # keeps tasks of the same time in order, and from being compared
        self._thread: threading.Thread | None = None

    def after(self, seconds: float, task: Task) -> None:
        """Run *task* when *seconds* have passed."""
        due = time.monotonic() + seconds
        with self._changed:
            heapq.heappush(self._due, (due, next(self._numbers), task))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="toolwire-clock", daemon=True)
                self._thread.start()
            elif self._due[0][0] == due:
                self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._due or (wait := self._due[0][0] - time.monotonic()) > 0:
                    self._changed.wait(wait if self._due else None)
                task = heapq.heappop(self._due)[2]
            task()
