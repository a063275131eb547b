"""One tool call, over as many rounds of questions to the user as it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import BrokenRules, CallCancelled, ClientError
from ..protocol.results import CallResult, outcome
from ..waiting.deadline import Limit

if TYPE_CHECKING:
    from ..waiting.base import Waiting
    from .elicitation import Asker
    from .request import Exchange

_MAX_ROUNDS = 10
"""After so many in a row a call is given up, as by the official clients."""

_PAUSE_SECONDS = 0.1
"""Before calling a tool again that asked for nothing else. The official clients pause for 50 to 250 ms."""


class AsyncPendingCall:
    """A tool call under way."""

    def __init__(
        self, exchange: Exchange, asker: Asker, waiting: Waiting, name: str, arguments: dict[str, Any]
    ) -> None:
        self._exchange = exchange
        self._asker = asker
        self._waiting = waiting
        self._name = name
        self._params: dict[str, Any] = {"name": name, "arguments": arguments}
        self._outcome: CallResult | ClientError | None = None
        exchange.begin("tools/call", self._params)

    @property
    def id(self) -> int:
        """The id of the request that stands for the call now; each round of questions leads to another."""
        return self._exchange.id

    def cancel(self, reason: str = "cancelled by the client") -> None:
        """Tell the server that the result is no longer wanted, and wake whoever waits for it. From any thread."""
        self._exchange.cancel(reason)

    async def result(self, timeout_seconds: float | None = None) -> CallResult:
        """Wait for what the call comes to; progress is reported and questions are asked meanwhile.

        The time that the user takes to answer does not count. Asked again, it is the same at once.

        Raises:
            RequestFailed: if the answer is an error, as for an unknown tool.
            TimedOut: if it takes too long; the call is cancelled then, as by any exception while waiting.
            CallCancelled: if it was cancelled by `cancel`.
            ServerGone: if the server ended.
            BrokenRules: if the answer is none, or asks for what was not offered.
        """
        return await self.finish(Limit(timeout_seconds))

    async def finish(self, limit: Limit) -> CallResult:
        """As `result`, within a limit that is running already."""
        if isinstance(self._outcome, ClientError):
            raise self._outcome.again()
        if self._outcome is None:
            self._outcome = CallCancelled("nobody waits for it any longer")  # as it is if we are interrupted
            try:
                self._outcome = await self._finish(limit)
            except ClientError as error:
                self._outcome = error
                raise
        return self._outcome

    async def _finish(self, limit: Limit) -> CallResult:
        with self._exchange as exchange:
            for _ in range(_MAX_ROUNDS):
                result = await exchange.result(limit)
                if not isinstance(result, dict) or result.get("resultType") != "input_required":
                    return outcome(result)
                exchange.begin("tools/call", {**self._params, **await self._wanted(result, limit)})
            raise BrokenRules(f"the tool still asks after {_MAX_ROUNDS} rounds of questions")

    async def _wanted(self, result: dict[str, Any], limit: Limit) -> dict[str, Any]:
        """What the next request has to carry."""
        requests, state = result.get("inputRequests"), result.get("requestState")
        more: dict[str, Any] = {} if state is None else {"requestState": state}
        if requests is None and state is not None:
            await self._waiting.sleep(_PAUSE_SECONDS)
            return more
        with limit.stopped():
            return {**more, "inputResponses": await self._asker.responses(requests, self._name)}
