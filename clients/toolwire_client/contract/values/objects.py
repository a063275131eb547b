"""What is said of the members of an object, name by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .all_of import dependent_names
from .document import matches

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .all_of import Way
    from .document import Schema


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
        """Return *names* and those that an object must have beside them."""
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
