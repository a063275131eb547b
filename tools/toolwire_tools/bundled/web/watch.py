"""Time and chance, in one place, so that tests need not wait for either."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable


def _random() -> float:
    import random

    return random.random()


class Watch(msgspec.Struct, frozen=True):
    """Where time comes from: `elapsed` in seconds since whenever, `now` since 1970, `sleep`, and `chance` in [0, 1)."""

    elapsed: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    sleep: Callable[[float], object] = time.sleep
    chance: Callable[[], float] = _random


WATCH = Watch()
