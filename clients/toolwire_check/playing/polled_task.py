"""The requests about a task of 2026-07-28 that a case follows to its end."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - msgspec reads the annotations
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire.messages import META_CLIENT_CAPABILITIES
from toolwire_schemas.wire.tasks import TASKS_EXTENSION

from ..judging.conversation import find_answers

if TYPE_CHECKING:
    from ..judging.conversation import Event

STATE = {"$ref": "urn:toolwire:v1:tasks-get-result-2026-07-28"}
"""The schema of the result of `tasks/get`."""

_META: dict[str, Any] = {META_CLIENT_CAPABILITIES: {"extensions": {TASKS_EXTENSION: {}}}}

_SHORTEST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.05, 0.5
"""Whatever the server wishes: a check takes little time, and asks no more often than a client."""


class PolledTask(msgspec.Struct):
    """The task *id* of a server."""

    id: str
    answered: set[str] = msgspec.field(default_factory=set)
    """The keys of the questions that were declined."""

    def make_poll(self, identity: str) -> dict[str, Any]:
        """Return a request for the state."""
        params = {"taskId": self.id, "_meta": _META}
        return {"id": identity, "method": "tasks/get", "params": params}

    def decline(self, identity: str, state: dict[str, Any]) -> dict[str, Any] | None:
        """Return the request that declines what the task asks in this *state*; `None` if it asks
        nothing new.
        """
        keys = set(state.get("inputRequests", ())) - self.answered
        if not keys:
            return None
        self.answered |= keys
        responses = {key: {"action": "decline"} for key in sorted(keys)}
        params = {"taskId": self.id, "inputResponses": responses, "_meta": _META}
        return {"id": identity, "method": "tasks/update", "params": params}


def find_task(events: Sequence[Event], identity: str) -> PolledTask | None:
    """Return the task that the response *identity* has made; `None` if it has made none."""
    for answer in find_answers(events, identity):
        result = answer.get("result")
        if isinstance(result, dict) and result.get("resultType") == "task":
            return PolledTask(result["taskId"])
    return None


def choose_pause_seconds(state: dict[str, Any]) -> float:
    """Return how long to wait before the next poll, as the server wishes within limits."""
    wished: float = state.get("pollIntervalMs", 0) / 1000
    return min(max(wished, _SHORTEST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)
