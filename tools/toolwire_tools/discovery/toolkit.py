"""Toolkits: classes whose decorated methods are tools that share an object."""

from __future__ import annotations

import inspect
from typing import Any

import msgspec

from ..errors import RegistrationError
from ..options import Options, marked
from ..signature import docstring as docstrings
from ..tool import Tool


def is_toolkit(kind: type) -> bool:
    """True if *kind* or a base of it has decorated methods."""
    return bool(decorated(kind))


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


def tools_of_toolkit(toolkit: Any) -> list[Tool]:
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
