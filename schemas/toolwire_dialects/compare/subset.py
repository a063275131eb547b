"""Decides whether one schema takes every value that another takes: yes, no, or unknown.

"yes" is proved (`proof.py`), and "no" is shown by a value that fits the one and not the other. It
is searched for at the edges of what both say; jsonschema has validated it, so it does not matter
how it was found.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_schemas.json_schema.bounded_validator import Budget, TooExpensive, make_identity

from .nodes import NUMBERS, ComparedSchema, equal, iterate_applied_nodes, judge
from .proof import Proof
from .samples import (
    MAX_LENGTH,
    index_keys,
    name_keys,
    sample_examples,
    sample_listed_values,
    sample_numbers,
    sample_sizes,
    sample_texts,
)
from .value_cases import ValueCase, find_element_schemas, find_member_schemas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from toolwire_schemas.json_schema.graph import SchemaNode

Answer = Literal["yes", "no", "unknown"]

MAX_STEPS = 100_000
"""Two tools' schemas take some hundred steps. This many are a few seconds."""

_MAX_DEPTH = 6
_MAX_TRIED = 400
_MAX_TELLING = 8
_MAX_SIMPLE = 3
_MAX_CASES = 24


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
    that are not safe (`ValueCase`).
    """
    if equal(old, new):
        return YES
    try:
        before, after = ComparedSchema(old), ComparedSchema(new)
        if before.is_readable and after.is_readable:
            return Comparison(Budget(3 * MAX_STEPS), is_described).judge(before.root, after.root)
    except RecursionError:
        pass
    return UNKNOWN


class Comparison:
    """Answers questions about the schemas of two readable documents; each takes a third of what the
    *budget* has left.

    If it *is_described*, it is only about the values that the old schema describes (`ValueCase`).
    """

    def __init__(self, budget: Budget, is_described: bool) -> None:
        self._budget = budget
        self._proof = Proof(budget, is_described)
        self._known: dict[Any, list[Any]] = {}

    def are_same(self, one: SchemaNode, other: SchemaNode) -> bool:
        """Return True if no value can distinguish them, and that is known."""
        try:
            return self._proof.are_same(one, other)
        except TooExpensive:
            return False

    def judge(self, old: SchemaNode, new: SchemaNode) -> SubsetVerdict:
        """Return whether *new* takes every value that *old* takes."""
        try:
            with self._budget.limit_to_third():
                if self._proof.holds((old,), new):
                    return YES
                for value in self.find_fitting_values((old,), (new,)):
                    if self._judge(new, value) is False:
                        return SubsetVerdict("no", value)
        except (TooExpensive, RecursionError):
            pass
        return UNKNOWN

    def find_fitting_values(
        self, nodes: tuple[SchemaNode, ...], hints: tuple[SchemaNode, ...], depth: int = 0
    ) -> list[Any]:
        """Return values that fit all *nodes*: a simple one, then some that do not fit a hint, then
        others.

        *hints* are schemas whose edges are worth a try.

        Raises:
            TooExpensive: if that takes too long.
        """
        self._budget.spend()
        nodes = tuple(node.target for node in nodes)
        hints = tuple(hint.target for hint in hints if not self._proof.holds(nodes, hint))
        place = frozenset(nodes), frozenset(hints)
        if place in self._known or depth > _MAX_DEPTH:
            return self._known.get(place, [])
        # Within a value of a schema that contains itself, there are the simple values that are
        # found first.
        simple = self._known[place] = []
        telling: list[Any] = []
        most_telling = _MAX_TELLING if depth else 1
        for value in self._generate_fitting_samples(nodes, hints, depth):
            if any(self._judge(hint, value) is False for hint in hints):
                telling.append(value)
            elif len(simple) < _MAX_SIMPLE:
                simple.append(value)
            has_simple = len(simple) >= _MAX_SIMPLE and not hints
            if len(telling) >= most_telling or has_simple:
                break
        self._known[place] = [*simple[:1], *telling, *simple[1:]]
        return self._known[place]

    def _generate_fitting_samples(
        self, nodes: tuple[SchemaNode, ...], hints: tuple[SchemaNode, ...], depth: int
    ) -> Iterator[Any]:
        """Yield samples that fit all *nodes*, each once."""
        seen = set()
        for value in islice(self._generate_samples(nodes, hints, depth), _MAX_TRIED):
            key = make_identity(value)
            if key not in seen and all(self._judge(node, value) for node in nodes):
                seen.add(key)
                yield value

    def _judge(self, node: SchemaNode, value: Any) -> bool | None:
        return judge(node, node.schema, value, self._budget)

    def _generate_samples(
        self, nodes: tuple[SchemaNode, ...], hints: tuple[SchemaNode, ...], depth: int
    ) -> Iterator[Any]:
        """Yield values that may fit *nodes* and not *hints*."""
        mine, theirs = _collect_applied(nodes), _collect_applied(hints)
        listed = set(map(make_identity, sample_listed_values(theirs)))
        yield from (
            value for value in sample_listed_values(mine) if make_identity(value) not in listed
        )
        yield from sample_examples(mine)
        cases = self._proof.find_cases(nodes)[:_MAX_CASES]
        for case in cases:
            if case.value is not msgspec.UNSET:
                yield case.value
            elif case.kind in NUMBERS:
                yield from sample_numbers([*mine, *theirs])
            elif case.kind == "string":
                yield from sample_texts([*mine, *theirs])
        for case in cases:
            if case.value is not msgspec.UNSET:
                continue
            if case.kind == "array":
                yield from (
                    list(parts.values()) for parts in self._generate_arrays(case, theirs, depth)
                )
            elif case.kind == "object":
                yield from self._generate_objects(case, theirs, depth)
        yield from (
            value for value in sample_listed_values(theirs) if not isinstance(value, dict | list)
        )

    def _generate_arrays(
        self, case: ValueCase, hints: list[SchemaNode], depth: int
    ) -> Iterator[dict[Any, Any]]:
        """Yield arrays, as elements by their indexes."""

        def find_values(index: int) -> list[Any]:
            wanted: list[SchemaNode] = []
            for hint in hints:
                wanted += find_element_schemas(hint, index)
            return self.find_fitting_values(
                case.find_element_schemas(index), tuple(wanted), depth + 1
            )

        lengths = sample_sizes((*case.nodes, *hints), "minItems", "maxItems")
        least = min(case.find_least("minItems"), MAX_LENGTH)
        keys = index_keys(case, hints, max(least, *lengths))
        is_set = any(case.iterate_values("uniqueItems"))
        base = _choose_parts(keys.first[:least], find_values, is_set=is_set)
        if len(base) < least:
            return
        yield base
        for index in keys.special:
            start = base | _choose_parts(keys.first[:index], find_values, is_set=is_set)
            yield from (start | {index: value} for value in find_values(index))
        yield from (
            _choose_parts(keys.first[:size], find_values, is_set=is_set) for size in lengths
        )

    def _generate_objects(
        self, case: ValueCase, hints: list[SchemaNode], depth: int
    ) -> Iterator[dict[Any, Any]]:
        """Yield objects: what has to be there, then each member at its edges, then other sizes."""

        def find_values(name: str) -> list[Any]:
            wanted: list[SchemaNode] = []
            for hint in hints:
                wanted += find_member_schemas(hint, name)
            return self.find_fitting_values(
                case.find_member_schemas(name), tuple(wanted), depth + 1
            )

        lengths = sample_sizes((*case.nodes, *hints), "minProperties", "maxProperties")
        least = min(case.find_least("minProperties"), MAX_LENGTH)
        keys = name_keys(case, hints, max(least, *lengths))
        base = _choose_parts(keys.first[:least], find_values)
        if len(base) < least:
            return
        yield base
        for name in keys.special:
            yield from (base | {name: value} for value in find_values(name))
        yield from (_choose_parts(keys.first[:size], find_values) for size in lengths)


def _collect_applied(nodes: Iterable[SchemaNode]) -> list[SchemaNode]:
    found: list[SchemaNode] = []
    for node in nodes:
        found += iterate_applied_nodes(node)
    return found


def _choose_parts(
    keys: Iterable[Any], values: Callable[[Any], list[Any]], *, is_set: bool = False
) -> dict[Any, Any]:
    """Return a part for each of *keys* that has *values*; of a set, different ones in turn."""
    found: dict[Any, Any] = {}
    for key in keys:
        fitting = values(key)
        if fitting:
            found[key] = fitting[len(found) % len(fitting) if is_set else 0]
    return found
