"""The number of calls that some work takes: the same in each run, however busy the machine is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def count_calls(function: Callable[[], object]) -> int:
    """Return how many functions *function* calls in this thread, itself included."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls


def is_linear(work: Callable[[int], Callable[[], object]], times: int = 4) -> bool:
    """Return whether `work(times)` takes no more than *times* the calls of `work(1)`, and a half.

    `work(size)` prepares work of that size; only the function that it returns is counted.
    """
    small, large = count_calls(work(1)), count_calls(work(times))
    return large <= 1.5 * times * max(small, 100)
