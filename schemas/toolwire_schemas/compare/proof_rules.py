"""For each word of a schema: when is every value of a case sure to fit it?"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol

from ..json_schema.bounded_validator import identity
from .nodes import Node, matches
from .proof_cases import KINDS, NUMBERS, Case, cases, element, of_types, prefix


class Prover(Protocol):
    """What the rules about parts ask."""

    def holds(self, left: tuple[Node, ...], right: Node) -> bool:
        """Whether it is proved that what fits all on the *left* fits the *right*."""

    def restates(self, case: Case, right: Node, words: tuple[str, ...]) -> bool:
        """Whether the case's schemas say the same as *right* under these *words*."""


Rule = Callable[[Prover, Case, Any, Node], bool]
"""Takes a case, the value of the rule's word, and the schema with that word."""

_MATCH_ALL = ("", ".*", "^", "$", "^.*")


def impossible(nodes: tuple[Node, ...]) -> bool:
    """Return whether it is sure that no value fits all *nodes*."""
    return not cases(nodes)


# --- any type ---


def _type(prover: Prover, case: Case, value: Any, right: Node) -> bool:
    return case.kind in of_types(value)


def _enum(prover: Prover, case: Case, value: list[Any], right: Node) -> bool:
    return bool(case.value) and identity(case.value[0]) in right.document.listed(value)


def _const(prover: Prover, case: Case, value: Any, right: Node) -> bool:
    return bool(case.value) and identity(case.value[0]) == identity(value)


def _text_alone(word: str) -> Rule:
    """Keywords that only some validators check, such as `format`, hold only if the case says the same."""

    def rule(prover: Prover, case: Case, value: Any, right: Node) -> bool:
        return value in case.said(word)

    return rule


def _passed_over(prover: Prover, case: Case, value: Any, right: Node) -> bool:
    return True  # the word that it belongs to reads it


# --- numbers ---


def _minimum(prover: Prover, case: Case, value: Any, right: Node) -> bool:
    return (low := case.low()) is not None and low[0] >= Fraction(value)


def _maximum(prover: Prover, case: Case, value: Any, right: Node) -> bool:
    return (high := case.high()) is not None and high[0] <= Fraction(value)


def _above(prover: Prover, case: Case, value: Any, right: Node) -> bool:
    return (low := case.low()) is not None and low > (Fraction(value), False)


def _below(prover: Prover, case: Case, value: Any, right: Node) -> bool:
    high = case.high()
    return high is not None and (high[0] < Fraction(value) or (high[1] and high[0] == Fraction(value)))


def _multiple(prover: Prover, case: Case, value: Any, right: Node) -> bool:
    # Of the numbers as they are in binary: to those who divide, 0.3 is a multiple of 0.3 and not of 0.1.
    steps = [*case.said("multipleOf"), *case.value, *((1,) if case.kind == "integer" else ())]
    return any((Fraction(step) / Fraction(value)).denominator == 1 for step in steps)


# --- how long, how many ---


def _least(word: str) -> Rule:
    def rule(prover: Prover, case: Case, value: Any, right: Node) -> bool:
        return bool(case.least(word) >= value)

    return rule


def _most(word: str) -> Rule:
    def rule(prover: Prover, case: Case, value: Any, right: Node) -> bool:
        return (most := case.most(word)) is not None and most <= value

    return rule


def _pattern(prover: Prover, case: Case, value: str, right: Node) -> bool:
    if value in _MATCH_ALL or value in case.said("pattern"):
        return True
    return bool(case.value) and matches(value, case.value[0]) is True


# --- arrays ---


def _items(prover: Prover, case: Case, value: Any, right: Node) -> bool:
    most = case.most("maxItems")
    for index in range(max(case.prefix(), prefix(right)) + 1):
        if (most is not None and index >= most) or impossible(case.element(index)):
            return True  # no array is that long
        wanted = element(right, index)
        if wanted is not None and not prover.holds(case.element(index), wanted):
            return False
    return True


def _max_items(prover: Prover, case: Case, value: Any, right: Node) -> bool:
    if _most("maxItems")(prover, case, value, right):
        return True
    return any(impossible(case.element(index)) for index in range(min(int(value), case.prefix()) + 1))


def _unique(prover: Prover, case: Case, value: bool, right: Node) -> bool:
    if not value or any(case.said("uniqueItems")):
        return True
    if case.value:
        return len(set(map(identity, case.value[0]))) == len(case.value[0])
    return (most := case.most("maxItems")) is not None and most <= 1


def _contains(prover: Prover, case: Case, value: Any, right: Node) -> bool:
    if prover.restates(case, right, ("contains", "minContains", "maxContains")):
        return True
    least, wanted = right.words.get("minContains", 1), right.at(value)
    if "maxContains" in right.words:
        return False
    if least == 0:
        return True
    for node in case.nodes:
        enough = "contains" in node.words and node.words.get("minContains", 1) >= least
        if enough and prover.holds((node.at(node.words["contains"]),), wanted):
            return True
    there = case.least("minItems")
    return there >= least and all(
        prover.holds(case.element(index), wanted) for index in range(min(there, case.prefix() + 1))
    )


# --- objects ---


def _properties(prover: Prover, case: Case, value: dict[str, Any], right: Node) -> bool:
    return all(prover.holds(case.member(name), right.at(wanted)) for name, wanted in value.items())


def _required(prover: Prover, case: Case, value: list[str], right: Node) -> bool:
    return case.required() >= set(value)


def _additional(prover: Prover, case: Case, value: Any, right: Node) -> bool:
    named, patterns = right.words.get("properties", {}), right.words.get("patternProperties", {})
    wanted = right.at(value)
    for name in case.names():
        is_known = name in named or any(matches(pattern, name) for pattern in patterns)
        if not is_known and not prover.holds(case.member(name), wanted):
            return False
    return all(
        not patterns.keys().isdisjoint(matched) or prover.holds(nodes, wanted) for nodes, matched in case.others()
    )


def _patterns(prover: Prover, case: Case, value: dict[str, Any], right: Node) -> bool:
    for pattern, inner in value.items():
        wanted = right.at(inner)
        names = [name for name in case.names() if matches(pattern, name) is not False]
        if not all(prover.holds(case.member(name), wanted) for name in names):
            return False
        if not all(prover.holds(nodes, wanted) for nodes, _ in case.others(pattern)):
            return False
    return True


def _names(prover: Prover, case: Case, value: Any, right: Node) -> bool:
    wanted = right.at(value)
    for name in case.names():
        constant = right.document.made({"const": name})
        if not impossible(case.member(name)) and not prover.holds((constant,), wanted):
            return False
    said = tuple(node.at(node.words["propertyNames"]) for node in case.nodes if "propertyNames" in node.words)
    for nodes, matched in case.others():
        texts = [{"type": "string", **({"pattern": text} if text else {})} for text in (sorted(matched) or ("",))]
        of_names = (*said, *map(right.document.made, texts))
        if not impossible(nodes) and not prover.holds(of_names, wanted):
            return False
    return True


def _max_properties(prover: Prover, case: Case, value: Any, right: Node) -> bool:
    if _most("maxProperties")(prover, case, value, right):
        return True
    possible = [name for name in case.names() if not impossible(case.member(name))]
    return len(possible) <= value and all(impossible(nodes) for nodes, _ in case.others())


def _dependent(prover: Prover, case: Case, value: dict[str, list[str]], right: Node) -> bool:
    there = case.required()
    return all(
        any(there | set(said.get(name, ())) >= set(wanted) for said in ({}, *case.said("dependentRequired")))
        or impossible(case.member(name))
        for name, wanted in value.items()
    )


RULES: dict[str, tuple[tuple[str, ...], Rule]] = {
    "type": (KINDS, _type),
    "enum": (KINDS, _enum),
    "const": (KINDS, _const),
    "minimum": (NUMBERS, _minimum),
    "maximum": (NUMBERS, _maximum),
    "exclusiveMinimum": (NUMBERS, _above),
    "exclusiveMaximum": (NUMBERS, _below),
    "multipleOf": (NUMBERS, _multiple),
    "minLength": (("string",), _least("minLength")),
    "maxLength": (("string",), _most("maxLength")),
    "pattern": (("string",), _pattern),
    "format": (KINDS, _text_alone("format")),  # some say `int32`
    "contentEncoding": (("string",), _text_alone("contentEncoding")),
    "contentMediaType": (("string",), _text_alone("contentMediaType")),
    "items": (("array",), _items),
    "prefixItems": (("array",), _items),
    "additionalItems": (("array",), _passed_over),
    "minItems": (("array",), _least("minItems")),
    "maxItems": (("array",), _max_items),
    "uniqueItems": (("array",), _unique),
    "contains": (("array",), _contains),
    "minContains": (("array",), _passed_over),
    "maxContains": (("array",), _passed_over),
    "properties": (("object",), _properties),
    "required": (("object",), _required),
    "additionalProperties": (("object",), _additional),
    "patternProperties": (("object",), _patterns),
    "propertyNames": (("object",), _names),
    "minProperties": (("object",), _least("minProperties")),
    "maxProperties": (("object",), _max_properties),
    "dependentRequired": (("object",), _dependent),
}
"""Each word that a rule reads, with the kinds of values that it says something about."""
