"""Which definitions of different schemas are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire_schemas.json_schema.subschemas import walk

from .circles import find_circles

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolwire_schemas.json_schema.graph import SchemaGraph, SchemaNode


def find_meanings(graph: SchemaGraph) -> dict[str, str]:
    """Return for each reference a text that is the same for equal definitions of all schemas.

    Definitions are equal if they are written alike, and all that they refer to is too.
    """
    targets: dict[str, SchemaNode] = {}
    for node in graph.iterate_nodes():
        if node.reference is not None:
            targets[node.pointer] = node.reference
    refers = {
        pointer: _find_pointers(target) & targets.keys() for pointer, target in targets.items()
    }
    meanings: dict[str, str] = {}
    # A circle comes after all that it refers to, whose meanings are known by then.
    for circle in _find_circles(refers):
        own = [(pointer, targets[pointer].schema) for pointer in circle]
        others = set[str]().union(*(refers[pointer] for pointer in circle)).difference(circle)
        digest = _digest((own, sorted(meanings[pointer] for pointer in others)))
        for pointer in circle:
            meanings[pointer] = f"{pointer} {digest}"
    return meanings


def _find_pointers(target: SchemaNode) -> frozenset[str]:
    schemas = [schema for _, schema in walk(target.keywords, "")]
    return frozenset(target.graph.get_node(schema).pointer for schema in schemas)


def _find_circles(refers: dict[str, frozenset[str]]) -> Iterable[list[str]]:
    circles: dict[str, list[str]] = {}
    for pointer, name in find_circles(refers).items():
        circles.setdefault(name, []).append(pointer)
    return map(sorted, circles.values())


def _digest(value: object) -> str:
    from hashlib import blake2b  # takes milliseconds, and few tools have definitions

    return blake2b(str(value).encode("utf-8", "surrogatepass")).hexdigest()
