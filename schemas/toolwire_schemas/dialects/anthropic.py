"""Tools as Anthropic's API wants them: `name`, `description` and `input_schema`.

A name has at most 128 letters, digits, underscores and hyphens: `Names(names, "anthropic")` makes such names, and leads
back.
"""

from __future__ import annotations

from typing import Any

from .entries import Entry, Malformed, made_of, schema_of, text


def from_entry(entry: Entry) -> dict[str, Any]:
    """Return the tool of an *entry*."""
    tool: dict[str, Any] = {"name": text(entry.get("name"))}
    if description := text(entry.get("description")):
        tool["description"] = description
    tool["input_schema"] = {"type": "object", **schema_of(entry.get("inputSchema"))}
    return tool


def to_entry(tool: dict[str, Any]) -> Entry:
    """Return the entry of a *tool*.

    Raises:
        Malformed: with the path to what is wrong.
    """
    if not isinstance(tool, dict):
        raise Malformed("", "a tool is an object")
    if (tool.get("type") or "custom") != "custom":
        raise Malformed("type", f"{tool['type']!r} is a tool of the API's own, whose schema nobody tells")
    if "input_schema" not in tool:
        raise Malformed("input_schema", "there is none")
    return made_of(tool, "input_schema")
