"""Toolwire's tools: what a tool is, how it is described, called and answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.language import language, set_language
from toolwire_schemas.lint.portability import Finding

from .content.blocks import Audio, Content, File, Image, ResourceLink, Text
from .context.context import AsyncContext, Caller, Cancelled, Context
from .decorator import tool_api
from .discovery.modules import Offer, Skipped, tools_in
from .discovery.tools_of import tools_of
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
from .options import Options
from .results.failures import failure
from .tool import Tool

__all__ = [  # noqa: RUF022  # as Python sorts
    "ActionExecutor",
    "ActionPreprocessor",
    "ActionReturn",
    "ActionStatusCode",
    "ActionValidCode",
    "AgentMessage",
    "AgentStatusCode",
    "AgentStep",
    "ArgumentsError",
    "ArxivSearch",
    "AsyncActionExecutor",
    "AsyncActionMixin",
    "AsyncContext",
    "Audio",
    "BINGMap",
    "BaseAction",
    "BaseParser",
    "Calculator",
    "Caller",
    "Cancelled",
    "CannotAsk",
    "Clock",
    "CodeExecutor",
    "ConfigError",
    "Content",
    "Context",
    "Declined",
    "Dismissed",
    "Env",
    "Executor",
    "File",
    "Files",
    "Finding",
    "FinishAction",
    "FunctionCall",
    "GoogleScholar",
    "GoogleSearch",
    "Hook",
    "IPythonInterpreter",
    "Image",
    "InstructionError",
    "InternLMActionProcessor",
    "InvalidAction",
    "JsonParser",
    "MessageLogger",
    "ModelStatusCode",
    "NoAction",
    "NotAnswered",
    "NotOffered",
    "Offer",
    "Options",
    "OutputError",
    "PPT",
    "ParseError",
    "PythonInterpreter",
    "RegistrationError",
    "RemovableHandle",
    "ResourceLink",
    "Skipped",
    "StepError",
    "StepState",
    "Text",
    "Tool",
    "ToolConfig",
    "ToolError",
    "TupleParser",
    "WebBrowser",
    "WebSearch",
    "available_skills_and_tools",
    "failure",
    "get_tool",
    "get_tool_cls",
    "instruction_prompt",
    "language",
    "list_tools",
    "load_tool_config",
    "load_tool_configs",
    "parse_instruction",
    "set_language",
    "tool_api",
    "tools_in",
    "tools_of",
]

if TYPE_CHECKING:
    from .actions.action_return import ActionReturn, ActionStatusCode, ActionValidCode
    from .actions.base import AsyncActionMixin, BaseAction
    from .actions.builtin import FinishAction, InvalidAction, NoAction
    from .actions.executor import ActionExecutor, AsyncActionExecutor
    from .actions.messages import (
        ActionPreprocessor,
        AgentMessage,
        AgentStatusCode,
        FunctionCall,
        Hook,
        InternLMActionProcessor,
        MessageLogger,
        ModelStatusCode,
        RemovableHandle,
    )
    from .actions.parsers import BaseParser, JsonParser, ParseError, TupleParser
    from .actions.registry import get_tool, get_tool_cls, list_tools
    from .bundled.arxiv import ArxivSearch
    from .bundled.calculator import Calculator
    from .bundled.clock import Clock
    from .bundled.files import Files
    from .bundled.google_search import GoogleSearch
    from .bundled.ipython import IPythonInterpreter
    from .bundled.maps import BINGMap
    from .bundled.ppt import PPT
    from .bundled.python_interpreter import CodeExecutor, PythonInterpreter
    from .bundled.scholar import GoogleScholar
    from .bundled.web_browser import WebBrowser, WebSearch
    from .env.env import Env
    from .steps.executor import Executor
    from .steps.instructions import InstructionError, available_skills_and_tools, instruction_prompt, parse_instruction
    from .steps.steps import AgentStep, StepError, StepState
    from .toolconfig.files import load_tool_config, load_tool_configs
    from .toolconfig.model import ToolConfig
    from .toolconfig.yaml_document import ConfigError

_LATER: dict[str, str] = {
    "ActionExecutor": "actions.executor",
    "ActionPreprocessor": "actions.messages",
    "ActionReturn": "actions.action_return",
    "ActionStatusCode": "actions.action_return",
    "ActionValidCode": "actions.action_return",
    "AgentMessage": "actions.messages",
    "AgentStatusCode": "actions.messages",
    "AgentStep": "steps.steps",
    "ArxivSearch": "bundled.arxiv",
    "AsyncActionExecutor": "actions.executor",
    "AsyncActionMixin": "actions.base",
    "BINGMap": "bundled.maps",
    "BaseAction": "actions.base",
    "BaseParser": "actions.parsers",
    "Calculator": "bundled.calculator",
    "Clock": "bundled.clock",
    "CodeExecutor": "bundled.python_interpreter",
    "ConfigError": "toolconfig.yaml_document",
    "Env": "env.env",
    "Executor": "steps.executor",
    "Files": "bundled.files",
    "FinishAction": "actions.builtin",
    "FunctionCall": "actions.messages",
    "GoogleScholar": "bundled.scholar",
    "GoogleSearch": "bundled.google_search",
    "Hook": "actions.messages",
    "IPythonInterpreter": "bundled.ipython",
    "InstructionError": "steps.instructions",
    "InternLMActionProcessor": "actions.messages",
    "InvalidAction": "actions.builtin",
    "JsonParser": "actions.parsers",
    "MessageLogger": "actions.messages",
    "ModelStatusCode": "actions.messages",
    "NoAction": "actions.builtin",
    "PPT": "bundled.ppt",
    "ParseError": "actions.parsers",
    "PythonInterpreter": "bundled.python_interpreter",
    "RemovableHandle": "actions.messages",
    "StepError": "steps.steps",
    "StepState": "steps.steps",
    "ToolConfig": "toolconfig.model",
    "TupleParser": "actions.parsers",
    "WebBrowser": "bundled.web_browser",
    "WebSearch": "bundled.web_browser",
    "available_skills_and_tools": "steps.instructions",
    "get_tool": "actions.registry",
    "get_tool_cls": "actions.registry",
    "instruction_prompt": "steps.instructions",
    "list_tools": "actions.registry",
    "load_tool_config": "toolconfig.files",
    "load_tool_configs": "toolconfig.files",
    "parse_instruction": "steps.instructions",
}
"""Names imported at first use, each with its module: a server that needs none of them starts without them."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        from toolwire_schemas.misplaced_names import missing

        raise missing(__name__, name)
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return value
