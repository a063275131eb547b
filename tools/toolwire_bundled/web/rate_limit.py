"""How fast a service may be asked: limits for all the tools of this process, by host."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from toolwire_schemas.language import say

from .errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .call import Call

_LOOK_SECONDS = 0.05


class Pace:
    """At most *at_once* requests side by side, which begin at least *interval_seconds* after one
    another.

    `Pace.find_for_host` gives all who ask one host the same one.
    """

    _known: dict[str, Pace] = {}  # noqa: RUF012  # shared by all, on purpose
    _knowing = threading.Lock()

    def __init__(self, host: str, *, interval_seconds: float = 0.0, at_once: int = 8) -> None:
        self._host = host
        self._interval_seconds = interval_seconds
        self._places = threading.Semaphore(at_once)
        self._lock = threading.Lock()
        self._next = float("-inf")

    @classmethod
    def find_for_host(cls, host: str, *, interval_seconds: float = 0.0, at_once: int = 8) -> Pace:
        """That of *host*. Who asks first says how fast it is."""
        with cls._knowing:
            if host not in cls._known:
                cls._known[host] = cls(host, interval_seconds=interval_seconds, at_once=at_once)
            return cls._known[host]

    @contextmanager
    def turn(self, call: Call) -> Iterator[None]:
        """Wait until it is the turn of *call*, and keep its place within this.

        Raises:
            Unreachable: if that would take longer than the call may.
            Cancelled: if the call was cancelled during the wait.
        """
        while not self._places.acquire(timeout=_LOOK_SECONDS):
            call.check()
            if call.seconds_left <= 0:
                raise call.make_too_late_error(
                    say("waiting for other requests to {host}", host=self._host)
                )
        try:
            if (seconds := self._reserve_turn(call)) > 0:
                call.say(f"waiting {seconds:.1f} seconds for a turn at {self._host}")
                call.wait(seconds)
            yield
        finally:
            self._places.release()

    def hold(self, call: Call, seconds: float) -> None:
        """Pause all requests for the next *seconds*, as the service demands."""
        with self._lock:
            self._next = max(self._next, call.watch.elapsed() + seconds)

    def _reserve_turn(self, call: Call) -> float:
        """How long to wait for the turn that is now taken."""
        with self._lock:
            now = call.watch.elapsed()
            start = max(now, self._next)
            if start - now > call.seconds_left:
                raise Unreachable(
                    say(
                        "{host} is not to be asked for another {value:.1f} seconds, and the call"
                        " has {seconds_left:.1f} left; try again later",
                        host=self._host,
                        value=start - now,
                        seconds_left=max(call.seconds_left, 0),
                    )
                )
            if self._interval_seconds:
                self._next = start + self._interval_seconds
        return start - now
