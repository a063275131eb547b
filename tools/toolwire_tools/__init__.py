"""Toolwire's tools: what a tool is, how it is described, called and answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.lint import Finding

from .content import Audio, Content, File, Image, ResourceLink, Text
from .context import AsyncContext, Caller, Cancelled, Context
from .decorator import tool_api
from .errors import (
    ArgumentsError,
    CannotAsk,
    Declined,
    Dismissed,
    NotAnswered,
    NotOffered,
    OutputError,
    RegistrationError,
    ToolError,
)
from .failures import failure
from .modules import Offer, Skipped, tools_in
from .options import Options
from .registry import tools_of
from .tool import Tool

__all__ = [
    "ActionExecutor",
    "ActionReturn",
    "ActionStatusCode",
    "ActionValidCode",
    "AgentMessage",
    "ArgumentsError",
    "AsyncActionExecutor",
    "AsyncActionMixin",
    "AsyncContext",
    "Audio",
    "BaseAction",
    "BaseParser",
    "Caller",
    "Cancelled",
    "CannotAsk",
    "Content",
    "Context",
    "Declined",
    "Dismissed",
    "Env",
    "File",
    "Finding",
    "FinishAction",
    "FunctionCall",
    "Hook",
    "Image",
    "InvalidAction",
    "JsonParser",
    "NoAction",
    "NotAnswered",
    "NotOffered",
    "Offer",
    "Options",
    "OutputError",
    "ParseError",
    "RegistrationError",
    "ResourceLink",
    "Skipped",
    "Text",
    "Tool",
    "ToolError",
    "TupleParser",
    "failure",
    "get_tool",
    "get_tool_cls",
    "list_tools",
    "tool_api",
    "tools_in",
    "tools_of",
]

if TYPE_CHECKING:
    from .action_registry import get_tool, get_tool_cls, list_tools
    from .action_return import ActionReturn, ActionStatusCode, ActionValidCode
    from .actions import AsyncActionMixin, BaseAction
    from .builtin_actions import FinishAction, InvalidAction, NoAction
    from .env import Env
    from .executor import ActionExecutor, AsyncActionExecutor
    from .hooks import Hook
    from .messages import AgentMessage, FunctionCall
    from .parsers import BaseParser, JsonParser, ParseError, TupleParser

_LATER: dict[str, str] = {
    "ActionExecutor": "executor",
    "ActionReturn": "action_return",
    "ActionStatusCode": "action_return",
    "ActionValidCode": "action_return",
    "AgentMessage": "messages",
    "AsyncActionExecutor": "executor",
    "AsyncActionMixin": "actions",
    "BaseAction": "actions",
    "BaseParser": "parsers",
    "Env": "env",
    "FinishAction": "builtin_actions",
    "FunctionCall": "messages",
    "Hook": "hooks",
    "InvalidAction": "builtin_actions",
    "JsonParser": "parsers",
    "NoAction": "builtin_actions",
    "ParseError": "parsers",
    "TupleParser": "parsers",
    "get_tool": "action_registry",
    "get_tool_cls": "action_registry",
    "list_tools": "action_registry",
}
"""Names imported at first use, each with its module: a server that needs none of them starts without them."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return value
