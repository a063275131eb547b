"""The tools of an object, function or class.

A *toolkit* is a class whose decorated methods are tools that share an object.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import MadeForFastMCP, RegistrationError
from ..options import Options, marked
from ..signature import docstring as docstrings
from ..tool import Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def tools_of(thing: Any) -> list[Tool]:
    """Return the tools of *thing*.

    It may be a `Tool`, a function (decorated or not), a bound method, a partial, a callable object, a toolkit
    (a class that is made without arguments, or an object), an action, its class, an executor or an environment of
    actions, an agent (an object with a method `run`), or a list or tuple of these.

    Raises:
        NotOffered: for an action that is not enabled, abstract, only described, or cannot be made.
        RegistrationError: if it is of another kind, cannot be described, or if two tools have one name.
    """
    if isinstance(thing, Tool):
        return [thing]
    if is_of_fastmcp(thing):
        raise MadeForFastMCP(str(getattr(thing, "name", type(thing).__name__)))
    if isinstance(thing, list | tuple):
        once = {id(item): item for item in thing}
        return distinct(tool for item in once.values() for tool in tools_of(item))
    kind = thing if isinstance(thing, type) else type(thing)
    if known := finder(kind):
        return distinct(known(thing))
    if decorated(kind):
        return distinct(_tools_of_toolkit(thing))
    if isinstance(thing, type):
        raise RegistrationError(
            "no method of the class is decorated", tool=thing.__name__, remedy="put @tool_api on its methods"
        )
    return [_agent(thing) if _is_agent(thing) else Tool(thing)]


def _is_agent(thing: Any) -> bool:
    return callable(getattr(thing, "run", None)) and not inspect.isroutine(thing)


def _agent(agent: Any) -> Tool:
    """Return the tool that gives *agent* a task: it has the agent's name and takes what `run` takes."""
    name, said = getattr(agent, "name", None), getattr(agent, "description", None)
    written = docstrings.read(inspect.getdoc(agent.run) or inspect.getdoc(type(agent))).description
    options = Options(description=said if isinstance(said, str) and said else written)
    return Tool(agent.run, name=name if isinstance(name, str) and name else type(agent).__name__, options=options)


def is_of_fastmcp(thing: Any) -> bool:
    """Return whether *thing* is a server or tool object of FastMCP, or of a server class of MCP's Python SDK."""
    return any(str(base.__module__).startswith(_FASTMCP) for base in type(thing).__mro__)


_FASTMCP = ("fastmcp.server.", "fastmcp.tools.", "mcp.server.")
"""Names, since a program that has such an object has imported the package already."""


def finder(kind: type) -> Callable[[Any], list[Tool]] | None:
    """Return the function that lists the tools of *kind* and its objects, if *kind* has one.

    For other people's classes it is their static method `__toolwire_tools__`.
    """
    found: Callable[[Any], list[Tool]] | None = None
    for base in kind.__mro__:
        if found := vars(base).get(_HOOK):
            break
        if path := _FINDERS.get((base.__module__, base.__name__)):
            found = named_by(path)
            break
    return found


def named_by(path: str) -> Any:
    """Return the object at *path*, which reads `module:name`: for what is in a room above that of the user."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


_HOOK = "__toolwire_tools__"

# Paths, since these classes are in rooms above, and their tools are made in rooms above theirs.
_FINDERS = {
    ("toolwire_tools.actions.base", "BaseAction"): "toolwire_tools.actions.serving:tools_of_action",
    ("toolwire_tools.actions.executor", "_Executor"): "toolwire_tools.actions.serving:tools_of_executor",
    ("toolwire_tools.env.env", "Env"): "toolwire_tools.env.env:tools_of_env",
    ("toolwire_tools.steps.executor", "Executor"): "toolwire_tools.steps.step_tool:tools_of_executor",
    ("toolwire_tools.toolconfig.model", "ToolConfig"): "toolwire_tools.steps.configured_tool:tools_of_config",
}


def distinct(tools: Iterable[Tool]) -> list[Tool]:
    """The tools without repetitions; the same callable under the same name is one tool.

    Raises:
        RegistrationError: if two different tools have one name.
    """
    known: dict[str, Tool] = {}
    for tool in tools:
        first = known.setdefault(tool.name, tool)
        if first.function != tool.function:
            raise RegistrationError(
                f"two tools have this name: {first.origin} and {tool.origin}",
                tool=tool.name,
                remedy='rename one: tool_api(name="...")',
            )
    return list(known.values())


def decorated(kind: type) -> dict[str, Options]:
    """The methods of *kind* that are tools, with their options: bases first, in the order of definition.

    A method that overrides a tool is a tool with the same options, unless it is decorated itself. One that is
    overridden by something that cannot be called (None, say) is a tool no more.
    """
    found: dict[str, Options] = {}
    for base in reversed(kind.__mro__):
        for name, member in vars(base).items():
            function = member.__func__ if isinstance(member, staticmethod | classmethod) else member
            options = marked(function)
            if options is not None:
                found[name] = options
            elif name in found and not callable(function):
                del found[name]
    return found


def _tools_of_toolkit(toolkit: Any) -> list[Tool]:
    """A tool named `Toolkit.method` for each decorated method of a class or object.

    A class is constructed, once, if one of its tools needs an object. An object whose decorated method is
    `__call__` alone is a single tool named after its class.

    Raises:
        RegistrationError: if the class cannot be constructed without arguments, or a method cannot be a tool.
    """
    kind: type = toolkit if isinstance(toolkit, type) else type(toolkit)
    options = decorated(kind)
    is_target = not isinstance(toolkit, type) or _needs_no_object(kind, options)
    target = toolkit if is_target else constructed(kind)
    public = {name: said for name, said in options.items() if not name.startswith("_") or said.name}
    if not public:
        return [Tool(target)]
    return [_tool(kind, target, name, said) for name, said in public.items()]


def _tool(kind: type, target: Any, method: str, options: Options) -> Tool:
    name = f"{kind.__name__}.{options.name or method}"
    function = getattr(target, method)
    if options.description is None and not function.__doc__:
        # An override without a docstring does what the method it overrides says.
        description = docstrings.read(inspect.getdoc(function)).description
        options = msgspec.structs.replace(options, description=description or None)
    return Tool(function, name=name, options=options)


def constructed(kind: type) -> Any:
    """An object of *kind*.

    Raises:
        RegistrationError: if it cannot be made without arguments.
    """
    if inspect.isabstract(kind):
        raise RegistrationError(
            "an abstract class has no object whose methods could run",
            tool=kind.__name__,
            remedy="serve a subclass that implements it",
        )
    if needed := _required(kind):
        example = f"{kind.__name__}({', '.join(f'{name}=...' for name in needed)})"
        raise RegistrationError(
            f"it cannot be made without {', '.join(needed)}",
            tool=kind.__name__,
            remedy=f"make the object yourself and list it: __tools__ = [{example}]",
        )
    return kind()


def _needs_no_object(kind: type, options: dict[str, Options]) -> bool:
    """True where only static and class methods are tools."""
    return all(isinstance(inspect.getattr_static(kind, name), staticmethod | classmethod) for name in options)


def _required(kind: type) -> list[str]:
    """The constructor's parameters that have no default."""
    try:
        parameters = inspect.signature(kind).parameters.values()
    except (ValueError, TypeError):  # written in C: trying is the only way to know
        return []
    return [p.name for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
