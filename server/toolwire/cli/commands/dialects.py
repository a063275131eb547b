"""What `toolwire list --as DIALECT` prints: tools as somebody else describes tools."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolwire_schemas.dialects.name_mapping import RULES, Names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Entry = dict[str, Any]

_TEXTS = {"python": "python_stub", "typescript": "typescript", "markdown": "markdown"}
"""The dialects that are texts, with their modules."""


def written(entries: Sequence[Entry], dialect: str, *, strict: bool = False) -> tuple[Any, list[str]]:
    """Return *entries* in a dialect, as a text or a list of JSON values; and what its reader should know besides.

    With *strict*, functions of OpenAI are strict where they can be.
    """
    if dialect in _TEXTS:
        # What is called differently there has its own name beside it.
        return import_module(f"toolwire_schemas.dialects.{_TEXTS[dialect]}").from_entries(list(entries)), []
    names = [entry["name"] for entry in entries]
    theirs = Names(names, dialect).theirs if dialect in RULES else {name: name for name in names}
    notes = _differences(theirs.items())
    tools = []
    for entry in entries:
        tool, told = _tool({**entry, "name": theirs[entry["name"]]}, dialect, strict)
        tools.append(tool)
        notes += [f"{entry['name']}: {note}" for note in told]
    return tools, notes


def _tool(entry: Entry, dialect: str, strict: bool) -> tuple[Entry, list[str]]:
    from toolwire_schemas.dialects import anthropic, lagent, openai

    match dialect:
        case "lagent":
            return lagent.from_entry(entry), []
        case "anthropic":
            tool = anthropic.from_entry(entry)
            called = (schema.get("properties", ()) for schema in (entry["inputSchema"], tool["input_schema"]))
            return tool, _differences(zip(*called, strict=True))
        case _ if strict:
            return _strict(entry)
    return openai.from_entry(entry), []


def _strict(entry: Entry) -> tuple[Entry, list[str]]:
    from toolwire_schemas.dialects import openai
    from toolwire_schemas.dialects.openai_strict import NotStrict

    try:
        return openai.from_entry(entry, strict=True), []
    except NotStrict as error:
        return openai.from_entry(entry), [f"it cannot be strict: {error}"]


def _differences(called: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{ours!r} is called {theirs!r} there" for ours, theirs in called if ours != theirs]
