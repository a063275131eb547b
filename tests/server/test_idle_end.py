"""When a shared process ends that no session uses."""

from __future__ import annotations

from collections.abc import Callable

from toolwire.idle_end import IdleEnd
from toolwire.timers import Timer, Timers


class KeptTimers(Timers):
    """Keeps timers, and runs none."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Timer] = []

    def after(self, seconds: float, task: Callable[[], None]) -> Timer:
        self.kept.append(Timer(seconds, task))
        return self.kept[-1]


def list_scheduled(timers: KeptTimers) -> list[float]:
    return [timer.due for timer in timers.kept if timer.task is not None]


def test_process_ends_after_the_session_that_has_left_last() -> None:
    timers = KeptTimers()
    end = IdleEnd(timers, lambda: None)
    end.schedule(30)
    end.schedule(60)
    assert list_scheduled(timers) == [60]


def test_process_does_not_end_because_of_a_time_before_a_session_came() -> None:
    timers = KeptTimers()
    end = IdleEnd(timers, lambda: None)
    end.schedule(30)
    end.cancel()
    assert list_scheduled(timers) == []
    end.schedule(60)
    assert list_scheduled(timers) == [60]
