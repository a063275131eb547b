"""The processes of some tools: as many as there are calls side by side, up to a limit, and reused."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .gate import Gate
from .processes import NotBegun, Process

if TYPE_CHECKING:
    from .calls import Call
    from .isolation import ProcessTool
    from .order import Order


class Pool(Gate):
    """Up to *room* processes that do what *order* says, reused while they are healthy."""

    def __init__(self, order: Order, room: int) -> None:
        super().__init__(room)
        self._order = order
        self._changing = threading.Lock()
        self._idle: list[Process] = []
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
                    process = Process(self._order, self._gone, call)
            with suppress(NotBegun):
                return self._ask(process, tool, arguments, call)

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
            self._put_back(process)

    def _take(self) -> Process | None:
        with self._changing:
            return self._idle.pop() if self._idle else None

    def _put_back(self, process: Process) -> None:
        with self._changing:
            if process.healthy and not self._retired:
                self._idle.append(process)
                return
        process.kill()
        process.close()

    def _gone(self, process: Process) -> None:
        """*process* has ended; if nobody is asking it, nobody will."""
        with self._changing:
            process.healthy = False
            if process not in self._idle:
                return
            self._idle.remove(process)
        process.close()
