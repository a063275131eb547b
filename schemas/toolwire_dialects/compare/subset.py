"""Decides whether one schema takes every value that another takes: yes, no, or unknown.

"yes" is proved (`proof.py`), and "no" is shown by a value that fits the one and not the other. It
is searched for at the edges of what both say; jsonschema has validated it, so it does not matter
how it was found.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_schemas.json_schema.bounded_validator import Budget, TooExpensive, identity

from .nodes import NUMBERS, ComparedSchema, Node, equal
from .proof import OTHER, Case, Proof, elements, kind, listed_by, members

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Answer = Literal["yes", "no", "unknown"]

MAX_STEPS = 100_000
"""Two tools' schemas take some hundred steps. This many are a few seconds."""

_MAX_DEPTH = 6
_MAX_TRIED = 400
_MAX_TELLING = 8
_MAX_SIMPLE = 3
_MAX_CASES = 24
_MAX_PREFIX = 20
_MAX_LENGTH = 2_000
"""Longer texts and lists are not made, whatever the bounds of a schema are."""

_NAMES = ("extra", "x", "A1", OTHER)
_NUMBERS = (0, 1, 1.5, -1, 0.5, 7, -0.5, 1000)
_TEXTS = ("a", "", "A", "0", "abc", "a b", "1.5", "-", "é", "Some text, and more.", "true")
_FORMATS = (
    *(
        "2026-03-01T09:00:00Z",
        "2026-03-01",
        "09:00:00Z",
        "P1D",
        "me@example.com",
        "example.com",
        "192.0.2.1",
    ),
    *("2001:db8::1", "https://example.com/a", "/a/b", "123e4567-e89b-12d3-a456-426614174000"),
)
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


class SubsetVerdict(msgspec.Struct, frozen=True):
    """The answer; with "no", the `witness` is a value that only the old schema takes."""

    answer: Answer
    witness: Any = msgspec.UNSET


YES, UNKNOWN = SubsetVerdict("yes"), SubsetVerdict("unknown")


def takes_all(new: Any, old: Any, *, is_described: bool = False) -> SubsetVerdict:
    """Return whether the schema *new* takes every value that the schema *old* takes.

    "yes" is proved, and "no" is shown by a value. Both hold by the drafts that the schemas name, or
    else 2020-12, and whether or not a validator checks formats. With *is_described* it is only
    about values that *old* describes: without members that only *new* knows, and without integers
    that are not safe (`Case`).
    """
    if equal(old, new):
        return YES
    try:
        before, after = ComparedSchema(old), ComparedSchema(new)
        if before.is_readable and after.is_readable:
            return Comparison(Budget(3 * MAX_STEPS), is_described).verdict(before.top, after.top)
    except RecursionError:
        pass
    return UNKNOWN


class Comparison:
    """Answers questions about the schemas of two readable documents; each takes a third of what the
    *budget* has left.

    If it *is_described*, it is only about the values that the old schema describes (`Case`).
    """

    def __init__(self, budget: Budget, is_described: bool) -> None:
        self._budget = budget
        self._proof = Proof(budget, is_described)
        self._known: dict[Any, list[Any]] = {}

    def same(self, one: Node, other: Node) -> bool:
        """Return True if no value can distinguish them, and that is known."""
        try:
            return self._proof.same(one, other)
        except TooExpensive:
            return False

    def verdict(self, old: Node, new: Node) -> SubsetVerdict:
        """Return whether *new* takes every value that *old* takes."""
        try:
            with self._budget.third():
                if self._proof.holds((old,), new):
                    return YES
                for value in self.fitting((old,), (new,)):
                    if self._judges(new, value) is False:
                        return SubsetVerdict("no", value)
        except (TooExpensive, RecursionError):
            pass
        return UNKNOWN

    def fitting(
        self, nodes: tuple[Node, ...], hints: tuple[Node, ...], depth: int = 0
    ) -> list[Any]:
        """Return values that fit all *nodes*: a simple one, then some that do not fit a hint, then
        others.

        *hints* are schemas whose edges are worth a try.

        Raises:
            TooExpensive: if that takes too long.
        """
        self._budget.spend()
        nodes = tuple(node.resolved() for node in nodes)
        hints = tuple(hint.resolved() for hint in hints if not self._proof.holds(nodes, hint))
        place = frozenset(nodes), frozenset(hints)
        if place in self._known or depth > _MAX_DEPTH:
            return self._known.get(place, [])
        # Within a value of a schema that contains itself, there are the simple values that are
        # found first.
        simple = self._known[place] = []
        telling: list[Any] = []
        seen = set()
        for value in islice(self._tried(nodes, hints, depth), _MAX_TRIED):
            if (one := identity(value)) in seen or not all(
                self._judges(node, value) for node in nodes
            ):
                continue
            seen.add(one)
            if any(self._judges(hint, value) is False for hint in hints):
                telling.append(value)
            elif len(simple) < _MAX_SIMPLE:
                simple.append(value)
            if len(telling) >= (_MAX_TELLING if depth else 1) or (
                len(simple) >= _MAX_SIMPLE and not hints
            ):
                break
        self._known[place] = [*simple[:1], *telling, *simple[1:]]
        return self._known[place]

    def _judges(self, node: Node, value: Any) -> bool | None:
        return node.document.judge(node.schema, value, self._budget)

    def _tried(self, nodes: tuple[Node, ...], hints: tuple[Node, ...], depth: int) -> Iterator[Any]:
        mine, theirs = (
            [inner for node in given for inner in node.within()] for given in (nodes, hints)
        )
        listed = set(map(identity, _listed(theirs)))
        yield from (value for value in _listed(mine) if identity(value) not in listed)
        yield from _examples(mine)
        cases = self._proof.cases(nodes)[:_MAX_CASES]
        for case in cases:
            if case.value is not msgspec.UNSET:
                yield case.value
            elif case.kind in NUMBERS:
                yield from _numbers([*mine, *theirs])
            elif case.kind == "string":
                yield from _texts([*mine, *theirs])
        for case in cases:
            if case.value is msgspec.UNSET and case.kind in ("array", "object"):
                parts = self._parts(case, theirs, depth)
                yield from (list(part.values()) if case.kind == "array" else part for part in parts)
        yield from (value for value in _listed(theirs) if not isinstance(value, dict | list))

    def _parts(self, case: Case, hints: list[Node], depth: int) -> Iterator[dict[Any, Any]]:
        """Yield the parts of arrays or objects: what has to be there, then each part at its edges,
        then other sizes.
        """
        is_array, is_set = case.kind == "array", any(case.values_of("uniqueItems"))
        mine, theirs = (case.element, elements) if is_array else (case.member, members)

        def values(key: Any) -> list[Any]:
            wanted = tuple(found for hint in hints for found in theirs(hint, key))
            return self.fitting(mine(key), wanted, depth + 1)

        def first(keys: Iterable[Any]) -> dict[Any, Any]:
            found: dict[Any, Any] = {}
            for key in keys:
                if fitting := values(key):
                    found[key] = fitting[len(found) % len(fitting) if is_set else 0]
            return found

        bounds = ("minItems", "maxItems") if is_array else ("minProperties", "maxProperties")
        least = min(case.least(bounds[0]), _MAX_LENGTH)
        sizes = _sizes((*case.nodes, *hints), *bounds)
        keys, edges = (_indexes if is_array else _names)(case, hints, max(least, *sizes))
        base = first(keys[:least])
        if len(base) < least:
            return
        yield base
        for key in edges:
            start = {**base, **first(keys[:key])} if is_array else base
            yield from ({**start, key: value} for value in values(key))
        yield from (first(keys[:size]) for size in sizes)


def _indexes(case: Case, hints: list[Node], most: int) -> tuple[Sequence[Any], Iterable[Any]]:
    """Return the indexes of *most* elements, and those at which something may be special."""
    prefixes = [len(node.words.get("prefixItems", ())) for node in (*case.nodes, *hints)]
    return range(most), range(min(max(prefixes, default=0), _MAX_PREFIX) + 1)


def _names(case: Case, hints: list[Node], most: int) -> tuple[Sequence[Any], Iterable[Any]]:
    """Return the names of *most* members, those that have to be there first, and those that may be
    special.
    """
    edges = dict.fromkeys([*case.names(), OTHER])
    if not case.is_closed():
        named = [
            name
            for hint in hints
            for word in ("properties", "required")
            for name in hint.words.get(word, ())
        ]
        edges |= dict.fromkeys([*named, *_NAMES])
    extra = OTHER if case.is_closed() else "extra"
    others = [f"{extra}{number}" for number in range(most)]
    return list(dict.fromkeys([*case.required(), *case.names(), *others])), edges


def _sizes(nodes: Iterable[Node], *words: str) -> list[int]:
    """Return the lengths at the bounds that *nodes* have under *words*, and small ones."""
    bounds = [int(node.words[word]) for node in nodes for word in words if word in node.words]
    sizes = {bound + more for bound in bounds for more in (-1, 0, 1)} | {1, 2, 3}
    return sorted(size for size in sizes if 0 <= size <= _MAX_LENGTH)


def _listed(nodes: list[Node]) -> Iterator[Any]:
    return (value for node in nodes for values in listed_by(node) for value in values)


def _examples(nodes: list[Node]) -> Iterator[Any]:
    """Yield defaults and examples that have no members: these may be such as no schema
    describes.
    """
    for node in nodes:
        given = node.schema if isinstance(node.schema, dict) else {}
        examples = given["examples"] if isinstance(given.get("examples"), list) else []
        yield from (
            value
            for value in (given.get("default"), *examples)
            if not isinstance(value, dict | list)
        )


def _numbers(nodes: list[Node]) -> Iterator[Any]:
    yield from _NUMBERS
    bounds: list[Any] = [value for value in _listed(nodes) if kind(value) in NUMBERS]
    bounds += [node.words[word] for word in _BOUNDS for node in nodes if word in node.words]
    bounds += [
        node.words["multipleOf"] * times
        for node in nodes
        if "multipleOf" in node.words
        for times in (2, 3, 7)
    ]
    for bound in dict.fromkeys(bounds):
        yield from (bound, bound + 1, bound - 1)
        yield from (bound + 0.5, bound - 0.5) if abs(bound) < 2**50 else ()


def _texts(nodes: list[Node]) -> Iterator[str]:
    yield from _TEXTS
    if any("format" in node.words or "pattern" in node.words for node in nodes):
        yield from _FORMATS
    yield from (
        letter * size for size in _sizes(nodes, "minLength", "maxLength") for letter in "a1"
    )
    for value in _listed(nodes):
        yield from (value, f"{value}a") if isinstance(value, str) else ()
