"""The names of the alternatives of a schema, the same wherever a program or a person reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .graph import SchemaNode


def name_variants(variants: Sequence[SchemaNode]) -> list[str]:
    """Return a name for each of *variants*; a number follows a name that an earlier one has."""
    names: list[str] = []
    for variant in variants:
        name = name_variant(variant)
        number = len(names) + 1
        names.append(f"{name} {number}" if name in names else name)
    return names


def name_variant(variant: SchemaNode) -> str:
    """Return what a reader calls *variant*: its title, its definition, its constant or its type."""
    resolved = variant.resolved
    title = variant.title or resolved.title
    if title:
        return title
    link = variant.link
    if link is not None and link.reference_name:
        return link.reference_name
    member, constant = find_constant(variant)
    if member:
        return f"{member}: {constant}"
    return _name_of_values(resolved)


def _name_of_values(node: SchemaNode) -> str:
    if node.values and len(node.values) <= _MAX_VALUES:
        return " or ".join(map(_write, node.values))
    text_format = node.keywords.get("format")
    if isinstance(text_format, str):
        return text_format
    return " or ".join(node.likely_types) or "any value"


_MAX_VALUES = 3
"""Values that a name consists of; of more, the type is the name."""


def _write(value: Any) -> str:
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()


def find_constant(variant: SchemaNode) -> tuple[str, Any]:
    """Return the name and the value of the member that tells *variant* from others.

    It is the first member with one possible value that is text or a number; the name is empty if
    there is no such member.
    """
    for name, member in variant.resolved.properties.items():
        values = member.resolved.values
        if values is None or len(values) != 1:
            continue
        value = values[0]
        if isinstance(value, str | int) and not isinstance(value, bool):
            return name, value
    return "", None
