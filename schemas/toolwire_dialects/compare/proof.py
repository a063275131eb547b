"""A proof that every value that fits some schemas fits another one too.

Strategy. On the left of a claim are schemas that all apply; their values are divided into cases,
one for each type, alternative and listed value. Cases may hold more than the values that fit, since
keywords that are not understood are left out, but never less. On the right is one schema, read
keyword by keyword: each has a rule that says when a case certainly fits it, and one without a rule
is fitted only by the same keyword with the same value. So a proof is right, and where there is no
proof nothing is known.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.bounded_validator import TooExpensive, identity
from toolwire_schemas.json_schema.subschemas import HOLDING

from .nodes import ASSERTIONS, KINDS, NUMBERS, Claims, ComparedSchema, Node, equal

if TYPE_CHECKING:
    from collections.abc import Iterator

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

_NOTHING = (ComparedSchema(False).top,)

# With these an object says itself which members of other names it has, or it is not certain that it
# does not.
_OPENING = (
    *(
        "additionalProperties",
        "patternProperties",
        "propertyNames",
        "unevaluatedProperties",
        "dependentSchemas",
    ),
    *("not", "if"),
)


class Case(msgspec.Struct, frozen=True, eq=False):
    """Values of one *kind* that fit all *nodes*, or the one *value*.

    The nodes have no alternatives and references left in them that would matter. If *is_described*,
    all members that no node describes have names that no other schema describes either, and
    unbounded integers are safe ones: such values can be expected from the users of a schema.
    """

    kind: str
    nodes: tuple[Node, ...]
    is_described: bool = False
    value: Any = msgspec.UNSET

    def values_of(self, word: str) -> Iterator[Any]:
        """Yield the values of the keyword *word*."""
        return (node.words[word] for node in self.nodes if word in node.words)

    def is_within(self, word: str, value: Any) -> bool:
        """Return whether all numbers are within the bound *value* that the keyword *word* sets."""
        sign = 1 if word.endswith("inimum") else -1
        words = ("minimum", "exclusiveMinimum") if sign == 1 else ("maximum", "exclusiveMaximum")
        bounds = [
            (sign * Fraction(bound), word == words[1])
            for word in words
            for bound in self.values_of(word)
        ]
        is_integer = self.kind == "integer" and any(
            "number" not in types for types in self.values_of("type")
        )
        if not bounds and is_integer and self.is_described:
            bounds = [(Fraction(-SAFE_INTEGER), False)]
        if self.kind == "integer":
            bounds = [
                (Fraction(floor(bound) + 1 if above else ceil(bound)), False)
                for bound, above in bounds
            ]
        return bool(bounds) and max(bounds) >= (sign * Fraction(value), word == words[1])

    def least(self, word: str) -> int:
        """Return the greatest value of `minLength`, `minItems` or `minProperties`."""
        least = int(max(self.values_of(word), default=0))
        return max(least, len(self.required())) if word == "minProperties" else least

    def most(self, word: str) -> int | None:
        """Return the least value of `maxLength`, `maxItems` or `maxProperties`."""
        most = min(self.values_of(word), default=None)
        return None if most is None else int(most)

    def element(self, index: int) -> tuple[Node, ...]:
        """Return the schemas of the element at *index*."""
        return tuple(found for node in self.nodes for found in elements(node, index))

    def required(self) -> dict[str, None]:
        """Return the names of all required members."""
        return dict.fromkeys(name for names in self.values_of("required") for name in names)

    def names(self) -> dict[str, None]:
        """Return the names of all described members, in order."""
        return (
            dict.fromkeys(
                name for properties in self.values_of("properties") for name in properties
            )
            | self.required()
        )

    def is_closed(self) -> bool:
        """Return whether members that are not described count as absent."""
        is_open = any(word in node.words for node in self.nodes for word in _OPENING)
        return (
            self.is_described
            and not is_open
            and any("properties" in node.words for node in self.nodes)
        )

    def member(self, name: str | None) -> tuple[Node, ...]:
        """Return the schemas of the member called *name*; of one with a name that is not described
        if None.
        """
        named = (names for word in ("properties", "required") for names in self.values_of(word))
        is_named = name is None or name.startswith(OTHER) or any(name in names for names in named)
        if not is_named and self.is_closed():
            return _NOTHING
        return tuple(found for node in self.nodes for found in members(node, name))


def elements(node: Node, index: int) -> Iterator[Node]:
    """Yield the schema that *node* has for the element at *index*."""
    first = node.parts("prefixItems")
    yield from [first[index]] if index in first else node.parts("items").values()


def members(node: Node, name: str | None) -> Iterator[Node]:
    """Yield the schema that *node* certainly has for a member called *name*; for one that it does
    not describe if None.

    The name may match any of its patterns, so that these may apply in place of
    `additionalProperties`.
    """
    described = node.parts("properties")
    if name in described:
        yield described[name]
    elif not node.words.get("patternProperties"):
        yield from node.parts("additionalProperties").values()


def cases(nodes: tuple[Node, ...], budget: Budget, is_described: bool) -> list[Case]:
    """Return the cases of values that fit all *nodes*.

    Raises:
        TooExpensive: if they are too many.
    """
    found: list[Case] = []
    for flat in _alternatives(nodes, frozenset(), budget):
        found += _of_kinds(flat, is_described)
        budget.spend()
        if len(found) > _MAX_CASES:
            raise TooExpensive("a schema has too many alternatives")
    budget.spend(len(found))
    return found


def _alternatives(
    nodes: tuple[Node, ...], seen: frozenset[Node], budget: Budget
) -> Iterator[tuple[Node, ...]]:
    """Yield all ways to choose from alternatives, with references followed and parts of `allOf`
    side by side.
    """
    flat: list[Node] = []
    choices: list[list[Node]] = []
    waiting = list(nodes)
    while waiting:
        node = waiting.pop(0)
        if node in seen:  # known already; or a reference that leads to itself, which has no meaning
            continue
        budget.spend()
        seen |= {node}
        flat.append(node)
        waiting += [*node.parts("$ref").values(), *node.parts("allOf").values()]
        # That only one of `oneOf` may fit is left out.
        choices += [
            list(node.parts(word).values()) for word in ("anyOf", "oneOf") if word in node.words
        ]
    if not choices:
        yield tuple(flat)
        return
    for chosen in product(*choices):
        for more in _alternatives(chosen, seen, budget):
            yield (*flat, *more)


def _of_kinds(nodes: tuple[Node, ...], is_described: bool) -> list[Case]:
    kinds = set(KINDS).intersection(*(of_types(node.words.get("type", KINDS)) for node in nodes))
    if listed := [values for node in nodes for values in listed_by(node)]:
        values = {identity(value): value for value in listed[0]}
        for others in listed[1:]:
            values = {one: values[one] for one in map(identity, others) if one in values}
        return [
            Case(kind(value), nodes, is_described, value)
            for value in values.values()
            if kind(value) in kinds
        ]
    return [
        Case(name, nodes, is_described, value)
        for name in KINDS
        if name in kinds
        for value in _VALUES.get(name, (msgspec.UNSET,))
    ]


_VALUES: dict[str, tuple[Any, ...]] = {"null": (None,), "boolean": (False, True)}


def listed_by(node: Node) -> list[list[Any]]:
    """Return the values that `const` and those that `enum` lists, of each that is there."""
    constant = [[node.words["const"]]] if "const" in node.words else []
    return [*constant, node.words["enum"]] if "enum" in node.words else constant


def of_types(types: str | list[str] | tuple[str, ...]) -> set[str]:
    """Return the kinds that `type` names."""
    named = [types] if isinstance(types, str) else types
    return {kind for name in named for kind in (NUMBERS if name == "number" else (name,))}


def kind(value: Any) -> str:
    """Return the kind of a JSON value."""
    return _KINDS.get(type(value)) or (
        "integer" if Fraction(value).denominator == 1 else "fraction"
    )


_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    str: "string",
    list: "array",
    dict: "object",
}


def are_apart(one: Node, other: Node) -> bool:
    """Return whether no value fits both, by their types or by listed values, also those of a
    required member.
    """
    one, other = one.resolved(), other.resolved()
    parts, others = one.parts("properties"), other.parts("properties")
    needed = {*one.words.get("required", ())}.intersection(
        other.words.get("required", ()), parts, others
    )
    are_objects = kinds_of(one) == kinds_of(other) == {"object"}
    members = [(parts[name].resolved(), others[name].resolved()) for name in needed if are_objects]
    return any(_are_disjoint(*pair) for pair in ((one, other), *members))


def _are_disjoint(one: Node, other: Node) -> bool:
    mine, theirs = listed_by(one), listed_by(other)
    if mine and theirs:
        return set(map(identity, mine[0])).isdisjoint(map(identity, theirs[0]))
    return kinds_of(one).isdisjoint(kinds_of(other))


def kinds_of(node: Node) -> set[str]:
    """Return the kinds of values that may fit *node*, by its own type."""
    return of_types(node.resolved().words.get("type", KINDS))


class Proof:
    """The search for proofs about the schemas of two documents; see `Case` for *is_described*."""

    def __init__(self, budget: Budget, is_described: bool) -> None:
        self._budget = budget
        self._is_described = is_described
        self._claims, self._same = Claims(), Claims()
        self._listed: dict[tuple[Node, str], set[Any]] = {}

    def holds(self, left: tuple[Node, ...], right: Node) -> bool:
        """Return whether it is proved that every value that fits all on the *left* fits the
        *right*.

        Raises:
            TooExpensive: if that takes too long.
        """
        left, right = tuple(node.resolved() for node in left), right.resolved()
        if not right.words or any(self.same(node, right) for node in left):
            return True
        claim = (frozenset(left), right)
        return self._claims.holds(
            claim, lambda: all(self._fits(case, right, frozenset()) for case in self.cases(left))
        )

    def cases(self, left: tuple[Node, ...]) -> list[Case]:
        """Return the cases of values that fit all on the *left*."""
        return cases(left, self._budget, self._is_described)

    def same(self, one: Node, other: Node) -> bool:
        """Return True if no value can distinguish them. False only means that they are written
        differently.
        """
        one, other = one.resolved(), other.resolved()
        return one is other or self._same.holds(
            (one, other), lambda: self._has_same_words(one, other)
        )

    def _has_same_words(self, one: Node, other: Node) -> bool:
        self._budget.spend()
        return one.words.keys() == other.words.keys() and all(
            self._restates(word, one, other) for word in one.words
        )

    def _restates(self, word: str, one: Node, other: Node) -> bool:
        """Return whether both have the same under *word*, wherever its schemas are: in place or
        referenced.
        """
        if word not in one.words or word not in other.words:
            return word not in one.words and word not in other.words
        if word not in HOLDING:
            return equal(one.words[word], other.words[word])
        mine, theirs = one.parts(word), other.parts(word)
        return mine.keys() == theirs.keys() and all(
            self.same(mine[name], theirs[name]) for name in mine
        )

    def _fits(self, case: Case, right: Node, followed: frozenset[Node]) -> bool:
        """Return whether all values of *case* fit *right*; *followed* led to it within the same
        value.
        """
        self._budget.spend()
        if any(self.same(node, right) for node in case.nodes):
            return True
        if right in followed:
            return False
        followed |= {right}
        rest = [word for word in right.words if word not in _ABOUT_ANY]
        return (
            all(
                self._fits_any(word, case, right, followed)
                for word in right.words
                if word in _ABOUT_ANY
            )
            and self._fits_rest(case, right, rest)
        ) or self._is_void(case)

    def _fits_any(self, word: str, case: Case, right: Node, followed: frozenset[Node]) -> bool:
        value, parts = right.words[word], right.parts(word)
        match word:
            case "type":
                return case.kind in of_types(value)
            case "enum" | "const":
                if (right, word) not in self._listed:
                    self._listed[right, word] = set(
                        map(identity, value if word == "enum" else [value])
                    )
                return (
                    case.value is not msgspec.UNSET
                    and identity(case.value) in self._listed[right, word]
                )
            case "$ref" | "allOf":
                return all(self._fits(case, part, followed) for part in parts.values())
            case "anyOf":
                return any(self._fits(case, part, followed) for part in parts.values())
        if case.value is not msgspec.UNSET:
            return right.document.judge({word: value}, case.value, self._budget) is True
        return any(
            self._fits(case, part, followed)
            and all(
                at == place or case.kind not in kinds_of(other) or are_apart(part, other)
                for at, other in parts.items()
            )
            for place, part in parts.items()
        )

    def _fits_rest(self, case: Case, right: Node, rest: list[str]) -> bool:
        if rest and case.value is not msgspec.UNSET:
            return (
                right.document.judge(
                    {word: right.words[word] for word in rest}, case.value, self._budget
                )
                is True
            )
        return all(
            case.kind not in ASSERTIONS[word] or self._fits_word(word, case, right) for word in rest
        )

    def _fits_word(self, word: str, case: Case, right: Node) -> bool:
        value = right.words[word]
        match word:
            case "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum":
                return case.is_within(word, value)
            case "minLength" | "minItems" | "minProperties":
                return bool(case.least(word) >= value)
            case "maxLength" | "maxItems" | "maxProperties":
                return (most := case.most(word)) is not None and most <= value
            case "required":
                return case.required().keys() >= set(value)
            case "properties":
                return all(
                    self.holds(case.member(name), part) for name, part in right.parts(word).items()
                )
            case "additionalProperties":
                names = [
                    None,
                    *(
                        name
                        for name in case.names()
                        if name not in right.words.get("properties", ())
                    ),
                ]
                return all(self.holds(case.member(name), right.at(value)) for name in names)
            case "prefixItems" | "items":
                return self._fits_items(case, right)
        # With a keyword that has no rule, one of the case's schemas has to say the same.
        group = next((group for group in _GROUPS if word in group), (word,))
        nodes = [node for node in case.nodes if word in node.words]
        return any(all(self._restates(name, node, right) for name in group) for node in nodes)

    def _fits_items(self, case: Case, right: Node) -> bool:
        most = case.most("maxItems")
        for index in range(
            max(len(node.words.get("prefixItems", ())) for node in (*case.nodes, right)) + 1
        ):
            if (most is not None and index >= most) or not self.cases(case.element(index)):
                return True  # no array is that long
            if not all(
                self.holds(case.element(index), wanted) for wanted in elements(right, index)
            ):
                return False
        return True

    def _is_void(self, case: Case) -> bool:
        """Return whether no value is like that, since a member is required and cannot be there."""
        return case.kind == "object" and any(
            not self.cases(case.member(name)) for name in case.required()
        )


_ABOUT_ANY = ("type", "enum", "const", "$ref", "allOf", "anyOf", "oneOf")
_GROUPS = (("if", "then", "else"), ("contains", "minContains", "maxContains"))
