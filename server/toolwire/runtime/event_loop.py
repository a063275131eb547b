"""The event loop that runs `async def` tools: one thread, started for the first of them.

anyio and asyncio take longer to import than a server takes to start, so that thread imports them,
and calls that arrive before are queued. The tasks of calls are in `call_tasks.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from toolwire_schemas.threads import start_thread

from .. import log
from .loop_watch import LoopWatch

if TYPE_CHECKING:
    from anyio import CancelScope, Event
    from anyio.abc import TaskGroup

    from ..protocol.call import Call
    from ..timers import Timers
    from .call_tasks import CallTasks

Outcome = dict[str, Any] | BaseException
Deliver = Callable[["Call", Outcome], None]


class EventLoop:
    """Runs calls concurrently, as tasks.

    Calls `begin(call)` first, `deliver(call, outcome)` unless it was cancelled, and `release(call)`
    last; none of them may block. A call starts only when `may_begin(call)` is true; call
    `make_room` when it may be true again.
    """

    def __init__(
        self,
        timers: Timers,
        begin: Callable[[Call], None],
        deliver: Deliver,
        release: Callable[[Call], None],
        may_begin: Callable[[Call], bool],
    ) -> None:
        self._begin = begin
        self._deliver = deliver
        self._release = release
        self._may_begin = may_begin
        self._lock = threading.Lock()
        self._under_way: set[Call] = set()
        self._spawned: list[Callable[[], Coroutine[Any, Any, None]]] = []
        self._arrived: list[
            Call
        ] = []  # passed to the loop together: to wake it for each would take longer
        self._woken = False
        # Schedules a function on the loop, while it runs. (anyio's portal would wait until the
        # function starts, and so for a tool that blocks the loop.)
        self._call_soon: Callable[..., object] | None = None
        # What belongs to the running loop, on which alone it is used.
        self._tasks: TaskGroup
        self._calls: CallTasks
        self._is_finished: Event
        self._cancelled_class: type[BaseException]
        self._is_started = False
        self._thread: threading.Thread | None = None
        self._watch = LoopWatch(
            timers, self.run_soon, lambda: bool(self._under_way), self._get_thread_id, _RUNNER
        )

    def put(self, call: Call) -> None:
        """Start *call*. Never blocks."""
        with self._lock:
            self._under_way.add(call)
            self._arrived.append(call)
            is_woken = self._woken
        if not is_woken:
            self._wake()
        self._watch.watch()

    def spawn(self, task: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run *task* on the loop, until it ends or the loop is finished. It must not raise. Never
        blocks.
        """
        with self._lock:
            self._spawned.append(task)
        self._wake()

    def _wake(self) -> None:
        with self._lock:
            call_soon = self._call_soon
            wake = call_soon is not None and not self._woken
            self._woken = self._woken or wake
            starts = not self._is_started
            self._is_started = True
        if starts:
            self._start()
        elif wake and call_soon is not None:
            with suppress(
                RuntimeError
            ):  # a tool has just ended the loop, and `_main` delivers that
                call_soon(self._start_arrived)

    def cancel(self, call: Call) -> None:
        """Cancel *call*, which has ended, at its next await. Never blocks."""
        # Without a loop nothing runs yet, and `_run` checks that the call has ended.
        self.run_soon(partial(_cancel, call))

    def run_soon(self, task: Callable[[], None]) -> bool:
        """Run a small *task* on the loop, from any thread; return false if the loop has ended.
        Never blocks.
        """
        with self._lock:
            call_soon = self._call_soon
        if call_soon is None:
            return False
        try:
            call_soon(task)
        except RuntimeError:  # the loop has just ended, and every task with it
            return False
        return True

    def _get_thread_id(self) -> int | None:
        thread = self._thread
        return None if thread is None else thread.ident

    def make_room(self) -> None:
        """Start the calls that wait for `may_begin`."""
        self.run_soon(lambda: self._calls.make_room())

    def finish(self, seconds: float) -> None:
        """Cancel all tasks, and give them up to *seconds* to clean up."""
        with self._lock:
            begun, thread = self._call_soon is not None, self._thread
        if begun and thread is not None:
            self.run_soon(self._cancel_all)
            thread.join(seconds)

    def _cancel_all(self) -> None:
        for call in list(self._under_way):
            _cancel(call)
        self._calls.make_room()  # for those that have ended while they waited for it
        self._calls.end_idle()
        self._is_finished.set()

    def _start(self) -> None:
        try:
            self._thread = start_thread(self._main, "toolwire-loop")
        except RuntimeError as error:  # the system allows no more threads
            self._end(error)

    def _main(self) -> None:
        reason: BaseException = RuntimeError("the event loop has ended")
        try:
            import anyio

            anyio.run(self._serve)
        except (
            BaseException
        ) as error:  # a tool has stopped the loop, or raised SystemExit in its own task
            log.traceback("the event loop has ended before the server", error)
            reason = error
        self._end(reason)

    def _end(self, reason: BaseException) -> None:
        """Deliver *reason* for the running calls. Those that have not started will run on another
        loop.
        """
        with self._lock:
            early = set()
            if self._call_soon:  # otherwise this loop has not started, nor would the next one
                early = {call for call in self._under_way if call.scope is None}
            lost, self._under_way = self._under_way - early, early
            self._arrived, self._woken = list(early), False
            self._call_soon, self._thread, self._is_started = None, None, bool(early)
        self._watch.forget()
        if early:
            self._start()
        for call in lost:
            self._deliver(call, reason)

    async def _serve(self) -> None:
        from asyncio import TaskGroup, get_running_loop
        from contextvars import copy_context

        from anyio import Event, create_task_group, get_cancelled_exc_class

        from .call_tasks import CallTasks

        self._cancelled_class = get_cancelled_exc_class()
        self._is_finished = Event()
        async with create_task_group() as tasks:
            async with TaskGroup() as group:
                with self._lock:
                    self._tasks = tasks
                    self._calls = CallTasks(group, self._run, self._may_begin)
                    # In the loop's own context, where anyio knows the library it runs on.
                    self._call_soon = partial(
                        get_running_loop().call_soon_threadsafe, context=copy_context()
                    )
                self._start_arrived()
                await self._is_finished.wait()
            tasks.cancel_scope.cancel()

    def _start_arrived(self) -> None:
        with self._lock:
            self._woken = False
            arrived, self._arrived = self._arrived, []
            spawned, self._spawned = self._spawned, []
        for task in spawned:
            self._tasks.start_soon(task)
        self._calls.start(arrived)

    async def _run(self, call: Call, scope: CancelScope) -> None:
        call.scope = scope
        try:
            if call.ended:
                return
            self._begin(call)
            try:
                outcome: Outcome = await call.handler.call_async(
                    call.arguments, call, call.strict_arguments
                )
            except Exception as error:
                outcome = error
            except BaseException as error:
                if scope.cancel_called and isinstance(error, self._cancelled_class):
                    # the scope handles its own cancellation; any other exception would end the loop
                    raise
                outcome = error
            self._deliver(call, outcome)
        finally:
            call.scope = None  # which may be that of another call from now on
            self._under_way.discard(call)
            self._release(call)


_RUNNER = EventLoop._run.__code__


def _cancel(call: Call) -> None:
    if call.scope is not None:
        call.scope.cancel()
