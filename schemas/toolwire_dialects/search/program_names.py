"""Names the functions by which a program calls tools, and reads the arguments of its calls.

Strategy. A tool of a server or toolkit is a member of an object with that name, as in
`github.create_issue`; any other is a function. Names that Python does not allow, or that would hide
one of its own, become others that it allows. Parameters have the names and the order of the stub
that a search shows.
"""

from __future__ import annotations

import builtins
import keyword
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.meta_tools import find_free_name

from ..name_mapping import RULES, Names
from ..tool_entry import Entry, as_schema, read_text
from ..type_names import Definitions
from ..type_shapes import ShapeReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OWN_NAMES = frozenset({"ToolFailed", "asyncio"})
"""The names that a program has in addition to tools and Python's own functions."""


def _is_taken(name: str) -> bool:
    return keyword.iskeyword(name) or hasattr(builtins, name) or name in OWN_NAMES


def _is_taken_in_object(name: str) -> bool:
    return keyword.iskeyword(name) or (name.startswith("__") and name.endswith("__"))


_FUNCTIONS = msgspec.structs.replace(RULES["python"], is_reserved=_is_taken)
_MEMBERS = msgspec.structs.replace(RULES["python"], is_reserved=_is_taken_in_object)


class NamedTool(msgspec.Struct, frozen=True):
    """A tool: its *entry* of `tools/list`, and the name of its server or toolkit if it has one.

    *own_name* is what it is called there.
    """

    entry: Entry
    group: str = ""
    own_name: str = ""

    @property
    def name(self) -> str:
        """The name that a list shows."""
        return read_text(self.entry.get("name"))


class ProgramName(msgspec.Struct, frozen=True):
    """The name of a tool in a program: a *function*, of an object called *group* unless that is
    empty.
    """

    function: str
    group: str = ""

    def __str__(self) -> str:
        return f"{self.group}.{self.function}" if self.group else self.function


def name_functions(tools: Iterable[NamedTool]) -> dict[str, ProgramName]:
    """Return what programs call each of *tools*, by their names."""
    alone: list[NamedTool] = []
    groups: dict[str, list[NamedTool]] = {}
    for tool in tools:
        if tool.group:
            groups.setdefault(tool.group, []).append(tool)
        else:
            alone.append(tool)
    functions = Names([tool.name for tool in alone], _FUNCTIONS)
    named = {tool.name: ProgramName(functions.theirs[tool.name]) for tool in alone}
    taken = set(functions.ours)
    for group, members in groups.items():
        object_name = find_free_name(_FUNCTIONS.find_nearest(group), taken)
        taken.add(object_name)
        functions = Names([tool.own_name for tool in members], _MEMBERS)
        for tool in members:
            named[tool.name] = ProgramName(functions.theirs[tool.own_name], object_name)
    return named


class Misfit(ValueError):
    """Positional arguments that a tool does not have, or that are given by name, too."""


def read_arguments(
    entry: Entry, positional: Sequence[Any], by_name: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a call as the tool of *entry* names them.

    Raises:
        Misfit: if there are more *positional* ones than parameters, or one is given twice.
    """
    tool = ShapeReader(as_schema(entry.get("inputSchema")), Definitions()).read_arguments()
    parameters = [member.name for member in tool.members if member.is_required]
    parameters += [member.name for member in tool.members if not member.is_required]
    if len(positional) > len(parameters):
        most = len(parameters)
        raise Misfit(f"takes at most {most} positional arguments, not {len(positional)}")
    arguments = dict(zip(parameters, positional, strict=False))
    names = Names(parameters, "python").ours
    for name, value in by_name.items():
        own_name = name if name in parameters else names.get(name, name)
        if own_name in arguments:
            raise Misfit(f"has two values for {own_name}")
        arguments[own_name] = value
    return arguments
