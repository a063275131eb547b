"""Toolwire's tools: what a tool is, how it is described, called and answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolwire_schemas.language import language, set_language
    from toolwire_schemas.lint.portability import Finding

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
    from .content.blocks import Audio, Content, File, Image, ResourceLink, Text
    from .context.context import AsyncContext, Caller, Context
    from .decorator import tool_api
    from .discovery.modules import Offer, Skipped, tools_in
    from .discovery.tools_of import tools_of
    from .env.env import Env
    from .errors import (
        ArgumentsError,
        Cancelled,
        CannotAsk,
        Declined,
        Dismissed,
        NotAnswered,
        NotOffered,
        OutputError,
        RegistrationError,
        ToolError,
        failure,
    )
    from .options import Options
    from .steps.executor import Executor
    from .steps.instructions import InstructionError, available_skills_and_tools, instruction_prompt, parse_instruction
    from .steps.steps import AgentStep, StepError, StepState
    from .tool import Tool
    from .toolconfig.files import load_tool_config, load_tool_configs
    from .toolconfig.model import ToolConfig
    from .toolconfig.yaml_document import ConfigError

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

_LATER: dict[str, tuple[str, ...]] = {
    ".content.blocks": ("Audio", "Content", "File", "Image", "ResourceLink", "Text"),
    ".context.context": ("AsyncContext", "Caller", "Context"),
    ".decorator": ("tool_api",),
    ".discovery.modules": ("Offer", "Skipped", "tools_in"),
    ".discovery.tools_of": ("tools_of",),
    ".errors": (
        "ArgumentsError",
        "Cancelled",
        "CannotAsk",
        "Declined",
        "Dismissed",
        "NotAnswered",
        "NotOffered",
        "OutputError",
        "RegistrationError",
        "ToolError",
        "failure",
    ),
    ".options": ("Options",),
    ".tool": ("Tool",),
    "toolwire_schemas.language": ("language", "set_language"),
    "toolwire_schemas.lint.portability": ("Finding",),
    ".actions.action_return": ("ActionReturn", "ActionStatusCode", "ActionValidCode"),
    ".actions.base": ("AsyncActionMixin", "BaseAction"),
    ".actions.builtin": ("FinishAction", "InvalidAction", "NoAction"),
    ".actions.executor": ("ActionExecutor", "AsyncActionExecutor"),
    ".actions.messages": (
        "ActionPreprocessor",
        "AgentMessage",
        "AgentStatusCode",
        "FunctionCall",
        "Hook",
        "InternLMActionProcessor",
        "MessageLogger",
        "ModelStatusCode",
        "RemovableHandle",
    ),
    ".actions.parsers": ("BaseParser", "JsonParser", "ParseError", "TupleParser"),
    ".actions.registry": ("get_tool", "get_tool_cls", "list_tools"),
    ".bundled.arxiv": ("ArxivSearch",),
    ".bundled.calculator": ("Calculator",),
    ".bundled.clock": ("Clock",),
    ".bundled.files": ("Files",),
    ".bundled.google_search": ("GoogleSearch",),
    ".bundled.ipython": ("IPythonInterpreter",),
    ".bundled.maps": ("BINGMap",),
    ".bundled.ppt": ("PPT",),
    ".bundled.python_interpreter": ("CodeExecutor", "PythonInterpreter"),
    ".bundled.scholar": ("GoogleScholar",),
    ".bundled.web_browser": ("WebBrowser", "WebSearch"),
    ".env.env": ("Env",),
    ".steps.executor": ("Executor",),
    ".steps.instructions": (
        "InstructionError",
        "available_skills_and_tools",
        "instruction_prompt",
        "parse_instruction",
    ),
    ".steps.steps": ("AgentStep", "StepError", "StepState"),
    ".toolconfig.files": ("load_tool_config", "load_tool_configs"),
    ".toolconfig.model": ("ToolConfig",),
    ".toolconfig.yaml_document": ("ConfigError",),
}
"""Names imported at first use, by their module: a server that needs none of them starts without them."""

_MODULES = {name: module for module, names in _LATER.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        from toolwire_schemas.misplaced_names import missing

        raise missing(__name__, name)
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_MODULES[name], __name__), name)
    return value
