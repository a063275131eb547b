"""What is said of the items of an array, place by place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from .all_of import Way
    from .document import Schema

TWINS_WORD = "toolwire:twins"
"""A word of ours, which validators pass over: two items are equal."""


class Contains(msgspec.Struct, frozen=True):
    """So many items, at *least* and perhaps at *most*, fit *schema*."""

    schema: Any
    least: int
    most: int | None


class ArrayWords:
    """What *way* says of arrays."""

    def __init__(self, way: Way) -> None:
        self._ways_of_saying = [_prefix_and_rest(schema) for schema in way.words]
        self.contains = [
            Contains(schema["contains"], int(schema.get("minContains", 1)), schema.get("maxContains"))
            for schema in way.words
            if "contains" in schema
        ]
        self.has_twins = bool(way.all(TWINS_WORD))
        self.is_unique = any(way.all("uniqueItems"))
        self.prefix = max((len(prefix) for prefix, _ in self._ways_of_saying), default=0)
        self.least = max([int(way.largest("minItems")), 2 * self.has_twins, *(part.least for part in self.contains)])
        most = way.smallest("maxItems")
        self.most = None if most is None else int(most)

    def item(self, index: int) -> tuple[Schema, ...]:
        """Return the schemas that the item at *index* has to fit. Behind the longest prefix, all are the same."""
        said = (prefix[index] if index < len(prefix) else rest for prefix, rest in self._ways_of_saying)
        return tuple(schema for schema in said if schema is not True)

    @property
    def says_nothing(self) -> bool:
        """Whether any array will do."""
        return not (self.least or self.most is not None or self.prefix or self.contains or self.item(0))


def _prefix_and_rest(schema: dict[str, Any]) -> tuple[list[Schema], Schema]:
    if isinstance(items := schema.get("items", True), list):  # as up to draft-07
        return items, schema.get("additionalItems", True)
    return schema.get("prefixItems", []), items


def equal_if_same(value: Any) -> Any:
    """Return something hashable, the same for values that JSON Schema calls equal: 1 and 1.0, but not 1 and true."""
    match value:
        case bool() | None | str():
            return (type(value), value)
        case list():
            return (list, tuple(map(equal_if_same, value)))
        case dict():
            return (dict, frozenset((name, equal_if_same(item)) for name, item in value.items()))
    return (float, value)
