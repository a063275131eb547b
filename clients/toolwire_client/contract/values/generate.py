"""Values that fit schemas, drawn piece by piece.

Strategy. A value without anything in it is of depth 0. What fits at a depth is decided from what fits one level below,
so recursive schemas need no special care: each is followed down only as far as the depth that is left. An option is
one way to fit, and one kind of value; a value is made of one of the options that are left.
"""

from __future__ import annotations

import math
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import reject
from hypothesis import strategies as st

from . import edge_values as nasty
from . import numbers, strings
from .all_of import ANNOTATIONS, KINDS, Way, kind_of, ways
from .containers import ArrayWords, Contains, ObjectWords, equal_if_same
from .document import Document, Schema, conjunction_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypothesis.strategies import DrawFn

MAX_DEPTH = 16
"""How deep the least value that fits may be nested, before nothing is said to fit."""

_TRIES = 8  # to find something that also passes what can only be checked
_ONE_VALUE = {"const", *ANNOTATIONS}
_MORE_ITEMS = 3
_MORE_MEMBERS = 2
_MAX_SINGLE_CHOICES = 32
"""Up to how many optional members are decided one by one: the time to shrink a value is quadratic in its choices."""

Schemas = tuple[Schema, ...]


class Option(msgspec.Struct, frozen=True):
    """A way to fit by a value of one *kind*; where *listed* is not `None`, by one of these values."""

    way: Way
    kind: str
    listed: tuple[Any, ...] | None = None


class Maker:
    """Makes values that fit schemas inside *document*."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._options: dict[tuple[tuple[str, ...], int], list[Option]] = {}
        self._keys: dict[int, tuple[Schema, str]] = {}  # with each schema, so that its id is not given to another
        self._plain: dict[int, st.SearchStrategy[Any]] = {}

    def least_depth(self, schemas: Schemas) -> int | None:
        """Return how deep the least value that fits is nested; `None` if nothing fits up to `MAX_DEPTH`."""
        return next((depth for depth in range(MAX_DEPTH + 1) if self.options(schemas, depth)), None)

    def options(self, schemas: Schemas, depth: int) -> list[Option]:
        """Return the options for a value that is nested no deeper than *depth*; none for a negative one."""
        if depth < 0:
            return []
        key = (tuple(map(self._key, schemas)), depth)
        if key not in self._options:
            self._options[key] = [
                option for way in ways(self._document, schemas) for option in self._options_of(way, depth)
            ]
        return self._options[key]

    def _key(self, schema: Schema) -> str:
        """A name for *schema* that equal ones share, written once for each object: a large one takes long to write."""
        known = self._keys.get(id(schema))
        if known is None:
            known = self._keys[id(schema)] = (schema, conjunction_key((schema,)))
        return known[1]

    def value(self, draw: DrawFn, schemas: Schemas, depth: int) -> Any:
        """Draw a value that fits all *schemas*, nested no deeper than *depth*, at which there are options."""
        option = draw(st.sampled_from(self.options(schemas, depth)))
        for _ in range(_TRIES):
            value = self._made(draw, option, depth)
            if not any(self._fits(schema, value) for schema in option.way.excluded):
                return value
        return reject()

    def _options_of(self, way: Way, depth: int) -> Iterator[Option]:
        listed = way.listed()
        if listed is None and way.kinds <= {"null", "boolean"}:
            listed = [None, False, True]
        if listed is not None:
            unlisted = _without_list(way, listed)  # that each is in its own list takes long to see in a long one
            fitting = tuple(value for value in listed if self._is_listed(unlisted, value))
            if fitting:
                yield Option(way, "listed", fitting)
            return
        for kind in KINDS:
            if kind in way.kinds and self._is_possible(kind, way, depth):
                yield Option(way, kind)

    def _is_listed(self, way: Way, value: Any) -> bool:
        return (
            kind_of(value) in way.kinds
            and all(self._document.is_valid(schema, value) for schema in way.words)
            and not any(self._fits(schema, value) for schema in way.excluded)
        )

    def _fits(self, schema: Schema, value: Any) -> bool:
        """Whether *value* fits *schema*, or may by any validator. Quick where there are hundreds of constants."""
        if isinstance(schema, dict) and "const" in schema and set(schema) <= _ONE_VALUE:
            return bool(equal_if_same(schema["const"]) == equal_if_same(value))
        if isinstance(schema, dict) and set(schema) == {"pattern"} and isinstance(value, str):
            return strings.matches_somewhere(schema["pattern"], value)
        return self._document.is_valid(schema, value)

    def _is_possible(self, kind: str, way: Way, depth: int) -> bool:
        match kind:
            case "null":
                return self._is_listed(way, None)
            case "boolean":
                return self._is_listed(way, False) or self._is_listed(way, True)
            case "integer" | "fraction":
                return numbers.is_possible(kind, numbers.bounds(way))
            case "string":
                return strings.is_possible(way)
            case "array":
                return self._has_array(ArrayWords(way), depth)
        return self._has_object(ObjectWords(way), depth)

    def _made(self, draw: DrawFn, option: Option, depth: int) -> Any:
        way = option.way
        match option.kind:
            case "array":
                return self._array(draw, ArrayWords(way), depth)
            case "object":
                return self._object(draw, ObjectWords(way), depth)
        if id(option) not in self._plain:  # strategies are expensive to build
            self._plain[id(option)] = self._strategy(option)
        return draw(self._plain[id(option)])

    def _strategy(self, option: Option) -> st.SearchStrategy[Any]:
        """What has nothing in it."""
        way = option.way
        match option.kind:
            case "listed":
                return st.sampled_from(option.listed or ()).map(deepcopy)  # they are the schema's own
            case "null":
                return st.none()
            case "boolean":
                return st.booleans()
            case "string":
                return strings.strings(way)
        multiples = [{"multipleOf": step} for step in way.all("multipleOf")]
        found = numbers.numbers(option.kind, numbers.bounds(way))
        return found.filter(lambda number: all(self._document.is_valid(schema, number) for schema in multiples))

    # Arrays

    def _has_array(self, words: ArrayWords, depth: int) -> bool:
        return words.least <= self._capacity(words, depth) and all(
            self._place_for(part, words, depth) is not None for part in words.contains if part.least
        )

    def _capacity(self, words: ArrayWords, depth: int) -> float:
        """How many items there can be."""
        most = math.inf if words.most is None else words.most
        for index in range(words.prefix + 1):
            if not self.options(words.item(index), depth - 1):
                return min(most, index)
        if words.is_unique and (values := self._all(words.item(words.prefix), depth - 1)) is not None:
            return min(most, words.prefix + len(values))
        return most

    def _all(self, schemas: Schemas, depth: int) -> set[Any] | None:
        """All values that fit, if they are listed."""
        options = self.options(schemas, depth)
        if any(option.listed is None for option in options):
            return None
        return {equal_if_same(value) for option in options for value in option.listed or ()}

    def _place_for(self, part: Contains, words: ArrayWords, depth: int) -> int | None:
        for index in range(words.prefix + 1):
            if index < self._capacity(words, depth) and self.options((*words.item(index), part.schema), depth - 1):
                return index
        return None

    def _array(self, draw: DrawFn, words: ArrayWords, depth: int) -> list[Any]:
        if words.says_nothing and draw(st.integers(0, 19)) == 19:
            return nasty.nested(nasty.DEEP)
        size = draw(st.integers(words.least, int(min(self._capacity(words, depth), words.least + _MORE_ITEMS))))
        places = [words.item(index) for index in range(size)]
        for part in words.contains:
            self._require(part, places, depth)
        items: list[Any] = []
        for schemas in places:
            items.append(self._item(draw, schemas, items if words.is_unique else [], depth))
        if words.has_twins:
            items[-1] = items[-2]
        for part in words.contains:
            if part.most is not None and sum(self._document.is_valid(part.schema, item) for item in items) > part.most:
                return reject()
        return items

    def _require(self, part: Contains, places: list[Schemas], depth: int) -> None:
        """Have as many of *places* as are needed fit a part of `contains` too."""
        missing = part.least
        for index, schemas in enumerate(places):
            if missing and self.options((*schemas, part.schema), depth - 1):
                places[index] = (*schemas, part.schema)
                missing -= 1
        if missing:
            reject()

    def _item(self, draw: DrawFn, schemas: Schemas, others: list[Any], depth: int) -> Any:
        taken = {equal_if_same(other) for other in others}
        for _ in range(_TRIES):
            item = self.value(draw, schemas, depth - 1)
            if equal_if_same(item) not in taken:
                return item
        return reject()

    # Objects

    def _has_object(self, words: ObjectWords, depth: int) -> bool:
        needed = words.with_dependents(words.required)
        if words.most is not None and len(needed) > words.most:
            return False
        if not all(self._has_member(name, words, depth) for name in needed):
            return False
        if words.least <= len(needed):
            return True
        known = {name for name in words.declared if self._has_member(name, words, depth)}
        return len(known | set(needed)) >= words.least or self._takes_others(words, depth)

    def _has_member(self, name: str, words: ObjectWords, depth: int) -> bool:
        return bool(self.options(words.member(name), depth - 1)) and self._is_name(name, words)

    def _is_name(self, name: str, words: ObjectWords) -> bool:
        return all(self._document.is_valid(schema, name) for schema in words.names)

    def _takes_others(self, words: ObjectWords, depth: int) -> bool:
        """Whether there may be members that are not declared, as far as that can be told without trying names."""
        if words.names and not self.options(({"type": "string"}, *words.names), 0):
            return False
        undeclared = next(name for name in map(str, range(10**9)) if name not in words.declared)
        return bool(words.patterns) or bool(self.options(words.member(undeclared), depth - 1))

    def _object(self, draw: DrawFn, words: ObjectWords, depth: int) -> dict[str, Any]:
        names = words.with_dependents(words.required)
        given = set(names)
        optional = [name for name in words.declared if name not in given]
        if len(optional) > _MAX_SINGLE_CHOICES:
            chosen = draw(st.lists(st.sampled_from(optional), max_size=_MAX_SINGLE_CHOICES, unique=True))
        else:
            chosen = [name for name in optional if draw(st.booleans())]
        for name in chosen:
            if name not in names:  # another one may have required it
                names = self._with(name, names, words, depth)
        if self._takes_others(words, depth):
            wanted = max(words.least - len(names), draw(st.sampled_from((0, 0, 0, 1, _MORE_MEMBERS))))
            for _ in range(wanted and wanted + _TRIES):
                if wanted and len(more := self._with(draw(self._names(words)), names, words, depth)) > len(names):
                    wanted, names = wanted - 1, more
        for name in words.declared:
            if len(names) < words.least:
                names = self._with(name, names, words, depth)
        if len(names) < words.least:
            reject()
        return {name: self.value(draw, words.member(name), depth - 1) for name in names}

    def _with(self, name: str, names: list[str], words: ObjectWords, depth: int) -> list[str]:
        """*names* and *name*, with what depends on it; without it if that is not possible."""
        more = words.with_dependents((*names, name))
        if words.most is not None and len(more) > words.most:
            return names
        new = [other for other in more if other not in names]
        return more if all(self._has_member(other, words, depth) for other in new) else names

    def _names(self, words: ObjectWords) -> st.SearchStrategy[str]:
        if words.names:
            return drawn(self, ({"type": "string"}, *words.names), 0)
        plain = st.sampled_from(nasty.NAMES)
        return st.one_of(plain, st.text(max_size=6), *map(strings.matching, words.patterns))


def _without_list(way: Way, listed: list[Any]) -> Way:
    """What *way* says beside the one `enum` that is this list."""
    words = tuple(
        {word: said for word, said in schema.items() if word != "enum" or said is not listed} for schema in way.words
    )
    return Way(way.kinds, words, way.excluded)


@st.composite
def drawn(draw: DrawFn, maker: Maker, schemas: Schemas, depth: int) -> Any:
    """Draw what *maker* makes of *schemas*, as a strategy."""
    return maker.value(draw, schemas, depth)
