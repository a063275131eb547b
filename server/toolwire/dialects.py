"""What `toolwire list --as DIALECT` prints: tools as somebody else describes tools."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolwire_schemas.dialects.names import RULES, Names

if TYPE_CHECKING:
    from collections.abc import Sequence

_TEXTS = ("python", "typescript", "markdown")


def written(entries: Sequence[dict[str, Any]], dialect: str, *, strict: bool = False) -> tuple[Any, list[str]]:
    """Return *entries* in a dialect: a text, or a list of JSON values; and what the reader should know of it.

    With *strict*, functions of OpenAI are strict where they can be.
    """
    module = import_module(f"toolwire_schemas.dialects.{dialect}")
    if dialect in _TEXTS:
        return module.from_entries(list(entries)), []  # what is called differently there has its own name beside it
    theirs = Names([entry["name"] for entry in entries], dialect).theirs if dialect in RULES else {}
    notes = [f"{name!r} is called {theirs[name]!r} there" for name in theirs if theirs[name] != name]
    tools = []
    for entry in entries:
        renamed = {**entry, "name": theirs.get(entry["name"], entry["name"])}
        if strict:
            tool, note = _strict(renamed)
            notes += [f"{entry['name']!r} {note}"] if note else []
        else:
            tool = module.from_entry(renamed)
        tools.append(tool)
    return tools, notes


def _strict(entry: dict[str, Any]) -> tuple[dict[str, Any], str]:
    from toolwire_schemas.dialects import openai
    from toolwire_schemas.dialects.strict import NotStrict

    try:
        return openai.from_entry(entry, strict=True), ""
    except NotStrict as error:
        return openai.from_entry(entry), f"cannot be strict: {error}"
