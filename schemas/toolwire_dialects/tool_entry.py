"""The entry of a tool, as far as the dialects read it, and the error for a malformed
description.
"""

from __future__ import annotations

import json
from typing import Any

from toolwire_schemas.json_schema.graph import LIMITS, without_null
from toolwire_schemas.json_schema.member_names import read_names

Schema = dict[str, Any]
Entry = dict[str, Any]


class FaultAt(ValueError):
    """A fault of a tool's description: *where* is the path to it, such as `parameters[0].name`."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}" if where else problem)
        self.where = where
        self.problem = problem


class Malformed(FaultAt):
    """A description that cannot be read."""


def read_text(value: Any) -> str:
    """Return *value* if it is text, else an empty text."""
    if not isinstance(value, str):
        return ""
    return value


def as_schema(value: Any) -> Schema:
    """Return *value* if it is an object, else an empty schema: `true` and malformed schemas
    restrict nothing.
    """
    if not isinstance(value, dict):
        return {}
    return value


def get_properties(schema: Schema) -> dict[str, Schema]:
    """Return the schemas of an object's members, except for forbidden ones."""
    members = as_schema(schema.get("properties"))
    return {name: as_schema(inner) for name, inner in members.items() if inner is not False}


def list_required(schema: Schema) -> list[str]:
    """Return the names of an object's required members."""
    return [name for name in get_list(schema, "required") if isinstance(name, str)]


def get_list(schema: Schema, word: str) -> list[Any]:
    """Return the list under *word*, or an empty list."""
    value = schema.get(word)
    if not isinstance(value, list):
        return []
    return value


def format_limits(schema: Schema) -> str:
    """Return what narrows the type of *schema*, as in `minimum: 1, maximum: 9`. An empty text if
    nothing does.
    """
    wanted, _ = without_null(schema)
    items, _ = without_null(as_schema(wanted.get("items")))
    of_items = [f"each {limit}" for limit in _list_own_limits(items)]
    return ", ".join([*_list_own_limits(wanted), *of_items])


def _list_own_limits(schema: Schema) -> list[str]:
    has_prefix = "prefixItems" in schema  # then the type says how many items there are
    found = []
    for word in LIMITS:
        if word not in schema or (has_prefix and word in ("minItems", "maxItems")):
            continue
        found.append(f"{word}: {as_json(schema[word])}")
    return found


def describe(schema: Schema, *more: str) -> str:
    """Return the description of *schema*, or of a part of it, then in parentheses its limits and
    *more* notes.
    """
    about = _find_description(schema)
    notes = "; ".join(filter(None, (format_limits(schema), *more)))
    if not notes:
        return about
    if about:
        return f"{about} ({notes})"
    return f"({notes})"


def _find_description(schema: Schema) -> str:
    wanted, _ = without_null(schema)
    parts = [schema, wanted, *map(as_schema, get_list(schema, "allOf"))]
    for part in parts:
        description = read_text(part.get("description")).strip()
        if description:
            return description
    # Names of the values of a list's items say what the list is.
    for part in parts:
        items = as_schema(part.get("items"))
        if read_names(items):
            return read_text(items["description"])
    return ""


def as_json(value: Any) -> str:
    """Return *value* as JSON on one line, with unprintable characters escaped."""
    try:
        written = json.dumps(value, ensure_ascii=False)
    except RecursionError:  # too deep for any reader
        return "…"
    if written.isprintable():
        return written
    return json.dumps(value)


def on_one_line(words: str) -> str:
    """Return *words* as one line of printable text."""
    return make_printable(" ".join(words.split()))


def make_printable(line: str) -> str:
    """Return *line* with each unprintable character replaced."""
    if line.isprintable():
        return line
    return "".join(map(_replace_unprintable, line))


def _replace_unprintable(letter: str) -> str:
    if letter.isprintable():
        return letter
    return "\N{REPLACEMENT CHARACTER}"
