"""Reports a tool that blocks the event loop: an `async def` that calls `time.sleep` stops all
others.

Strategy. While calls are under way, the thread of the timers asks the loop for a sign of life each
second. Python code runs, so the watchdog process, which looks for an interpreter that is stuck,
sees nothing. Ticks are counted rather than seconds: a process that was suspended has had no time to
answer.
"""

from __future__ import annotations

import linecache
import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from toolwire_tools.schema.annotations import unwrap_function

from .. import log

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

    from ..protocol.call import Call
    from ..timers import Timers

TICK_SECONDS = 1.0
MOST_TICKS = 5
"""As long as the watchdog waits before it reports. Some libraries need a second on their first
call.
"""

_ADVICE = (
    "await something else, such as `anyio.sleep`, or write the tool with `def`, which runs in a"
    " thread"
)


class LoopWatch:
    """Watches a loop whose calls run in frames of the code *runner*, which have the call as `call`.

    *soon* schedules a function on the loop, and returns whether it could; *thread_id* returns that
    of the loop's thread. *is_busy* returns whether calls are under way.
    """

    def __init__(
        self,
        timers: Timers,
        soon: Callable[[Callable[[], None]], bool],
        is_busy: Callable[[], bool],
        thread_id: Callable[[], int | None],
        runner: CodeType,
    ) -> None:
        self._timers = timers
        self._soon = soon
        self._is_busy = is_busy
        self._thread_id = thread_id
        self._runner = runner
        self._lock = threading.Lock()
        self._ticking = False
        self._asked = False
        self._missed = 0

    def watch(self) -> None:
        """Tick from now on, until no call is under way. Never blocks."""
        if self._ticking:
            return
        with (
            self._lock,
            suppress(RuntimeError),
        ):  # no thread for the timers: the next call tries again
            if not self._ticking:
                self._timers.after(TICK_SECONDS, self._tick)
                self._ticking = True

    def forget(self) -> None:
        """Wait for no sign of life: the loop has ended."""
        self._asked = False

    def _tick(self) -> None:
        if not self._asked:
            self._missed = 0
            self._asked = self._soon(self._answer)
        else:
            self._missed += 1
            if self._missed == MOST_TICKS:
                self._report()
        self._ticking = False
        # A call that arrives after this line starts the timer; one before it is seen here.
        if self._is_busy():
            self.watch()

    def _answer(self) -> None:
        if self._missed >= MOST_TICKS:
            log.info("the event loop runs again")
        self._asked = False

    def _report(self) -> None:
        seconds = MOST_TICKS * TICK_SECONDS
        name, place = "an async tool", ""
        with suppress(Exception):  # other threads run: a frame may be gone, or be of another call
            name, place = self._find_culprit()
        log.warning(
            f"{name} has blocked the event loop for {seconds:g} s, so other async calls"
            f" wait{place}; {_ADVICE}"
        )

    def _find_culprit(self) -> tuple[str, str]:
        """Return the name of the tool that runs on the loop, and the line of its file that does not
        return.
        """
        frames = _list_frames(self._thread_id())
        for at, frame in enumerate(frames):
            if frame.f_code is self._runner:
                call: Call = frame.f_locals["call"]
                return call.entry.name, _find_line(frames[at + 1 :], call.entry.function)
        return "an async tool", ""


def _list_frames(thread_id: int | None) -> list[FrameType]:
    """Return the frames of a thread, the innermost last."""
    frame = None if thread_id is None else sys._current_frames().get(thread_id)
    frames: list[FrameType] = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames[::-1]


def _find_line(frames: list[FrameType], function: Any) -> str:
    """Return the innermost line in the file of *function*, as a part of a sentence; an empty text
    without one.
    """
    file = getattr(getattr(unwrap_function(function), "__code__", None), "co_filename", None)
    for frame in reversed(frames):
        if frame.f_code.co_filename == file:
            source = linecache.getline(file, frame.f_lineno).strip()
            return f": {os.path.basename(file)}:{frame.f_lineno} `{source}`"
    return ""
