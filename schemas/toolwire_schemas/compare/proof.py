"""A proof that whatever fits some schemas fits another one too.

Strategy. On the left of a claim are schemas of which all hold; their values are split into cases (`cases.py`), and the
cases may hold too much, never too little. On the right is one schema, taken word by word: each word has a rule that
says when a case is sure to fit it (`rules.py`), and what no rule reads is fitted only by what says the same. So a
proof is right, and where none is found nothing is known.

Schemas may contain themselves. A claim about the parts of a value may use the claim that is being proved about the
whole: parts are smaller than the whole, so that this ends, at values without parts.
"""

from __future__ import annotations

from .nodes import Key, Node, Sameness, TooComplex, spend
from .proof_cases import Case, apart, cases
from .proof_rules import RULES, impossible

Claim = tuple[frozenset[Key], Key]

# Tools' schemas take a few hundred steps. This many are a second or two.
_MAX_STEPS = 20_000
_MAX_DEPTH = 40


class Proof:
    """The search for proofs about the schemas of two documents."""

    def __init__(self) -> None:
        self._same = Sameness()
        self._steps = 0
        self._claimed: list[Claim] = []
        self._proved: set[Claim] = set()
        self._failed: set[Claim] = set()
        self._used: set[Claim] = set()

    def holds(self, left: tuple[Node, ...], right: Node) -> bool:
        """Return whether it is proved that what fits all on the *left* fits the *right*.

        Raises:
            TooComplex: if that takes too long.
        """
        if any(self._same(node, right) for node in left):
            return True
        left, right = tuple(node.resolved() for node in left), right.resolved()
        claim = (frozenset(node.key for node in left), right.key)
        if claim in self._claimed:
            self._used.add(claim)
            return True
        if claim in self._proved or claim in self._failed:
            return claim in self._proved
        return self._search(claim, left, right)

    def _search(self, claim: Claim, left: tuple[Node, ...], right: Node) -> bool:
        outside, self._used = self._used, set()
        self._claimed.append(claim)
        found = all(self._fits(case, right, frozenset()) for case in self._cases(left))
        self._claimed.pop()
        self._used.discard(claim)
        if not found:
            self._failed.add(claim)
        elif not self._used:  # else it is true only if what it used turns out to be
            self._proved.add(claim)
        self._used |= outside
        return found

    def _cases(self, left: tuple[Node, ...]) -> list[Case]:
        found = cases(left)
        self._step(len(found) + 1)
        return found

    def _step(self, steps: int = 1) -> None:
        self._steps += steps
        spend(steps)
        if self._steps > _MAX_STEPS or len(self._claimed) > _MAX_DEPTH:
            raise TooComplex

    def _fits(self, case: Case, right: Node, followed: frozenset[Key]) -> bool:
        """Whether all values of *case* fit *right*; *followed* is what led to it within the same value."""
        self._step()
        if any(self._same(node, right) for node in case.nodes):
            return True
        if right.key in followed or not right.is_clear:
            return False
        followed |= {right.key}
        return all(self._word(word, case, right, followed) for word in right.words) or _is_void(case)

    def _word(self, word: str, case: Case, right: Node, followed: frozenset[Key]) -> bool:
        value = right.words[word]
        match word:
            case "$ref":
                there = right.document.target(value)
                return there is not None and self._fits(case, there, followed)
            case "allOf":
                return all(self._fits(case, right.at(inner), followed) for inner in value)
            case "anyOf":
                return any(self._fits(case, right.at(inner), followed) for inner in value)
            case "oneOf":
                return self._fits_one(case, [right.at(inner) for inner in value], followed)
            case "not":
                return self.restates(case, right, ("not",)) or apart(case, right.at(value))
            case "if" | "then" | "else":
                means_nothing = "if" not in right.words or right.words.keys().isdisjoint(("then", "else"))
                return means_nothing or self.restates(case, right, ("if", "then", "else"))
        kinds, rule = RULES[word]
        return case.kind not in kinds or rule(self, case, value, right)

    def _fits_one(self, case: Case, branches: list[Node], followed: frozenset[Key]) -> bool:
        for place, branch in enumerate(branches):
            if self._fits(case, branch, followed):
                return all(apart(case, other) for at, other in enumerate(branches) if at != place)
        return False

    def restates(self, case: Case, right: Node, words: tuple[str, ...]) -> bool:
        """Return whether one of the case's schemas says the same as *right* under all these *words*."""
        wanted = _part(right, words)
        return any(self._same(_part(node, words), wanted) for node in case.nodes if isinstance(node.schema, dict))


def _part(node: Node, words: tuple[str, ...]) -> Node:
    return node.document.made({word: node.schema[word] for word in words if word in node.schema})


def _is_void(case: Case) -> bool:
    """Whether no value is like that, since a member has to be there and cannot."""
    return case.kind == "object" and any(impossible(case.member(name)) for name in case.required())
