"""The tools that a module offers.

Strategy. A module is read without asking its objects anything: lazy proxies and mocks answer every question
about attributes, and some raise. Only types, and what objects really hold, are looked at.
"""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

import msgspec

from ..errors import MadeForFastMCP, NotOffered, RegistrationError
from ..options import held, marked
from ..tool import Tool
from .tools_of import decorated, distinct, finder, is_of_fastmcp, tools_of


class Skipped(msgspec.Struct, frozen=True):
    """A name in a module that looks like a tool and is not offered, and why."""

    name: str
    reason: str


class Offer(msgspec.Struct, frozen=True):
    """The tools of a module, in the order of definition."""

    tools: list[Tool]
    skipped: list[Skipped]


def tools_in(module: ModuleType) -> Offer:
    """The tools that *module* offers, and the names it had to leave out.

    `__tools__ = [...]` says it exactly (objects, or names of the module). Without it, the decorated functions
    and toolkits, and the objects made of toolkits, are offered; likewise actions, and what holds them. If there are
    none, the public functions defined in the module are. Imported names are not offered, unless
    `__all__` names it.

    Raises:
        RegistrationError: if something decorated or listed cannot be a tool, or if two tools have one name.
    """
    listed = vars(module).get("__tools__")
    if listed is not None:
        every = {f"__tools__[{place}]": thing for place, thing in enumerate(_listed(module, listed))}
        return _offer(_once(every), [], drop_classes=False)
    marks = _once({name: value for name, value in vars(module).items() if _is_marked(module, name, value)})
    reasons = {name: _withheld(module, name, value) for name, value in marks.items()}
    skipped = [Skipped(name, reason) for name, reason in reasons.items() if reason is not None]
    offered = {name: value for name, value in marks.items() if reasons[name] is None}
    if offered:
        offer = _offer(offered, skipped)
        served = {id(type(_owner(tool))) for tool in offer.tools}  # a class is no loss if an object of it is offered
        return Offer(offer.tools, [skipped for skipped in offer.skipped if id(marks[skipped.name]) not in served])
    if is_made_for_fastmcp(module):
        raise MadeForFastMCP(module.__name__)
    functions = _once({name: value for name, value in vars(module).items() if _is_own(module, name, value)})
    return _offer_of(functions, skipped)


def is_made_for_fastmcp(module: ModuleType) -> bool:
    """Return whether *module* holds a server or tools of FastMCP, which may offer any of its functions."""
    return any(is_of_fastmcp(value) for value in list(vars(module).values()))


def _offer(things: dict[str, Any], skipped: list[Skipped], *, drop_classes: bool = True) -> Offer:
    """The tools of *things*. With *drop_classes*, an object replaces its class, also inside of another object."""
    found: dict[str, list[Tool]] = {}
    made: set[type] = set()
    for name, thing in sorted(things.items(), key=lambda item: _is_class(item[1])):
        if drop_classes and _is_class(thing) and thing in made:
            continue
        try:
            found[name] = tools_of(thing)
        except NotOffered as error:
            skipped.append(Skipped(name, f"{error.problem}; {error.remedy}"))
        made |= {type(thing), *(type(_owner(tool)) for tool in found.get(name, ()))}
    return Offer(distinct(tool for name in things for tool in found.get(name, ())), skipped)


def _owner(tool: Tool) -> Any:
    return getattr(tool.function, "__self__", None)


def _listed(module: ModuleType, listed: Any) -> list[Any]:
    if not isinstance(listed, list | tuple):
        raise RegistrationError(
            f"__tools__ is of type {type(listed).__name__}",
            tool=module.__name__,
            remedy="make it a list: __tools__ = [...]",
        )
    return [_named(module, item) if isinstance(item, str) else item for item in listed]


def _named(module: ModuleType, name: str) -> Any:
    if name in vars(module):
        return vars(module)[name]
    from toolwire_schemas.did_you_mean import unknown_name

    known = [other for other in vars(module) if not other.startswith("_")]
    raise RegistrationError(
        f"__tools__ lists {unknown_name('name', name, known)}", tool=module.__name__, remedy="define it in the module"
    )


def _offer_of(functions: dict[str, Any], skipped: list[Skipped]) -> Offer:
    """The functions that can be tools; they were not requested by name, so the others are no error."""
    tools = []
    for name, function in functions.items():
        try:
            tools.append(Tool(function))
        except RegistrationError as error:
            skipped.append(Skipped(name, str(error)))
    return Offer(distinct(tools), skipped)


def _once(members: dict[str, Any]) -> dict[str, Any]:
    """The members without second names for the same object; a public name is preferred."""
    names: dict[int, str] = {}
    for name, value in members.items():
        known = names.get(id(value))
        if known is None or (known.startswith("_") and not name.startswith("_")):
            names[id(value)] = name
    kept = set(names.values())
    return {name: value for name, value in members.items() if name in kept}


def _is_marked(module: ModuleType, name: str, value: Any) -> bool:
    """True for decorated functions, tools, toolkits, actions and the like and their objects; not for private ones.

    Toolwire's classes are base classes, and every module that uses them imports them.
    """
    if marked(value) is not None:
        return True
    kind = value if _is_class(value) else type(value)
    if name.startswith("_") or not (type(value) is Tool or decorated(kind) or finder(kind) is not None):
        return False
    return not (_is_class(value) and value.__module__.startswith(_OURS)) or name in _exported(module)


_OURS = "toolwire_tools."


def _withheld(module: ModuleType, name: str, value: Any) -> str | None:
    """Why something decorated is not offered; None if it is."""
    options = marked(value)
    if name.startswith("_") and options is not None and options.name is None:
        return 'its name begins with an underscore; rename it, or say tool_api(name="...")'
    origin = value.__module__ if _is_class(value) or _is_function(value) else module.__name__
    if _within(module, origin) or name in _exported(module):
        return None
    return f"it is imported from {origin}; list it in __tools__ to offer it"


def _is_own(module: ModuleType, name: str, value: Any) -> bool:
    """True for a public function that the module, not an import, has defined."""
    if not _is_function(value):
        return False
    if "__all__" in vars(module):
        return name in _exported(module) and _within(module, value.__module__)
    return not name.startswith("_") and value.__module__ == module.__name__


def _is_function(value: Any) -> bool:
    """True for functions, also where a decorator put an object in their place (functools.cache)."""
    if issubclass(type(value), FunctionType):
        return True
    return "__wrapped__" in held(value) and "__module__" in held(value) and callable(value)


def _is_class(value: Any) -> bool:
    return issubclass(type(value), type)


def _within(module: ModuleType, origin: str | None) -> bool:
    """True if *origin* is the module, or a part of it if it is a package."""
    return origin == module.__name__ or str(origin).startswith(f"{module.__name__}.")


def _exported(module: ModuleType) -> frozenset[str]:
    return frozenset(vars(module).get("__all__", ()))
