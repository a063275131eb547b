"""Where schemas occur inside a JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# As a value, in a list, in a mapping of names.
ONE = (
    "items",
    "additionalProperties",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contentSchema",
)
LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def walk(schema: dict[str, Any], where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield *schema* and every schema inside it that is an object, each with its path; references are not followed."""
    yield where, schema
    for word, inner in schema.items():
        if word in NAMED and isinstance(inner, dict):
            members = [(f"{where}.{word}.{name}", member) for name, member in inner.items()]
        elif word in LISTS and isinstance(inner, list):
            members = [(f"{where}.{word}[{index}]", member) for index, member in enumerate(inner)]
        elif word in ONE:
            members = [(f"{where}.{word}", inner)]
        else:
            continue
        for path, member in members:
            if isinstance(member, dict):
                yield from walk(member, path)
