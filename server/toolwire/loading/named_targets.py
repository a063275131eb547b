"""The tools that `:name` picks from a module."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING

from toolwire_tools import find_offer, find_tools
from toolwire_tools.discovery import is_made_for_fastmcp
from toolwire_tools.errors import MadeForFastMCP
from toolwire_tools.options import get_own_options

from ..errors import LoadError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from toolwire_tools import Tool


def find_named_tools(module: ModuleType, place: str, name: str) -> list[Tool]:
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
    is_undecorated = isinstance(thing, FunctionType) and get_own_options(thing) is None
    if is_undecorated and is_made_for_fastmcp(module):
        raise MadeForFastMCP(head)
    tools = find_tools(thing)
    if not dot:
        return tools
    found = [tool for tool in tools if name in tool.entry.spellings]
    if not found:
        raise _explain_unknown(place, name, "tool", [tool.name for tool in tools])
    return found


def _find_published(module: ModuleType, place: str, name: str) -> list[Tool]:
    """Return the tool that is published as *name*, or those of the toolkit of that name."""
    tools = find_offer(module).tools
    found = []
    for tool in tools:
        is_of_toolkit = tool.entry.name_with(".").startswith(f"{name}.")
        if is_of_toolkit or name in tool.entry.spellings:
            found.append(tool)
    if found:
        return found
    names = [*_list_own_callables(module), *(tool.name for tool in tools)]
    raise _explain_unknown(place, name, "function, toolkit or tool", dict.fromkeys(names))


def _list_own_callables(module: ModuleType) -> list[str]:
    """Return the names of the public functions and classes that *module* defines."""
    names = []
    for name, value in vars(module).items():
        if name[0] == "_" or not callable(value):
            continue
        if getattr(value, "__module__", None) == module.__name__:
            names.append(name)
    return names


def _explain_unknown(place: str, name: str, what: str, known: Iterable[str]) -> LoadError:
    from toolwire_schemas.did_you_mean import explain_unknown_name  # only a mistake needs it

    return LoadError(f"{place}: {explain_unknown_name(what, name, known)}")
