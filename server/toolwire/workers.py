"""The threads that run synchronous tools: as many as are needed, none that is not.

Strategy. One worker keeps up with any number of quick calls, and every further thread would only contend for the
interpreter's lock. So a second look is taken a moment after a call had to wait: if calls still wait, and either none
was taken meanwhile or the processor has been idle, then the workers are blocked, and their number is doubled.
A worker whose call was cancelled or ran out of time cannot be stopped; it is counted out, replaced when needed, and
ends when its tool returns.
"""

from __future__ import annotations

import threading
import time
from queue import SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .calls import Call
    from .clock import Clock

DEFAULT_MAX_WORKERS = 128

_LOOK_AGAIN_SECONDS = 0.002
"""Long beside a quick call (microseconds), short beside what a person or a model notices."""

_BUSY = 0.5
"""The share of the time since the last look that the process computed, above which more threads cannot help."""


class Workers:
    """Runs calls on threads through *run*, which must not raise."""

    def __init__(self, run: Callable[[Call], None], clock: Clock, max_workers: int = DEFAULT_MAX_WORKERS) -> None:
        self._run = run
        self._clock = clock
        self._max_workers = max_workers
        self._queue: SimpleQueue[Call | None] = SimpleQueue()
        self._idle: list[None] = []  # one element a waiting worker: append and pop are atomic, += is not
        self._lock = threading.Lock()  # for what follows; taken on none of the paths of a quick call
        self._threads: set[threading.Thread] = set()
        self._counted_out: set[threading.Thread] = set()
        self._looking = False
        self._finishing = False
        self._taken = 0
        self._last_look = (0, 0.0, 0.0)

    def put(self, call: Call) -> None:
        """Have *call* run as soon as there is a worker for it. Never waits."""
        self._queue.put(call)
        if not self._looking and len(self._idle) < self._queue.qsize():
            self._need_more()

    def abandon(self, call: Call) -> None:
        """Count out the worker that runs *call*, if one does: nobody waits for it any more."""
        with self._lock:
            thread = call.worker
            if thread is None or thread in self._counted_out:
                return
            self._counted_out.add(thread)
        if self._queue.qsize():
            self._need_more()

    def finish(self, deadline: float) -> None:
        """Let the workers run what is queued and end; return when they have, or at *deadline* (monotonic time)."""
        self._finishing = True
        self._queue.put(None)
        while True:
            with self._lock:
                waiting_for = self._threads - self._counted_out
            if not waiting_for or (left := deadline - time.monotonic()) <= 0:
                return
            # One by one, and each briefly: more may come and some may be counted out meanwhile.
            waiting_for.pop().join(min(left, 0.02))

    def _work(self) -> None:
        me = threading.current_thread()
        queue, idle, run = self._queue, self._idle, self._run
        while me not in self._counted_out:
            idle.append(None)
            call = queue.get()
            idle.pop()
            if call is None:
                queue.put(None)  # for the next worker
                break
            self._taken += 1  # a hint; it may miss some
            if queue.qsize() and not self._looking:  # put while this worker still counted as idle
                self._need_more()
            call.worker = me
            run(call)
            call.worker = None
        with self._lock:
            self._threads.discard(me)
            self._counted_out.discard(me)

    def _need_more(self) -> None:
        with self._lock:
            if self._looking:
                return
            if not self._threads - self._counted_out:
                self._start(1)
                if self._queue.qsize() <= 1:
                    return
            self._looking = True
            self._last_look = (self._taken, time.monotonic(), time.process_time())
        self._clock.after(_LOOK_AGAIN_SECONDS, self._look)

    def _look(self) -> None:
        """Start more workers if calls wait and the ones there are do not get on."""
        with self._lock:
            waiting = self._queue.qsize() - self._finishing
            taken, then, computed_then = self._last_look
            now, computed = time.monotonic(), time.process_time()
            self._last_look = (self._taken, now, computed)
            stuck = self._taken == taken or computed - computed_then < _BUSY * (now - then)
            active = len(self._threads) - len(self._counted_out)
            if waiting > len(self._idle) and stuck:
                self._start(min(waiting, max(active, 1), self._max_workers - active))
            self._looking = waiting > len(self._idle) and active < self._max_workers
            again = self._looking
        if again:
            self._clock.after(_LOOK_AGAIN_SECONDS, self._look)

    def _start(self, number: int) -> None:
        for _ in range(number):
            thread = threading.Thread(target=self._work, name="toolwire-worker", daemon=True)
            self._threads.add(thread)
            thread.start()
