"""Merges schemas that all apply to one value into one schema.

Strategy. Each keyword has a rule for two schemas that have it. Without a rule, the first schema's
value stays and the other one is dropped, so that the merged schema may accept more values than all
schemas together, but never fewer. Members and items that several schemas describe stay together as
an `allOf` one level down, which is merged when a reader gets there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .subschemas import COMBINING, TYPES

if TYPE_CHECKING:
    from collections.abc import Callable

Keywords = dict[str, Any]

_LEFT_OUT = COMBINING | {"$id", "$schema", "$anchor", "$dynamicAnchor"}
"""Keywords that are resolved by now, or are about the place of a schema."""

_GROUPS = {
    "then": "if",
    "else": "if",
    "minContains": "contains",
    "maxContains": "contains",
}
"""Keywords that have a meaning only next to another one of the same schema."""


def merge_schemas(schemas: list[Keywords]) -> Any:
    """Return a schema that accepts all values that fit each of *schemas*; `false` if none can."""
    merged: Keywords = {}
    for schema in schemas:
        _add(merged, _as_2020_12(schema))
    if merged.get("type") == [] or merged.get("enum") == []:
        return False
    return merged


def _add(merged: Keywords, schema: Keywords) -> None:
    before = frozenset(merged)
    for word, value in schema.items():
        if word in _LEFT_OUT or _GROUPS.get(word) in before:
            continue
        if word not in merged:
            merged[word] = value
        elif word in _RULES:
            merged[word] = _RULES[word](merged[word], value)


def _as_2020_12(schema: Keywords) -> Keywords:
    """Return *schema* with tuples as `prefixItems` and a constant as the only value of an enum."""
    made = dict(schema)
    if isinstance(made.get("items"), list):
        made["prefixItems"] = made.pop("items")
        if "additionalItems" in made:
            made["items"] = made.pop("additionalItems")
    if "const" in made:
        made["enum"] = [made.pop("const")]
    if not all(name in TYPES for name in _types(made.get("type", []))):
        del made["type"]
    return made


# --- rules ----------------------------------------------------------------------------------------


def _common_types(one: Any, other: Any) -> Any:
    mine, theirs = _types(one), _types(other)
    common = [name for name in mine if name in theirs]
    # Each integer is a number too.
    if "integer" not in common and ("integer" in mine or "integer" in theirs):
        is_number = "number" in mine or "number" in theirs
        common += ["integer"] if is_number else []
    if len(common) == 1:
        return common[0]
    return common


def _types(named: Any) -> list[Any]:
    if isinstance(named, list):
        return named
    return [named]


def _common_values(one: Any, other: Any) -> Any:
    from .bounded_validator import identity  # imports what few schemas need

    if not isinstance(one, list) or not isinstance(other, list):
        return one
    allowed = {identity(value) for value in other}
    return [value for value in one if identity(value) in allowed]


def _all_names(one: Any, other: Any) -> Any:
    if not isinstance(one, list) or not isinstance(other, list):
        return one
    return [*one, *(name for name in other if name not in one)]


def _all_members(one: Any, other: Any) -> Any:
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one
    members = dict(one)
    for name, schema in other.items():
        members[name] = _both(one[name], schema) if name in one else schema
    return members


def _all_items(one: Any, other: Any) -> Any:
    if not isinstance(one, list) or not isinstance(other, list):
        return one
    together = [_both(*pair) for pair in zip(one, other, strict=False)]
    return [*together, *one[len(together) :], *other[len(together) :]]


def _both(one: Any, other: Any) -> Any:
    if one is other:
        return one
    return {"allOf": [one, other]}


def _greatest(one: Any, other: Any) -> Any:
    if _are_numbers(one, other):
        return max(one, other)
    return one


def _least(one: Any, other: Any) -> Any:
    if _are_numbers(one, other):
        return min(one, other)
    return one


def _are_numbers(one: Any, other: Any) -> bool:
    return isinstance(one, int | float) and isinstance(other, int | float)


def _either(one: Any, other: Any) -> Any:
    return one or other


_RULES: dict[str, Callable[[Any, Any], Any]] = {
    "type": _common_types,
    "enum": _common_values,
    "properties": _all_members,
    "patternProperties": _all_members,
    "required": _all_names,
    "additionalProperties": _both,
    "propertyNames": _both,
    "prefixItems": _all_items,
    "items": _both,
    "uniqueItems": _either,
    **dict.fromkeys(
        ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), _greatest
    ),
    **dict.fromkeys(
        ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), _least
    ),
}
