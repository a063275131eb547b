"""The tools of an object, function, class or module.

A *toolkit* is a class whose decorated methods are tools that share an object.

Strategy. A module is read without asking its objects anything: lazy proxies and mocks answer every
question about attributes, and some raise. Only types, and what objects really hold, are looked at.
"""

from __future__ import annotations

from importlib import import_module
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import msgspec

from .errors import MadeForFastMCP, NotOffered, RegistrationError, name_noun
from .options import Options, find_options, get_own_attributes, get_own_options
from .tool import Tool, make_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType


def find_tools(thing: Any) -> list[Tool]:
    """Return the tools of *thing*.

    It may be a `Tool`, a function (decorated or not), a bound method, a partial, a callable object,
    a toolkit (a class that is made without arguments, or an object), an action, its class, an
    executor or an environment of actions, an agent (an object with a method `run`), or a list or
    tuple of these.

    Raises:
        NotOffered: for an action that is not enabled, abstract, only described, or cannot be made.
        RegistrationError: if it is of another kind, cannot be described, or if two tools have one
            name.
    """
    if isinstance(thing, Tool):
        return [thing]
    if is_of_fastmcp(thing):
        raise MadeForFastMCP(str(getattr(thing, "name", type(thing).__name__)))
    if isinstance(thing, list | tuple):
        once = {id(item): item for item in thing}
        return keep_distinct(tool for item in once.values() for tool in find_tools(item))
    kind = thing if isinstance(thing, type) else type(thing)
    if known := find_finder(kind):
        return keep_distinct(known(thing))
    options = find_decorated(kind)
    if options:
        from .toolkits import list_toolkit_tools

        return keep_distinct(list_toolkit_tools(thing, options, _make))
    if isinstance(thing, type):
        problem = "no method of the class is decorated"
        raise RegistrationError(problem, tool=thing.__name__, remedy="put @tool_api on its methods")
    is_function = isinstance(thing, FunctionType | MethodType | BuiltinFunctionType)
    if is_function or not callable(getattr(thing, "run", None)):
        return [_make(thing)]
    from .toolkits import make_agent_tool

    return [make_agent_tool(thing)]


def _make(
    function: Callable[..., Any],
    name: str | None = None,
    options: Options | None = None,
    toolkit: str | None = None,
) -> Tool:
    """Return *function* as its decorator says: as a tool, a resource or a prompt."""
    options = options or find_options(function)
    make: Any = make_tool if options.made_by is None else import_named(options.made_by)
    tool: Tool = make(function, name=name, options=options, toolkit=toolkit)
    return tool


def is_of_fastmcp(thing: Any) -> bool:
    """Return whether *thing* is a server or tool object of FastMCP, or of a server class of MCP's
    Python SDK.
    """
    return any(str(base.__module__).startswith(_FASTMCP) for base in type(thing).__mro__)


_FASTMCP = ("fastmcp.server.", "fastmcp.tools.", "mcp.server.")
"""Names, since a program that has such an object has imported the package already."""


def find_finder(kind: type) -> Callable[[Any], list[Tool]] | None:
    """Return the function that lists the tools of *kind* and its objects, if *kind* has one.

    For other people's classes it is their static method `__toolwire_tools__`.
    """
    for base in kind.__mro__:
        path = _FINDERS.get((base.__module__, base.__name__))
        found: Callable[[Any], list[Tool]] | None = vars(base).get("__toolwire_tools__")
        if path:
            found = import_named(path)
        if found:
            return found
    return None


def import_named(path: str) -> Any:
    """Return the object at *path*, which reads `module:name`: for what is in a room above that of
    the user.
    """
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


# Paths, since these classes are in rooms above, and their tools are made in rooms above theirs.
_FINDERS = {
    (
        "toolwire_compat.lagent.base",
        "BaseAction",
    ): "toolwire_compat.lagent.serving:list_action_tools",
    (
        "toolwire_compat.lagent.executor",
        "ActionExecutor",
    ): "toolwire_compat.lagent.serving:list_executor_tools",
    ("toolwire_compat.groot.env", "Env"): "toolwire_compat.groot.env:list_env_tools",
    (
        "toolwire_compat.mas.executor",
        "Executor",
    ): "toolwire_compat.mas.step_tool:list_executor_tools",
    (
        "toolwire_compat.yaml.model",
        "ToolConfig",
    ): "toolwire_compat.mas.yaml_tool:list_config_tools",
}


def keep_distinct(tools: Iterable[Tool]) -> list[Tool]:
    """The tools, each once; raises a RegistrationError if two that call different things have one
    name.
    """
    known: dict[tuple[str, str], Tool] = {}
    for tool in tools:
        entry = tool.entry
        first = known.setdefault((entry.kind, entry.name_with(".")), tool).entry
        if first.function != entry.function:
            problem = f"it is defined twice: in {first.origin} and {entry.origin}"
            remedy = "rename one"
            if tool.kind == "tools":
                remedy = 'rename one: tool_api(name="...")'
            with name_noun(entry.noun):
                raise RegistrationError(problem, tool=tool.name, remedy=remedy)
    return list(known.values())


def find_decorated(kind: type) -> dict[str, Options]:
    """The methods of *kind* that are tools, with their options: bases first, in the order of
    definition.

    A method that overrides a tool is a tool with the same options, unless it is decorated itself.
    One that is overridden by something that cannot be called (None, say) is a tool no more.
    """
    found: dict[str, Options] = {}
    for base in reversed(kind.__mro__):
        for name, member in vars(base).items():
            function = member.__func__ if isinstance(member, staticmethod | classmethod) else member
            options = get_own_options(function)
            if options is not None:
                found[name] = options
            elif name in found and not callable(function):
                del found[name]
    return found


class Skipped(msgspec.Struct, frozen=True):
    """A name in a module that looks like a tool and is not offered, and why."""

    name: str
    reason: str


class Offer(msgspec.Struct, frozen=True):
    """The tools of a module, in the order of definition."""

    tools: list[Tool]
    skipped: list[Skipped]


def find_offer(module: ModuleType) -> Offer:
    """The tools that *module* offers, and the names it had to leave out.

    `__tools__ = [...]` says it exactly (objects, or names of the module). Without it, the decorated
    functions and toolkits, and the objects made of toolkits, are offered; likewise actions, and
    what holds them. Without any of these, the public functions defined in the module are. Imported
    names are not offered, unless `__all__` names them.

    Raises:
        RegistrationError: if something decorated or listed cannot be a tool, or if two tools have
            one name.
    """
    if "__tools__" in vars(module):
        listed = _drop_aliases(_read_list(module, vars(module)["__tools__"]))
        return _offer(listed, [], drop_classes=False)
    marks = _select(module, _is_marked)
    offered = {}
    skipped = []
    for name, value in marks.items():
        reason = _explain_withheld(module, name, value)
        if reason is None:
            offered[name] = value
        else:
            skipped.append(Skipped(name, reason))
    if offered:
        offer = _offer(offered, skipped)
        # A class is no loss if an object of it is offered.
        served = {id(type(_find_owner(tool))) for tool in offer.tools}
        left_out = [one for one in offer.skipped if id(marks[one.name]) not in served]
        return Offer(offer.tools, left_out)
    if is_made_for_fastmcp(module):
        raise MadeForFastMCP(module.__name__)
    tools = []
    for name, function in _select(module, _is_own).items():
        try:
            # A lambda keeps its own, which is refused: it was hardly meant as a tool.
            is_lambda = getattr(function, "__name__", "") == "<lambda>"
            tools.append(make_tool(function, name=None if is_lambda else name))
        except RegistrationError as error:  # it was not listed by name, so it is not an error
            skipped.append(Skipped(name, str(error)))
    return Offer(keep_distinct(tools), skipped)


def _select(
    module: ModuleType, is_wanted: Callable[[ModuleType, str, Any], bool]
) -> dict[str, Any]:
    """Return the members of *module* that are wanted, each object once."""
    members = vars(module).items()
    return _drop_aliases({name: value for name, value in members if is_wanted(module, name, value)})


def is_made_for_fastmcp(module: ModuleType) -> bool:
    """Return whether *module* holds a server or tools of FastMCP, which may offer any of its
    functions, or its `main` imports the library.
    """
    members = vars(module)
    if any(is_of_fastmcp(value) for value in list(members.values())):
        return True
    code = getattr(members.get("main"), "__code__", None)
    imported = code.co_names if code is not None else ()
    return any(name.startswith(("fastmcp", "mcp.server")) for name in imported)


def _offer(things: dict[str, Any], skipped: list[Skipped], *, drop_classes: bool = True) -> Offer:
    """The tools of *things*. With *drop_classes*, an object replaces its class, also inside of
    another object.
    """
    found: dict[str, list[Tool]] = {}
    made: set[type] = set()
    for name, thing in sorted(things.items(), key=lambda item: _is_class(item[1])):
        if drop_classes and _is_class(thing) and thing in made:
            continue
        made.add(type(thing))
        try:
            tools = find_tools(thing)
        except NotOffered as error:
            skipped.append(Skipped(name, f"{error.problem}; {error.remedy}"))
            continue
        found[name] = tools
        made |= {type(_find_owner(tool)) for tool in tools}
    in_order = [tool for name in things for tool in found.get(name, ())]
    return Offer(keep_distinct(in_order), skipped)


def _find_owner(tool: Tool) -> Any:
    return getattr(tool.entry.function, "__self__", None)


def _read_list(module: ModuleType, listed: Any) -> dict[str, Any]:
    """The things in `__tools__`, by their places."""
    if not isinstance(listed, list | tuple):
        problem = f"__tools__ is of type {type(listed).__name__}"
        raise RegistrationError(
            problem, tool=module.__name__, remedy="make it a list: __tools__ = [...]"
        )
    own_attributes = vars(module)
    for name in listed:
        if isinstance(name, str) and name not in own_attributes:
            from toolwire_schemas.did_you_mean import explain_unknown_name

            known = [other for other in own_attributes if not other.startswith("_")]
            problem = f"__tools__ lists {explain_unknown_name('name', name, known)}"
            raise RegistrationError(problem, tool=module.__name__, remedy="define it in the module")
    return {
        f"__tools__[{n}]": own_attributes[item] if isinstance(item, str) else item
        for n, item in enumerate(listed)
    }


def _drop_aliases(members: dict[str, Any]) -> dict[str, Any]:
    """The members without second names for the same object; a public name is preferred."""
    names: dict[int, str] = {}
    for name, value in members.items():
        known = names.get(id(value))
        if known is None or (known.startswith("_") and not name.startswith("_")):
            names[id(value)] = name
    kept = set(names.values())
    return {name: value for name, value in members.items() if name in kept}


def _is_marked(module: ModuleType, name: str, value: Any) -> bool:
    """True for decorated functions, tools, toolkits, actions and the like and their objects; not
    for private ones.

    Toolwire's classes are base classes, and every module that uses them imports them.
    """
    if get_own_options(value) is not None:
        return True
    if name.startswith("_"):
        return False
    kind = value if _is_class(value) else type(value)
    has_tools = (
        issubclass(type(value), Tool) or find_decorated(kind) or find_finder(kind) is not None
    )
    if not has_tools:
        return False
    is_base_class = _is_class(value) and value.__module__.startswith(_OURS)
    return not is_base_class or name in _list_exported(module)


_OURS = ("toolwire_tools.", "toolwire_compat.", "toolwire_bundled.")


def _explain_withheld(module: ModuleType, name: str, value: Any) -> str | None:
    """Why something decorated is not offered; None if it is."""
    options = get_own_options(value)
    if name.startswith("_") and options is not None and options.name is None:
        return 'its name begins with an underscore; rename it, or use tool_api(name="...")'
    origin = value.__module__ if _is_class(value) or _is_function(value) else module.__name__
    if _is_within(module, origin) or name in _list_exported(module):
        return None
    return f"it is imported from {origin}; list it in __tools__ to offer it"


def _is_own(module: ModuleType, name: str, value: Any) -> bool:
    """True for a public function that the module, not an import, has defined: also a method of an
    object, as in the standard library's `random`.
    """
    is_bound = issubclass(type(value), BuiltinFunctionType | MethodType)
    if not (is_bound or _is_function(value)):
        return False
    origin = value.__module__ or type(value.__self__).__module__  # a method in C has no module
    if "__all__" in vars(module):
        return name in _list_exported(module) and _is_within(module, origin)
    if name.startswith("_"):
        return False
    if is_bound:  # `math.gcd` is of `math.integer` since Python 3.15
        return _is_within(module, origin)
    return origin == module.__name__


def _is_function(value: Any) -> bool:
    """True for functions, also where a decorator put an object in their place (functools.cache)."""
    if issubclass(type(value), FunctionType):
        return True
    attributes = get_own_attributes(value)
    return "__wrapped__" in attributes and "__module__" in attributes and callable(value)


def _is_class(value: Any) -> bool:
    return issubclass(type(value), type)


def _is_within(module: ModuleType, origin: str | None) -> bool:
    """True if *origin* is the module, or a part of it if it is a package."""
    return origin == module.__name__ or str(origin).startswith(f"{module.__name__}.")


def _list_exported(module: ModuleType) -> frozenset[str]:
    return frozenset(vars(module).get("__all__", ()))
