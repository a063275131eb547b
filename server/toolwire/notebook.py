"""For notebooks: `%load_ext toolwire` adds `%%tool`, whose cell's functions become tools."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from .errors import UsageError
from .server import Server

if TYPE_CHECKING:
    from collections.abc import Callable

_DEFAULT_NAME = "server"


def load_ipython_extension(shell: Any) -> None:
    """Add the magic `%%tool [NAME]` to an IPython shell; `%load_ext toolwire` calls this."""

    def tool(line: str, cell: str) -> Server | None:
        """Run a cell, and serve the functions that it defines as tools of `server`, or of the
        variable NAME: `server.call("add", {"a": 2, "b": 40})`. A cell that runs again replaces its
        functions.
        """
        return _run_cell(shell, line.strip() or _DEFAULT_NAME, cell)

    shell.register_magic_function(tool, "cell", "tool")


def _run_cell(shell: Any, name: str, cell: str) -> Server | None:
    """Return the server with the tools of *cell*, or None if the cell fails, which is shown."""
    if not name.isidentifier():
        raise UsageError(f"%%tool takes the name of a variable, not {name!r}")
    server = shell.user_ns.get(name)
    if server is not None and not isinstance(server, Server):
        raise UsageError(f"{name} is no server: name another variable, as in `%%tool my_tools`")
    if not shell.run_cell(cell).success:
        return None
    functions = [shell.user_ns[each] for each in _list_functions(shell.transform_cell(cell))]
    if not functions:
        raise UsageError("the cell defines no function without a leading underscore")
    if server is None:
        server = Server(name="notebook")
    _put(server, functions)
    shell.user_ns[name] = server
    return server


def _list_functions(code: str) -> list[str]:
    """Return the names of the public functions that *code* defines at its top level."""
    names = []
    for statement in ast.parse(code).body:
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if not statement.name.startswith("_"):
            names.append(statement.name)
    return list(dict.fromkeys(names))


def _put(server: Server, functions: list[Callable[..., Any]]) -> None:
    """Add *functions* to *server*, in place of those of the same names."""
    from toolwire_tools import find_tools

    tools = []
    for function in functions:
        tools += find_tools(function)
    for tool in tools:
        if server.catalog.find(tool.name) is not None:
            server.remove(tool.name)
    server.add(*tools)
