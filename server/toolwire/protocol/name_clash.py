"""Describes two things of one name: imported for the error."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolwire_tools import Entry


def describe_clash(first: Entry, second: Entry) -> str:
    """Return the sentence that two tools, resources or prompts have the name of *second*."""
    origins = f"two {second.kind} are called {second.name}: {first.origin} and {second.origin}"
    remedy = 'rename one: @tool_api(name="...")'
    if first.name_with(".") != second.name_with("."):
        remedy += ", or list toolkits' tools with a dot: --separator . (in Python, separator='.')"
    return f"{origins}; {remedy}"
