"""What servers say of tasks: calls that outlive their request, in both forms of MCP.

The modern form is the extension of SEP-2663: a task's members stand in the result itself. In the
form of 2025-11-25, the answer to a call has them in `task`, and two members have other names.
"""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

import msgspec
from toolwire_schemas.wire.tasks import (
    FINAL_STATUSES,
    META_TASK_PROGRESS,
    TASKS_REVISION,
    Status,
    declares_tasks,
)

from ..errors import BrokenRules, CallCancelled, ClientError, RequestFailed

_STATES = get_args(Status)

DEFAULT_POLL_SECONDS = 1.0
"""The interval where the server names none, as in the official client."""
LEAST_POLL_SECONDS = 0.05
"""The shortest interval, whatever the server says: 20 polls a second are no load for either."""
MOST_POLL_SECONDS = 300.0
"""The longest: a server that says more, by mistake or not, is still asked every five minutes."""
MAX_ID_CHARS = 1024
_MOST_MILLISECONDS = 2**53
_LARGEST_PROGRESS = 2**53


class TaskProgress(NamedTuple):
    """How far a tool is: as much of the total as it has done."""

    done: float
    total: float


class TaskStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a task at one moment.

    `message` is what the server says of it, for people. The times are the server's, ISO 8601.
    `ttl_seconds` is how long after `created_at` the server keeps the task, `None` for ever.
    `poll_seconds` is how often it wants to be asked. `raw` are the members that the server sent.
    """

    id: str
    state: Status
    message: str = ""
    created_at: str = ""
    updated_at: str = ""
    ttl_seconds: float | None = None
    poll_seconds: float = DEFAULT_POLL_SECONDS
    raw: dict[str, Any] = {}

    @property
    def is_final(self) -> bool:
        """Whether the task has ended, and stays as it is."""
        return self.state in FINAL_STATUSES

    @property
    def questions(self) -> dict[str, Any]:
        """The open `inputRequests` of a modern task."""
        requests = self.raw.get("inputRequests")
        if self.state != "input_required" or not isinstance(requests, dict):
            return {}
        return requests

    @property
    def progress(self) -> TaskProgress | None:
        """How far a modern task of a Toolwire server is; `None` if it is unknown."""
        progress = _find(self.raw, "_meta", META_TASK_PROGRESS) or {}
        done, total = _read_number(progress, "progress"), _read_number(progress, "total")
        if done is None or total is None:
            return None
        return TaskProgress(done, total)


def find_task(result: Any, *, is_modern: bool) -> Any:
    """Return the members of the task with which a server answers a call; `None` for another
    answer.
    """
    if not isinstance(result, dict):
        return None
    if is_modern:
        return result if result.get("resultType") == "task" else None
    return result.get("task") if "content" not in result else None


def read_status(members: Any) -> TaskStatus:
    """Return the status that *members* of a task say, of either form.

    Raises:
        BrokenRules: if they are malformed.
    """
    if not isinstance(members, dict):
        raise BrokenRules("the server's task is not an object")
    identity = members.get("taskId")
    state: Any = members.get("status")
    if not isinstance(identity, str) or not 0 < len(identity) <= MAX_ID_CHARS:
        raise BrokenRules(f"the server's task has no id of 1 to {MAX_ID_CHARS} characters")
    if state not in _STATES:
        raise BrokenRules(f"the server's task has the unknown status {state!r}"[:200])
    poll = _read_seconds(members, "pollIntervalMs", "pollInterval")
    if poll is None:
        poll = DEFAULT_POLL_SECONDS
    return TaskStatus(
        id=identity,
        state=state,
        message=_read_text(members, "statusMessage"),
        created_at=_read_text(members, "createdAt"),
        updated_at=_read_text(members, "lastUpdatedAt"),
        ttl_seconds=_read_seconds(members, "ttlMs", "ttl"),
        poll_seconds=min(max(poll, LEAST_POLL_SECONDS), MOST_POLL_SECONDS),
        raw=members,
    )


def read_outcome(status: TaskStatus) -> Any:
    """Return the result of a call whose modern task has the final *status*.

    Raises:
        RequestFailed: if the call ended with a JSON-RPC error.
        CallCancelled: if the task was cancelled.
        BrokenRules: if the result is missing.
    """
    if status.state == "completed" and "result" in status.raw:
        return status.raw["result"]
    if status.state == "completed":
        raise BrokenRules("the server's completed task has no result")
    raise make_error(status)


def make_error(status: TaskStatus) -> ClientError:
    """Return the error to raise for a failed or cancelled task."""
    if status.state == "cancelled":
        reason = f": {status.message}" if status.message else ""
        return CallCancelled(f"the task was cancelled{reason}")
    error = status.raw.get("error")
    body = error if isinstance(error, dict) else {}
    code, message = body.get("code"), body.get("message")
    if not isinstance(message, str):
        message = status.message or "the task failed"
    if type(code) is not int:
        code = 0
    return RequestFailed(code, message, body.get("data"))


def has_tasks(version: str, capabilities: dict[str, Any]) -> bool:
    """Return whether a server of this *version* with these *capabilities* answers calls with tasks
    to clients that want one.
    """
    if version == TASKS_REVISION:
        return _find(capabilities, "tasks", "requests", "tools", "call") is not None
    return declares_tasks(capabilities)


def can_list_tasks(version: str, capabilities: dict[str, Any]) -> bool:
    """Return whether a server of this *version* lists its tasks."""
    return version == TASKS_REVISION and _find(capabilities, "tasks", "list") is not None


def _find(members: Any, *path: str) -> dict[str, Any] | None:
    for name in path:
        members = members.get(name) if isinstance(members, dict) else None
    return members if isinstance(members, dict) else None


def _read_text(members: dict[str, Any], name: str) -> str:
    text = members.get(name)
    return text if isinstance(text, str) else ""


def _read_number(members: dict[str, Any], name: str) -> float | None:
    number = members.get(name)
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    # An integer of any size would not fit into a float.
    return number if abs(number) <= _LARGEST_PROGRESS else None


def _read_seconds(members: dict[str, Any], name: str, legacy_name: str) -> float | None:
    milliseconds = members.get(name, members.get(legacy_name))
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return None
    # An integer of any size would not fit into a float.
    return max(0, min(milliseconds, _MOST_MILLISECONDS)) / 1000
