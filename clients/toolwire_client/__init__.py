"""Ask tool servers: Toolwire's, and any other that speaks MCP over standard streams."""

from __future__ import annotations

from .client import Client, PendingCall, PendingRequest, connect
from .environment import server_environment
from .errors import (
    BrokenRules,
    CallCancelled,
    ClientError,
    Closed,
    NotStarted,
    RequestFailed,
    ServerGone,
    TimedOut,
)
from .results import CallResult, ToolDescription

__all__ = [
    "BrokenRules",
    "CallCancelled",
    "CallResult",
    "Client",
    "ClientError",
    "Closed",
    "NotStarted",
    "PendingCall",
    "PendingRequest",
    "RequestFailed",
    "ServerGone",
    "TimedOut",
    "ToolDescription",
    "connect",
    "server_environment",
]
