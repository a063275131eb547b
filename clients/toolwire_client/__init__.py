"""Ask tool servers: Toolwire's, and any other that speaks MCP over standard streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import toolwire_schemas  # noqa: F401  # first, since it sees to it that msgspec is imported quickly

from .async_client import AsyncClient
from .client import Client, PendingCall
from .connect import PendingConnection, connect
from .errors import (
    BadConfiguration,
    BrokenRules,
    CallCancelled,
    ClientError,
    Closed,
    NotStarted,
    RequestFailed,
    ServerGone,
    TimedOut,
    ToolFailed,
)
from .protocol.events import LogEntry
from .protocol.results import (
    CallResult,
    PromptArgument,
    PromptDescription,
    PromptMessage,
    PromptResult,
    ResourceContent,
    ResourceDescription,
    ResourceResult,
    ResourceTemplate,
    ToolDescription,
)
from .session.elicitation import NoAnswer, Question
from .session.request import AsyncPendingCall
from .transport.child_process import server_environment

if TYPE_CHECKING:
    from .agent import (
        Agent,
        Allow,
        ApprovalRequest,
        Approvals,
        Budgets,
        Outcome,
        Pause,
        Refuse,
        Session,
    )
    from .servers import PendingServers, Servers, connect_config
    from .toolbox import AsyncToolbox, Toolbox, ToolOrigin

__all__ = [
    "Agent",
    "Allow",
    "ApprovalRequest",
    "Approvals",
    "AsyncClient",
    "AsyncPendingCall",
    "AsyncToolbox",
    "BadConfiguration",
    "BrokenRules",
    "Budgets",
    "CallCancelled",
    "CallResult",
    "Client",
    "ClientError",
    "Closed",
    "LogEntry",
    "NoAnswer",
    "NotStarted",
    "Outcome",
    "Pause",
    "PendingCall",
    "PendingConnection",
    "PendingServers",
    "PromptArgument",
    "PromptDescription",
    "PromptMessage",
    "PromptResult",
    "Question",
    "Refuse",
    "RequestFailed",
    "ResourceContent",
    "ResourceDescription",
    "ResourceResult",
    "ResourceTemplate",
    "ServerGone",
    "Servers",
    "Session",
    "TimedOut",
    "ToolDescription",
    "ToolFailed",
    "ToolOrigin",
    "Toolbox",
    "connect",
    "connect_config",
    "server_environment",
]

_LATER = {
    "agent": (
        "Agent",
        "Allow",
        "ApprovalRequest",
        "Approvals",
        "Budgets",
        "Outcome",
        "Pause",
        "Refuse",
        "Session",
    ),
    "servers": ("PendingServers", "Servers", "connect_config"),
    "toolbox": ("AsyncToolbox", "ToolOrigin", "Toolbox"),
}
"""Names imported at first use, by module: a client of one server needs none of them."""


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    module = next((module for module, names in _LATER.items() if name in names), None)
    if module is None:
        from toolwire_schemas.misplaced_names import missing

        raise missing(__name__, name)
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f".{module}", __name__), name)
    return value
