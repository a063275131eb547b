"""Writes found tools for a model: a stub of each in Python, or its whole entry."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .. import python_stub
from ..tool_entry import Entry, as_json, as_schema, on_one_line, read_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .program_names import ProgramName

_LINE_CHARS = 200
"""Characters of a description: one line of it. The whole text is in the entry."""

_SENTENCES_CHARS = 100
"""Characters of the sentences of a description: the first ones say what a tool does."""
_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?:[.!?](?= [A-Z])|。)")

_SHORT_MEMBERS = 2
"""Members of an object that needs no name: `{content: str}` says less than a class, in one line."""

_MAX_DEPTH = 100
"""How deep schemas are read: a stub shows less, and a foreign server may send any depth."""

_WHOLE = ("name", "description", "inputSchema", "outputSchema")


def write_stubs(entries: Sequence[Entry]) -> str:
    """Return the tools as Python stubs, with one line of what each text says.

    The names of the functions are those of the tools where Python allows that; else a comment has
    the tool's name.
    """
    return _write([_shorten(entry) for entry in entries])


def write_program_stubs(entries: Sequence[Entry], names: Mapping[str, ProgramName]) -> str:
    """Return the tools as stubs of the functions that a program calls, by these *names*.

    Functions of one object are those of a class. Unlike other stubs, they have the types of
    results.
    """
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        name = names[read_text(entry.get("name"))]
        shown = {**_shorten(entry, has_result=True), "name": name.function}
        groups.setdefault(name.group, []).append(shown)
    blocks = []
    for group, members in groups.items():
        stubs = _write(members)
        if group:
            stubs = f"class {group}:\n{python_stub.indent_lines(stubs)}"
        blocks.append(stubs)
    return "\n\n".join(blocks)


def _write(entries: list[Entry]) -> str:
    return python_stub.from_entries(entries, short_members=_SHORT_MEMBERS).strip()


def write_entries(entries: Sequence[Entry]) -> str:
    """Return the tools as JSON, one in a line, with whole descriptions and schemas."""
    lines = []
    for entry in entries:
        members = {name: entry[name] for name in _WHOLE if name in entry}
        lines.append(as_json(members))
    return "\n".join(lines)


def _shorten(entry: Entry, *, has_result: bool = False) -> Entry:
    """Return *entry* with one line of each description; of the result the types, if it
    *has_result*.
    """
    shown = {
        **entry,
        "description": _shorten_to_sentences(
            shorten_to_first_line(read_text(entry.get("description")))
        ),
        "inputSchema": _shorten_schema(as_schema(entry.get("inputSchema"))),
    }
    output = shown.pop("outputSchema", None)
    if has_result and output is not None:
        shown["outputSchema"] = _shorten_schema(as_schema(output))
    return shown


def _shorten_schema(schema: Any, depth: int = 0) -> Any:
    """Return *schema* with one line of each description in it, wherever that is."""
    if depth > _MAX_DEPTH:
        return {}
    if isinstance(schema, list):
        return [_shorten_schema(item, depth + 1) for item in schema]
    if not isinstance(schema, dict):
        return schema
    shown = {}
    for word, inner in schema.items():
        if word == "description" and isinstance(inner, str):
            shown[word] = shorten_to_first_line(inner)
        else:
            shown[word] = _shorten_schema(inner, depth + 1)
    return shown


def shorten_to_first_line(words: str) -> str:
    """Return the first line of *words* that is not empty, cut where it is too long."""
    lines = words.strip().splitlines()
    line = ""
    if lines:
        line = on_one_line(lines[0])
    if len(line) <= _LINE_CHARS:
        return line
    return line[: _LINE_CHARS - 1] + "…"


def _shorten_to_sentences(line: str) -> str:
    """Return the first sentences of *line*; all of it where they are long."""
    if len(line) <= _SENTENCES_CHARS:
        return line
    ends = [found.end() for found in _SENTENCE_END.finditer(line, 0, _SENTENCES_CHARS)]
    return line[: ends[-1]] if ends else line
