"""Tools by their names: two with the same one, and those that stay when one is removed. Imported
for the first of either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolwire_tools import Entry, Tool


def describe_clash(first: Entry, second: Entry) -> str:
    """Return the sentence that two tools, resources or prompts have the name of *second*."""
    origins = f"two {second.kind} are called {second.name}: {first.origin} and {second.origin}"
    remedy = 'rename one: @tool_api(name="...")'
    if first.name_with(".") != second.name_with("."):
        remedy += ", or list toolkits' tools with a dot: --separator . (in Python, separator='.')"
    return f"{origins}; {remedy}"


def list_others(name: str, found: Tool | None, tools: Iterable[Tool], separator: str) -> list[Tool]:
    """Return *tools* without the tool, prompt or resource that was *found* as *name*.

    Raises:
        KeyError: if nothing has that name.
    """
    others: list[Tool] = []
    names: list[str] = []
    for tool in tools:
        shown_name = tool.entry.name_with(separator)
        names.append(shown_name)
        if found is None or (tool.kind, shown_name) != (found.kind, found.name):
            others.append(tool)
    if found is None:
        from toolwire_schemas.did_you_mean import explain_unknown_name

        raise KeyError(explain_unknown_name("tool", name, names))
    return others
