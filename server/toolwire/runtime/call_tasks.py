"""The tasks of the event loop that run calls.

Strategy. A task with a cancel scope of anyio takes 8 µs, more than a quick call (and 15 µs in a
group of anyio, which has further scopes; so the group is asyncio's). So
the calls that have arrived together share a task as long as none of them waits: it runs one after
the other. The first that waits keeps the task, which ends with it, and another one runs the rest.
A call observes the same as in a task of its own: a task that a call has changed, or may have kept,
is not used again (`task_reuse.py`). A tool that has waited once gets a task for each
call at once, since a second task takes a turn of the loop.
"""

from __future__ import annotations

from asyncio import get_running_loop
from collections import deque
from typing import TYPE_CHECKING, Any

from anyio import CancelScope, Event

from .task_reuse import TaskState

if TYPE_CHECKING:
    from asyncio import TaskGroup
    from collections.abc import Callable, Coroutine, Iterable

    from ..protocol.call import Call

    Run = Callable[[Call, CancelScope], Coroutine[Any, Any, None]]


class CallTasks:
    """Runs calls through *run*, as tasks of *group*. Only for the thread of the running loop.

    A call starts only when `may_begin(call)` is true; call `make_room` when it may be true again.
    """

    def __init__(self, group: TaskGroup, run: Run, may_begin: Callable[[Call], bool]) -> None:
        self._group = group
        self._run = run
        self._may_begin = may_begin
        self._room = Event()
        self._call_soon = get_running_loop().call_soon
        self._ready: deque[Call] = deque()  # for a shared task
        self._first_step: Call | None = None  # the call that a shared task is just running
        self._have_waited: set[str] = set()  # names of tools

    def start(self, calls: Iterable[Call]) -> None:
        """Start *calls*, which have arrived together."""
        for call in calls:
            if call.entry.name in self._have_waited or not self._may_begin(call):
                self._group.create_task(self._run_alone(call))
            else:
                self._ready.append(call)
        self._run_ready()

    def make_room(self) -> None:
        """Start the calls that wait for `may_begin`."""
        room, self._room = self._room, Event()
        room.set()

    def _run_ready(self) -> None:
        """Start a shared task for the calls that are ready, if there are any."""
        waiting = self._first_step
        if waiting is not None:
            self._have_waited.add(waiting.entry.name)
            self._first_step = None
        if self._ready:
            self._group.create_task(self._run_together())
            # A loop runs callbacks in their order, so that this one finds what the first step of
            # the task has left: the rest of the calls, if one of them waits.
            self._call_soon(self._run_ready)

    async def _run_together(self) -> None:
        """Run the calls that are ready, until one waits or changes the task."""
        with CancelScope() as scope:
            await self._run_until_changed(scope)

    async def _run_until_changed(self, scope: CancelScope) -> None:
        state = TaskState()
        while self._ready:
            call = self._ready.popleft()
            if not self._may_begin(call):
                self._group.create_task(self._run_alone(call))
                continue
            self._first_step = call
            await self._run(call, scope)
            has_waited = self._first_step is not call
            if has_waited:
                return
            self._first_step = None
            if not state.is_unchanged():
                return

    async def _run_alone(self, call: Call) -> None:
        with CancelScope() as scope:
            while not (call.ended or self._may_begin(call)):
                await self._room.wait()
            await self._run(call, scope)
