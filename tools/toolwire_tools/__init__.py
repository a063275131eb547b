"""Toolwire's tools: what a tool is, how it is described, called and answered."""

from __future__ import annotations

from .content import Audio, Content, File, Image, ResourceLink, Text
from .context import Caller, Cancelled, Context
from .decorator import tool_api
from .errors import ArgumentsError, OutputError, RegistrationError, ToolError
from .failures import failure
from .options import Options
from .tool import Tool

__all__ = [
    "ArgumentsError",
    "Audio",
    "Caller",
    "Cancelled",
    "Content",
    "Context",
    "File",
    "Image",
    "Options",
    "OutputError",
    "RegistrationError",
    "ResourceLink",
    "Text",
    "Tool",
    "ToolError",
    "failure",
    "tool_api",
]
