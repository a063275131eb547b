"""Decides whether one schema takes every value that another takes: yes, no, or unknown."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ..json_schema.bounded_validator import Budget, TooExpensive
from .counterexample import Candidates
from .nodes import Document, Node, equal
from .proof import Proof

Answer = Literal["yes", "no", "unknown"]

MAX_STEPS = 100_000
"""Two tools' schemas take some hundred steps. This many are a few seconds."""


class Verdict(msgspec.Struct, frozen=True):
    """The answer; with "no", the `witness` is a value that only the old schema takes."""

    answer: Answer
    witness: Any = msgspec.UNSET


YES, UNKNOWN = Verdict("yes"), Verdict("unknown")


def takes_all(new: Any, old: Any, *, is_described: bool = False) -> Verdict:
    """Return whether the schema *new* takes every value that the schema *old* takes, or *is_described* by it.

    "yes" is proved, and "no" is shown by a value. Both hold by the drafts that the schemas name, or else 2020-12, and
    whether or not a validator checks formats. A described value has no members but those that *old* describes, and no
    others that *new* describes.
    """
    if equal(old, new):
        return YES
    try:
        before, after = Document(old), Document(new)
        if before.is_readable and after.is_readable:
            return Comparison(Budget(3 * MAX_STEPS), is_described=is_described).verdict(before.top, after.top)
    except RecursionError:
        pass
    return UNKNOWN


class Comparison:
    """Answers questions about the schemas of two readable documents; each takes a third of what the *budget* has left.

    It is about the values that the old schema takes, or only about those that it describes (`Case`).
    """

    def __init__(self, budget: Budget, *, is_described: bool) -> None:
        self._budget = budget
        self._proof = Proof(budget, is_described=is_described)
        self._candidates = Candidates(self._proof, budget)

    def same(self, one: Node, other: Node) -> bool:
        """Return True if no value can distinguish them, and that is known."""
        try:
            return self._proof.same(one, other)
        except TooExpensive:
            return False

    def verdict(self, old: Node, new: Node) -> Verdict:
        """Return whether *new* takes every value that *old* takes."""
        try:
            with self._budget.third():
                if self._proof.holds((old,), new):
                    return YES
                for witness in self._candidates.refused(old, new):
                    return Verdict("no", witness)
        except (TooExpensive, RecursionError):
            pass
        return UNKNOWN
