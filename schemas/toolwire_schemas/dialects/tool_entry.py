"""The entry of a tool, as far as the dialects look into it, and what is said when something else is not one."""

from __future__ import annotations

import json
from typing import Any

from ..json_schema.subschemas import target

Schema = dict[str, Any]
Entry = dict[str, Any]


class Malformed(ValueError):
    """A description that cannot be read: *where* is the path to what is wrong, such as `parameters[0].name`."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}" if where else problem)
        self.where = where
        self.problem = problem


def made_of(tool: dict[str, Any], parameters: str, where: str = "") -> Entry:
    """Return the entry of a tool with a name, a description, and its input schema under *parameters*.

    Raises:
        Malformed: for what is missing or no text or object; *where* is put before its name.
    """
    schema = tool.get(parameters) or {}
    if not isinstance(schema, dict):
        raise Malformed(where + parameters, "it is no object")
    if not text(tool.get("name")):
        raise Malformed(f"{where}name", "there is none")
    described = text(tool.get("description"))
    about = {"description": described} if described else {}
    return {"name": tool["name"], **about, "inputSchema": {"type": "object", **schema}}


def text(value: Any) -> str:
    """*value* if it is text, else nothing."""
    return value if isinstance(value, str) else ""


def schema_of(value: Any) -> Schema:
    """*value* if it is a schema with words in it; `true`, and whatever is no schema at all, says nothing."""
    return value if isinstance(value, dict) else {}


def properties(schema: Schema) -> dict[str, Schema]:
    """What the members of an object are, those left out that it may not have."""
    given = schema_of(schema.get("properties"))
    return {name: schema_of(inner) for name, inner in given.items() if inner is not False}


def required(schema: Schema) -> list[str]:
    """The names of the members that an object must have."""
    names = schema.get("required")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def followed(schema: Schema, root: Schema) -> Schema:
    """The schema that *schema* refers to within *root*, directly or by way of others; itself if it refers to none."""
    seen: list[Any] = []
    while "$ref" in schema and schema["$ref"] not in seen:
        seen.append(schema["$ref"])
        try:
            schema = schema_of(target(root, text(schema["$ref"])))
        except LookupError:
            return {}
    return schema


def without_null(schema: Schema) -> tuple[Schema, bool]:
    """What *schema* wants besides null, and whether null is one of its alternatives.

    `{"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "…"}` wants an integer with this description.
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
            beside = {key: value for key, value in schema.items() if key != word}
            if len(left) == 1 and isinstance(left[0], dict):
                return {**left[0], **beside}, True
            return ({**beside, word: left}, True) if left else (schema, True)
    return schema, False


def kind_of(values: list[Any]) -> str | None:
    """The type that all of *values* have, if there is one."""
    kinds = {_KINDS.get(type(value)) for value in values}
    return kinds.pop() if len(kinds) == 1 else None


_KINDS = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


_LIMITS = (
    "format",
    "pattern",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
)


def limits(schema: Schema) -> str:
    """Return what narrows the type of *schema*, as in `minimum: 1, maximum: 9`. An empty text if nothing does."""
    wanted, _ = without_null(schema)
    of_items, _ = without_null(schema_of(wanted.get("items")))
    return ", ".join([*_own(wanted), *(f"each {limit}" for limit in _own(of_items))])


def _own(schema: Schema) -> list[str]:
    is_fixed = "prefixItems" in schema  # then the type says how many items there are
    words = [word for word in _LIMITS if word in schema and not (is_fixed and word in ("minItems", "maxItems"))]
    return [f"{word}: {as_json(schema[word])}" for word in words]


def described(schema: Schema, *more: str) -> str:
    """Return what is said about *schema*, and behind it in parentheses its limits and what *more* there is to say."""
    notes = "; ".join(filter(None, (limits(schema), *more)))
    return " ".join(filter(None, (text(schema.get("description")).strip(), notes and f"({notes})")))


def as_json(value: Any) -> str:
    """*value* as a person would write it in JSON, on one line; what is not printable is escaped."""
    try:
        written = json.dumps(value, ensure_ascii=False)
    except RecursionError:  # nobody reads that deep
        return "…"
    return written if written.isprintable() else json.dumps(value)


def on_one_line(words: str) -> str:
    """*words* as one line of printable text."""
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in " ".join(words.split())
    )
