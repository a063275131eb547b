"""A schema that takes only what it describes: what its users can be expected to send.

Most schemas take members of any name, though they describe only some. If all of these counted, each new parameter would
break callers that had sent something else under its name. So an object that leaves open whether it has other members
keeps one of them, with a name that no schema describes: enough to notice that others are refused from now on.

Likewise an integer without bounds is one that JSON carries everywhere. A server that starts to state these bounds,
as generators of schemas do, refuses nothing that a caller could rely on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_schema.subschemas import children, walk
from .nodes import SAYING, Document

if TYPE_CHECKING:
    from collections.abc import Iterator

# Keywords next to `properties` in a schema that describes an object completely.
_PLAIN = frozenset(("type", "properties", "required", "minProperties", "maxProperties", "dependentRequired"))

_OTHER = "not a described member"
"""A name that no schema describes; its spaces do not fit the patterns that schemas have for names."""

_SAFE_INTEGER = 2**53 - 1
"""Readers that take all numbers for floats, such as JavaScript, know integers up to here (RFC 8259, section 6)."""

_WITHIN = ("allOf", "anyOf", "oneOf", "$ref", "if", "then", "else")


def described(root: Any) -> Any:
    """Return *root* with each open object closed but for one other member, and each unbounded integer bounded."""
    if not isinstance(root, dict):
        return root
    parts = set(_parts(root))

    def closed(schema: Any) -> Any:
        if not isinstance(schema, dict):
            return schema
        made = children(schema, closed)
        # Less inside these would be more of the whole.
        made |= {word: schema[word] for word in ("not", "if", "contains") if word in schema}
        if id(schema) in parts:
            return made
        if is_open(schema):
            made |= {"properties": {**made["properties"], _OTHER: True}, "additionalProperties": False}
        return {**made, **_bounds(schema)}

    return closed(root)


def is_open(schema: Any) -> bool:
    """Return whether *schema* describes an object's members and says nothing of others."""
    return isinstance(schema, dict) and "properties" in schema and schema.keys() & SAYING.keys() <= _PLAIN


def _bounds(schema: dict[str, Any]) -> dict[str, int]:
    """The bounds of an integer that *schema* describes without any."""
    types = schema.get("type")
    named = types if isinstance(types, list) else [types]
    if "integer" not in named or "number" in named or not schema.keys().isdisjoint(("enum", "const")):
        return {}
    made = {}
    if schema.keys().isdisjoint(("minimum", "exclusiveMinimum")):
        made["minimum"] = -_SAFE_INTEGER
    if schema.keys().isdisjoint(("maximum", "exclusiveMaximum")):
        made["maximum"] = _SAFE_INTEGER
    return made


def _parts(root: dict[str, Any]) -> Iterator[int]:
    """The ids of schemas that are only a part of what is said about a value: others may know its other members."""
    document = Document(root)
    seen: set[int] = set()
    for _, schema in walk(root, ""):
        others = schema.keys() & SAYING.keys()
        for word in (*_WITHIN, "not", "dependentSchemas"):
            alone = word in ("anyOf", "oneOf", "$ref") and others <= {word, "type"}
            if word in schema and not alone:
                yield from _reached(document, schema[word], seen)


def _reached(document: Document, value: Any, seen: set[int]) -> Iterator[int]:
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            there = document.target(found)
            found = there.schema if there is not None else None
        if id(found) in seen:
            continue
        seen.add(id(found))
        if isinstance(found, list):
            waiting += found
        elif isinstance(found, dict):
            yield id(found)
            waiting += [found[word] for word in _WITHIN if word in found]
            if not found.keys() & SAYING.keys():  # perhaps names of schemas, as under `dependentSchemas`
                waiting += found.values()
