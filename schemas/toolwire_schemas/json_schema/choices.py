"""The values that a schema lists to choose from, whichever keyword lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from .graph import SchemaNode


class Choice(msgspec.Struct, frozen=True):
    """A value, and its name if the schema has one."""

    value: Any
    name: str | None = None

    @property
    def label(self) -> str:
        """The name, or the value as text; other values are written as JSON."""
        if self.name is not None:
            return self.name
        if isinstance(self.value, str):
            return self.value
        return _to_json(self.value)


def list_choices(node: SchemaNode) -> list[Choice]:
    """Return the values of *node*, a resolved one; an empty list if it does not list them.

    Names are in `enumNames`, one for each value, or the titles of constants in `oneOf` or `anyOf`.
    """
    if node.values is None:
        return _list_constants(node)
    names = node.keywords.get("enumNames")
    if not isinstance(names, list) or len(names) != len(node.values):
        return [Choice(value) for value in node.values]
    choices = []
    for value, name in zip(node.values, names, strict=True):
        choices.append(Choice(value, name if isinstance(name, str) else None))
    return choices


def _list_constants(node: SchemaNode) -> list[Choice]:
    choices = []
    for variant in node.variants:
        if "const" not in variant.keywords:
            return []
        choices.append(Choice(variant.keywords["const"], variant.title or None))
    return choices


def _to_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
