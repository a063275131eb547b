"""Timers with a clock that a test moves."""

from __future__ import annotations

from collections.abc import Callable

from toolwire.timers import Timer, Timers


class FakeTimers(Timers):
    """Timers with a clock that stands still until `run_until`."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self._timers: list[Timer] = []

    def after(self, seconds: float, task: Callable[[], None]) -> Timer:
        timer = Timer(self.now + seconds, task)
        self._timers.append(timer)
        return timer

    def run_until(self, now: float) -> None:
        """Run what is due until *now*, at its time."""
        for timer in sorted(self._timers, key=lambda timer: timer.due):
            if timer.due <= now and timer.task is not None:
                self.now = timer.due
                task, timer.task = timer.task, None
                task()
        self.now = now
