"""Decides whether one schema takes every value that another takes: yes, no, or unknown."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ..json_schema.bounded_validator import Budget, TooExpensive
from .counterexample import Candidates
from .nodes import Document, Node, Sameness, equal
from .proof import Proof

Answer = Literal["yes", "no", "unknown"]

MAX_STEPS = 100_000
"""Two tools' schemas take some hundred steps. This many are a few seconds."""


class Verdict(msgspec.Struct, frozen=True):
    """The answer; with "no", the `witness` is a value that only the old schema takes."""

    answer: Answer
    witness: Any = msgspec.UNSET


YES, UNKNOWN = Verdict("yes"), Verdict("unknown")


def takes_all(new: Any, old: Any) -> Verdict:
    """Return whether the schema *new* takes every value that the schema *old* takes.

    "yes" is proved, and "no" is shown by a value. Both hold by the drafts that the schemas name, or else 2020-12, and
    whether or not a validator checks formats.
    """
    if equal(old, new):
        return YES
    try:
        before, after = Document(old), Document(new)
        return Comparison(Budget(3 * MAX_STEPS)).verdict(before.top, after.top)
    except RecursionError:
        return UNKNOWN


class Comparison:
    """Answers questions about the schemas of two documents; each may take a third of what the *budget* has left."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.same = Sameness(budget)
        self._proofs = {mode: Proof(self.same, budget, is_described=mode) for mode in (False, True)}
        self._candidates = {mode: Candidates(proof, budget) for mode, proof in self._proofs.items()}

    def verdict(self, old: Node, new: Node, *, is_described: bool = False) -> Verdict:
        """Return whether *new* takes every value that *old* takes; or that it describes (`Case`)."""
        if not (old.document.is_readable and new.document.is_readable):
            return UNKNOWN
        try:
            with self._budget.third():
                if self._proofs[is_described].holds((old,), new):
                    return YES
                for witness in self._candidates[is_described].refused(old, new):
                    return Verdict("no", witness)
        except (TooExpensive, RecursionError):
            pass
        return UNKNOWN
