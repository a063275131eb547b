"""The tasks of the event loop that run calls.

Strategy. A new task with a cancel scope of anyio takes 10 µs, more than a quick call (and 15 µs in
a group of anyio, which has further scopes; so the group is asyncio's). So tasks are used again:

- A task runs the calls that are ready, one after another, as long as none of them waits. The first
  that waits keeps the task until it ends, and another task runs the rest. A tool that has waited
  once gets a task for each call at once, since a second task takes a turn of the loop.
- In one turn of the loop, a hundred calls begin. When more are ready, tasks whose calls have
  ended take them in the next turn, and fewer tasks need be made.
- A task that finds no more calls is idle until others arrive.

A call observes the same as in a task of its own: a task that a call has changed, or may have kept,
is not used again (`task_reuse.py`).
"""

from __future__ import annotations

from asyncio import get_running_loop
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Any

from anyio import CancelScope

from .task_reuse import TaskState

if TYPE_CHECKING:
    from asyncio import Future, TaskGroup
    from collections.abc import Callable, Coroutine, Iterable

    from ..protocol.call import Call

    Run = Callable[[Call, CancelScope], Coroutine[Any, Any, None]]

_MOST_PER_TURN = 100
"""How many calls begin in a turn of the loop, about: some more than arrive in one read."""

_MOST_IDLE = _MOST_PER_TURN


class CallTasks:
    """Runs calls through *run*, as tasks of *group*. Only for the thread of the running loop.

    A call starts only when `may_begin(call)` is true; call `make_room` when it may be true again.
    """

    def __init__(self, group: TaskGroup, run: Run, may_begin: Callable[[Call], bool]) -> None:
        self._group = group
        self._run = run
        self._may_begin = may_begin
        self._loop = get_running_loop()
        self._ready: deque[Call] = deque()
        self._held: list[Call] = []  # until they may begin
        self._idle: list[Future[None]] = []  # what each idle task waits for
        self._is_ending = False
        self._begun: list[Call] = []  # in this turn of the loop
        self._check_is_due = False
        self._have_waited: set[str] = set()  # names of tools

    def start(self, calls: Iterable[Call]) -> None:
        """Start *calls*, which have arrived together."""
        self._ready.extend(calls)
        if not self._check_is_due:
            self._start_tasks()

    def make_room(self) -> None:
        """Start the calls that wait for `may_begin`."""
        held, self._held = self._held, []
        self.start(held)

    def end_idle(self) -> None:
        """End the tasks that are idle, or would be from now on."""
        self._is_ending = True
        while self._wake_idle_task():
            continue

    def _start_tasks(self) -> None:
        """Have tasks run the calls that are ready, and check at the end of the turn what is left.

        At least one task, which is enough if no call waits.
        """
        room = max(_MOST_PER_TURN - len(self._begun), 0)
        self._begun.clear()
        if not self._ready:
            return
        will_wait = 0
        for call in islice(self._ready, room):
            if call.entry.name in self._have_waited:
                will_wait += 1
        for _ in range(max(will_wait, 1)):
            if not self._wake_idle_task():
                self._group.create_task(self._run_calls())
        self._check_is_due = True
        # A loop runs callbacks in their order, so that this one finds what the first steps of the
        # calls have left.
        self._loop.call_soon(self._check_first_steps)

    def _wake_idle_task(self) -> bool:
        """Wake a task that is idle; return whether there was one."""
        while self._idle:
            future = self._idle.pop()
            if not future.done():  # a tool may have cancelled all tasks of the loop
                future.set_result(None)
                return True
        return False

    def _check_first_steps(self) -> None:
        """Note which tools have waited, and start tasks for the calls that are still ready."""
        self._check_is_due = False
        for call in self._begun:
            still_runs = call.scope is not None
            if still_runs:
                self._have_waited.add(call.entry.name)
        self._start_tasks()

    async def _run_calls(self) -> None:
        """Run the calls that are ready, and later ones, until one changes the task."""
        with CancelScope() as scope:
            state = TaskState()
            while state.is_unchanged() and not scope.cancel_called:
                if self._ready:
                    call = self._ready.popleft()
                    if call.ended or self._may_begin(call):
                        self._begun.append(call)
                        await self._run(call, scope)
                    else:
                        self._held.append(call)
                    del call  # an idle task holds no arguments
                elif self._is_ending or len(self._idle) >= _MOST_IDLE:
                    return
                else:
                    await self._wait_for_calls()

    async def _wait_for_calls(self) -> None:
        future = self._loop.create_future()
        self._idle.append(future)
        await future
