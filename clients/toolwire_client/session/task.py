"""The handle of a task: a call that goes on at its server, which keeps its result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from toolwire_schemas.deadline import Deadline
from toolwire_schemas.wire.messages import INVALID_PARAMS

from ..errors import RequestFailed
from ..protocol.results import CallResult, read_call_result
from .request import OnProgress, RequestHandle
from .task_wait import AnsweredQuestions, TaskWait, listen_to_task

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from ..protocol.tasks import TaskStatus

OpenRequest = Callable[[Deadline, OnProgress | None], Awaitable[RequestHandle]]


class AsyncTask:
    """A call that goes on at its server. `await task` gives its result, `async for status in task`
    each change until it has ended.

    `id` finds it again, also after a new connection: `client.task(id)`. It is empty if the server
    answered with the result at once, which is kept here. Every wait answers the tool's questions.
    An exception while waiting, such as `TimedOut`, leaves the task running: `cancel` ends it.
    """

    def __init__(
        self,
        open_request: OpenRequest,
        task_id: str,
        *,
        tool: str = "",
        status: TaskStatus | None = None,
        result: CallResult | None = None,
    ) -> None:
        self.id = task_id
        self.tool = tool
        """The name of the tool, if it is known here."""
        self.status = status
        """The last known status; `None` before the first."""
        self._open_request = open_request
        self._answered = AnsweredQuestions()
        self._result = result

    async def result(
        self, timeout_seconds: float | None = None, *, on_progress: OnProgress | None = None
    ) -> CallResult:
        """Return the call's result; until it arrives, report progress and status messages, and ask
        the user the tool's questions. Later calls return the same result.

        Raises:
            RequestFailed: if the call ended with a JSON-RPC error, or the server does not know the
                task (any more).
            CallCancelled: if the task was cancelled.
            TimedOut: if it does not end in time.
            ServerGone: if the server ended.
            BrokenRules: if what the server says of the task is malformed.
        """
        if self._result is not None:
            return self._result
        deadline = Deadline(timeout_seconds)
        with ExitStack() as stack:
            wait = await self._wait(stack, deadline, on_progress)
            self.status = await wait.read(deadline)
            while not self.status.is_final:
                self.status = await wait.read_next(self.status, deadline)
            self._result = read_call_result(await wait.wait_for_outcome(self.status, deadline))
        return self._result

    def __await__(self) -> Generator[None, None, CallResult]:
        return self.result().__await__()

    async def changes(
        self, timeout_seconds: float | None = None
    ) -> AsyncGenerator[TaskStatus, None]:
        """Yield the status now, and each one of another state or message, until the task has ended.

        Raises what `result` raises, except for a call that failed.
        """
        if not self.id:
            assert self.status is not None
            yield self.status
            return
        deadline = Deadline(timeout_seconds)
        with ExitStack() as stack:
            wait = await self._wait(stack, deadline, None)
            self.status = status = await wait.read(deadline)
            yield status
            while not status.is_final:
                self.status = await wait.read_next(status, deadline)
                # Servers may call each answer an update.
                if (self.status.state, self.status.message) != (status.state, status.message):
                    yield self.status
                status = self.status

    def __aiter__(self) -> AsyncGenerator[TaskStatus, None]:
        return self.changes()

    async def read_status(self, *, timeout_seconds: float | None = None) -> TaskStatus:
        """Ask the server once for the status, and answer none of the tool's questions.

        Raises what `AsyncClient.request` raises.
        """
        if not self.id:
            assert self.status is not None
            return self.status
        deadline = Deadline(timeout_seconds)
        with await self._open_request(deadline, None) as handle:
            self.status = await TaskWait(handle, self.id, self.tool, self._answered).ask(deadline)
        return self.status

    async def cancel(self, *, timeout_seconds: float | None = None) -> None:
        """Ask the server to cancel the task. The server decides whether and when it ends; one that
        has ended stays as it is.

        Raises what `AsyncClient.request` raises.
        """
        if not self.id:
            return
        deadline = Deadline(timeout_seconds)
        try:
            with await self._open_request(deadline, None) as handle:
                await handle.ask("tasks/cancel", {"taskId": self.id}, deadline)
        except RequestFailed as error:
            # MCP 2025-11-25 has servers refuse to cancel a task that has ended.
            if error.code != INVALID_PARAMS:
                raise
            status = await self.read_status(timeout_seconds=deadline.seconds_left)
            if not status.is_final:
                raise

    async def _wait(
        self, stack: ExitStack, deadline: Deadline, on_progress: OnProgress | None
    ) -> TaskWait:
        handle = stack.enter_context(await self._open_request(deadline, on_progress))
        stack.enter_context(handle.follow(self.id))
        stack.enter_context(listen_to_task(handle.connection, self.id))
        return TaskWait(handle, self.id, self.tool, self._answered)
