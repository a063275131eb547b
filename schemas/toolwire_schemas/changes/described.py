"""A schema that takes only what it describes: what its users can be expected to send.

Most schemas take members of any name, though they describe only some, and nobody sends the others. If they counted, a
parameter more would break whoever had sent something else under its name. Members of other names do count where a
schema says so itself (`additionalProperties`), and where they are refused from now on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..subschemas import children, walk
from .nodes import SAYING, Document

if TYPE_CHECKING:
    from collections.abc import Iterator

# What stands beside `properties` in a schema that describes an object completely.
_PLAIN = frozenset(("type", "properties", "required", "minProperties", "maxProperties", "dependentRequired"))

_WITHIN = ("allOf", "anyOf", "oneOf", "$ref", "if", "then", "else")


def described(root: Any) -> Any:
    """Return *root* with all objects closed that describe their members and leave open whether there are others."""
    if not isinstance(root, dict):
        return root
    parts = set(_parts(root))

    def closed(schema: Any) -> Any:
        if not isinstance(schema, dict):
            return schema
        made = children(schema, closed)
        return {**made, "additionalProperties": False} if is_open(schema) and id(schema) not in parts else made

    return closed(root)


def is_open(schema: Any) -> bool:
    """Return whether *schema* describes an object's members and says nothing of others."""
    return isinstance(schema, dict) and "properties" in schema and schema.keys() & SAYING.keys() <= _PLAIN


def _parts(root: dict[str, Any]) -> Iterator[int]:
    """The ids of schemas that are only a part of what is said about a value: others may know its other members."""
    document = Document(root)
    for _, schema in walk(root, ""):
        beside = schema.keys() & SAYING.keys()
        for word in (*_WITHIN, "not", "dependentSchemas"):
            alone = word in ("anyOf", "oneOf", "$ref") and beside <= {word, "type"}
            if word in schema and not alone:
                yield from _reached(document, schema[word])


def _reached(document: Document, value: Any) -> Iterator[int]:
    seen: set[int] = set()
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
