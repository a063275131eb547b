"""What is said of the items of an array, place by place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from .all_of import dependent_names
from .document import matches

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .all_of import Way
    from .document import Schema


TWINS_WORD = "toolwire:twins"
"""A keyword of this package, which validators ignore: two items are equal."""


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


class ObjectWords:
    """What *way* says of objects."""

    def __init__(self, way: Way) -> None:
        self._way = way
        self.required = list(dict.fromkeys(name for names in way.all("required") for name in names))
        self.declared = list(dict.fromkeys(name for named in way.all("properties") for name in named))
        self.patterns = list(dict.fromkeys(pattern for named in way.all("patternProperties") for pattern in named))
        self.names: tuple[Schema, ...] = tuple(way.all("propertyNames"))
        self.least = int(way.largest("minProperties"))
        most = way.smallest("maxProperties")
        self.most = None if most is None else int(most)

    def member(self, name: str) -> tuple[Schema, ...]:
        """Return the schemas that the member of this *name* has to fit."""
        return tuple(said for schema in self._way.words for said in _said_of(name, schema) if said is not True)

    def with_dependents(self, names: Iterable[str]) -> list[str]:
        """Return *names* and those that an object needs in addition."""
        found, pending = dict.fromkeys(names), list(names)
        while pending:
            name = pending.pop()
            for schema in self._way.words:
                more = [other for other in dependent_names(schema).get(name, ()) if other not in found]
                found.update(dict.fromkeys(more))
                pending += more
        return list(found)


def _said_of(name: str, schema: dict[str, Any]) -> list[Schema]:
    properties: dict[str, Schema] = schema.get("properties", {})
    patterns: dict[str, Schema] = schema.get("patternProperties", {})
    said = [properties[name]] if name in properties else []
    said += [inner for pattern, inner in patterns.items() if matches(pattern, name)]
    if not said and "additionalProperties" in schema:
        return [schema["additionalProperties"]]
    return said
