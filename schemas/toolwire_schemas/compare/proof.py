"""A proof that every value that fits some schemas fits another one too.

Strategy. On the left of a claim are schemas that all apply; their values are divided into cases (`cases.py`), which may
hold too much, never too little. On the right is one schema, read keyword by keyword: each has a rule that says when a
case certainly fits it, and one without a rule is fitted only by the same keyword with the same value. So a proof is
right, and where there is no proof nothing is known.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ..json_schema.bounded_validator import identity
from .cases import Case, are_apart, cases, elements, kinds_of, of_types
from .nodes import ASSERTIONS, HOLDING, Claims, Node, equal

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..json_schema.linear_regex import Budget

    Rule = Callable[["Proof", Case, Any, Node], bool]
    """Takes a case, the value of the rule's keyword, and the schema with that keyword."""


class Proof:
    """The search for proofs about the schemas of two documents; see `Case` for *is_described*."""

    def __init__(self, budget: Budget, *, is_described: bool) -> None:
        self._budget = budget
        self._is_described = is_described
        self._claims, self._same = Claims(), Claims()
        self._listed: dict[tuple[Node, str], set[Any]] = {}

    def holds(self, left: tuple[Node, ...], right: Node) -> bool:
        """Return whether it is proved that every value that fits all on the *left* fits the *right*.

        Raises:
            TooExpensive: if that takes too long.
        """
        left, right = tuple(node.resolved() for node in left), right.resolved()
        if not right.words or any(self.same(node, right) for node in left):
            return True
        claim = (frozenset(left), right)
        return self._claims.holds(claim, lambda: all(self._fits(case, right, frozenset()) for case in self.cases(left)))

    def cases(self, left: tuple[Node, ...]) -> list[Case]:
        """Return the cases of values that fit all on the *left*."""
        return cases(left, self._budget, is_described=self._is_described)

    def same(self, one: Node, other: Node) -> bool:
        """Return True if no value can distinguish them. False only means that they are written differently."""
        one, other = one.resolved(), other.resolved()
        return one is other or self._same.holds((one, other), lambda: self._has_same_words(one, other))

    def _has_same_words(self, one: Node, other: Node) -> bool:
        self._budget.spend()
        return one.words.keys() == other.words.keys() and all(self._restates(word, one, other) for word in one.words)

    def _restates(self, word: str, one: Node, other: Node) -> bool:
        """Return whether both have the same under *word*, wherever its schemas are: in place or referenced."""
        if word not in one.words or word not in other.words:
            return word not in one.words and word not in other.words
        if word not in HOLDING:
            return equal(one.words[word], other.words[word])
        mine, theirs = one.parts(word), other.parts(word)
        return mine.keys() == theirs.keys() and all(self.same(mine[name], theirs[name]) for name in mine)

    def _fits(self, case: Case, right: Node, followed: frozenset[Node]) -> bool:
        """Return whether all values of *case* fit *right*; *followed* led to it within the same value."""
        self._budget.spend()
        if any(self.same(node, right) for node in case.nodes):
            return True
        if right in followed:
            return False
        followed |= {right}
        rest = {word: value for word, value in right.words.items() if word not in _ABOUT_ANY}
        found = all(
            self._any_kind(word, case, right, followed) for word in right.words if word in _ABOUT_ANY
        ) and self._fits_rest(case, right, rest)
        return found or self._is_void(case)

    def _any_kind(self, word: str, case: Case, right: Node, followed: frozenset[Node]) -> bool:
        value = right.words[word]
        match word:
            case "type":
                return case.kind in of_types(value)
            case "enum" | "const":
                if (right, word) not in self._listed:
                    self._listed[right, word] = set(map(identity, value if word == "enum" else [value]))
                return case.value is not msgspec.UNSET and identity(case.value) in self._listed[right, word]
            case "$ref":
                return self._fits(case, right.document.target(value), followed)
            case "allOf":
                return all(self._fits(case, part, followed) for part in right.parts(word).values())
            case "anyOf":
                return any(self._fits(case, branch, followed) for branch in right.parts(word).values())
        if case.value is not msgspec.UNSET:
            return right.document.judge({"oneOf": value}, case.value, self._budget) is True
        branches = right.parts("oneOf")
        return any(
            self._fits(case, branch, followed)
            and all(
                case.kind not in kinds_of(other) or are_apart(branch, other)
                for index, other in branches.items()
                if index != at
            )
            for at, branch in branches.items()
        )

    def _fits_rest(self, case: Case, right: Node, rest: dict[str, Any]) -> bool:
        if rest and case.value is not msgspec.UNSET:
            return right.document.judge(rest, case.value, self._budget) is True
        return all(
            case.kind not in ASSERTIONS[word]
            or (_RULES[word](self, case, value, right) if word in _RULES else self._is_restated(case, right, word))
            for word, value in rest.items()
        )

    def _is_restated(self, case: Case, right: Node, word: str) -> bool:
        """Return whether one of the case's schemas has the same as *right* under *word* and those that belong to it."""
        group = next((group for group in _GROUPS if word in group), (word,))
        nodes = [node for node in case.nodes if word in node.words]
        return any(all(self._restates(name, node, right) for name in group) for node in nodes)

    def _is_void(self, case: Case) -> bool:
        """Return whether no value is like that, since a member is required and cannot be there."""
        return case.kind == "object" and any(not self.cases(case.member(name)) for name in case.required())


_ABOUT_ANY = ("type", "enum", "const", "$ref", "allOf", "anyOf", "oneOf")
_GROUPS = (("if", "then", "else"), ("contains", "minContains", "maxContains"))


def _bound(side: Literal["min", "max"], sign: int, is_exclusive: bool) -> Rule:
    def rule(proof: Proof, case: Case, value: Any, right: Node) -> bool:
        bound = case.bound(side)
        return bound is not None and bound >= (sign * Fraction(value), is_exclusive)

    return rule


def _least(word: str) -> Rule:
    return lambda proof, case, value, right: bool(case.least(word) >= value)


def _most(word: str) -> Rule:
    return lambda proof, case, value, right: (most := case.most(word)) is not None and most <= value


def _multiple(proof: Proof, case: Case, value: Any, right: Node) -> bool:
    # The numbers are compared as binary fractions: for validators that divide, 0.3 is no multiple of 0.1.
    steps = [*case.values_of("multipleOf"), *((1,) if case.kind == "integer" else ())]
    return any((Fraction(step) / Fraction(value)).denominator == 1 for step in steps)


def _items(proof: Proof, case: Case, value: Any, right: Node) -> bool:
    most = case.most("maxItems")
    for index in range(max(case.prefix(), len(right.words.get("prefixItems", ()))) + 1):
        if (most is not None and index >= most) or not proof.cases(case.element(index)):
            return True  # no array is that long
        if not all(proof.holds(case.element(index), wanted) for wanted in elements(right, index)):
            return False
    return True


def _properties(proof: Proof, case: Case, value: dict[str, Any], right: Node) -> bool:
    return all(proof.holds(case.member(name), right.at(wanted)) for name, wanted in value.items())


def _required(proof: Proof, case: Case, value: list[str], right: Node) -> bool:
    return case.required().keys() >= set(value)


def _additional(proof: Proof, case: Case, value: Any, right: Node) -> bool:
    wanted = right.at(value)
    others = [name for name in case.names() if name not in right.words.get("properties", ())]
    return proof.holds(case.others(), wanted) and all(proof.holds(case.member(name), wanted) for name in others)


_RULES: dict[str, Rule] = {
    "minimum": _bound("min", 1, False),
    "exclusiveMinimum": _bound("min", 1, True),
    "maximum": _bound("max", -1, False),
    "exclusiveMaximum": _bound("max", -1, True),
    "multipleOf": _multiple,
    "prefixItems": _items,
    "items": _items,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional,
    **{word: _least(word) for word in ("minLength", "minItems", "minProperties")},
    **{word: _most(word) for word in ("maxLength", "maxItems", "maxProperties")},
}
