"""The names in the messages about tasks: calls that outlive their requests.

MCP 2025-11-25 has them in its core; since 2026-07-28, they are the extension
`io.modelcontextprotocol/tasks` (SEP-2663). The form of a message follows its own revision.
"""

from __future__ import annotations

from typing import Any, Final, Literal

TASKS_EXTENSION: Final = "io.modelcontextprotocol/tasks"
"""The name of the extension in the `extensions` of the capabilities of both sides."""

META_RELATED_TASK: Final = "io.modelcontextprotocol/related-task"
"""In the `_meta` of messages of 2025-11-25 that belong to a task: `{"taskId": ...}`."""

META_TASK_PROGRESS: Final = "toolwire/progress"
"""In the `_meta` of the state of a modern task of a Toolwire server: an object with `progress` and
`total`. The extension has only a status message, and no progress notifications after the handle.
"""

TASKS_REVISION: Final = "2025-11-25"
"""The only revision with a handshake that has tasks."""

MISSING_CLIENT_CAPABILITY: Final = -32021
"""The code of the error for a client that does not declare the extension (2026-07-28)."""

REQUIRED_CAPABILITIES: Final[dict[str, Any]] = {
    "requiredCapabilities": {"extensions": {TASKS_EXTENSION: {}}}
}
"""The data of that error."""

TASK_INTERRUPTED: Final = -31003
"""Our code of the error of a task whose server ended before it: its work may have been done."""

Status = Literal["working", "input_required", "completed", "failed", "cancelled"]

FINAL_STATUSES: Final = frozenset(("completed", "failed", "cancelled"))
"""The statuses that never change again."""


def declares_tasks(capabilities: dict[str, Any]) -> bool:
    """Return whether *capabilities*, of a client or a server, have the extension."""
    extensions = capabilities.get("extensions")
    if not isinstance(extensions, dict):
        return False
    return isinstance(extensions.get(TASKS_EXTENSION), dict)
