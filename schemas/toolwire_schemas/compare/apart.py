"""Whether it is sure that no value of a case fits a schema: what `oneOf` and `not` ask for.

Alternatives are told apart by their types, by listed values, by members that say which of them is meant, by ranges.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .nodes import identity, kind, spend
from .proof_cases import NUMBERS, Case, cases, of_types

if TYPE_CHECKING:
    from .nodes import Node

_MAX_DEPTH = 4
"""References and members count; what tells alternatives apart is seldom deeper, and each level multiplies the work."""


def apart(case: Case, schema: Node, depth: int = 0) -> bool:
    """Return whether no value of *case* fits *schema*; False if that is not sure."""
    if depth > _MAX_DEPTH:
        return False
    spend()
    words = schema.words
    if "type" in words and case.kind not in of_types(words["type"]):
        return True
    if "const" in words and not _may_be(case, [words["const"]], frozenset((identity(words["const"]),))):
        return True
    if "enum" in words and not _may_be(case, words["enum"], schema.document.listed(words["enum"])):
        return True
    there = schema.document.target(words["$ref"]) if "$ref" in words else None
    if there is not None and apart(case, there, depth + 1):
        return True
    if any(apart(case, schema.at(inner), depth + 1) for inner in words.get("allOf", ())):
        return True
    for word in ("anyOf", "oneOf"):
        if word in words and all(apart(case, schema.at(inner), depth + 1) for inner in words[word]):
            return True
    if case.kind in NUMBERS:
        return _by_range(case, words)
    return case.kind == "object" and _by_members(case, schema, depth)


def _may_be(case: Case, values: list[Any], identities: frozenset[Any]) -> bool:
    if case.value:
        return identity(case.value[0]) in identities
    return any(kind(value) == case.kind for value in values)


def _by_range(case: Case, words: dict[str, Any]) -> bool:
    low, high = case.low(), case.high()
    if low is not None and "maximum" in words and low[0] > Fraction(words["maximum"]):
        return True
    return high is not None and "minimum" in words and high[0] < Fraction(words["minimum"])


def _by_members(case: Case, schema: Node, depth: int) -> bool:
    properties = schema.words.get("properties", {})
    there = [(name, schema.at(properties[name]).resolved()) for name in sorted(case.required() & properties.keys())]
    # What says which alternative is meant comes first: the rest may lead far.
    for name, wanted in sorted(there, key=lambda found: found[1].words.keys().isdisjoint(("const", "enum"))):
        if all(apart(member, wanted, depth + 1) for member in cases(case.member(name))):
            return True
    return any(not cases(case.member(name)) for name in schema.words.get("required", ()))
