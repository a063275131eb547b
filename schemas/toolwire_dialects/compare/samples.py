"""Values at the edges of what schemas say, for a search for one that fits one schema only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from .cases import OTHER, Case, kind_of, listed_by
from .nodes import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from toolwire_schemas.json_schema.graph import SchemaNode

MAX_LENGTH = 2_000
"""Longer texts and lists are not made, whatever the bounds of a schema are."""

_MAX_PREFIX = 20

_NAMES = ("extra", "x", "A1", OTHER)
_NUMBERS = (0, 1, 1.5, -1, 0.5, 7, -0.5, 1000)
_TEXTS = ("a", "", "A", "0", "abc", "a b", "1.5", "-", "é", "Some text, and more.", "true")
_FORMATS = (
    *("2026-03-01T09:00:00Z", "2026-03-01", "09:00:00Z", "P1D", "me@example.com", "example.com"),
    *("192.0.2.1", "2001:db8::1", "https://example.com/a", "/a/b"),
    "123e4567-e89b-12d3-a456-426614174000",
)
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def listed_values(nodes: Iterable[SchemaNode]) -> list[Any]:
    """Return the values that *nodes* list."""
    values: list[Any] = []
    for node in nodes:
        for listed in listed_by(node):
            values += listed
    return values


def example_values(nodes: Iterable[SchemaNode]) -> Iterator[Any]:
    """Yield defaults and examples that have no members: these may be such as no schema
    describes.
    """
    for node in nodes:
        examples = node.keywords.get("examples")
        values = [node.keywords.get("default"), *(examples if isinstance(examples, list) else ())]
        for value in values:
            if not isinstance(value, dict | list):
                yield value


def number_values(nodes: Sequence[SchemaNode]) -> Iterator[Any]:
    """Yield numbers, those at the bounds of *nodes* among them."""
    yield from _NUMBERS
    bounds = [value for value in listed_values(nodes) if kind_of(value) in NUMBERS]
    for word in _BOUNDS:
        bounds += _assertions(nodes, word)
    for multiple in _assertions(nodes, "multipleOf"):
        bounds += [multiple * times for times in (2, 3, 7)]
    for bound in dict.fromkeys(bounds):
        yield from (bound, bound + 1, bound - 1)
        if abs(bound) < 2**50:
            yield from (bound + 0.5, bound - 0.5)


def text_values(nodes: Sequence[SchemaNode]) -> Iterator[str]:
    """Yield texts, those of the lengths at the bounds of *nodes* among them."""
    yield from _TEXTS
    if any("format" in node.assertions or "pattern" in node.assertions for node in nodes):
        yield from _FORMATS
    for size in sizes(nodes, "minLength", "maxLength"):
        yield from ("a" * size, "1" * size)
    for value in listed_values(nodes):
        if isinstance(value, str):
            yield from (value, f"{value}a")


def sizes(nodes: Iterable[SchemaNode], *words: str) -> list[int]:
    """Return the lengths at the bounds that *nodes* have under *words*, and small ones."""
    found = {1, 2, 3}
    for word in words:
        for bound in map(int, _assertions(nodes, word)):
            found |= {bound - 1, bound, bound + 1}
    return sorted(size for size in found if 0 <= size <= MAX_LENGTH)


def _assertions(nodes: Iterable[SchemaNode], word: str) -> list[Any]:
    return [node.assertions[word] for node in nodes if word in node.assertions]


class PartKeys(msgspec.Struct, frozen=True):
    """The indexes or names of parts that may be made: *first* has those that have to be there
    first, *special* those at which something may be special.
    """

    first: Sequence[Any]
    special: Iterable[Any]


def index_keys(case: Case, hints: list[SchemaNode], most: int) -> PartKeys:
    """Return the indexes of *most* elements."""
    longest = max((len(node.under("prefixItems")) for node in (*case.nodes, *hints)), default=0)
    return PartKeys(range(most), range(min(longest, _MAX_PREFIX) + 1))


def name_keys(case: Case, hints: list[SchemaNode], most: int) -> PartKeys:
    """Return the names of *most* members."""
    special = dict.fromkeys([*case.names(), OTHER])
    if not case.is_closed():
        for hint in hints:
            special |= dict.fromkeys(hint.assertions.get("properties", ()))
            special |= dict.fromkeys(hint.assertions.get("required", ()))
        special |= dict.fromkeys(_NAMES)
    extra = OTHER if case.is_closed() else "extra"
    others = [f"{extra}{number}" for number in range(most)]
    first = dict.fromkeys([*case.required(), *case.names(), *others])
    return PartKeys(list(first), special)
