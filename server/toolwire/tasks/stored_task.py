"""A task as a store has it, after its session has ended."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any, Protocol

import msgspec
from toolwire_schemas.wire.codec import encode_plain
from toolwire_schemas.wire.tasks import FINAL_STATUSES, TASK_INTERRUPTED, Status


class StoreError(ValueError):
    """The file of a store cannot be used, or not now. The text says why."""


class StoredTask(msgspec.Struct):
    """A task in a store; its members are those of `Task`."""

    id: str
    owner: str
    """The process that runs it; empty once its session has ended."""
    session: str
    """The session that has made it; empty once that has ended."""
    tool: str
    is_modern: bool
    status: Status
    message: str | None
    created: float
    updated: float
    keep_seconds: float
    outcome: bytes = b""

    @property
    def is_final(self) -> bool:
        """As `Task.is_final`."""
        return self.status in FINAL_STATUSES

    @property
    def progress(self) -> dict[str, float]:
        """As `Task.progress`, which no store keeps."""
        return {}

    @property
    def questions(self) -> dict[str, Any]:
        """As `Task.questions`: nothing waits for an answer any more."""
        return {}

    def describe(self) -> dict[str, Any]:
        """As `Task.describe`."""
        return describe(self)


class DescribedTask(Protocol):
    """A task whose state can be described."""

    id: str
    status: Status
    message: str | None
    created: float
    updated: float
    keep_seconds: float

    @property
    def is_final(self) -> bool:
        """As `Task.is_final`."""


def describe(task: DescribedTask) -> dict[str, Any]:
    """Return what both forms on the wire show of *task*, under the names of the newer one."""
    shown: dict[str, Any] = {"taskId": task.id, "status": task.status}
    if task.message is not None:
        shown["statusMessage"] = task.message
    shown["createdAt"] = _format_time(task.created)
    shown["lastUpdatedAt"] = _format_time(task.updated)
    # Counts from the creation, but a task that runs is kept however long it runs.
    until = task.updated if task.is_final else time.time()
    shown["ttlMs"] = round((until - task.created + task.keep_seconds) * 1000)
    return shown


def _format_time(seconds: float) -> str:
    """Return a time as MCP writes it: ISO 8601, in UTC."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def encode_interruption(tool: str) -> bytes:
    """Return the outcome of a task of *tool* whose server has ended before it."""
    text = (
        f"{tool} was interrupted, since its server has ended: its work may have been done, or a"
        " part of it"
    )
    error = {"error": {"code": TASK_INTERRUPTED, "message": text}}
    return encode_plain(error)[1:-1]
