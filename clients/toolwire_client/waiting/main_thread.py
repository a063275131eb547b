"""Runs an agent on an event loop in its own thread, and terminal work in the main thread.

Strategy. Only the main thread receives Ctrl-C, and only there can reading a line be edited and
interrupted. So all reading and writing happens there, one job after the other, on behalf of the
event loop. Ctrl-C interrupts typing at once; otherwise it is a job like the others.
"""

from __future__ import annotations

import queue
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import anyio
from anyio.from_thread import start_blocking_portal

from .event_loop import make_loop_scheduler

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from types import FrameType


T = TypeVar("T")

_LOOK_SECONDS = 1.0
"""How often to check for Ctrl-C: on Windows, a thread that waits for a lock does not notice it."""

_MAX_BUSY_SECONDS = 5.0
"""How long the event loop may leave a signal unhandled. Judging one value by a schema takes a tenth
of it.
"""

_ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]

_NUDGE = [signal.SIGURG] if hasattr(signal, "SIGURG") else []
"""A signal that only interrupts a read. Python notes a signal that arrives just before a read, but
runs its handler only when the read returns."""

_NUDGE_SECONDS = 0.05
_MAX_NUDGES = 100


class Interrupted(Exception):
    """The user pressed Ctrl-C while typing, or the typed line is no longer needed."""


class MainThread:
    """Runs an asynchronous function in another thread, and its jobs in this one.

    *on_interrupt* is called for each Ctrl-C, and *on_end* for a signal to end the process; both on
    the event loop.
    """

    def __init__(self, on_interrupt: Callable[[], object], on_end: Callable[[], object]) -> None:
        self._on_interrupt = on_interrupt
        self._on_end = on_end
        self._jobs: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._doing: _Job[Any] | None = None
        self._is_typing = False
        self._wakes = 0
        self._ended_by: int | None = None
        self._unhandled_since: float | None = None

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return the result of *work*, which runs on an event loop. A signal that ended it then
        ends the process.
        """
        try:
            # Signals first: Ctrl-C while the portal starts would leave its thread running, and so
            # the process.
            with self._receive_signals(), start_blocking_portal() as portal:
                self._on_loop = portal.call(make_loop_scheduler)
                result = portal.start_task_soon(work)
                result.add_done_callback(lambda _: self._jobs.put(None))
                while (job := self._take_next()) is not None:
                    job()
                value: T = result.result()
                return value
        finally:
            if self._ended_by is not None:
                signal.raise_signal(self._ended_by)

    async def do(self, work: Callable[[], T]) -> T:
        """Return the result of *work*, which runs in the main thread. Cancellation interrupts its
        typing.
        """
        job = _Job(work)
        self.queue(lambda: self._do(job))
        try:
            await job.done.wait()
        except anyio.get_cancelled_exc_class():
            job.is_wanted = False
            await self._let_go(job)
            raise
        if job.error is not None:
            raise job.error
        return job.results[0]

    def queue(self, work: Callable[[], object]) -> None:
        """Queue *work* for the main thread. Callable from any thread."""
        self._jobs.put(work)

    @contextmanager
    def allow_interrupt(self) -> Iterator[None]:
        """Let Ctrl-C raise `Interrupted` within the block, in the main thread."""
        self._is_typing = True
        try:
            if self._doing is not None and not self._doing.is_wanted:
                raise Interrupted
            yield
        finally:
            self._is_typing = False

    # --- in the main thread ---

    def _take_next(self) -> Callable[[], object] | None:
        while True:
            try:
                return self._jobs.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                since = self._unhandled_since
                if since is not None and time.monotonic() - since > _MAX_BUSY_SECONDS:
                    number = self._ended_by or signal.SIGINT
                    signal.signal(number, signal.SIG_DFL)
                    signal.raise_signal(number)

    def _do(self, job: _Job[Any]) -> None:
        if not job.is_wanted:
            return
        self._doing = job
        try:
            job.results.append(job.work())
        except Interrupted as interrupted:
            job.error = interrupted
            if job.is_wanted:
                self._interrupt()
        except BaseException as error:  # raised in `do`
            job.error = error
        finally:
            self._doing = None
        self._on_loop(job.done.set)

    def _interrupt(self) -> None:
        """Have the event loop handle a signal; if it is too busy, `_take_next` ends the process."""

        def handle() -> None:
            self._unhandled_since = None
            on_signal()

        on_signal = self._on_interrupt if self._ended_by is None else self._on_end
        self._unhandled_since = self._unhandled_since or time.monotonic()
        self._on_loop(handle)

    # --- signals ---

    @contextmanager
    def _receive_signals(self) -> Iterator[None]:
        # Ignored signals, as in a script's background, stay ignored.
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, *_ENDS, *_NUDGE)}
        before = {
            number: handler
            for number, handler in before.items()
            if handler not in (signal.SIG_IGN, None)
        }
        for number in before:
            signal.signal(number, self._on_signal)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if number in _NUDGE:
            return
        is_ours = number == signal.SIGINT and self._wakes > 0
        if is_ours:
            self._wakes -= 1
            if self._doing is None or self._doing.is_wanted:  # too late: the line is complete
                return
        elif number != signal.SIGINT:
            self._ended_by = number
            self._jobs.put(self._interrupt)
        elif not self._is_typing:
            self._jobs.put(self._interrupt)
        if self._is_typing:
            raise Interrupted

    async def _let_go(self, job: _Job[Any]) -> None:
        """Interrupt the main thread as long as it reads a line for *job*."""
        ident = threading.main_thread().ident
        if not hasattr(signal, "pthread_kill") or ident is None:
            return
        for number in (signal.SIGINT, *_NUDGE * _MAX_NUDGES):
            if self._doing is not job or not self._is_typing:
                return
            if number == signal.SIGINT:
                self._wakes += 1
            signal.pthread_kill(ident, number)
            with anyio.move_on_after(_NUDGE_SECONDS, shield=True):
                await job.done.wait()


class _Job(Generic[T]):
    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.done = anyio.Event()
        self.is_wanted = True
        self.results: list[T] = []
        self.error: BaseException | None = None
