"""Toolwire's tools: what a tool is, how it is described, called and answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolwire_schemas.language import language as language
    from toolwire_schemas.language import set_language as set_language
    from toolwire_schemas.lint.portability import Finding as Finding

    from .actions.action_return import ActionReturn as ActionReturn
    from .actions.action_return import ActionStatusCode as ActionStatusCode
    from .actions.action_return import ActionValidCode as ActionValidCode
    from .actions.base import AsyncActionMixin as AsyncActionMixin
    from .actions.base import BaseAction as BaseAction
    from .actions.executor import ActionExecutor as ActionExecutor
    from .actions.executor import AsyncActionExecutor as AsyncActionExecutor
    from .actions.executor import FinishAction as FinishAction
    from .actions.executor import InvalidAction as InvalidAction
    from .actions.executor import NoAction as NoAction
    from .actions.messages import ActionPreprocessor as ActionPreprocessor
    from .actions.messages import AgentMessage as AgentMessage
    from .actions.messages import AgentStatusCode as AgentStatusCode
    from .actions.messages import FunctionCall as FunctionCall
    from .actions.messages import Hook as Hook
    from .actions.messages import InternLMActionProcessor as InternLMActionProcessor
    from .actions.messages import MessageLogger as MessageLogger
    from .actions.messages import ModelStatusCode as ModelStatusCode
    from .actions.messages import RemovableHandle as RemovableHandle
    from .actions.parsers import BaseParser as BaseParser
    from .actions.parsers import JsonParser as JsonParser
    from .actions.parsers import ParseError as ParseError
    from .actions.parsers import TupleParser as TupleParser
    from .actions.registry import get_tool as get_tool
    from .actions.registry import get_tool_cls as get_tool_cls
    from .actions.registry import list_tools as list_tools
    from .bundled.arxiv import ArxivSearch as ArxivSearch
    from .bundled.calculator import Calculator as Calculator
    from .bundled.clock import Clock as Clock
    from .bundled.files import Files as Files
    from .bundled.google_search import GoogleSearch as GoogleSearch
    from .bundled.ipython import IPythonInterpreter as IPythonInterpreter
    from .bundled.maps import BINGMap as BINGMap
    from .bundled.ppt import PPT as PPT
    from .bundled.python_interpreter import CodeExecutor as CodeExecutor
    from .bundled.python_interpreter import PythonInterpreter as PythonInterpreter
    from .bundled.scholar import GoogleScholar as GoogleScholar
    from .bundled.web_browser import BingBrowser as BingBrowser
    from .bundled.web_browser import WebBrowser as WebBrowser
    from .bundled.web_browser import WebSearch as WebSearch
    from .content import Audio as Audio
    from .content import Content as Content
    from .content import File as File
    from .content import Image as Image
    from .content import ResourceLink as ResourceLink
    from .content import Text as Text
    from .context.context import AsyncContext as AsyncContext
    from .context.context import BaseContext as BaseContext
    from .context.context import Caller as Caller
    from .context.context import Context as Context
    from .decorator import prompt as prompt
    from .decorator import resource as resource
    from .decorator import tool_api as tool_api
    from .discovery import Offer as Offer
    from .discovery import Skipped as Skipped
    from .discovery import tools_in as tools_in
    from .discovery import tools_of as tools_of
    from .env.env import Env as Env
    from .errors import ArgumentsError as ArgumentsError
    from .errors import Cancelled as Cancelled
    from .errors import CannotAsk as CannotAsk
    from .errors import Declined as Declined
    from .errors import Dismissed as Dismissed
    from .errors import NotAnswered as NotAnswered
    from .errors import NotOffered as NotOffered
    from .errors import OutputError as OutputError
    from .errors import RegistrationError as RegistrationError
    from .errors import ToolError as ToolError
    from .errors import failure as failure
    from .options import Options as Options
    from .resources.completion import complete as complete
    from .resources.prompt import Message as Message
    from .resources.prompt import Prompt as Prompt
    from .resources.resource import Resource as Resource
    from .resources.resource import ResourceNotFound as ResourceNotFound
    from .steps.executor import Executor as Executor
    from .steps.instructions import InstructionError as InstructionError
    from .steps.instructions import available_skills_and_tools as available_skills_and_tools
    from .steps.instructions import instruction_prompt as instruction_prompt
    from .steps.instructions import parse_instruction as parse_instruction
    from .steps.steps import AgentStep as AgentStep
    from .steps.steps import StepError as StepError
    from .steps.steps import StepState as StepState
    from .tool import Tool as Tool
    from .toolconfig.files import load_tool_config as load_tool_config
    from .toolconfig.files import load_tool_configs as load_tool_configs
    from .toolconfig.model import ConfigError as ConfigError
    from .toolconfig.model import ToolConfig as ToolConfig

_LATER = {
    ".content": "Audio Content File Image ResourceLink Text",
    ".context.context": "AsyncContext BaseContext Caller Context",
    ".decorator": "prompt resource tool_api",
    ".discovery": "Offer Skipped tools_in tools_of",
    ".errors": (
        "ArgumentsError Cancelled CannotAsk Declined Dismissed NotAnswered NotOffered OutputError "
        "RegistrationError ToolError failure"
    ),
    ".options": "Options",
    ".tool": "Tool",
    "toolwire_schemas.language": "language set_language",
    "toolwire_schemas.lint.portability": "Finding",
    ".actions.action_return": "ActionReturn ActionStatusCode ActionValidCode",
    ".actions.base": "AsyncActionMixin BaseAction",
    ".actions.executor": "ActionExecutor AsyncActionExecutor FinishAction InvalidAction NoAction",
    ".actions.messages": (
        "ActionPreprocessor AgentMessage AgentStatusCode FunctionCall Hook InternLMActionProcessor "
        "MessageLogger ModelStatusCode RemovableHandle"
    ),
    ".actions.parsers": "BaseParser JsonParser ParseError TupleParser",
    ".actions.registry": "get_tool get_tool_cls list_tools",
    ".bundled.arxiv": "ArxivSearch",
    ".bundled.calculator": "Calculator",
    ".bundled.clock": "Clock",
    ".bundled.files": "Files",
    ".bundled.google_search": "GoogleSearch",
    ".bundled.ipython": "IPythonInterpreter",
    ".bundled.maps": "BINGMap",
    ".bundled.ppt": "PPT",
    ".bundled.python_interpreter": "CodeExecutor PythonInterpreter",
    ".bundled.scholar": "GoogleScholar",
    ".bundled.web_browser": "BingBrowser WebBrowser WebSearch",
    ".env.env": "Env",
    ".resources.completion": "complete",
    ".resources.prompt": "Message Prompt",
    ".resources.resource": "Resource ResourceNotFound",
    ".steps.executor": "Executor",
    ".steps.instructions": (
        "InstructionError available_skills_and_tools instruction_prompt parse_instruction"
    ),
    ".steps.steps": "AgentStep StepError StepState",
    ".toolconfig.files": "load_tool_config load_tool_configs",
    ".toolconfig.model": "ConfigError ToolConfig",
}
"""The public names, by their module. Each is imported at its first use: a server starts without
most of them.
"""
_MODULES = {name: module for module, names in _LATER.items() for name in names.split()}
__all__ = sorted(_MODULES)


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        from toolwire_schemas.misplaced_names import missing

        raise missing(__name__, name)
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_MODULES[name], __name__), name)
    return value
