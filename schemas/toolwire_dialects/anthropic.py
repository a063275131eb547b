"""Tools as Anthropic's API wants them: `name`, `description` and `input_schema`.

A name has at most 128 letters, digits, underscores and hyphens: `Names(names, "anthropic")` makes
such names, and leads back. The API also refuses parameters called `filter[id]`. They are renamed
here, and `arguments` leads back.
"""

from __future__ import annotations

from typing import Any

from .name_mapping import Names
from .tool_entry import Entry, Schema, as_schema, list_required, read_text


def from_entry(entry: Entry) -> dict[str, Any]:
    """Return the tool of an *entry*."""
    tool: dict[str, Any] = {"name": read_text(entry.get("name"))}
    if description := read_text(entry.get("description")):
        tool["description"] = description
    schema = {"type": "object", **as_schema(entry.get("inputSchema"))}
    theirs = name_parameters(schema).theirs
    has_other_names = any(name != other for name, other in theirs.items())
    if has_other_names:
        properties = schema["properties"]
        schema["properties"] = {theirs[name]: properties[name] for name in properties}
        schema["required"] = [theirs.get(name, name) for name in list_required(schema)]
    return {**tool, "input_schema": schema}


def restore_arguments(given: dict[str, Any], entry: Entry) -> dict[str, Any]:
    """Return the arguments of a call of the tool made of *entry* as the tool itself calls them."""
    ours = name_parameters(as_schema(entry.get("inputSchema"))).ours
    return {ours.get(name, name): value for name, value in given.items()}


def name_parameters(schema: Schema) -> Names:
    return Names(as_schema(schema.get("properties")), "anthropic parameters")
