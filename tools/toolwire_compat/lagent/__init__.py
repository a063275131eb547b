"""The place to import Lagent's names from, whichever of its modules defines them there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import toolwire_schemas

if TYPE_CHECKING:
    from toolwire_bundled import PPT as PPT
    from toolwire_bundled import ArxivSearch as ArxivSearch
    from toolwire_bundled import BingBrowser as BingBrowser
    from toolwire_bundled import BINGMap as BINGMap
    from toolwire_bundled import GoogleScholar as GoogleScholar
    from toolwire_bundled import GoogleSearch as GoogleSearch
    from toolwire_bundled import IPythonInterpreter as IPythonInterpreter
    from toolwire_bundled import PythonInterpreter as PythonInterpreter
    from toolwire_bundled import WebBrowser as WebBrowser
    from toolwire_tools.decorator import tool_api as tool_api

    from .action_return import ActionReturn as ActionReturn
    from .action_return import ActionStatusCode as ActionStatusCode
    from .action_return import ActionValidCode as ActionValidCode
    from .base import AsyncActionMixin as AsyncActionMixin
    from .base import BaseAction as BaseAction
    from .executor import ActionExecutor as ActionExecutor
    from .executor import AsyncActionExecutor as AsyncActionExecutor
    from .executor import FinishAction as FinishAction
    from .executor import InvalidAction as InvalidAction
    from .executor import NoAction as NoAction
    from .messages import ActionPreprocessor as ActionPreprocessor
    from .messages import AgentMessage as AgentMessage
    from .messages import AgentStatusCode as AgentStatusCode
    from .messages import FunctionCall as FunctionCall
    from .messages import Hook as Hook
    from .messages import InternLMActionProcessor as InternLMActionProcessor
    from .messages import MessageLogger as MessageLogger
    from .messages import ModelStatusCode as ModelStatusCode
    from .messages import RemovableHandle as RemovableHandle
    from .parsers import BaseParser as BaseParser
    from .parsers import JsonParser as JsonParser
    from .parsers import ParseError as ParseError
    from .parsers import TupleParser as TupleParser
    from .registry import get_tool as get_tool
    from .registry import get_tool_cls as get_tool_cls
    from .registry import list_tools as list_tools

_MODULES = toolwire_schemas.map_names_to_modules(
    {
        ".action_return": "ActionReturn ActionStatusCode ActionValidCode",
        ".base": "AsyncActionMixin BaseAction",
        ".executor": "ActionExecutor AsyncActionExecutor FinishAction InvalidAction NoAction",
        ".messages": (
            "ActionPreprocessor AgentMessage AgentStatusCode FunctionCall Hook "
            "InternLMActionProcessor MessageLogger ModelStatusCode RemovableHandle"
        ),
        ".parsers": "BaseParser JsonParser ParseError TupleParser",
        ".registry": "get_tool get_tool_cls list_tools",
        "toolwire_bundled": (
            "ArxivSearch BINGMap BingBrowser GoogleScholar GoogleSearch IPythonInterpreter PPT "
            "PythonInterpreter WebBrowser"
        ),
        "toolwire_tools.decorator": "tool_api",
    }
)
__all__ = sorted(_MODULES)
_import_name = toolwire_schemas.make_importer(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _import_name(name)
    from .missing_names import make_error

    raise make_error(name)
