"""Ask tool servers: Toolwire's, and any other that speaks MCP over standard streams."""

from __future__ import annotations

from .asking import NoAnswer, Question
from .async_client import AsyncClient
from .calls import AsyncPendingCall
from .client import Client, PendingCall
from .connect import Opening, connect
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
from .logs import LogEntry
from .results import CallResult, ToolDescription

__all__ = [
    "AsyncClient",
    "AsyncPendingCall",
    "BrokenRules",
    "CallCancelled",
    "CallResult",
    "Client",
    "ClientError",
    "Closed",
    "LogEntry",
    "NoAnswer",
    "NotStarted",
    "Opening",
    "PendingCall",
    "Question",
    "RequestFailed",
    "ServerGone",
    "TimedOut",
    "ToolDescription",
    "connect",
    "server_environment",
]
