"""`IdleEnd`: when it ends what nothing uses."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.fake_timers import FakeTimers
from toolwire.idle_end import NEVER, IdleEnd
from toolwire.timers import Timer, Timers


class TimersWithoutThread(Timers):
    """Timers of a system that allows no more threads."""

    def after(self, seconds: float, task: Callable[[], None]) -> Timer:
        raise RuntimeError("can't start new thread")


# Events: at a time, the last use ends and the end is scheduled after some seconds; or a use starts.
Event = tuple[float, float | None]
STARTED = None


@pytest.mark.parametrize(
    ("events", "ends"),
    [
        pytest.param([], [], id="nothing is scheduled by itself"),
        pytest.param([(1, 30)], [31], id="after the last use"),
        pytest.param([(1, 30), (10, 30)], [40], id="only the last of two uses counts"),
        pytest.param([(1, 60), (2, 5)], [7], id="a shorter time replaces a longer one"),
        pytest.param([(1, 30), (10, STARTED)], [], id="not during a use"),
        pytest.param([(1, 30), (10, STARTED), (20, 30)], [50], id="after a use in between"),
        pytest.param([(1, 30), (30.9, STARTED)], [], id="not if a use starts just before"),
        pytest.param([(1, 30), (31.1, STARTED)], [31], id="a use that starts later is too late"),
        pytest.param([(1, 30), (50, 30)], [31, 80], id="again after what is used again"),
        pytest.param([(1, 0)], [1], id="at once"),
        pytest.param([(1, NEVER)], [], id="never"),
        pytest.param([(1, 30), (2, NEVER)], [], id="not at an earlier time if it is never now"),
        pytest.param([(0, STARTED), (1, STARTED)], [], id="uses that were not scheduled"),
    ],
)
def test_end_is_called_after_the_idle_time(events: list[Event], ends: list[float]) -> None:
    timers = FakeTimers()
    ended: list[float] = []
    idle_end = IdleEnd(timers, lambda: ended.append(timers.now))

    for time, seconds in events:
        timers.run_until(time)
        if seconds is STARTED:
            idle_end.cancel()
        else:
            idle_end.schedule(seconds)
    timers.run_until(1000)

    assert ended == ends


def test_system_without_a_thread_for_timers_ends_nothing_and_fails_no_use() -> None:
    ended: list[bool] = []
    idle_end = IdleEnd(TimersWithoutThread(), lambda: ended.append(True))

    idle_end.schedule(0)
    idle_end.cancel()

    assert ended == []
