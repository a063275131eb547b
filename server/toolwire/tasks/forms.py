"""Tasks on the wire: the form of 2025-11-25, and that of the extension since 2026-07-28."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import decode, encode_plain
from toolwire_schemas.wire.messages import META_SUBSCRIPTION_ID, REQUEST_CANCELLED
from toolwire_schemas.wire.tasks import META_RELATED_TASK, META_TASK_PROGRESS

from ..protocol.lifecycle import complete_modern_result

if TYPE_CHECKING:
    from toolwire_schemas.wire.messages import Id

    from ..protocol.lifecycle import Identity
    from .stored_task import StoredTask
    from .task import Task

    AnyTask = Task | StoredTask

POLL_MILLISECONDS = 1000
"""How long clients should wait between two requests for the state of a task."""


# 2026-07-28


def encode_created(task: AnyTask, identity: Identity) -> bytes:
    """Return the result of the call that has become *task*."""
    return encode_plain(complete_modern_result(identity, {"resultType": "task", **_describe(task)}))


def encode_detailed(task: AnyTask, identity: Identity) -> bytes:
    """Return the result of `tasks/get`."""
    return _encode_with_outcome(task, complete_modern_result(identity, _describe_fully(task)))


def encode_notification(task: AnyTask, identity: Identity, subscription: Id) -> bytes:
    """Return `notifications/tasks` for a *subscription*."""
    described = _describe_fully(task)
    meta = {**described.get("_meta", {}), META_SUBSCRIPTION_ID: subscription}
    params = _encode_with_outcome(task, {**described, "_meta": meta})
    return b'{"jsonrpc":"2.0","method":"notifications/tasks","params":' + params + b"}"


def _describe(task: AnyTask) -> dict[str, Any]:
    return {**task.describe(), "pollIntervalMs": POLL_MILLISECONDS}


def _describe_fully(task: AnyTask) -> dict[str, Any]:
    """Return the state with the progress, and the elicitations that wait for the client."""
    described = _describe(task)
    if task.progress:
        described["_meta"] = {META_TASK_PROGRESS: task.progress}
    if task.status != "input_required":
        return described
    from ..protocol.elicitation import make_input_request  # few tasks ask

    asked = {key: make_input_request(pending) for key, pending in list(task.questions.items())}
    return {**described, "inputRequests": asked}


def _encode_with_outcome(task: AnyTask, members: dict[str, Any]) -> bytes:
    head = encode_plain(members)
    outcome = task.outcome
    # The status was read before: an outcome that has come since belongs to the next state.
    if not outcome or members["status"] not in ("completed", "failed"):
        return head
    if not task.is_modern:
        outcome = _encode_outcome(_convert_to_modern(outcome))
    return head[:-1] + b"," + outcome + b"}"


def _convert_to_modern(outcome: bytes) -> dict[str, Any]:
    """Return the outcome of a task of 2025-11-25 as the extension has it."""
    found = _decode_outcome(outcome)
    if "result" in found:
        found["result"] = {"resultType": "complete", **found["result"]}
    return found


# 2025-11-25


def encode_legacy_created(task: AnyTask) -> bytes:
    """Return the result of a call that asked for a task."""
    return encode_plain({"task": describe_legacy_state(task)})


def describe_legacy_state(task: AnyTask) -> dict[str, Any]:
    """Return the state of *task*, as most messages of 2025-11-25 have it."""
    state = task.describe()
    ttl = state.pop("ttlMs")
    return {**state, "ttl": ttl, "pollInterval": POLL_MILLISECONDS}


def encode_legacy_notification(task: AnyTask) -> bytes:
    """Return `notifications/tasks/status`."""
    return messages.encode_notification("notifications/tasks/status", describe_legacy_state(task))


def encode_legacy_outcome(task: AnyTask, id: Id) -> bytes:
    """Return the response with the *id* of a `tasks/result`, for a task that is final."""
    if task.status == "cancelled":
        return messages.encode_error(id, REQUEST_CANCELLED, "The task was cancelled")
    found = _decode_outcome(task.outcome)
    if "error" in found:
        error = found["error"]
        return messages.encode_error(id, error["code"], error["message"], error.get("data"))
    result = found["result"]
    result.pop("resultType", None)
    meta = {**result.get("_meta", {}), META_RELATED_TASK: {"taskId": task.id}}
    return messages.encode_response(id, {**result, "_meta": meta}, is_plain=True)


def _decode_outcome(outcome: bytes) -> dict[str, Any]:
    found: dict[str, Any] = decode(b"{" + outcome + b"}")
    return found


def _encode_outcome(outcome: dict[str, Any]) -> bytes:
    return encode_plain(outcome)[1:-1]
