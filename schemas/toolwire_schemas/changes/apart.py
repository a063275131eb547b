"""Whether it is sure that no value of a case fits a schema: what `oneOf` and `not` ask for.

Alternatives are told apart by their types, by listed values, by members that say which of them is meant, by ranges.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .cases import NUMBERS, Case, cases, of_types
from .nodes import identity, kind

if TYPE_CHECKING:
    from .nodes import Node

_MAX_DEPTH = 20


def apart(case: Case, schema: Node, depth: int = 0) -> bool:
    """Return whether no value of *case* fits *schema*; False if that is not sure."""
    if depth > _MAX_DEPTH:
        return False
    words = schema.words
    if "type" in words and case.kind not in of_types(words["type"]):
        return True
    if any(not _may_be_among(case, values) for values in _lists(words)):
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


def _lists(words: dict[str, Any]) -> list[list[Any]]:
    return [*([[words["const"]]] if "const" in words else []), *([words["enum"]] if "enum" in words else [])]


def _may_be_among(case: Case, values: list[Any]) -> bool:
    if case.value:
        return identity(case.value[0]) in map(identity, values)
    return any(kind(value) == case.kind for value in values)


def _by_range(case: Case, words: dict[str, Any]) -> bool:
    low, high = case.low(), case.high()
    if low is not None and "maximum" in words and low[0] > Fraction(words["maximum"]):
        return True
    return high is not None and "minimum" in words and high[0] < Fraction(words["minimum"])


def _by_members(case: Case, schema: Node, depth: int) -> bool:
    properties = schema.words.get("properties", {})
    for name in case.required() & properties.keys():
        wanted = schema.at(properties[name])
        if all(apart(member, wanted, depth + 1) for member in cases(case.member(name))):
            return True
    return any(not cases(case.member(name)) for name in schema.words.get("required", ()))
