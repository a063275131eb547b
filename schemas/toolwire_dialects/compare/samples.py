"""Values at the edges of what schemas say, for a search for one that fits one schema only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from .nodes import NUMBERS
from .value_cases import OTHER, ValueCase, list_allowed_values, name_kind

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


def sample_listed_values(nodes: Iterable[SchemaNode]) -> list[Any]:
    """Return the values that *nodes* list."""
    values: list[Any] = []
    for node in nodes:
        for listed in list_allowed_values(node):
            values += listed
    return values


def sample_examples(nodes: Iterable[SchemaNode]) -> Iterator[Any]:
    """Yield defaults and examples that have no members: these may be such as no schema
    describes.
    """
    for node in nodes:
        values = [node.keywords.get("default")]
        examples = node.keywords.get("examples")
        if isinstance(examples, list):
            values += examples
        for value in values:
            if not isinstance(value, dict | list):
                yield value


def sample_numbers(nodes: Sequence[SchemaNode]) -> Iterator[Any]:
    """Yield numbers, those at the bounds of *nodes* among them."""
    yield from _NUMBERS
    for bound in _find_bounds_of_numbers(nodes):
        yield bound
        yield bound + 1
        yield bound - 1
        if abs(bound) < 2**50:  # a float beyond that has no room for a half
            yield bound + 0.5
            yield bound - 0.5


def _find_bounds_of_numbers(nodes: Sequence[SchemaNode]) -> dict[Any, None]:
    """Return the numbers at which the verdict about a number may change."""
    bounds = [value for value in sample_listed_values(nodes) if name_kind(value) in NUMBERS]
    for word in _BOUNDS:
        bounds += _find_assertions(nodes, word)
    for multiple in _find_assertions(nodes, "multipleOf"):
        bounds += (multiple * 2, multiple * 3, multiple * 7)
    return dict.fromkeys(bounds)


def sample_texts(nodes: Sequence[SchemaNode]) -> Iterator[str]:
    """Yield texts, those of the lengths at the bounds of *nodes* among them."""
    yield from _TEXTS
    if _find_assertions(nodes, "format") or _find_assertions(nodes, "pattern"):
        yield from _FORMATS
    for size in sample_sizes(nodes, "minLength", "maxLength"):
        yield "a" * size
        yield "1" * size
    for value in sample_listed_values(nodes):
        if isinstance(value, str):
            yield value
            yield f"{value}a"


def sample_sizes(nodes: Iterable[SchemaNode], *words: str) -> list[int]:
    """Return the lengths at the bounds that *nodes* have under *words*, and small ones."""
    found = {1, 2, 3}
    for word in words:
        for value in _find_assertions(nodes, word):
            bound = int(value)
            found |= {bound - 1, bound, bound + 1}
    possible = [size for size in found if 0 <= size <= MAX_LENGTH]
    return sorted(possible)


def _find_assertions(nodes: Iterable[SchemaNode], word: str) -> list[Any]:
    return [node.assertions[word] for node in nodes if word in node.assertions]


class PartKeys(msgspec.Struct, frozen=True):
    """The indexes or names of parts that may be made: *first* has those that have to be there
    first, *special* those at which something may be special.
    """

    first: Sequence[Any]
    special: Iterable[Any]


def index_keys(case: ValueCase, hints: list[SchemaNode], most: int) -> PartKeys:
    """Return the indexes of *most* elements."""
    longest = 0
    for node in (*case.nodes, *hints):
        longest = max(longest, len(node.find_under("prefixItems")))
    described = min(longest, _MAX_PREFIX)
    return PartKeys(range(most), range(described + 1))


def name_keys(case: ValueCase, hints: list[SchemaNode], most: int) -> PartKeys:
    """Return the names of *most* members."""
    extra = OTHER
    special = [*case.list_names(), OTHER]
    if not case.is_closed():
        extra = "extra"
        for hint in hints:
            special += hint.assertions.get("properties", ())
            special += hint.assertions.get("required", ())
        special += _NAMES
    others = [f"{extra}{number}" for number in range(most)]
    first = dict.fromkeys([*case.list_required(), *case.list_names(), *others])
    return PartKeys(list(first), dict.fromkeys(special))
