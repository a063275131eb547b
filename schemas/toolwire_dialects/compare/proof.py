"""A proof that every value that fits some schemas fits another one too.

Strategy. On the left of a claim are schemas that all apply; their values are divided into cases
(`value_cases.py`). Cases may hold more than the values that fit, since keywords that are not
understood are left out, but never less. On the right is one schema, read keyword by keyword: each
has a rule that says when a case certainly fits it, and one without a rule is fitted only by the
same keyword with the same value. So a proof is right, and where there is no proof nothing is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.bounded_validator import make_identity
from toolwire_schemas.json_schema.subschemas import COMBINING, HOLDING

from .nodes import Claims, equal, judge, list_kinds_judged
from .value_cases import (
    ValueCase,
    find_cases,
    find_element_schemas,
    list_allowed_values,
    list_kinds_of_types,
    list_own_kinds,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolwire_schemas.json_schema.graph import SchemaNode
    from toolwire_schemas.json_schema.linear_regex import Budget

    Nodes = frozenset[SchemaNode]

_ABOUT_ANY = COMBINING | {"type", "enum", "const", "anyOf", "oneOf"}
"""Keywords about values of all types that have a rule."""
_CONDITION = ("if", "then", "else")
_CONTENTS = ("contains", "minContains", "maxContains")
_GROUPS = dict.fromkeys(_CONDITION, _CONDITION) | dict.fromkeys(_CONTENTS, _CONTENTS)
"""Keywords that mean something only together."""


class Proof:
    """The search for proofs about the schemas of two documents.

    See `ValueCase` for *is_described*.
    """

    def __init__(self, budget: Budget, is_described: bool) -> None:
        self._budget = budget
        self._is_described = is_described
        self._claims, self._same = Claims(), Claims()
        self._listed: dict[tuple[SchemaNode, str], set[Any]] = {}

    def holds(self, left: tuple[SchemaNode, ...], right: SchemaNode) -> bool:
        """Return whether it is proved that every value that fits all on the *left* fits the
        *right*.

        Raises:
            TooExpensive: if that takes too long.
        """
        right = right.target
        left = tuple(node.target for node in left)
        if not right.assertions or self._restates_any(left, right):
            return True
        claim = frozenset(left), right
        return self._claims.holds(claim, lambda: self._do_all_fit(self.find_cases(left), right))

    def _do_all_fit(self, cases: list[ValueCase], right: SchemaNode) -> bool:
        return all(self._fits(case, right, frozenset()) for case in cases)

    def _restates_any(self, left: Iterable[SchemaNode], right: SchemaNode) -> bool:
        """Return whether one schema on the *left* is the same as *right*."""
        return any(self.are_same(node, right) for node in left)

    def find_cases(self, left: tuple[SchemaNode, ...]) -> list[ValueCase]:
        """Return the cases of values that fit all on the *left*."""
        return find_cases(left, self._budget, self._is_described)

    # --- the same schema ---

    def are_same(self, one: SchemaNode, other: SchemaNode) -> bool:
        """Return True if no value can distinguish them. False only means that they are written
        differently.
        """
        one, other = one.target, other.target
        if one is other:
            return True
        return self._same.holds((one, other), lambda: self._has_same_words(one, other))

    def _has_same_words(self, one: SchemaNode, other: SchemaNode) -> bool:
        self._budget.spend()
        words = one.assertions.keys()
        if words != other.assertions.keys():
            return False
        return self._restates_all(words, one, other)

    def _restates_all(self, words: Iterable[str], one: SchemaNode, other: SchemaNode) -> bool:
        return all(self._restates(word, one, other) for word in words)

    def _restates(self, word: str, one: SchemaNode, other: SchemaNode) -> bool:
        """Return whether both have the same under *word*, wherever its schemas are: in place or
        referenced.
        """
        is_in_one = word in one.assertions
        is_in_other = word in other.assertions
        if not is_in_one or not is_in_other:
            return is_in_one == is_in_other
        if word not in HOLDING:
            return equal(one.assertions[word], other.assertions[word])
        mine, theirs = one.find_under(word), other.find_under(word)
        if mine.keys() != theirs.keys():
            return False
        return all(self.are_same(inner, theirs[name]) for name, inner in mine.items())

    # --- a case fits a schema ---

    def _fits(self, case: ValueCase, right: SchemaNode, followed: Nodes) -> bool:
        """Return whether all values of *case* fit *right*; *followed* led to it within the same
        value.
        """
        self._budget.spend()
        if self._restates_any(case.nodes, right):
            return True
        if right in followed:
            return False
        return self._fits_words(case, right, followed | {right}) or self._is_void(case)

    def _fits_words(self, case: ValueCase, right: SchemaNode, followed: Nodes) -> bool:
        rest = []
        for word in right.assertions:
            if word not in _ABOUT_ANY:
                rest.append(word)
            elif not self._fits_any(word, case, right, followed):
                return False
        if not rest:
            return True
        return self._fits_rest(rest, case, right)

    def _fits_any(self, word: str, case: ValueCase, right: SchemaNode, followed: Nodes) -> bool:
        """Return whether *case* fits a keyword about values of all types."""
        match word:
            case "type":
                return case.kind in list_kinds_of_types(right.assertions[word])
            case "enum" | "const":
                is_value = case.value is not msgspec.UNSET
                return is_value and make_identity(case.value) in self._list_identities(word, right)
            case "anyOf":
                return any(self._fits(case, part, followed) for part in right.any_of)
            case "oneOf":
                return self._fits_one(case, right, followed)
        return all(self._fits(case, part, followed) for part in right.find_under(word).values())

    def _fits_one(self, case: ValueCase, right: SchemaNode, followed: Nodes) -> bool:
        """Return whether *case* fits exactly one schema of `oneOf`."""
        if case.value is not msgspec.UNSET:
            schema = {"oneOf": right.assertions["oneOf"]}
            return judge(right, schema, case.value, self._budget) is True
        parts = right.one_of
        for place, part in enumerate(parts):
            if not self._fits(case, part, followed):
                continue
            others = parts[:place] + parts[place + 1 :]
            if all(_is_apart(case, part, other) for other in others):
                return True
        return False

    def _list_identities(self, word: str, right: SchemaNode) -> set[Any]:
        """Return the identities of the values of `enum`, or of the one of `const`."""
        key = (right, word)
        if key not in self._listed:
            value = right.assertions[word]
            values = value if word == "enum" else [value]
            self._listed[key] = set(map(make_identity, values))
        return self._listed[key]

    def _fits_rest(self, rest: list[str], case: ValueCase, right: SchemaNode) -> bool:
        """Return whether *case* fits the keywords in *rest*, each about values of one type."""
        if case.value is not msgspec.UNSET:
            schema = {word: right.assertions[word] for word in rest}
            return judge(right, schema, case.value, self._budget) is True
        for word in rest:
            if case.kind not in list_kinds_judged(word):
                continue
            if not self._fits_word(word, case, right):
                return False
        return True

    def _fits_word(self, word: str, case: ValueCase, right: SchemaNode) -> bool:
        value = right.assertions[word]
        match word:
            case "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum":
                return case.is_within(word, value)
            case "minLength" | "minItems" | "minProperties":
                return bool(case.find_least(word) >= value)
            case "maxLength" | "maxItems" | "maxProperties":
                most = case.find_most(word)
                return most is not None and most <= value
            case "required":
                return case.list_required().keys() >= set(value)
            case "properties":
                return self._fits_properties(case, right)
            case "additionalProperties":
                return self._fits_additional(case, right)
            case "prefixItems" | "items":
                return self._fits_items(case, right)
        return self._has_same_group(word, case, right)

    def _has_same_group(self, word: str, case: ValueCase, right: SchemaNode) -> bool:
        """Return whether one schema of *case* says the same under *word*, which has no rule."""
        group = _GROUPS.get(word, (word,))
        for node in case.nodes:
            if word in node.assertions and self._restates_all(group, node, right):
                return True
        return False

    def _fits_properties(self, case: ValueCase, right: SchemaNode) -> bool:
        for name, part in right.find_under("properties").items():
            if not self.holds(case.find_member_schemas(name), part):
                return False
        return True

    def _fits_additional(self, case: ValueCase, right: SchemaNode) -> bool:
        (additional,) = right.find_under("additionalProperties").values()
        if not self.holds(case.find_member_schemas(None), additional):
            return False
        for name in case.list_names():
            if name in right.find_under("properties"):
                continue
            if not self.holds(case.find_member_schemas(name), additional):
                return False
        return True

    def _fits_items(self, case: ValueCase, right: SchemaNode) -> bool:
        most = case.find_most("maxItems")
        longest = max(len(node.find_under("prefixItems")) for node in (*case.nodes, right))
        # All elements after the longest tuple are like the first of them.
        for index in range(longest + 1):
            if index == most:
                return True
            element = case.find_element_schemas(index)
            if not self.find_cases(element):
                return True  # no array is that long
            for wanted in find_element_schemas(right, index):
                if not self.holds(element, wanted):
                    return False
        return True

    def _is_void(self, case: ValueCase) -> bool:
        """Return whether no value is like that, since a member is required and cannot be there."""
        if case.kind != "object":
            return False
        return any(
            not self.find_cases(case.find_member_schemas(name)) for name in case.list_required()
        )


def _is_apart(case: ValueCase, part: SchemaNode, other: SchemaNode) -> bool:
    """Return whether no value of *case* that fits *part* fits *other*."""
    return case.kind not in list_own_kinds(other.target) or are_apart(part, other)


def are_apart(one: SchemaNode, other: SchemaNode) -> bool:
    """Return whether no value fits both, by their types or by listed values, also those of a
    required member.
    """
    one, other = one.target, other.target
    if _are_disjoint(one, other):
        return True
    if not list_own_kinds(one) == list_own_kinds(other) == {"object"}:
        return False
    mine = _list_required_members(one)
    theirs = _list_required_members(other)
    return any(_are_disjoint(mine[name], theirs[name]) for name in mine.keys() & theirs.keys())


def _list_required_members(node: SchemaNode) -> dict[str, SchemaNode]:
    """Return the schemas of the members that *node* describes and requires."""
    described = node.find_under("properties")
    found = {}
    for name in node.assertions.get("required", ()):
        if name in described:
            found[name] = described[name].target
    return found


def _are_disjoint(one: SchemaNode, other: SchemaNode) -> bool:
    mine, theirs = list_allowed_values(one), list_allowed_values(other)
    if mine and theirs:
        my_values = set(map(make_identity, mine[0]))
        return my_values.isdisjoint(map(make_identity, theirs[0]))
    return list_own_kinds(one).isdisjoint(list_own_kinds(other))
