"""Waits for a task: a call that its server answers with a handle, and whose result it keeps.

Strategy. The client asks for the task at the interval that the server wants, since servers need do
no more than answer. A notification makes the next request come at once, but never sooner than the
shortest interval after the last, so that a flood of them costs little. A modern task holds its
questions and its result; one of 2025-11-25 gives its result to `tasks/result`, a request that stays
open, and may ask its questions only there.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from toolwire_schemas.deadline import Deadline

from ..errors import BrokenRules, ClientError, RequestFailed
from ..protocol.tasks import LEAST_POLL_SECONDS, make_error, read_outcome, read_status
from ..waiting.base import Inbox

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..protocol.tasks import TaskProgress, TaskStatus
    from .connection import Connection
    from .request import RequestHandle

MAX_QUESTIONS = 100
"""The most questions that a task may ask its user."""


class AnsweredQuestions:
    """The keys of a task's questions that were answered, which a server may repeat for a while."""

    def __init__(self) -> None:
        self._keys: set[str] = set()

    def take_open(self, questions: dict[str, Any]) -> dict[str, Any]:
        """Return those of *questions* that were not taken before.

        Raises:
            BrokenRules: if the task has asked too often.
        """
        still_open = {key: asked for key, asked in questions.items() if key not in self._keys}
        self._keys.update(still_open)
        if len(self._keys) > MAX_QUESTIONS:
            raise BrokenRules(f"the task has asked more than {MAX_QUESTIONS} questions")
        return still_open

    def put_back(self, questions: dict[str, Any]) -> None:
        self._keys.difference_update(questions)


class TaskWait:
    """The wait for one task, by the requests of *handle*. *tool* is named with questions."""

    def __init__(
        self, handle: RequestHandle, task: str, tool: str, answered: AnsweredQuestions
    ) -> None:
        self._handle = handle
        self._task = task
        self._tool = tool
        self._answered = answered
        self._message = ""
        self._progress: TaskProgress | None = None
        self._outcome: list[Any] = []  # of `tasks/result`, once it has ended

    async def read(self, deadline: Deadline) -> TaskStatus:
        """Return the status now, report its message, and answer the questions of a modern task."""
        status = await self.ask(deadline)
        self._report(status)
        await self._answer(status, deadline)
        return status

    def _report(self, status: TaskStatus) -> None:
        progress = status.progress
        message = status.message or self._message
        if (message, progress) == (self._message, self._progress):
            return
        self._message, self._progress = message, progress
        self._handle.report_status(message, progress)

    async def ask(self, deadline: Deadline) -> TaskStatus:
        """Return the status now."""
        members = await self._handle.ask("tasks/get", {"taskId": self._task}, deadline)
        status = read_status(members)
        if status.id != self._task:
            raise BrokenRules("the server answered with another task than it was asked for")
        return status

    async def read_next(self, status: TaskStatus, deadline: Deadline) -> TaskStatus:
        """Return the status after *status*, when the server wants to be asked for it."""
        if status.state == "input_required" and not self._handle.connection.protocol.is_modern:
            await self._read_legacy_outcome(deadline)
            return await self.read(deadline)
        start = Deadline(LEAST_POLL_SECONDS)
        await self._handle.pause(status.poll_seconds, deadline)
        await self._handle.waiting.sleep(start.seconds_left or 0.0)
        return await self.read(deadline)

    async def wait_for_outcome(self, status: TaskStatus, deadline: Deadline) -> Any:
        """Return the result of the call, *status* being the last known of its task.

        Raises:
            RequestFailed: if the call ended with a JSON-RPC error, or the server does not know the
                task.
            CallCancelled: if the task was cancelled.
            TimedOut: if it has not ended in time.
        """
        while not status.is_final:
            status = await self.read_next(status, deadline)
        if self._handle.connection.protocol.is_modern:
            if status.raw.get("resultType") == "task":  # of a call, which has no result yet
                status = await self.read(deadline)
            return read_outcome(status)
        if status.state == "cancelled":
            raise make_error(status)
        await self._read_legacy_outcome(deadline)
        return self._outcome[0]

    async def _read_legacy_outcome(self, deadline: Deadline) -> None:
        """Wait for the result of a legacy task, which its server may ask questions for."""
        if self._outcome:
            return
        params = {"taskId": self._task}
        self._outcome.append(await self._handle.ask("tasks/result", params, deadline))

    async def _answer(self, status: TaskStatus, deadline: Deadline) -> None:
        questions = self._answered.take_open(status.questions)
        if not questions:
            return
        try:
            assert self._handle.elicitation is not None
            with deadline.stop_clock():
                answers = await self._handle.elicitation.collect_answers(questions, self._tool)
            params = {"taskId": self._task, "inputResponses": answers}
            await self._handle.ask("tasks/update", params, deadline)
        except BaseException:  # so that the next wait asks again
            self._answered.put_back(questions)
            raise


async def finish_task(
    handle: RequestHandle, status: TaskStatus, tool: str, deadline: Deadline
) -> Any:
    """Return the result of the call of *tool*, made by *handle*, that has become the task of
    *status*. Whatever else ends the wait cancels the task.

    Raises what `TaskWait.wait_for_outcome` raises.
    """
    wait = TaskWait(handle, status.id, tool, AnsweredQuestions())
    try:
        with handle, handle.follow(status.id), listen_to_task(handle.connection, status.id):
            return await wait.wait_for_outcome(status, deadline)
    except BaseException as error:
        if not isinstance(error, RequestFailed):  # else the task has ended, or is unknown
            cancel_soon(handle.connection, status.id)
        raise


@contextmanager
def listen_to_task(connection: Connection, task: str) -> Iterator[None]:
    """Subscribe to the changes of a modern *task* inside the block."""
    if not connection.protocol.is_modern:
        yield
        return
    number, message = connection.protocol.listen_to_task(task)
    connection.begin((number, message), Unread())
    try:
        yield
    finally:
        connection.cancel(number, "the task is no longer waited for")


def cancel_soon(connection: Connection, task: str) -> None:
    """Ask the server to cancel *task*, without waiting for its answer."""
    with suppress(ClientError):  # the server is gone, and the task with it or not
        request = connection.protocol.request("tasks/cancel", {"taskId": task})
        connection.begin(request, Unread())


class Unread(Inbox):
    """Takes the response to a request whose outcome does not matter."""

    def __init__(self) -> None: ...

    def __len__(self) -> int:
        return 0

    def put(self, arrival: object) -> None: ...
