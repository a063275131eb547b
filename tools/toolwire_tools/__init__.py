"""Toolwire's tools: what a tool is, how it is described, called and answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import toolwire_schemas

if TYPE_CHECKING:
    from toolwire_schemas.language import get_language as get_language
    from toolwire_schemas.language import set_language as set_language
    from toolwire_schemas.portability import Finding as Finding

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
    from .discovery import find_offer as find_offer
    from .discovery import find_tools as find_tools
    from .entry import Entry as Entry
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
    from .failures import make_failure as make_failure
    from .handler import Handler as Handler
    from .options import Options as Options
    from .resources.completion import complete as complete
    from .resources.prompt import Message as Message
    from .resources.prompt import make_prompt as make_prompt
    from .resources.resource import ResourceNotFound as ResourceNotFound
    from .resources.resource import make_resource as make_resource
    from .tool import Tool as Tool
    from .tool import make_tool as make_tool

_MODULES = toolwire_schemas.map_names_to_modules(
    {
        ".content": "Audio Content File Image ResourceLink Text",
        ".context.context": "AsyncContext BaseContext Caller Context",
        ".decorator": "prompt resource tool_api",
        ".discovery": "Offer Skipped find_offer find_tools",
        ".entry": "Entry",
        ".handler": "Handler",
        ".errors": (
            "ArgumentsError Cancelled CannotAsk Declined Dismissed NotAnswered NotOffered "
            "OutputError RegistrationError ToolError"
        ),
        ".failures": "make_failure",
        ".options": "Options",
        ".tool": "Tool make_tool",
        "toolwire_schemas.language": "get_language set_language",
        "toolwire_schemas.portability": "Finding",
        ".resources.completion": "complete",
        ".resources.prompt": "Message make_prompt",
        ".resources.resource": "ResourceNotFound make_resource",
    }
)
"""The public names, by their module. Each is imported at its first use: a server starts without
most of them.
"""
__all__ = sorted(_MODULES)
__getattr__ = toolwire_schemas.make_importer(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
