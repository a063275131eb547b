"""Decides whether one schema takes every value that another takes: yes, no, or unknown."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .counterexample import CountedValidator, Samples
from .nodes import Document, Node, TooComplex, equal, limited
from .proof import Proof

Answer = Literal["yes", "no", "unknown"]


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
        with limited():
            return compared(Document(old).top, Document(new).top)
    except RecursionError:
        return UNKNOWN


def compared(old: Node, new: Node) -> Verdict:
    """Return the same about schemas within documents."""
    try:
        if Proof().holds((old,), new):
            return YES
        for witness in Samples(CountedValidator()).refused(old, new):
            return Verdict("no", witness)
    except (TooComplex, RecursionError):
        pass
    return UNKNOWN
