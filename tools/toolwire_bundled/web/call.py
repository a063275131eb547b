"""One call of a tool, as what works for it sees it: how long it may take, and who waits for it."""

from __future__ import annotations

import threading
import time
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec
from toolwire_schemas.deadline import Deadline
from toolwire_schemas.language import say
from toolwire_schemas.threads import start_thread

from .errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_tools.context.context import Context

T = TypeVar("T")

THREAD = "toolwire-web"
"""The name of threads that work for calls."""

_GLANCE_SECONDS = 0.05
"""How often a waiting thread checks whether the call was cancelled."""


def _draw_random_number() -> float:
    import random

    return random.random()


class Watch(msgspec.Struct, frozen=True):
    """Where time comes from: `elapsed` in seconds since whenever, `now` since 1970, `sleep`, and
    `chance` in [0, 1).
    """

    elapsed: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    sleep: Callable[[float], object] = time.sleep
    chance: Callable[[], float] = _draw_random_number


WATCH = Watch()
"""What calls take their time from. Tests put another one here, so that they need not wait."""


class Call:
    """A call that may take *seconds* in all, waits included.

    Without a *context* it cannot be cancelled, and progress is dropped. Any thread may use it.
    """

    def __init__(
        self, context: Context | None = None, *, seconds: float = 60.0, watch: Watch | None = None
    ) -> None:
        self.watch = watch or WATCH
        self.seconds = seconds
        self._context = context
        self._deadline = Deadline(seconds, self.watch.elapsed)
        self._told = 0
        self._lock = threading.Lock()

    @property
    def seconds_left(self) -> float:
        """How long it may still take, at least 0."""
        return self._deadline.seconds_left or 0.0

    def say(self, message: str) -> None:
        """Report progress to the caller."""
        if self._context is not None:
            with self._lock:  # hosts expect the numbers to grow
                self._told += 1
                self._context.progress(self._told, message=message)

    def check(self) -> None:
        """Do nothing, or stop if the call was cancelled. Raises `Cancelled`."""
        if self._context is not None:
            self._context.check()

    def wait(self, seconds: float) -> None:
        """Sleep, unless the call is cancelled, which raises `Cancelled`."""
        end = self.watch.elapsed() + seconds
        while (left := end - self.watch.elapsed()) > 0:
            self.check()
            self.watch.sleep(min(left, _GLANCE_SECONDS))
        self.check()

    def attend(self, work: Callable[[Leaving], T], what: str) -> T:
        """Return what *work* returns, or raise what it raises, unless the call ends before.

        It runs in a thread of its own: nothing else gets a blocking look-up of a name, or a slow
        read, out of the way of a cancellation. When the call ends, *work* is left alone; the
        `Leaving` that it is given says so.

        Raises:
            Cancelled: if the call was cancelled.
            Unreachable: if its time is over; *what* did not end in time, or what *work* made of it
                in `Leaving.what`.
        """
        job = _Job(work, what)
        job.start()
        try:
            while True:
                self.check()
                try:
                    return job.outcome.get(timeout=_GLANCE_SECONDS)()
                except Empty:
                    if self.seconds_left <= 0:
                        raise self.make_too_late_error(job.leaving.what) from None
        finally:
            job.leaving.leave()

    def make_too_late_error(self, what: str) -> Unreachable:
        """The error for *what* took longer than there was time."""
        return Unreachable(
            say(
                "{what} took too long: there are {seconds:g} seconds for the whole call",
                what=what,
                seconds=self.seconds,
            )
        )


class Leaving:
    """Whether anybody still waits for some work, and *what* it is doing."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._lock = threading.Lock()
        self._has_left = False
        self._last_acts: list[Callable[[], object]] = []

    @property
    def has_left(self) -> bool:
        """True once no caller waits any more."""
        return self._has_left

    def call_at_end(self, act: Callable[[], object]) -> None:
        """Call *act* as soon as no caller waits any more, which may be now. It must not block."""
        with self._lock:
            if not self._has_left:
                self._last_acts.append(act)
                return
        act()

    def leave(self) -> None:
        """Wait no more."""
        with self._lock:
            self._has_left = True
        for act in self._last_acts:
            act()


class _Job(Generic[T]):
    def __init__(self, work: Callable[[Leaving], T], what: str) -> None:
        self._work = work
        self.leaving = Leaving(what)
        self.outcome: SimpleQueue[Callable[[], T]] = SimpleQueue()

    def start(self) -> None:
        start_thread(self._run, THREAD)

    def _run(self) -> None:
        try:
            value = self._work(self.leaving)
        except BaseException as error:
            failure = error  # raised in the thread that waits for it
            self.outcome.put(lambda: _raise(failure))
        else:
            self.outcome.put(lambda: value)


def _raise(error: BaseException) -> T:  # type: ignore[type-var]
    raise error
