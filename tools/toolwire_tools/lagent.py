"""The place to import Lagent's names from, whichever of its modules defines them there."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import (
        PPT,
        ActionExecutor,
        ActionPreprocessor,
        ActionReturn,
        ActionStatusCode,
        ActionValidCode,
        AgentMessage,
        AgentStatusCode,
        ArxivSearch,
        AsyncActionExecutor,
        AsyncActionMixin,
        BaseAction,
        BaseParser,
        BINGMap,
        FinishAction,
        FunctionCall,
        GoogleScholar,
        GoogleSearch,
        Hook,
        InternLMActionProcessor,
        InvalidAction,
        IPythonInterpreter,
        JsonParser,
        MessageLogger,
        ModelStatusCode,
        NoAction,
        ParseError,
        PythonInterpreter,
        RemovableHandle,
        TupleParser,
        WebBrowser,
        get_tool,
        get_tool_cls,
        list_tools,
        tool_api,
    )
    from . import WebBrowser as BingBrowser

__all__ = [  # noqa: RUF022  # as Python sorts
    "ActionExecutor",
    "ActionPreprocessor",
    "ActionReturn",
    "ActionStatusCode",
    "ActionValidCode",
    "AgentMessage",
    "AgentStatusCode",
    "ArxivSearch",
    "AsyncActionExecutor",
    "AsyncActionMixin",
    "BINGMap",
    "BaseAction",
    "BaseParser",
    "BingBrowser",
    "FinishAction",
    "FunctionCall",
    "GoogleScholar",
    "GoogleSearch",
    "Hook",
    "IPythonInterpreter",
    "InternLMActionProcessor",
    "InvalidAction",
    "JsonParser",
    "MessageLogger",
    "ModelStatusCode",
    "NoAction",
    "PPT",
    "ParseError",
    "PythonInterpreter",
    "RemovableHandle",
    "TupleParser",
    "WebBrowser",
    "get_tool",
    "get_tool_cls",
    "list_tools",
    "tool_api",
]

_INSTEAD = {
    "GPTAPI": "from toolwire_client.models import GPTAPI",
    "ReAct": "from toolwire_client import Agent, or from toolwire_client.groot import ReAct",
    "IPythonInteractive": "use IPythonInterpreter, whose sessions are processes of their own",
    "IPythonInteractiveManager": "use IPythonInterpreter, whose sessions are processes of their own",
    "BatchIPythonInterpreter": "use IPythonInterpreter, whose sessions are processes of their own",
}
"""Remedies for names of Lagent that Toolwire has not."""


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(__package__), _RENAMED.get(name, name))
    twin = name.removeprefix("Async")
    if twin != name and twin in __all__:
        raise ImportError(f"there is no {name}: use {twin}, which AsyncActionExecutor runs in a thread")
    if name in _INSTEAD:
        raise ImportError(f"{name} is not in {__name__}; {_INSTEAD[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_RENAMED = {"BingBrowser": "WebBrowser"}
"""Names of Lagent 0.2.4 that are different in 0.5."""
