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
    "ArgumentsError",
    "AsyncContext",
    "Audio",
    "Caller",
    "Cancelled",
    "CannotAsk",
    "Content",
    "Context",
    "Declined",
    "Dismissed",
    "File",
    "Finding",
    "Image",
    "NotAnswered",
    "Offer",
    "Options",
    "OutputError",
    "RegistrationError",
    "ResourceLink",
    "Skipped",
    "Text",
    "Tool",
    "ToolError",
    "failure",
    "tool_api",
    "tools_in",
    "tools_of",
]

if TYPE_CHECKING:
    pass

_LATER: dict[str, str] = {}
"""Names imported at first use, each with its module: a server that needs none of them starts without them."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return value
