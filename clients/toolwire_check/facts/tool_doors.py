"""Recognize the tools that replace a long list: a search, a call by name, and programs.

They are known by their names, which Toolwire, FastMCP and others use alike, and by the parameters
that the cases need. A server whose tool of that name has other parameters has other tools.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .check_settings import CheckSettings
    from .trial_calls import Needs


class _Door(NamedTuple):
    """A tool through which others are reached: its name, and its parameters with their types."""

    need: str
    name: str
    parameters: dict[str, str]


_SEARCH = _Door("search", "search_tools", {"query": "string"})
_BY_NAME = _Door("by_name", "call_tool", {"name": "string", "arguments": "object"})
_PROGRAM = _Door("program", "run_program", {"code": "string"})

_NOT_ALLOWED = "{} does not say that it is read-only; name it with --call"


def add_doors(needs: Needs, tools: Sequence[Any], settings: CheckSettings) -> None:
    """Add the tools among *tools* that find or call others to *needs*.

    Cases call a search and a program only if the *settings* allow it. A call by name gets only
    names that no tool has, so it always may be called.
    """
    for door in (_SEARCH, _PROGRAM):
        tool = _find_tool(tools, door)
        if tool is None:
            needs.set(door.need, None, reason=f"it has no {door.name}")
        elif not settings.allows_call(tool):
            needs.set(door.need, None, reason=_NOT_ALLOWED.format(tool["name"]))
        else:
            needs.set(door.need, {"name": tool["name"]}, reason="")
    by_name = _find_tool(tools, _BY_NAME)
    if by_name is None or _find_tool(tools, _SEARCH) is None:
        needs.set(_BY_NAME.need, None, reason="it has no search_tools and call_tool")
    else:
        needs.set(_BY_NAME.need, {"name": by_name["name"]}, reason="")


def _find_tool(tools: Sequence[Any], door: _Door) -> dict[str, Any] | None:
    """Return the last tool that is *door*: an own tool of that name pushes it to another one, such
    as `search_tools_2`.
    """
    found = None
    for tool in tools:
        if isinstance(tool, dict) and _is_door(tool, door):
            found = tool
    return found


def _is_door(tool: dict[str, Any], door: _Door) -> bool:
    name, schema = tool.get("name"), tool.get("inputSchema")
    if not isinstance(name, str) or not re.fullmatch(rf"{door.name}(_\d+)?", name):
        return False
    if not isinstance(schema, dict):
        return False
    properties, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return False
    if not set(map(str, required)) <= door.parameters.keys():
        return False
    for parameter, wanted in door.parameters.items():
        if not _takes(properties.get(parameter), wanted):
            return False
    return True


def _takes(schema: Any, wanted: str) -> bool:
    """Whether *schema* says that it takes values of the type *wanted*, maybe among others."""
    if not isinstance(schema, dict):
        return False
    options = schema.get("anyOf")
    if isinstance(options, list):
        return any(_takes(option, wanted) for option in options)
    return schema.get("type") == wanted
