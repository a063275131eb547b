"""Ask tool servers: Toolwire's, and any other that speaks MCP over standard streams or HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import toolwire_schemas

if TYPE_CHECKING:
    from .async_client import AsyncClient as AsyncClient
    from .client import Client as Client
    from .client import PendingCall as PendingCall
    from .client import Task as Task
    from .connecting import PendingConnection as PendingConnection
    from .connecting import connect as connect
    from .errors import BadConfiguration as BadConfiguration
    from .errors import BrokenRules as BrokenRules
    from .errors import CallCancelled as CallCancelled
    from .errors import ClientError as ClientError
    from .errors import Closed as Closed
    from .errors import NoTasks as NoTasks
    from .errors import NotStarted as NotStarted
    from .errors import RequestFailed as RequestFailed
    from .errors import ServerGone as ServerGone
    from .errors import TimedOut as TimedOut
    from .errors import ToolFailed as ToolFailed
    from .errors import Unreachable as Unreachable
    from .protocol.events import LogEntry as LogEntry
    from .protocol.results import CallResult as CallResult
    from .protocol.results import PromptArgument as PromptArgument
    from .protocol.results import PromptDescription as PromptDescription
    from .protocol.results import PromptMessage as PromptMessage
    from .protocol.results import PromptResult as PromptResult
    from .protocol.results import ResourceContent as ResourceContent
    from .protocol.results import ResourceDescription as ResourceDescription
    from .protocol.results import ResourceResult as ResourceResult
    from .protocol.results import ResourceTemplate as ResourceTemplate
    from .protocol.results import ToolDescription as ToolDescription
    from .protocol.tasks import TaskStatus as TaskStatus
    from .remote import RemoteServer as RemoteServer
    from .servers import PendingServers as PendingServers
    from .servers import Servers as Servers
    from .servers import connect_config as connect_config
    from .session.elicitation import Elicitation as Elicitation
    from .session.elicitation import NoAnswer as NoAnswer
    from .session.pending_call import AsyncPendingCall as AsyncPendingCall
    from .session.task import AsyncTask as AsyncTask
    from .transport.child_process import make_server_environment as make_server_environment

_MODULES = toolwire_schemas.map_names_to_modules(
    {
        ".async_client": "AsyncClient",
        ".client": "Client PendingCall Task",
        ".connecting": "PendingConnection connect",
        ".errors": (
            "BadConfiguration BrokenRules CallCancelled ClientError Closed NoTasks NotStarted "
            "RequestFailed ServerGone TimedOut ToolFailed Unreachable"
        ),
        ".protocol.events": "LogEntry",
        ".protocol.results": (
            "CallResult PromptArgument PromptDescription PromptMessage PromptResult "
            "ResourceContent ResourceDescription ResourceResult ResourceTemplate "
            "ToolDescription"
        ),
        ".protocol.tasks": "TaskStatus",
        ".remote": "RemoteServer",
        ".servers": "PendingServers Servers connect_config",
        ".session.elicitation": "Elicitation NoAnswer",
        ".session.pending_call": "AsyncPendingCall",
        ".session.task": "AsyncTask",
        ".transport.child_process": "make_server_environment",
    }
)
"""Names imported at first use: a server that only reads a config file starts no client."""
__all__ = sorted(_MODULES)
__getattr__ = toolwire_schemas.make_importer(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
