"""A tool call, from its request to its result; on the way, it may become a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.deadline import Deadline
from toolwire_schemas.wire.messages import METHOD_NOT_FOUND

from ..errors import CallCancelled, ClientError, RequestFailed
from ..protocol.results import CallResult, read_call_result
from ..protocol.tasks import TaskStatus, find_task, read_status
from .elicitation import elicitation_observer
from .request import complete
from .task_wait import finish_task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .request import RequestHandle


class AsyncPendingCall:
    """An open tool call."""

    def __init__(
        self,
        handle: RequestHandle,
        name: str,
        arguments: Mapping[str, Any] | None,
        *,
        as_task: bool = False,
        may_need_task: bool = False,
    ) -> None:
        """Send the request. *as_task* asks a server of MCP 2025-11-25 for a task, later ones decide
        by themselves; *may_need_task* says that the server refuses some calls without one.
        """
        self._handle = handle
        self._tool = name
        self._params: dict[str, Any] = {"name": name, "arguments": dict(arguments or {})}
        if as_task:
            self._params["task"] = {}
        self._may_need_task = may_need_task and not as_task
        self._outcome: CallResult | ClientError | None = None
        handle.begin("tools/call", self._params)

    @property
    def id(self) -> int:
        """The id of the call's current request; each round of elicitation sends another."""
        return self._handle.id

    def cancel(self, reason: str = "cancelled by the client") -> None:
        """Cancel the call and end the wait for it. From any thread."""
        self._handle.cancel(reason)

    async def result(self, timeout_seconds: float | None = None) -> CallResult:
        """Return the call's result; until it arrives, report progress and ask the user the tool's
        questions.

        The time in which the user answers does not count. Later calls return the same result. If
        the server makes the call a task, this waits for the task.

        Raises:
            RequestFailed: if the response is an error, as for an unknown tool.
            TimedOut: if it does not arrive in time. This and any other exception while waiting
                cancels the call.
            CallCancelled: if `cancel` was called, or the server cancelled the call's task.
            ServerGone: if the server ended.
            BrokenRules: if the response is malformed, or asks for what this client did not offer.
        """
        return await self.finish(Deadline(timeout_seconds))

    async def finish(self, deadline: Deadline) -> CallResult:
        if isinstance(self._outcome, ClientError):
            raise self._outcome.copy()
        if self._outcome is None:
            self._outcome = CallCancelled(
                "the wait for the call was interrupted"
            )  # replaced below unless it was
            try:
                self._outcome = await self._finish(deadline)
            except ClientError as error:
                self._outcome = error
                raise
        return self._outcome

    async def wait_for_first_answer(self, deadline: Deadline) -> CallResult | TaskStatus:
        """Return the result of the call, or the task that it has become."""
        with self._handle as handle:
            result = await self._complete(deadline)
            members = find_task(result, is_modern=handle.connection.protocol.is_modern)
            if members is None:
                return read_call_result(result)
            return read_status(members)

    async def _finish(self, deadline: Deadline) -> CallResult:
        answer = await self.wait_for_first_answer(deadline)
        if isinstance(answer, CallResult):
            return answer
        handle = self._handle
        elicitation_observer.get().observe_task(answer.id)
        return read_call_result(await finish_task(handle, answer, self._tool, deadline))

    async def _complete(self, deadline: Deadline) -> Any:
        """Return the answer to the call, sent again as a task if the server demands one."""
        try:
            return await complete(self._handle, "tools/call", self._params, deadline)
        except RequestFailed as error:
            # The specification's error for such a tool; nothing has run.
            if error.code != METHOD_NOT_FOUND or not self._may_need_task:
                raise
        self._params["task"] = {}
        self._handle.begin("tools/call", self._params)
        return await complete(self._handle, "tools/call", self._params, deadline)
