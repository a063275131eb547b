"""Arguments as some models send them: `"[1, 2]"` where an array was asked for, 3.0 for an integer.

Decoded: a string, at a place whose schema takes no string, that is JSON and whose value that schema takes.
So "5" becomes 5 for an integer, "5.0" too; "true" becomes true for a boolean; "[1]" and "{…}" become what they say,
and strings inside them are looked at in turn. Blanks around a value do not matter, as in any JSON text.
Left alone, and refused with an explanation: "05", "+5", "1,5", "True", "yes", "None", "" and whatever
else is no JSON; and every string at a place where a string may stand, whatever it looks like.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.subschemas import target

if TYPE_CHECKING:
    from ..schema.shape import Schema

_MAX_DEPTH = 64
Leaf = Callable[[Any, list["Schema"]], Any]


def coerced(value: Any, schema: Schema) -> Any:
    """Return *value* with JSON text decoded where *schema* wants no text; anything else unchanged."""
    return _rewritten(value, schema, schema, _decoded)


def with_whole_numbers(value: Any, schema: Schema) -> Any:
    """Return *value* with 3.0 as 3 where *schema* wants integers, within the range in which floats are exact."""
    return _rewritten(value, schema, schema, _whole)


def _rewritten(value: Any, schema: Schema, root: Schema, leaf: Leaf, depth: int = 0) -> Any:
    """Return *value* with *leaf* applied to each of its values and the plain schemas of its place."""
    if depth > _MAX_DEPTH:
        return value
    alternatives = _alternatives(schema, root)
    value = leaf(value, alternatives)

    def inside(value: Any, schemas: list[Any]) -> Any:
        known = [schema for schema in schemas if isinstance(schema, dict)]
        return _rewritten(value, {"anyOf": known}, root, leaf, depth + 1) if known else value

    if isinstance(value, dict):
        return {
            name: inside(
                member,
                [each.get("properties", {}).get(name, each.get("additionalProperties")) for each in alternatives],
            )
            for name, member in value.items()
        }
    if isinstance(value, list):
        return [inside(item, [_item_schema(each, index) for each in alternatives]) for index, item in enumerate(value)]
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


def _types(schema: Schema) -> set[str] | None:
    """The JSON types that *schema* names, or None if it names none."""
    if "type" in schema:
        word = schema["type"]
        return {word} if isinstance(word, str) else set(word)
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return {_WORDS.get(type(value), "null") for value in values} or None


def _decoded(text: Any, alternatives: list[Schema]) -> Any:
    wanted = [_types(each) for each in alternatives]
    if not isinstance(text, str) or any(words is None or "string" in words for words in wanted):
        return text
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text
    return value if any(_fits(value, words) for words in wanted if words) else text


def _whole(value: Any, alternatives: list[Schema]) -> Any:
    if type(value) is not float or not value.is_integer() or abs(value) > 2**53:
        return value
    free = [words for each in alternatives if "enum" not in each for words in [_types(each)]]
    if any(words is None or "number" in words for words in free):
        return value
    return int(value) if any("integer" in (_types(each) or ()) for each in alternatives) else value


def _fits(value: Any, words: set[str]) -> bool:
    word = _WORDS.get(type(value), "null")
    if word == "number" and value.is_integer():
        return bool(words & {"number", "integer"})
    return word in words or (word == "integer" and "number" in words)


_WORDS = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


def _item_schema(schema: Schema, index: int) -> Any:
    places = schema.get("prefixItems", [])
    return places[index] if index < len(places) else schema.get("items")
