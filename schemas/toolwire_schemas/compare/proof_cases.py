"""What a value that fits some schemas may be: one case for each type, alternative and listed value.

Between them the cases hold *at least* every value that fits. They may hold more, since what is not understood is left
out: whatever is true of all of them is true of the values.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from ..json_schema.bounded_validator import identity
from .nodes import Document, Key, Node, TooComplex, kind, matches, spend

if TYPE_CHECKING:
    from collections.abc import Iterator


KINDS = ("null", "boolean", "integer", "fraction", "string", "array", "object")
NUMBERS = ("integer", "fraction")

_MAX_CASES = 4_000
_MAX_RANGE = 32
"""Integers between bounds that are this few are taken one by one, as if they were listed."""

_NOTHING = Document(False).top


@dataclass(frozen=True)
class Case:
    """Values of one *kind* that fit all *nodes*, or the one value in *value*.

    `nodes` have no alternatives and references left in them that would matter.
    """

    kind: str
    nodes: tuple[Node, ...]
    value: tuple[Any, ...] = ()

    def said(self, word: str) -> Iterator[Any]:
        """What the schemas say under this *word*."""
        return (node.words[word] for node in self.nodes if word in node.words)

    def _constant(self, part: Any) -> Node:
        return self.nodes[0].document.made({"const": part})  # there is one: it listed the value

    # --- numbers ---

    def low(self) -> tuple[Fraction, bool] | None:
        """The lower bound, and whether it is left out itself. Of integers it is one that they may be."""
        if self.value:
            return Fraction(self.value[0]), False
        bounds = [(Fraction(bound), False) for bound in self.said("minimum")]
        bounds += [(Fraction(bound), True) for bound in self.said("exclusiveMinimum")]
        if not bounds:
            return None
        bound, is_out = max(bounds)
        if self.kind == "integer":
            return Fraction(floor(bound) + 1 if is_out else ceil(bound)), False
        return bound, is_out

    def high(self) -> tuple[Fraction, bool] | None:
        """The upper bound, likewise."""
        if self.value:
            return Fraction(self.value[0]), False
        bounds = [(Fraction(bound), False) for bound in self.said("maximum")]
        bounds += [(Fraction(bound), True) for bound in self.said("exclusiveMaximum")]
        if not bounds:
            return None
        bound, is_out = min(bounds, key=lambda found: (found[0], not found[1]))
        if self.kind == "integer":
            return Fraction(ceil(bound) - 1 if is_out else floor(bound)), False
        return bound, is_out

    # --- how long, how many ---

    def least(self, word: str) -> int:
        """The greatest of what is said under `minLength`, `minItems` or `minProperties`."""
        if self.value:
            return len(self.value[0])
        least = int(max(self.said(word), default=0))
        return max(least, len(self.required())) if word == "minProperties" else least

    def most(self, word: str) -> int | None:
        """The least of what is said under `maxLength`, `maxItems` or `maxProperties`."""
        if self.value:
            return len(self.value[0])
        most = min(self.said(word), default=None)
        return None if most is None else int(most)

    # --- arrays ---

    def element(self, index: int) -> tuple[Node, ...]:
        """What the element at *index* has to fit, if there is one."""
        if self.value:
            return (self._constant(self.value[0][index]),) if index < len(self.value[0]) else (_NOTHING,)
        return tuple(found for node in self.nodes if (found := element(node, index)) is not None)

    def prefix(self) -> int:
        """The index from which on all elements have to fit the same."""
        if self.value:
            return len(self.value[0])
        return max(map(prefix, self.nodes), default=0)

    # --- objects ---

    def required(self) -> set[str]:
        """The names that are there in any case."""
        if self.value:
            return set(self.value[0])
        return {name for names in self.said("required") for name in names}

    def names(self) -> dict[str, None]:
        """The names that something is said about, in order."""
        if self.value:
            return dict.fromkeys(self.value[0])
        named = [name for properties in self.said("properties") for name in properties]
        return dict.fromkeys([*named, *sorted(self.required())])

    def member(self, name: str) -> tuple[Node, ...]:
        """What the member of this *name* has to fit, if there is one."""
        if self.value:
            return (self._constant(self.value[0][name]),) if name in self.value[0] else (_NOTHING,)
        return tuple(found for node in self.nodes for found in members(node, name))

    def others(self, pattern: str | None = None) -> list[tuple[tuple[Node, ...], frozenset[str]]]:
        """What members of any other name have to fit: alternatives, each with the patterns that such names match.

        Only names that match *pattern*, if that is given.
        """
        if self.value:
            return []
        choices = [_choices(node, pattern) for node in self.nodes]
        _bounded(choices)
        return [
            (tuple(node for nodes, _ in chosen for node in nodes), frozenset().union(*(found for _, found in chosen)))
            for chosen in product(*choices)
        ]


def element(node: Node, index: int) -> Node | None:
    """What *node* says about the element at *index*, `None` if nothing."""
    words = node.words
    first = _first(words)
    if index < len(first):
        return node.at(first[index])
    rest = words.get("additionalItems") if isinstance(words.get("items"), list) else words.get("items")
    return None if rest is None else node.at(rest)


def prefix(node: Node) -> int:
    """How many elements have schemas of their own in it."""
    return len(_first(node.words))


def _first(words: dict[str, Any]) -> list[Any]:
    items = words.get("items")
    first: list[Any] = items if isinstance(items, list) else words.get("prefixItems", [])
    return first


def members(node: Node, name: str) -> Iterator[Node]:
    """What *node* says for certain about a member of this *name*."""
    words = node.words
    if name in words.get("properties", {}):
        yield node.at(words["properties"][name])
    found = {pattern: matches(pattern, name) for pattern in words.get("patternProperties", {})}
    yield from (node.at(words["patternProperties"][pattern]) for pattern, does in found.items() if does)
    is_other = name not in words.get("properties", {}) and all(does is False for does in found.values())
    if is_other and "additionalProperties" in words:
        yield node.at(words["additionalProperties"])


def _choices(node: Node, pattern: str | None) -> list[tuple[tuple[Node, ...], frozenset[str]]]:
    words = node.words
    patterns: dict[str, Any] = words.get("patternProperties", {})
    if pattern is not None and pattern in patterns:
        return [((node.at(patterns[pattern]),), frozenset({pattern}))]
    rest = (node.at(words["additionalProperties"]),) if "additionalProperties" in words else ()
    return [(rest, frozenset()), *(((node.at(inner),), frozenset({text})) for text, inner in patterns.items())]


# --- from schemas to cases ---


def cases(nodes: tuple[Node, ...]) -> list[Case]:
    """Return the cases of values that fit all *nodes*.

    Raises:
        TooComplex: if they are too many.
    """
    found: list[Case] = []
    for plain in _alternatives(nodes, frozenset()):
        found += _of_kinds(plain)
        if len(found) > _MAX_CASES:
            raise TooComplex
    return found


def _alternatives(nodes: tuple[Node, ...], seen: frozenset[Key]) -> Iterator[tuple[Node, ...]]:
    """All ways to choose from alternatives, with references followed and parts of `allOf` side by side."""
    flat: list[Node] = []
    choices: list[list[Node]] = []
    waiting = list(nodes)
    while waiting:
        node = waiting.pop(0)
        if node.key in seen:  # said already; or a reference that leads to itself, which says nothing
            continue
        spend()
        seen |= {node.key}
        flat.append(node)
        words = node.words
        if "$ref" in words and (there := node.document.target(words["$ref"])) is not None:
            waiting.append(there)
        waiting += map(node.at, words.get("allOf", ()))
        # That only one of `oneOf` may fit is left out.
        choices += [[node.at(inner) for inner in words[word]] for word in ("anyOf", "oneOf") if word in words]
    if not choices:
        yield tuple(flat)
        return
    _bounded(choices)
    for chosen in product(*choices):
        for more in _alternatives(chosen, seen):
            yield (*flat, *more)


def _bounded(choices: list[Any]) -> None:
    number = 1
    for choice in choices:
        number *= max(len(choice), 1)
        if number > _MAX_CASES:
            raise TooComplex


def _of_kinds(nodes: tuple[Node, ...]) -> list[Case]:
    listed: list[list[Any]] = []
    kinds = set(KINDS)
    for node in nodes:
        words = node.words
        if "type" in words:
            kinds &= of_types(words["type"])
        if "not" in words:
            refused = node.at(words["not"])
            kinds -= of_types(refused.words["type"]) if refused.is_clear and list(refused.words) == ["type"] else set()
        if "const" in words:
            listed.append([words["const"]])
        if "enum" in words:
            listed.append(words["enum"])
    if listed:
        values = {identity(value): value for value in listed[0]}
        for others in listed[1:]:
            values = {one: values[one] for one in map(identity, others) if one in values}
        return [Case(kind(value), nodes, (value,)) for value in values.values() if kind(value) in kinds]
    return [case for name in KINDS if name in kinds for case in _counted(Case(name, nodes)) if not _is_empty(case)]


def of_types(types: str | list[str]) -> set[str]:
    """Return the kinds that `type` names."""
    named = [types] if isinstance(types, str) else types
    return {kind for name in named for kind in (NUMBERS if name == "number" else (name,))}


def _counted(case: Case) -> list[Case]:
    """The same as single values, where these are few."""
    values: list[Any] = []
    if case.kind == "null":
        values = [None]
    elif case.kind == "boolean":
        values = [False, True]
    elif case.kind == "integer" and (low := case.low()) and (high := case.high()) and high[0] - low[0] < _MAX_RANGE:
        values = list(range(int(low[0]), int(high[0]) + 1))
    else:
        return [case]
    return [Case(case.kind, case.nodes, (value,)) for value in values]


_BOUNDS = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}


def _is_empty(case: Case) -> bool:
    """Whether it is easily seen that no value fits."""
    if case.value:
        return False
    if case.kind in NUMBERS:
        low, high = case.low(), case.high()
        whole = any(Fraction(step).denominator == 1 for step in case.said("multipleOf"))
        if case.kind == "fraction" and whole:
            return True
        return bool(low and high and (low[0] > high[0] or (low[0] == high[0] and (low[1] or high[1]))))
    least, most = _BOUNDS[case.kind]
    upper = case.most(most)
    return upper is not None and case.least(least) > upper


_MAX_DEPTH = 4
"""References and members count. Alternatives seldom differ deeper, and each level multiplies the work."""


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
