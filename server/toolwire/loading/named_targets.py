"""The tools that `:name` picks from a module."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING

from toolwire_tools import tools_in, tools_of
from toolwire_tools.discovery import is_made_for_fastmcp
from toolwire_tools.errors import MadeForFastMCP
from toolwire_tools.options import own_options

from ..errors import LoadError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from toolwire_tools import Tool


def find_tools(module: ModuleType, place: str, name: str) -> list[Tool]:
    """Return the tools called *name* in *module*, the target's *place*: a function, a toolkit or
    one of its tools.

    Raises:
        LoadError: if the module has no such tool; names the closest ones.
        MadeForFastMCP: if the module is made for FastMCP, and *name* is a function that may be a
            prompt.
        RegistrationError: if what has that name cannot be a tool.
    """
    head, dot, _ = name.partition(".")
    if not hasattr(module, head):
        return _find_published(module, place, name)
    thing = getattr(module, head)
    if (
        isinstance(thing, FunctionType)
        and own_options(thing) is None
        and is_made_for_fastmcp(module)
    ):
        raise MadeForFastMCP(head)
    tools = tools_of(thing)
    if not dot:
        return tools
    named = [tool for tool in tools if name in tool.entry.spellings]
    if not named:
        raise _unknown(place, name, "tool", [tool.name for tool in tools])
    return named


def _find_published(module: ModuleType, place: str, name: str) -> list[Tool]:
    """The tool that is published as *name*, or those of the toolkit of that name."""
    tools = tools_in(module).tools
    named = [
        tool
        for tool in tools
        if name in tool.entry.spellings or tool.entry.name_with(".").startswith(f"{name}.")
    ]
    if not named:
        public = [
            name for name, value in vars(module).items() if callable(value) and name[0] != "_"
        ]
        own = [
            name
            for name in public
            if getattr(vars(module)[name], "__module__", None) == module.__name__
        ]
        known = dict.fromkeys([*own, *(tool.name for tool in tools)])
        raise _unknown(place, name, "function, toolkit or tool", known)
    return named


def _unknown(place: str, name: str, what: str, known: Iterable[str]) -> LoadError:
    from toolwire_schemas.did_you_mean import unknown_name  # only a mistake needs it

    return LoadError(f"{place}: {unknown_name(what, name, known)}")
