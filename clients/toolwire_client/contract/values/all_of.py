"""The ways to fit several schemas at once: each is a list of plain words that all hold, and the types left for it.

Strategy. Whatever offers a choice (`anyOf`, `oneOf`, `if`, …) is taken apart into ways, what demands several things at
once (`allOf`, `$ref`) becomes one of them. Words are never merged: a way keeps the schemas they stand in, and whoever
makes a value asks all of these, so that `additionalProperties` means those that its own schema does not name. What
cannot be said by plain words (most of `not`, and that no second branch of `oneOf` fits) is left as a check.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from .document import Document, Schema, Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_WAYS = 2000
"""More ways to fit one schema are not looked through; generated schemas with hundreds of alternatives stay below."""

# A number is one of the first two, so that what is not an integer can be said.
KINDS = ("null", "boolean", "integer", "fraction", "string", "array", "object")
KINDS_WORD = "toolwire:kinds"
"""A keyword of this package, which validators ignore: the allowed kinds."""

_TYPES: dict[str, frozenset[str]] = {kind: frozenset([kind]) for kind in KINDS if kind != "fraction"}
_TYPES["number"] = frozenset(["integer", "fraction"])

# What says nothing of a value.
ANNOTATIONS = frozenset(
    (
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"),
        *("$schema", "$id", "$anchor", "$defs", "definitions"),
        *("contentEncoding", "contentMediaType", "contentSchema"),
    )
)


def kind_of(value: Any) -> str:
    """Return which of the `KINDS` a value of JSON is of."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "fraction"
        case str():
            return "string"
    return "array" if isinstance(value, list) else "object"


class Way(msgspec.Struct, frozen=True):
    """One way to fit: what has all these *words*, and fits none of *excluded*, is of one of *kinds*."""

    kinds: frozenset[str] = frozenset(KINDS)
    words: tuple[dict[str, Any], ...] = ()
    excluded: tuple[Schema, ...] = ()

    def all(self, word: str) -> list[Any]:
        """Return what every schema that has this *word* says by it."""
        return [schema[word] for schema in self.words if word in schema]

    def largest(self, word: str, default: int = 0) -> Any:
        """Return the largest bound by this *word*."""
        return max([default, *self.all(word)])

    def smallest(self, word: str) -> Any:
        """Return the smallest bound by this *word*; `None` if there is none."""
        return min(self.all(word), default=None)

    def listed(self) -> list[Any] | None:
        """Return the values by name of which one must be it; `None` if there is no such list."""
        if consts := self.all("const"):
            return [consts[0]]
        lists: list[list[Any]] = self.all("enum")
        return min(lists, key=len) if lists else None


def ways(document: Document, schemas: Sequence[Schema]) -> tuple[Way, ...]:
    """Return every way to fit all of *schemas*; none if they contradict each other in their types alone.

    Raises:
        Unsupported: if there are too many.
    """
    found = tuple(islice(_expanded(document, list(schemas), (), Way(), frozenset()), MAX_WAYS + 1))
    if len(found) > MAX_WAYS:
        raise Unsupported("", f"there are more than {MAX_WAYS} ways to combine its alternatives")
    return found


_Choice = list[list[Schema]]
"""Alternatives; of each, all schemas hold."""


def _expanded(
    document: Document, pending: list[Schema], choices: tuple[_Choice, ...], way: Way, seen: frozenset[str]
) -> Iterator[Way]:
    while pending:
        document.spend()
        schema = pending.pop()
        if schema is True:
            continue
        if schema is False:
            return
        if "$ref" in schema:
            if (reference := schema["$ref"]) not in seen:  # a second time it says nothing new
                seen |= {reference}
                pending.append(document.target(reference))
            if document.is_draft7:
                continue
        kinds = way.kinds & kinds_of(schema)
        if not kinds:
            return
        way = Way(kinds, way.words if set(schema) == {"not"} else (*way.words, schema), way.excluded)
        pending += schema.get("allOf", ())
        if "not" in schema:
            denied = _denied(schema["not"])
            pending += denied or ()
            if denied is None:
                way = Way(way.kinds, way.words, (*way.excluded, schema["not"]))
        choices += tuple(_choices(schema))
    if not choices:
        yield way
        return
    for alternative in choices[0]:
        yield from _expanded(document, list(alternative), choices[1:], way, seen)


def kinds_of(schema: dict[str, Any]) -> frozenset[str]:
    """Return the kinds that the `type` of *schema* allows."""
    if KINDS_WORD in schema:
        kinds: frozenset[str] = schema[KINDS_WORD]
        return kinds
    if "type" not in schema:
        return frozenset(KINDS)
    types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    return frozenset().union(*(_TYPES[name] for name in types))


def _choices(schema: dict[str, Any]) -> Iterator[_Choice]:
    if "anyOf" in schema:
        yield [[branch] for branch in schema["anyOf"]]
    if "oneOf" in schema:
        branches = schema["oneOf"]
        yield [
            [branch, *({"not": other} for other in (*branches[:index], *branches[index + 1 :]))]
            for index, branch in enumerate(branches)
        ]
    if "if" in schema and ("then" in schema or "else" in schema):
        condition = schema["if"]
        yield [[condition, schema.get("then", True)], [{"not": condition}, schema.get("else", True)]]
    for name, inner in dependent_schemas(schema).items():
        yield [[{"properties": {name: False}}], [{"type": "object", "required": [name]}, inner]]


def dependent_schemas(schema: dict[str, Any]) -> dict[str, Schema]:
    """Return what an object must fit that has a member of these names."""
    older = schema.get("dependencies", {})
    return {**schema.get("dependentSchemas", {}), **{k: v for k, v in older.items() if not isinstance(v, list)}}


def dependent_names(schema: dict[str, Any]) -> dict[str, list[str]]:
    """Return which members an object needs in addition to these names."""
    older = schema.get("dependencies", {})
    return {**schema.get("dependentRequired", {}), **{k: v for k, v in older.items() if isinstance(v, list)}}


def _denied(schema: Schema) -> list[Schema] | None:
    """Return schemas which together say that *schema* does not fit; `None` if there are no such."""
    if isinstance(schema, bool):
        return [not schema]
    said = {word: value for word, value in schema.items() if word not in ANNOTATIONS}
    if not said:
        return [False]
    if len(said) > 1:
        return None
    match said:
        case {"not": inner}:
            return [inner]
        case {"anyOf": branches}:
            return [{"not": branch} for branch in branches]
        case {"type": _}:
            return [{KINDS_WORD: frozenset(KINDS) - kinds_of(said)}]
        case {"required": [name]}:
            return [{"type": "object", "properties": {name: False}}]
    return None
