"""Arguments as some models send them: `"[1, 2]"` where an array was asked for.

Decoded: a string, at a place whose schema takes no string, that is JSON and whose value that schema takes.
So "5" becomes 5 for an integer, "5.0" too; "true" becomes true for a boolean; "[1]" and "{…}" become what they say,
and strings inside them are looked at in turn. Blanks around a value do not matter, as in any JSON text.
Left alone, and refused with an explanation: "05", "+5", "1,5", "True", "yes", "None", "" and whatever
else is no JSON; and every string at a place where a string may stand, whatever it looks like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.subschemas import target

if TYPE_CHECKING:
    from ..schema.shape import Schema

_MAX_DEPTH = 64


def coerced(value: Any, schema: Schema, root: Schema | None = None, depth: int = 0) -> Any:
    """Return *value* with JSON text decoded where *schema* wants no text; anything else unchanged."""
    root = schema if root is None else root
    if depth > _MAX_DEPTH:
        return value
    alternatives = _alternatives(schema, root)
    if isinstance(value, str):
        return value if any(_takes_text(each) for each in alternatives) else _decoded(value, alternatives, root, depth)
    if isinstance(value, dict):
        return {
            name: _inside(member, [_member_schema(each, name) for each in alternatives], root, depth)
            for name, member in value.items()
        }
    if isinstance(value, list):
        return [
            _inside(item, [_item_schema(each, index) for each in alternatives], root, depth)
            for index, item in enumerate(value)
        ]
    return value


def _alternatives(schema: Schema, root: Schema, depth: int = 0) -> list[Schema]:
    """The plain schemas that *schema* offers a choice of: references followed, `anyOf` and `oneOf` opened."""
    if depth > _MAX_DEPTH or not isinstance(schema, dict):
        return [{}]
    if "$ref" in schema:
        try:
            return _alternatives(target(root, schema["$ref"]), root, depth + 1)
        except LookupError:
            return [{}]
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return [found for inner in schema[word] for found in _alternatives(inner, root, depth + 1)]
    return [schema]


def _takes_text(schema: Schema) -> bool:
    words = _types(schema)
    return words is None or "string" in words


def _types(schema: Schema) -> set[str] | None:
    """The JSON types that *schema* names, or None if it names none."""
    if "type" in schema:
        word = schema["type"]
        return {word} if isinstance(word, str) else set(word)
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return {_word(value) for value in values} or None


def _decoded(text: str, alternatives: list[Schema], root: Schema, depth: int) -> Any:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text
    fits = any(_fits(value, _types(each) or set()) for each in alternatives)
    return coerced(value, {"anyOf": alternatives}, root, depth + 1) if fits else text


def _fits(value: Any, words: set[str]) -> bool:
    word = _word(value)
    if word == "number" and value.is_integer():
        return bool(words & {"number", "integer"})
    return word in words or (word == "integer" and "number" in words)


def _word(value: Any) -> str:
    return _WORDS.get(type(value), "null")


_WORDS = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


def _inside(value: Any, schemas: list[Any], root: Schema, depth: int) -> Any:
    """Return *value*, a member or item, with JSON text decoded where none of *schemas* wants text."""
    known = [schema for schema in schemas if isinstance(schema, dict)]
    return coerced(value, {"anyOf": known}, root, depth + 1) if known else value


def _member_schema(schema: Schema, name: str) -> Any:
    return schema.get("properties", {}).get(name, schema.get("additionalProperties"))


def _item_schema(schema: Schema, index: int) -> Any:
    places = schema.get("prefixItems", [])
    return places[index] if index < len(places) else schema.get("items")
