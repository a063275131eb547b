"""Chooses the tools that a module with FastMCP offers.

Strategy. The module's variables decide: a variable or a tool of the name that the user gave, else
the one server, else the one function that makes a server. Where more than one would do, the error
lists them.
"""

from __future__ import annotations

from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_schemas.signatures import read_signature
from toolwire_tools.errors import RegistrationError
from toolwire_tools.options import get_own_options
from toolwire_tools.schema.annotations import Unresolved, collect_names, evaluate, get_annotations

from .adopting import Loader
from .lowlevel import Server
from .names import PACKAGES, StandIn
from .server import FastMCP
from .starting import find_main_block, has_import, run_until_server_starts

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
    members = dict(vars(module))  # a copy: the calls below may run code of the module
    servers = _find_servers(members)
    if not servers and not any(map(_uses_sdk, members.values())):
        return _run_late_program(module) if name is None else None
    named = members.get(name or "")
    if isinstance(named, FastMCP | Server):
        return list_server_tools(named)
    if servers and name is not None:
        return _choose_by_name(module, servers, name, named)
    if any(get_own_options(value) is not None for value in members.values()):
        return None
    if name is None and not any(map(_offers_something, servers.values())):
        started = _run_main_block(module)
        if started is not None:
            return list_server_tools(started)
    if servers:
        return list_server_tools(_choose_server(module, servers))
    return list_server_tools(_make_server(module, members, name))


def _uses_sdk(value: Any) -> bool:
    """Return whether *value* is a module or a class of servers of FastMCP or the SDK."""
    return isinstance(value, StandIn) or value is Server or _is_server_class(value)


def _offers_something(server: Any) -> bool:
    return not isinstance(server, FastMCP) or bool(server._makers or server.mounted)


def _run_main_block(module: ModuleType) -> Any:
    """Run what is below `if __name__ == "__main__":`, where some files make and fill their server,
    and return the server that it starts; None if there is no such block.
    """
    path = module.__file__
    code = None if path is None else find_main_block(path)
    if code is None:
        return None
    return run_until_server_starts(module.__name__, partial(exec, code, vars(module)))


def _run_late_program(module: ModuleType) -> list[Tool] | None:
    """Return the tools of the server that the main block of *module* starts; None unless a function
    of the module imports FastMCP: then `main()` is no tool.
    """
    is_adopted = isinstance(getattr(module.__spec__, "loader", None), Loader)
    if not is_adopted or module.__file__ is None or not has_import(module.__file__, PACKAGES):
        return None
    started = _run_main_block(module)
    return None if started is None else list_server_tools(started)


def _find_servers(members: dict[str, Any]) -> dict[str, Any]:
    """Return the servers among *members* by their variables, each once: by the first of its
    variables.
    """
    servers: dict[str, Any] = {}
    for name, value in members.items():
        if isinstance(value, FastMCP | Server) and not any(
            value is known for known in servers.values()
        ):
            servers[name] = value
    return servers


def _is_server_class(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, FastMCP)


def _choose_by_name(
    module: ModuleType, servers: dict[str, Any], name: str, named: Any
) -> list[Tool]:
    """Return the tools called *name*, or made of the function *named* so in the module."""
    tools: list[Tool] = []
    for server in servers.values():
        tools += list_server_tools(server)
    chosen = [tool for tool in tools if tool.name == name or tool.entry.function is named]
    if chosen:
        return chosen
    known = [*servers, *(tool.name for tool in tools)]
    problem = f"it has {explain_unknown_name('server or tool', name, known)}"
    raise RegistrationError(problem, tool=module.__name__, remedy="name one that it has")


def _choose_server(module: ModuleType, servers: dict[str, Any]) -> Any:
    for usual in _USUAL:
        if usual in servers:
            return servers[usual]
    if len(servers) > 1:
        raise _make_unclear_error(module, "it makes several servers", sorted(servers))
    [server] = servers.values()
    return server


def _make_server(module: ModuleType, members: dict[str, Any], name: str | None) -> Any:
    """Return the server that a function makes: that called *name*, or the one whose hint says
    so.
    """
    if name:
        makers = [name] if name in members else []
    else:
        makers = [key for key, value in members.items() if _returns_server(value)]
    if len(makers) != 1:
        raise _make_unclear_error(module, "it makes no server when it is imported", makers)
    [maker] = makers
    needed = _find_needed_arguments(members[maker])
    if needed:
        problem = f"{maker}() needs {' and '.join(needed)}"
        remedy = "give its parameters defaults, or call it where the file is imported"
        raise RegistrationError(problem, tool=module.__name__, remedy=remedy)
    server = members[maker]()
    if not isinstance(server, FastMCP | Server):
        raise _make_unclear_error(module, f"{maker}() returns no server", [])
    return server


def _find_needed_arguments(maker: Any) -> list[str]:
    """Return the parameters of *maker* that have no default."""
    from inspect import Parameter

    open_kinds = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    needed = []
    for name, parameter in read_signature(maker).parameters.items():
        if parameter.default is Parameter.empty and parameter.kind not in open_kinds:
            needed.append(name)
    return needed


def list_server_tools(server: Any) -> list[Tool]:
    """Return the tools, resources and prompts of *server*."""
    tools: list[Tool] = type(server).__toolwire_tools__(server)
    return tools


def _returns_server(value: Any) -> bool:
    if not isinstance(value, FunctionType):
        return False
    try:
        hint = evaluate(get_annotations(value).get("return"), collect_names(value))
    except Unresolved:
        return False
    return _is_server_class(hint)


def _make_unclear_error(module: ModuleType, problem: str, names: list[str]) -> RegistrationError:
    which = " or ".join(f":{name}" for name in names) or ":FUNCTION, which returns the server"
    remedy = f"put {which} after the name of the file"
    return RegistrationError(problem, tool=module.__name__, remedy=remedy)
