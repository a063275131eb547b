"""One tool call, with all its rounds of elicitation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import BrokenRules, CallCancelled, ClientError
from ..protocol.results import CallResult, outcome
from ..waiting.deadline import Deadline

if TYPE_CHECKING:
    from ..waiting.base import Waiting
    from .elicitation import ElicitationHandler
    from .request import RequestHandle

_MAX_ROUNDS = 10
"""The limit of the official clients."""

_PAUSE_SECONDS = 0.1
"""Before a retry that only carries `requestState`. The official clients pause for 50 to 250 ms."""


class AsyncPendingCall:
    """An open tool call."""

    def __init__(
        self,
        handle: RequestHandle,
        elicitation: ElicitationHandler,
        waiting: Waiting,
        name: str,
        arguments: dict[str, Any],
    ) -> None:
        self._handle = handle
        self._elicitation = elicitation
        self._waiting = waiting
        self._name = name
        self._params: dict[str, Any] = {"name": name, "arguments": arguments}
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
        """Return the call's result; until it arrives, report progress and ask the user the tool's questions.

        The time in which the user answers does not count. Later calls return the same result.

        Raises:
            RequestFailed: if the response is an error, as for an unknown tool.
            TimedOut: if it does not arrive in time. This and any other exception while waiting cancels the call.
            CallCancelled: if `cancel` was called.
            ServerGone: if the server ended.
            BrokenRules: if the response is malformed, or asks for what this client did not offer.
        """
        return await self.finish(Deadline(timeout_seconds))

    async def finish(self, deadline: Deadline) -> CallResult:
        if isinstance(self._outcome, ClientError):
            raise self._outcome.again()
        if self._outcome is None:
            self._outcome = CallCancelled("the wait for the call was interrupted")  # replaced below unless it was
            try:
                self._outcome = await self._finish(deadline)
            except ClientError as error:
                self._outcome = error
                raise
        return self._outcome

    async def _finish(self, deadline: Deadline) -> CallResult:
        with self._handle as handle:
            for _ in range(_MAX_ROUNDS):
                result = await handle.result(deadline)
                if not isinstance(result, dict) or result.get("resultType") != "input_required":
                    return outcome(result)
                more = await self._answers(result, deadline)
                handle.begin("tools/call", {**self._params, **more})
            raise BrokenRules(f"the tool still asks after {_MAX_ROUNDS} rounds of questions")

    async def _answers(self, result: dict[str, Any], deadline: Deadline) -> dict[str, Any]:
        """The members of the next request that answer *result*."""
        requests, state = result.get("inputRequests"), result.get("requestState")
        more: dict[str, Any] = {} if state is None else {"requestState": state}
        if requests is None and state is not None:
            await self._waiting.sleep(_PAUSE_SECONDS)
            return more
        with deadline.stopped():
            return {**more, "inputResponses": await self._elicitation.responses(requests, self._name)}
