"""The entry of a tool, as far as the dialects read it, and the error for a malformed
description.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from toolwire_schemas.json_schema.member_names import names_in
from toolwire_schemas.json_schema.subschemas import target

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def text(value: Any) -> str:
    """Return *value* if it is text, else an empty text."""
    return value if isinstance(value, str) else ""


def schema_of(value: Any) -> Schema:
    """Return *value* if it is an object, else an empty schema: `true` and malformed schemas
    restrict nothing.
    """
    return value if isinstance(value, dict) else {}


def properties(schema: Schema) -> dict[str, Schema]:
    """Return the schemas of an object's members, except for forbidden ones."""
    given = schema_of(schema.get("properties"))
    return {name: schema_of(inner) for name, inner in given.items() if inner is not False}


def required(schema: Schema) -> list[str]:
    """Return the names of an object's required members."""
    return [name for name in listed(schema, "required") if isinstance(name, str)]


def listed(schema: Schema, word: str) -> list[Any]:
    """Return the list under *word*, or an empty list."""
    value = schema.get(word)
    return value if isinstance(value, list) else []


def followed(schema: Schema, root: Schema) -> Schema:
    """Return the schema that *schema* finally refers to within *root*; itself if it has no
    reference.
    """
    seen: list[Any] = []
    while "$ref" in schema and schema["$ref"] not in seen:
        seen.append(schema["$ref"])
        try:
            schema = schema_of(target(root, text(schema["$ref"])))
        except LookupError:
            return {}
    return schema


def without_null(schema: Schema) -> tuple[Schema, bool]:
    """Return *schema* without its alternative null, and whether it had one.

    `{"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "…"}` wants an integer with
    this description.
    """
    kinds = schema.get("type")
    if isinstance(kinds, list) and "null" in kinds:
        left: list[Any] = [kind for kind in kinds if kind != "null"]
        made = {**schema, "type": left[0] if len(left) == 1 else left}
        if isinstance(schema.get("enum"), list):
            made["enum"] = [value for value in schema["enum"] if value is not None]
        return (made, True) if left else (schema, True)
    for word in ("anyOf", "oneOf"):
        members = schema.get(word)
        if isinstance(members, list) and {"type": "null"} in members:
            left = [member for member in members if member != {"type": "null"}]
            rest = {key: value for key, value in schema.items() if key != word}
            if len(left) == 1 and isinstance(left[0], dict):
                return {**left[0], **rest}, True
            return ({**rest, word: left}, True) if left else (schema, True)
    return schema, False


LIMITS = (
    *(
        "format",
        "pattern",
        "minimum",
        "exclusiveMinimum",
        "maximum",
        "exclusiveMaximum",
        "multipleOf",
    ),
    *(
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
    ),
)
"""Keywords that narrow a type."""


def limits(schema: Schema) -> str:
    """Return what narrows the type of *schema*, as in `minimum: 1, maximum: 9`. An empty text if
    nothing does.
    """
    wanted, _ = without_null(schema)
    of_items, _ = without_null(schema_of(wanted.get("items")))
    return ", ".join([*_own(wanted), *(f"each {limit}" for limit in _own(of_items))])


def _own(schema: Schema) -> list[str]:
    is_fixed = "prefixItems" in schema  # then the type says how many items there are
    words = [
        word
        for word in LIMITS
        if word in schema and not (is_fixed and word in ("minItems", "maxItems"))
    ]
    return [f"{word}: {as_json(schema[word])}" for word in words]


def described(schema: Schema, *more: str) -> str:
    """Return the description of *schema*, or of a part of it, then in parentheses its limits and
    *more* notes.
    """
    notes = "; ".join(filter(None, (limits(schema), *more)))
    wholes = (schema, without_null(schema)[0], *map(schema_of, listed(schema, "allOf")))
    about = next(filter(None, (text(whole.get("description")).strip() for whole in wholes)), "")
    about = about or _names_of_items(wholes)
    return " ".join(filter(None, (about, notes and f"({notes})")))


def _names_of_items(lists: Iterable[Schema]) -> str:
    """Return what names the values of the items of one of *lists*; empty if nothing does."""
    for each in lists:
        items = schema_of(each.get("items"))
        if names_in(items):
            return text(items["description"])
    return ""


def as_json(value: Any) -> str:
    """Return *value* as JSON on one line, with unprintable characters escaped."""
    try:
        written = json.dumps(value, ensure_ascii=False)
    except RecursionError:  # too deep for any reader
        return "…"
    return written if written.isprintable() else json.dumps(value)


def on_one_line(words: str) -> str:
    """Return *words* as one line of printable text."""
    return printable(" ".join(words.split()))


def printable(line: str) -> str:
    """Return *line* with each unprintable character replaced."""
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line
    )
