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
    if not all(name in TYPES for name in _list_types(made.get("type", []))):
        del made["type"]
    return made


# --- rules ----------------------------------------------------------------------------------------


def _intersect_types(one: Any, other: Any) -> Any:
    mine, theirs = _list_types(one), _list_types(other)
    common = [name for name in mine if name in theirs]
    has_integer = "integer" in mine or "integer" in theirs
    has_number = "number" in mine or "number" in theirs
    if "integer" not in common and has_integer and has_number:  # each integer is a number too
        common.append("integer")
    if len(common) == 1:
        return common[0]
    return common


def _list_types(named: Any) -> list[Any]:
    if isinstance(named, list):
        return named
    return [named]


def _intersect_values(one: Any, other: Any) -> Any:
    from .bounded_validator import make_identity  # imports what few schemas need

    if not isinstance(one, list) or not isinstance(other, list):
        return one
    allowed = {make_identity(value) for value in other}
    return [value for value in one if make_identity(value) in allowed]


def _unite_names(one: Any, other: Any) -> Any:
    if not isinstance(one, list) or not isinstance(other, list):
        return one
    return [*one, *(name for name in other if name not in one)]


def _unite_members(one: Any, other: Any) -> Any:
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one
    members = dict(one)
    for name, schema in other.items():
        members[name] = _require_both(one[name], schema) if name in one else schema
    return members


def _unite_items(one: Any, other: Any) -> Any:
    if not isinstance(one, list) or not isinstance(other, list):
        return one
    together = [_require_both(mine, theirs) for mine, theirs in zip(one, other, strict=False)]
    longer = max(one, other, key=len)
    return [*together, *longer[len(together) :]]


def _require_both(one: Any, other: Any) -> Any:
    if one is other:
        return one
    return {"allOf": [one, other]}


def _take_greatest(one: Any, other: Any) -> Any:
    if _are_numbers(one, other):
        return max(one, other)
    return one


def _take_least(one: Any, other: Any) -> Any:
    if _are_numbers(one, other):
        return min(one, other)
    return one


def _are_numbers(one: Any, other: Any) -> bool:
    return isinstance(one, int | float) and isinstance(other, int | float)


def _take_either(one: Any, other: Any) -> Any:
    return one or other


_RULES: dict[str, Callable[[Any, Any], Any]] = {
    "type": _intersect_types,
    "enum": _intersect_values,
    "properties": _unite_members,
    "patternProperties": _unite_members,
    "required": _unite_names,
    "additionalProperties": _require_both,
    "propertyNames": _require_both,
    "prefixItems": _unite_items,
    "items": _require_both,
    "uniqueItems": _take_either,
    **dict.fromkeys(
        ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), _take_greatest
    ),
    **dict.fromkeys(
        ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), _take_least
    ),
}
