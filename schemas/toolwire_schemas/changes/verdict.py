"""Does one schema take every value that another takes? Yes, no, or nobody knows."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .judge import Judge
from .nodes import Document, Node, TooComplex, identity
from .proof import Proof
from .samples import Samples

Answer = Literal["yes", "no", "unknown"]


class Verdict(msgspec.Struct, frozen=True):
    """What was found; with "no", the `witness` is a value that was taken and is not any more. Else there is none."""

    answer: Answer
    witness: Any = msgspec.UNSET


YES, UNKNOWN = Verdict("yes"), Verdict("unknown")


def takes_all(new: Any, old: Any) -> Verdict:
    """Return whether the schema *new* takes every value that the schema *old* takes.

    "yes" is proved, and "no" is shown by a value; both hold for every validator, whether or not it checks formats.
    """
    if identity_or_none(old) == identity_or_none(new) is not None:
        return YES
    return compared(Document(old).top, Document(new).top)


def compared(old: Node, new: Node) -> Verdict:
    """Return the same about schemas within documents."""
    try:
        if Proof().holds((old,), new):
            return YES
        judge = Judge()
        for value in Samples(judge).of((old,), (new,)):
            if judge.refuses(new, value):
                return Verdict("no", value)
    except (TooComplex, RecursionError):
        pass
    return UNKNOWN


def identity_or_none(value: Any) -> Any:
    """What is equal for equal values, `None` if they are nested too deeply to be compared."""
    try:
        return identity(value)
    except RecursionError:
        return None
