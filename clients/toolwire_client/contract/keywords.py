"""Structural keywords of schemas: which schemas apply to a value, its members and its items. Needs no Hypothesis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.json_schema.linear_regex import Budget, search
from toolwire_schemas.json_schema.subschemas import target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Schema = dict[str, Any] | bool
    Schemas = tuple[Schema, ...]
    Parts = list[dict[str, Any]]


def collect(
    root: Schema,
    schemas: Iterable[Schema],
    chosen: Callable[[dict[str, Any]], Iterable[Schema]],
    spend: Callable[[], None],
    *,
    is_draft7: bool = False,
) -> Parts | None:
    """Return the plain schemas that apply to a value to which *schemas* in *root* apply; `None` if one is `false`.

    *chosen* returns the branches of a schema that apply, and *spend* is called for each schema.

    Raises:
        LookupError: if a reference leads nowhere.
    """
    found: dict[int, dict[str, Any]] = {}
    pending = list(schemas)
    for schema in pending:  # which grows
        spend()
        if schema is False:
            return None
        if schema is True or id(schema) in found:
            continue
        if "$ref" in schema:
            pending.append(target(root, schema["$ref"]))
            if is_draft7:
                continue
        found[id(schema)] = schema
        pending += [*schema.get("allOf", ()), *chosen(schema)]
    return list(found.values())


def choices(schema: dict[str, Any]) -> list[list[Schema]]:
    """Return the lists of branches of which a value must fit one each."""
    return [schema[word] for word in ("anyOf", "oneOf") if word in schema]


def names_in(parts: Iterable[dict[str, Any]], *words: str) -> list[str]:
    """Return the names that *parts* list by these *words*, or have as their keys."""
    return list(dict.fromkeys(name for word in words for part in parts for name in part.get(word, ())))


def known_names(parts: Parts) -> list[str]:
    """Return the names of members that *parts* name, apart from required ones."""
    needed = [name for part in parts for names in part.get("dependentRequired", {}).values() for name in names]
    named = names_in(parts, "properties", "dependentRequired", "dependentSchemas", "dependencies")
    return list(dict.fromkeys([*named, *needed]))


def member(name: str, parts: Iterable[dict[str, Any]]) -> Schemas:
    """Return the schemas that the member of this *name* must fit."""
    return tuple(schema for part in parts for schema in _member(name, part))


def _member(name: str, part: dict[str, Any]) -> list[Schema]:
    properties, patterns = part.get("properties", {}), part.get("patternProperties", {})
    found = [properties[name]] if name in properties else []
    found += [schema for pattern, schema in patterns.items() if search(pattern, name, Budget().spend)]
    return found or [part.get("additionalProperties", True)]


def item(index: int, parts: Iterable[dict[str, Any]]) -> Schemas:
    """Return the schemas that the item at *index* must fit."""
    return tuple(prefix[index] if index < len(prefix) else rest for prefix, rest in map(prefix_and_rest, parts))


def prefix_and_rest(part: dict[str, Any]) -> tuple[list[Schema], Schema]:
    """Return the schemas of the first items, and that of the rest."""
    if isinstance(items := part.get("items", True), list):  # as up to draft-07
        return items, part.get("additionalItems", True)
    return part.get("prefixItems", []), items
