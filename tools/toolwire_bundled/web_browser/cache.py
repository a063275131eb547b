"""Recent results, so that they need not be fetched again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """Keeps at most *most* values, each for *seconds*. The oldest go first."""

    def __init__(self, *, most: int = 100, seconds: float = 600.0) -> None:
        self._most = most
        self._seconds = seconds
        self._kept: OrderedDict[object, tuple[float, T]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: object, make: Callable[[], T], elapsed: Callable[[], float]) -> T:
        """Return the value for *key*, made now if it is missing. An exception is not kept."""
        with self._lock:
            if key in self._kept and elapsed() - self._kept[key][0] < self._seconds:
                return self._kept[key][1]
        value = make()
        with self._lock:
            self._kept[key] = (elapsed(), value)
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return value
