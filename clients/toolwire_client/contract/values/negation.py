"""Every way to break a schema in one place: what fits another schema, which denies one word of it and keeps the others.

Strategy. A value that is wrong is a value that is right by another schema, so whatever makes the one makes the other.
`{"type": "integer", "minimum": 3}` is broken by what fits `{"type": "integer"}` and `{"exclusiveMaximum": 3}`. A member
or an item is broken by what fits the schema around it, with a denial of its own schema in that place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from . import edge_values as nasty
from .all_of import KINDS, KINDS_WORD, dependent_names, dependent_schemas, kinds_of
from .containers import TWINS_WORD
from .document import matches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .document import Document, Schema
    from .generate import Schemas

MAX_PLACES_DEEP = 4
"""How far from the top a value is broken."""

_MAX_COUNT = 1000  # values with more items or members than this are not made, only to have one too many
_UNKNOWN = ("unknown", "__proto__", "", "x" * 300, "1", "A", "a-b", "é")  # names, tried in this order

Place = tuple[str | int, ...]


class Denial(msgspec.Struct, frozen=True):
    """What fits all *schemas* breaks *keyword* at *place*."""

    place: Place
    keyword: str
    schemas: Schemas


class Denials:
    """The denials of schemas inside *document*. *fits* tells whether there is anything that fits schemas."""

    def __init__(self, document: Document, fits: Callable[[Schemas], bool]) -> None:
        self._document = document
        self._fits = fits

    def of(self, schema: Schema, depth: int = MAX_PLACES_DEEP) -> Iterator[Denial]:
        """Yield the denials of *schema*, at most *depth* places down."""
        if schema is False or schema is True:
            if schema is False:
                yield Denial((), "false schema", (True,))
            return
        if "$ref" in schema:
            yield from self._of_reference(schema, depth)
            if self._document.is_draft7:
                return
        for keyword, denied in _of_words(schema, self._document):
            yield self._beside(without(schema, keyword), Denial((), keyword, (denied,)))
        for name in schema.get("required", ()):
            others = {**schema, "required": [other for other in schema["required"] if other != name]}
            yield self._beside(others, Denial((), "required", (_absent(name),)))
        yield from self._of_branches(schema, depth)
        if depth:
            yield from self._of_members(schema, depth - 1)
            yield from self._of_items(schema, depth - 1)

    def _beside(self, rest: Schema, denial: Denial) -> Denial:
        """The denial with the *rest* of its schema kept, if both can be had."""
        both = (rest, *denial.schemas)
        return Denial(denial.place, denial.keyword, both if self._fits(both) else denial.schemas)

    def _of_reference(self, schema: dict[str, Any], depth: int) -> Iterator[Denial]:
        rest = True if self._document.is_draft7 else without(schema, "$ref")
        if depth:
            for denial in self.of(self._document.target(schema["$ref"]), depth - 1):
                yield self._beside(rest, denial)

    def _of_branches(self, schema: dict[str, Any], depth: int) -> Iterator[Denial]:
        for word in ("anyOf", "oneOf"):
            rest, branches = without(schema, word), schema.get(word, [])
            if branches:
                yield self._beside(rest, Denial((), word, tuple({"not": branch} for branch in branches)))
            for index, branch in enumerate(branches):
                others = tuple({"not": other} for at, other in enumerate(branches) if at != index)
                for denial in self.of(branch, depth - 1) if depth else ():
                    if denial.place:
                        yield self._beside(rest, denial_with(denial, *others))
        for one, other in zip(schema.get("oneOf", [])[:-1], schema.get("oneOf", [])[1:], strict=True):
            yield self._beside(without(schema, "oneOf"), Denial((), "oneOf", (one, other)))
        for index, branch in enumerate(schema.get("allOf", ())):
            rest = {**schema, "allOf": [other for at, other in enumerate(schema["allOf"]) if at != index] or [True]}
            for denial in self.of(branch, depth - 1) if depth else ():
                yield self._beside(rest, denial)
        if "if" in schema and depth:
            rest = without(schema, "if", "then", "else")
            for condition, word in ((schema["if"], "then"), ({"not": schema["if"]}, "else")):
                for denial in self.of(schema.get(word, True), depth - 1):
                    yield self._beside(rest, denial_with(denial, condition))
        rest = without(schema, "dependentSchemas", "dependencies")
        for name, inner in dependent_schemas(schema).items() if depth else ():
            for denial in self.of(inner, depth - 1):
                yield self._beside(rest, denial_with(denial, _present(name)))

    def _of_members(self, schema: dict[str, Any], depth: int) -> Iterator[Denial]:
        properties: dict[str, Schema] = schema.get("properties", {})
        patterns: dict[str, Schema] = schema.get("patternProperties", {})
        for name, inner in properties.items():
            rest = {**schema, "properties": {**properties, name: True}}
            yield from self._of_member(rest, name, inner, "properties", depth)
        free = [name for name in _UNKNOWN if name not in properties]
        for pattern, inner in patterns.items():
            for name in [name for name in free if matches(pattern, name)][:1]:
                rest = {**schema, "patternProperties": without(patterns, pattern)}
                rest["properties"] = {**properties, name: True}
                yield from self._of_member(rest, name, inner, "patternProperties", depth)
        if "additionalProperties" in schema:
            for name in [name for name in free if not any(matches(pattern, name) for pattern in patterns)][:1]:
                rest = {**schema, "properties": {**properties, name: True}}
                yield from self._of_member(rest, name, schema["additionalProperties"], "additionalProperties", depth)
        if "propertyNames" in schema:
            names = schema["propertyNames"]
            for name in [name for name in _UNKNOWN if not self._document.is_valid(names, name)][:1]:
                yield self._beside(without(schema, "propertyNames"), Denial((), "propertyNames", (_present(name),)))

    def _of_member(self, rest: dict[str, Any], name: str, inner: Schema, keyword: str, depth: int) -> Iterator[Denial]:
        if inner is False:
            yield self._beside(rest, Denial((), keyword, (_present(name),)))
            return
        for denial in self.of(inner, depth):
            around = {**_present(name), "properties": {name: {"allOf": list(denial.schemas)}}}
            yield self._beside(rest, Denial((name, *denial.place), denial.keyword, (around,)))

    def _of_items(self, schema: dict[str, Any], depth: int) -> Iterator[Denial]:
        is_older = isinstance(schema.get("items"), list)
        prefix_word, rest_word = ("items", "additionalItems") if is_older else ("prefixItems", "items")
        prefix: list[Schema] = schema.get(prefix_word, [])
        places = [*prefix, schema[rest_word]] if rest_word in schema else prefix
        for index, inner in enumerate(places):
            word = prefix_word if index < len(prefix) else rest_word
            rest = {**schema, prefix_word: [*prefix[:index], True, *prefix[index + 1 :]]}
            before: list[Schema] = [True] * index
            for denial in self.of(inner, depth) if inner is not False else [Denial((), word, (True,))]:
                around = {"type": "array", "minItems": index + 1}
                around[prefix_word] = [*before, {"allOf": list(denial.schemas)}]
                place = (index, *denial.place) if inner is not False else ()
                yield self._beside(rest, Denial(place, denial.keyword, (around,)))


def without(schema: dict[str, Any], *words: str) -> dict[str, Any]:
    """Return *schema* without these *words*."""
    return {word: value for word, value in schema.items() if word not in words}


def denial_with(denial: Denial, *schemas: Schema) -> Denial:
    """Return *denial* for what fits these *schemas* too."""
    return Denial(denial.place, denial.keyword, (*denial.schemas, *schemas))


def _absent(name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: False}}


def _present(name: str) -> dict[str, Any]:
    return {"type": "object", "required": [name]}


def _of_words(schema: dict[str, Any], document: Document) -> Iterator[tuple[str, Schema]]:
    """Yield each word that can be denied by itself, with what denies it."""
    for word, value in schema.items():
        if word in _BY_WORD and (denied := _BY_WORD[word](value)) is not None:
            yield word, denied
    if "type" in schema:
        others = frozenset(KINDS) - kinds_of(schema)
        yield "type", {KINDS_WORD: others}
        yield "type", {KINDS_WORD: others, "enum": nasty.LOOKALIKES}
    if "contains" in schema and schema.get("minContains", 1) > 0:
        yield "contains", {"type": "array", "items": {"not": schema["contains"]}}
    if schema.get("uniqueItems") and not schema.get("prefixItems") and not isinstance(schema.get("items"), list):
        yield "uniqueItems", {"type": "array", TWINS_WORD: True}
    word = "dependencies" if document.is_draft7 else "dependentRequired"
    for name, needed in dependent_names(schema).items() if word in schema else ():
        for lack in needed:
            yield word, {**_absent(lack), **_present(name)}


# What breaks a word that says *value*; None where nothing does, or it would take too much.
_BY_WORD: dict[str, Callable[[Any], Schema | None]] = {
    "enum": lambda value: {"not": {"enum": value}},
    "const": lambda value: {"not": {"const": value}},
    "not": lambda value: value,
    "minimum": lambda value: {"type": "number", "exclusiveMaximum": value},
    "maximum": lambda value: {"type": "number", "exclusiveMinimum": value},
    "exclusiveMinimum": lambda value: {"type": "number", "maximum": value},
    "exclusiveMaximum": lambda value: {"type": "number", "minimum": value},
    "multipleOf": lambda value: {"type": "number", "not": {"multipleOf": value}},
    "minLength": lambda value: {"type": "string", "maxLength": value - 1} if value else None,
    "maxLength": lambda value: {"type": "string", "minLength": value + 1} if value < 100 * _MAX_COUNT else None,
    "pattern": lambda value: {"type": "string", "not": {"pattern": value}},
    "minItems": lambda value: {"type": "array", "maxItems": value - 1} if value else None,
    "maxItems": lambda value: {"type": "array", "minItems": value + 1} if value < _MAX_COUNT else None,
    "minProperties": lambda value: {"type": "object", "maxProperties": value - 1} if value else None,
    "maxProperties": lambda value: {"type": "object", "minProperties": value + 1} if value < _MAX_COUNT else None,
}
