"""Ask tool servers: Toolwire's, and any other that speaks MCP over standard streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import toolwire_schemas

from .async_client import AsyncClient
from .client import Client, PendingCall
from .connecting import PendingConnection, connect
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
from .session.elicitation import Elicitation, NoAnswer
from .session.request import AsyncPendingCall
from .transport.child_process import server_environment

if TYPE_CHECKING:
    from .servers import PendingServers, Servers, connect_config

__all__ = [
    "AsyncClient",
    "AsyncPendingCall",
    "BadConfiguration",
    "BrokenRules",
    "CallCancelled",
    "CallResult",
    "Client",
    "ClientError",
    "Closed",
    "Elicitation",
    "LogEntry",
    "NoAnswer",
    "NotStarted",
    "PendingCall",
    "PendingConnection",
    "PendingServers",
    "PromptArgument",
    "PromptDescription",
    "PromptMessage",
    "PromptResult",
    "RequestFailed",
    "ResourceContent",
    "ResourceDescription",
    "ResourceResult",
    "ResourceTemplate",
    "ServerGone",
    "Servers",
    "TimedOut",
    "ToolDescription",
    "ToolFailed",
    "connect",
    "connect_config",
    "server_environment",
]

_MODULES = toolwire_schemas.modules_by_name({".servers": "PendingServers Servers connect_config"})
"""Names imported at first use: a client of one server needs none of them."""
__getattr__ = toolwire_schemas.importer(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
