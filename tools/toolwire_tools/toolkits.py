"""The tools of objects: of toolkits and of agents. Imported for the first such object."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import msgspec

from .construction import construct
from .options import Options
from .signature import docstring as docstrings
from .tool import Tool, make_tool

if TYPE_CHECKING:
    from collections.abc import Callable


def list_toolkit_tools(
    toolkit: Any, options: dict[str, Options], make: Callable[..., Tool]
) -> list[Tool]:
    """Return a tool named `Toolkit_method` for each decorated method of a class or object.

    *options* has those of the methods, by name; *make* makes one tool.
    A class is constructed, once, if one of its tools needs an object. An object whose decorated
    method is `__call__` alone is a single tool named after its class.

    Raises:
        RegistrationError: if the class cannot be constructed without arguments, or a method cannot
            be a tool.
    """
    kind: type = toolkit if isinstance(toolkit, type) else type(toolkit)
    members = [inspect.getattr_static(kind, name) for name in options]
    needs_object = not all(isinstance(member, staticmethod | classmethod) for member in members)
    target = toolkit
    if needs_object and toolkit is kind:
        target = construct(kind)
    tools = []
    for name, own in options.items():
        if name.startswith("_") and not own.name:
            continue
        function = getattr(target, name)
        tools.append(make(function, own.name or name, _with_text(own, function), kind.__name__))
    return tools or [make(target)]


def _with_text(options: Options, method: Any) -> Options:
    """Return *options* with the text of the method that *method* overrides, if it has none."""
    if options.description is not None or method.__doc__:
        return options
    description = docstrings.read(inspect.getdoc(method)).description
    return msgspec.structs.replace(options, description=description or None)


def make_agent_tool(agent: Any) -> Tool:
    """Return the tool that gives *agent* a task: it has the agent's name and takes what `run`
    takes.
    """
    name = getattr(agent, "name", None)
    if not isinstance(name, str) or not name:
        name = type(agent).__name__
    description = getattr(agent, "description", None)
    if not isinstance(description, str) or not description:
        text = inspect.getdoc(agent.run) or inspect.getdoc(type(agent))
        description = docstrings.read(text).description
    return make_tool(agent.run, name=name, options=Options(description=description))
