"""The cases of values that fit some schemas, one for each type, alternative and listed value."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.bounded_validator import TooExpensive, make_identity

from .nodes import KINDS, NUMBERS, ComparedSchema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolwire_schemas.json_schema.graph import SchemaNode
    from toolwire_schemas.json_schema.linear_regex import Budget

_MAX_CASES = 4_000

SAFE_INTEGER = 2**53 - 1
"""Readers that take all numbers for floats, such as JavaScript, know integers up to here (RFC 8259,
section 6).
"""

OTHER = "not a described member"
"""Names that no schema describes start like this; the spaces do not fit the patterns that schemas
have for names.
"""

_NOTHING = (ComparedSchema(False).root,)

# With these an object says itself which members of other names it has, or it is not certain that it
# does not.
_OPENING = (
    *("additionalProperties", "patternProperties", "propertyNames", "unevaluatedProperties"),
    *("dependentSchemas", "not", "if"),
)


class _Bound(msgspec.Struct, frozen=True, order=True):
    """A lower bound of numbers; of two with one number, the one that excludes it is greater."""

    number: Fraction
    excludes_number: bool = False

    def narrow_to_integers(self) -> _Bound:
        """Return the bound of the integers within this one."""
        if self.excludes_number:
            return _Bound(Fraction(floor(self.number) + 1))
        return _Bound(Fraction(ceil(self.number)))


class ValueCase(msgspec.Struct, frozen=True, eq=False):
    """Values of one *kind* that fit all *nodes*, or the one *value*.

    The nodes have no alternatives and references left in them that would matter. If *is_described*,
    all members that no node describes have names that no other schema describes either, and
    unbounded integers are safe ones: such values can be expected from the users of a schema.
    """

    kind: str
    nodes: tuple[SchemaNode, ...]
    is_described: bool = False
    value: Any = msgspec.UNSET

    def iterate_values(self, word: str) -> Iterator[Any]:
        """Yield the values of the keyword *word*."""
        return (node.assertions[word] for node in self.nodes if word in node.assertions)

    def is_within(self, word: str, value: Any) -> bool:
        """Return whether all numbers are within the bound *value* that the keyword *word* sets."""
        # Upper bounds are lower bounds of the negative numbers.
        if word in ("minimum", "exclusiveMinimum"):
            sign, inclusive, exclusive = 1, "minimum", "exclusiveMinimum"
        else:
            sign, inclusive, exclusive = -1, "maximum", "exclusiveMaximum"
        bounds = []
        for bound in self.iterate_values(inclusive):
            bounds.append(_Bound(sign * Fraction(bound)))
        for bound in self.iterate_values(exclusive):
            bounds.append(_Bound(sign * Fraction(bound), True))
        if not bounds and self.is_described and self._has_integers_alone():
            bounds = [_Bound(Fraction(-SAFE_INTEGER))]
        if not bounds:
            return False
        if self.kind == "integer":
            bounds = [bound.narrow_to_integers() for bound in bounds]
        wanted = _Bound(sign * Fraction(value), word == exclusive)
        return max(bounds) >= wanted

    def _has_integers_alone(self) -> bool:
        is_type_named = any("number" not in types for types in self.iterate_values("type"))
        return self.kind == "integer" and is_type_named

    def find_least(self, word: str) -> int:
        """Return the greatest value of `minLength`, `minItems` or `minProperties`."""
        least = int(max(self.iterate_values(word), default=0))
        if word == "minProperties":
            return max(least, len(self.list_required()))
        return least

    def find_most(self, word: str) -> int | None:
        """Return the least value of `maxLength`, `maxItems` or `maxProperties`."""
        most = min(self.iterate_values(word), default=None)
        if most is None:
            return None
        return int(most)

    def find_element_schemas(self, index: int) -> tuple[SchemaNode, ...]:
        """Return the schemas of the element at *index*."""
        found: list[SchemaNode] = []
        for node in self.nodes:
            found += find_element_schemas(node, index)
        return tuple(found)

    def list_required(self) -> dict[str, None]:
        """Return the names of all required members."""
        return dict.fromkeys(name for names in self.iterate_values("required") for name in names)

    def list_names(self) -> dict[str, None]:
        """Return the names of all described members, in order."""
        described: dict[str, None] = {}
        for properties in self.iterate_values("properties"):
            described |= dict.fromkeys(properties)
        return described | self.list_required()

    def is_closed(self) -> bool:
        """Return whether members that are not described count as absent."""
        is_open = any(word in node.assertions for node in self.nodes for word in _OPENING)
        has_members = any("properties" in node.assertions for node in self.nodes)
        return self.is_described and has_members and not is_open

    def _may_have(self, name: str | None) -> bool:
        """Return whether a member called *name* is described, required, or any other."""
        if name is None or name.startswith(OTHER):
            return True
        # Not by `list_names`: all names for each member would be quadratic.
        if any(name in properties for properties in self.iterate_values("properties")):
            return True
        return any(name in names for names in self.iterate_values("required"))

    def find_member_schemas(self, name: str | None) -> tuple[SchemaNode, ...]:
        """Return the schemas of the member called *name*; of one with a name that is not described
        if None.
        """
        if self.is_closed() and not self._may_have(name):
            return _NOTHING
        found: list[SchemaNode] = []
        for node in self.nodes:
            found += find_member_schemas(node, name)
        return tuple(found)


def find_element_schemas(node: SchemaNode, index: int) -> list[SchemaNode]:
    """Return the schema that *node* has for the element at *index*, if any."""
    first = node.find_under("prefixItems")
    if index in first:
        return [first[index]]
    return list(node.find_under("items").values())


def find_member_schemas(node: SchemaNode, name: str | None) -> list[SchemaNode]:
    """Return the schema that *node* certainly has for a member called *name*, if any; for one that
    it does not describe if None.

    The name may match any of its patterns, so that these may apply in place of
    `additionalProperties`.
    """
    described = node.find_under("properties")
    if name in described:
        return [described[name]]
    if node.assertions.get("patternProperties"):
        return []
    return list(node.find_under("additionalProperties").values())


def find_cases(
    nodes: tuple[SchemaNode, ...], budget: Budget, is_described: bool
) -> list[ValueCase]:
    """Return the cases of values that fit all *nodes*.

    Raises:
        TooExpensive: if they are too many.
    """
    found: list[ValueCase] = []
    for flat in _choose_alternatives(nodes, frozenset(), budget):
        found += _split_by_kind(flat, is_described)
        budget.spend()
        if len(found) > _MAX_CASES:
            raise TooExpensive("a schema has too many alternatives")
    budget.spend(len(found))
    return found


def _choose_alternatives(
    nodes: tuple[SchemaNode, ...], seen: frozenset[SchemaNode], budget: Budget
) -> Iterator[tuple[SchemaNode, ...]]:
    """Yield all ways to choose from alternatives, with references followed and parts of `allOf`
    side by side.
    """
    flat: list[SchemaNode] = []
    choices: list[tuple[SchemaNode, ...]] = []
    waiting = list(nodes)
    while waiting:
        node = waiting.pop(0)
        if node in seen:  # known already; or a reference that leads to itself, which has no meaning
            continue
        budget.spend()
        seen |= {node}
        flat.append(node)
        waiting += node.list_applied()
        # That only one of `oneOf` may fit is left out.
        if "anyOf" in node.assertions:
            choices.append(node.any_of)
        if "oneOf" in node.assertions:
            choices.append(node.one_of)
    if not choices:
        yield tuple(flat)
        return
    for chosen in product(*choices):
        for more in _choose_alternatives(chosen, seen, budget):
            yield (*flat, *more)


def _split_by_kind(nodes: tuple[SchemaNode, ...], is_described: bool) -> list[ValueCase]:
    kinds = set(KINDS)
    for node in nodes:
        kinds &= list_own_kinds(node)
    listed: list[list[Any]] = []
    for node in nodes:
        listed += list_allowed_values(node)
    cases = []
    if listed:
        for value in _find_common(listed):
            kind = name_kind(value)
            if kind in kinds:
                cases.append(ValueCase(kind, nodes, is_described, value))
        return cases
    for name in KINDS:
        if name not in kinds:
            continue
        for value in _VALUES.get(name, (msgspec.UNSET,)):
            cases.append(ValueCase(name, nodes, is_described, value))
    return cases


def _find_common(listed: list[list[Any]]) -> list[Any]:
    """Return the values that all lists have, in the order of the first."""
    values = {make_identity(value): value for value in listed[0]}
    for others in listed[1:]:
        common = [one for one in map(make_identity, others) if one in values]
        values = {one: values[one] for one in common}
    return list(values.values())


_VALUES: dict[str, tuple[Any, ...]] = {"null": (None,), "boolean": (False, True)}


def list_allowed_values(node: SchemaNode) -> list[list[Any]]:
    """Return the values that `const` and those that `enum` lists, of each that is there."""
    listed = []
    if "const" in node.assertions:
        listed.append([node.assertions["const"]])
    if "enum" in node.assertions:
        listed.append(node.assertions["enum"])
    return listed


def list_own_kinds(node: SchemaNode) -> set[str]:
    """Return the kinds of values that the type of *node* allows."""
    return list_kinds_of_types(node.assertions.get("type", KINDS))


def list_kinds_of_types(types: str | list[str] | tuple[str, ...]) -> set[str]:
    """Return the kinds that `type` names."""
    names = [types] if isinstance(types, str) else types
    kinds = set(names)
    if "number" in kinds:
        kinds.remove("number")
        kinds.update(NUMBERS)
    return kinds


def name_kind(value: Any) -> str:
    """Return the kind of a JSON value."""
    known = _KINDS.get(type(value))
    if known is not None:
        return known
    if Fraction(value).denominator == 1:
        return "integer"
    return "fraction"


_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    str: "string",
    list: "array",
    dict: "object",
}
