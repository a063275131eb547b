"""A proof that every value that fits some schemas fits another one too.

Strategy. On the left of a claim are schemas that all apply; their values are divided into cases (`cases.py`), which may
hold too much, never too little. On the right is one schema, read keyword by keyword: each has a rule that says when a
case certainly fits it, and one without a rule is fitted only by the same keyword with the same value. So a proof is
right, and where there is no proof nothing is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from ..json_schema.bounded_validator import identity
from .cases import Case, are_apart, cases, elements, kinds_of, of_types
from .nodes import ASSERTIONS, HOLDING, Claims, Node, equal

if TYPE_CHECKING:
    from ..json_schema.linear_regex import Budget


class Proof:
    """The search for proofs about the schemas of two documents; see `Case` for *is_described*."""

    def __init__(self, budget: Budget, is_described: bool) -> None:
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
        return cases(left, self._budget, self._is_described)

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
        rest = [word for word in right.words if word not in _ABOUT_ANY]
        return (
            all(self._fits_any(word, case, right, followed) for word in right.words if word in _ABOUT_ANY)
            and self._fits_rest(case, right, rest)
        ) or self._is_void(case)

    def _fits_any(self, word: str, case: Case, right: Node, followed: frozenset[Node]) -> bool:
        value, parts = right.words[word], right.parts(word)
        match word:
            case "type":
                return case.kind in of_types(value)
            case "enum" | "const":
                if (right, word) not in self._listed:
                    self._listed[right, word] = set(map(identity, value if word == "enum" else [value]))
                return case.value is not msgspec.UNSET and identity(case.value) in self._listed[right, word]
            case "$ref" | "allOf":
                return all(self._fits(case, part, followed) for part in parts.values())
            case "anyOf":
                return any(self._fits(case, part, followed) for part in parts.values())
        if case.value is not msgspec.UNSET:
            return right.document.judge({word: value}, case.value, self._budget) is True
        return any(
            self._fits(case, part, followed)
            and all(
                at == place or case.kind not in kinds_of(other) or are_apart(part, other) for at, other in parts.items()
            )
            for place, part in parts.items()
        )

    def _fits_rest(self, case: Case, right: Node, rest: list[str]) -> bool:
        if rest and case.value is not msgspec.UNSET:
            return right.document.judge({word: right.words[word] for word in rest}, case.value, self._budget) is True
        return all(case.kind not in ASSERTIONS[word] or self._fits_word(word, case, right) for word in rest)

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
                return all(self.holds(case.member(name), part) for name, part in right.parts(word).items())
            case "additionalProperties":
                names = [None, *(name for name in case.names() if name not in right.words.get("properties", ()))]
                return all(self.holds(case.member(name), right.at(value)) for name in names)
            case "prefixItems" | "items":
                return self._fits_items(case, right)
        # With a keyword that has no rule, one of the case's schemas has to say the same.
        group = next((group for group in _GROUPS if word in group), (word,))
        nodes = [node for node in case.nodes if word in node.words]
        return any(all(self._restates(name, node, right) for name in group) for node in nodes)

    def _fits_items(self, case: Case, right: Node) -> bool:
        most = case.most("maxItems")
        for index in range(max(len(node.words.get("prefixItems", ())) for node in (*case.nodes, right)) + 1):
            if (most is not None and index >= most) or not self.cases(case.element(index)):
                return True  # no array is that long
            if not all(self.holds(case.element(index), wanted) for wanted in elements(right, index)):
                return False
        return True

    def _is_void(self, case: Case) -> bool:
        """Return whether no value is like that, since a member is required and cannot be there."""
        return case.kind == "object" and any(not self.cases(case.member(name)) for name in case.required())


_ABOUT_ANY = ("type", "enum", "const", "$ref", "allOf", "anyOf", "oneOf")
_GROUPS = (("if", "then", "else"), ("contains", "minContains", "maxContains"))
