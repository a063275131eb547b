"""Chooses what a module that uses FastMCP offers."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from toolwire_schemas.did_you_mean import unknown_name
from toolwire_tools.errors import RegistrationError
from toolwire_tools.options import own_options
from toolwire_tools.schema.annotations import Unresolved, annotations_of, evaluate, names_of

from .server import FastMCP

if TYPE_CHECKING:
    from types import ModuleType

    from toolwire_tools.tool import Tool

_USUAL = ("mcp", "server", "app")
"""The names of servers that the command `fastmcp` looks for, too."""


def choose_tools(module: ModuleType, name: str | None) -> list[Tool] | None:
    """Return the tools of the server in *module*; with a *name*, of that server, or the tool of
    that name.

    A module without a server may have a function that makes one. None if *module* does not use
    FastMCP, or has tools of Toolwire as well.

    Raises:
        RegistrationError: if it is not clear which server is meant, or it has no tool called
            *name*.
    """
    held = dict(vars(module))
    servers = {
        id(value): key for key, value in reversed(held.items()) if isinstance(value, FastMCP)
    }
    if not servers and not any(
        isinstance(value, type) and issubclass(value, FastMCP) for value in held.values()
    ):
        return None
    thing = held.get(name or "")
    if isinstance(thing, FastMCP):
        return _tools(thing)
    if servers and name is not None:
        tools = [tool for key in servers.values() for tool in _tools(held[key])]
        if chosen := [tool for tool in tools if tool.name == name or tool.entry.function is thing]:
            return chosen
        problem = unknown_name(
            "server or tool", name, [*servers.values(), *(tool.name for tool in tools)]
        )
        raise RegistrationError(
            f"it has {problem}", tool=module.__name__, remedy="name one that it has"
        )
    if any(own_options(value) is not None for value in held.values()):
        return None
    if servers:
        usual = [key for key in _USUAL if key in servers.values()] or sorted(servers.values())
        if len(servers) > 1 and usual[0] not in _USUAL:
            raise _unclear(module, "it makes several servers", usual)
        return _tools(held[usual[0]])
    makers = [
        key for key, value in held.items() if (key == name if name else _returns_server(value))
    ]
    if len(makers) != 1:
        raise _unclear(module, "it makes no server when it is imported", makers)
    made = held[makers[0]]()
    if not isinstance(made, FastMCP):
        raise _unclear(module, f"{makers[0]}() returns no server", [])
    return _tools(made)


def _tools(server: FastMCP) -> list[Tool]:
    return FastMCP.__toolwire_tools__(server)


def _returns_server(value: Any) -> bool:
    if not isinstance(value, FunctionType):
        return False
    try:
        hint = evaluate(annotations_of(value).get("return"), names_of(value))
    except Unresolved:
        return False
    return isinstance(hint, type) and issubclass(hint, FastMCP)


def _unclear(module: ModuleType, problem: str, names: list[str]) -> RegistrationError:
    which = " or ".join(f":{name}" for name in names) or ":FUNCTION, which returns the server"
    return RegistrationError(
        problem, tool=module.__name__, remedy=f"put {which} after the name of the file"
    )
