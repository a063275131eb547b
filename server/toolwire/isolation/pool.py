"""The processes of some tools: as many as there are calls side by side, up to a limit, and reused."""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .. import log
from .worker_process import NotBegun, Process

if TYPE_CHECKING:
    from ..protocol.call import Call
    from ..timers import Clock
    from .isolated_tool import ProcessTool
    from .worker_spec import Order


class Gate:
    """Lets *room* calls in at a time, in the order in which they came. None of its methods waits."""

    def __init__(self, room: int) -> None:
        self._lock = threading.Lock()
        self._room = room
        self._waiting: deque[Call] = deque()
        self._called: set[Call] = set()  # from among the waiting: they have a place already

    def enter(self, call: Call) -> bool:
        """Return whether *call* may run now; if not, it is kept until another one leaves."""
        with self._lock:
            if call in self._called:
                self._called.remove(call)
                return True
            if self._room == 0:
                call.worker = None  # which goes on to other calls, and must not be given up for this one
                self._waiting.append(call)
                return False
            self._room -= 1
            return True

    def leave(self) -> Call | None:
        """Give up the place of a call that has ended; return the call that gets it, which is now to enter."""
        with self._lock:
            if self._waiting:
                call = self._waiting.popleft()
                self._called.add(call)  # even if it has ended: whoever runs it then lets go of it
                return call
            self._room += 1
            return None


_IDLE_SECONDS = 300.0
"""How long a process is kept for another call: longer than a model or its user takes to think of one, since to start
it takes as long as the imports of its tools; not for ever, since it may hold much memory."""


class Pool(Gate):
    """Up to *room* processes that do what *order* says, reused while they are healthy and needed now and then.

    *limited* says that the memory of some tools is.
    """

    def __init__(self, order: Order, room: int, *, limited: bool) -> None:
        super().__init__(room)
        self._order = order
        self._limited = limited
        self._said = not limited
        """Whether the log has said that a limit holds for each process, if it does."""
        self._changing = threading.Lock()
        self._idle: list[Process] = []  # the one that has been so for longest is first
        self._clock: Clock | None = None
        """On which the idle ones are looked at; `None`: there were none the last time."""
        self._retired = False

    def run(self, tool: ProcessTool, arguments: Any, call: Call) -> dict[str, Any]:
        """Return the result of *tool*, called in one of the processes, which is started if there is none.

        Raises:
            ToolError: if the process came to its end.
            Cancelled: if the call did.
        """
        while True:
            process = self._take()
            if process is None:
                with call.host.pause(call):
                    process = Process(self._order, self._gone, call, self._cgroup())
            if not self._said and (tool.memory_limit or self._order.memory_limit):
                self._said = True
                log.info(
                    "memory_limit holds for each process of a tool by itself, not for it and its children together: "
                    "the server has no cgroup (version 2) of its own that it may divide"
                )
            with suppress(NotBegun):
                return self._ask(process, tool, arguments, call)

    def _cgroup(self) -> str:
        """The path of a new cgroup; "" if there can be none, or need not be."""
        if not self._limited:
            return ""
        from toolwire_tools.processes import cgroups

        path = cgroups.new()
        self._said = self._said or path is not None
        return path or ""

    def retire(self) -> None:
        """Let the processes end, those at work when they have answered: nobody will call these tools again."""
        with self._changing:
            self._retired, idle, self._idle = True, self._idle, []
        for process in idle:
            process.end()

    def _ask(self, process: Process, tool: ProcessTool, arguments: Any, call: Call) -> dict[str, Any]:
        try:
            return process.call(tool, arguments, call)
        finally:
            self._put_back(process, call.host.clock)

    def _take(self) -> Process | None:
        with self._changing:
            return self._idle.pop() if self._idle else None

    def _put_back(self, process: Process, clock: Clock) -> None:
        with self._changing:
            if process.healthy and not self._retired:
                process.idle_since = time.monotonic()
                self._idle.append(process)
                if self._clock is not clock:
                    self._look_later(clock)
                return
        process.kill()
        process.close()

    def _look_later(self, clock: Clock) -> None:
        self._clock = clock
        clock.after(_IDLE_SECONDS, lambda: self._look(clock))

    def _look(self, clock: Clock) -> None:
        """End the processes that nobody has needed for a while."""
        unneeded = []
        with self._changing:
            if self._clock is not clock:  # another conversation's does it now
                return
            while self._idle and time.monotonic() - self._idle[0].idle_since >= _IDLE_SECONDS:
                unneeded.append(self._idle.pop(0))
            self._clock = None
            if self._idle:
                self._look_later(clock)
        for process in unneeded:
            process.end()

    def _gone(self, process: Process) -> None:
        """*process* has ended; if nobody is asking it, nobody will."""
        with self._changing:
            process.healthy = False
            if process in self._idle:
                self._idle.remove(process)
            elif not process.was_told_to_end:
                return
        process.close()
