"""Breaks a JSON value in every place: removes each member, gives each value another JSON type.

Derives from the schema's keywords, without a validator, which of these values the schema must
refuse. If a validator accepts one of them, the schema has a hole, most often an unintended
alternative.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from toolwire_schemas.published import PREFIX, list_names, load

Path = tuple[str | int, ...]

REGISTRY: Registry[Any] = Registry().with_resources(
    (PREFIX + name, Resource.from_contents(load(name))) for name in list_names()
)

# A value of each type of JSON; a fraction apart, since 7 is a number and an integer.
VALUES: dict[str, Any] = {
    "null": None,
    "boolean": True,
    "integer": 7,
    "number": 7.5,
    "string": "x",
    "array": [],
    "object": {},
}
_NAMES = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
}


class Mutant(NamedTuple):
    """A value with one change. *must_fail* says whether the schema's words forbid it."""

    path: Path
    change: str
    value: Any
    must_fail: bool


class Place(NamedTuple):
    """A part of a value, and what the schema says there: the types it may have (None: any), the
    members it needs.
    """

    path: Path
    value: Any
    types: frozenset[str] | None
    required: frozenset[str]
    schemas: list[Any]
    """Those that judge it."""


class _Words(NamedTuple):
    """A schema and where its references start. It is *sure* to judge the value if no alternative
    can take its place.
    """

    schema: Any
    resolver: Any
    sure: bool = True


def mutants(name: str, value: Any) -> Iterator[Mutant]:
    """Yield every change of *value*, which the schema of this *name* takes, that its words say
    something about.
    """
    for place in places(name, value):
        if isinstance(place.value, dict):
            for member in place.value:
                without = {key: item for key, item in place.value.items() if key != member}
                changed = _replaced(value, place.path, without)
                yield Mutant((*place.path, member), "removed", changed, member in place.required)
        if place.types is not None:
            for kind, other in VALUES.items():
                if kind != _kind(place.value) and not (
                    kind == "integer" and _kind(place.value) == "number"
                ):
                    allowed = kind in place.types or (kind == "integer" and "number" in place.types)
                    yield Mutant(place.path, kind, _replaced(value, place.path, other), not allowed)


def places(name: str, value: Any) -> Iterator[Place]:
    """Yield every part of *value*, the whole included, with what the schema of this *name* says of
    it.
    """
    found = REGISTRY.resolver().lookup(PREFIX + name)
    yield from _places([_Words(found.contents, found.resolver)], value, ())


def written(path: Path) -> str:
    """*path* as a JSON Pointer."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def _places(words: list[_Words], value: Any, path: Path) -> Iterator[Place]:
    judging = [inner for word in words for inner in _judging(word, value)]
    allowed = [kinds for word in words if (kinds := _types(word)) is not None]
    required = {name for word in judging if word.sure for name in word.schema.get("required", ())}
    types = frozenset[str].intersection(*allowed) if allowed else None
    yield Place(path, value, types, frozenset(required), [word.schema for word in judging])
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _places(
                [inner for word in judging for inner in _of_member(word, name)], item, (*path, name)
            )
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _places(
                [inner for word in judging for inner in _of_item(word, index)], item, (*path, index)
            )


def _judging(word: _Words, value: Any) -> Iterator[_Words]:
    """*word* and every schema by which it judges *value* as a whole."""
    schema = word.schema
    if not isinstance(schema, dict):
        return
    yield word
    if (target := _target(word)) is not None:
        yield from _judging(target, value)
    for inner in schema.get("allOf", ()):
        yield from _judging(word._replace(schema=inner), value)
    taking = [
        word._replace(schema=inner)
        for inner in schema.get("anyOf", ())
        if _takes(word, inner, value)
    ]
    for branch in taking:
        yield from _judging(branch._replace(sure=word.sure and len(taking) == 1), value)
    if "if" in schema:
        which = "then" if _takes(word, schema["if"], value) else "else"
        yield from _judging(word._replace(schema=schema.get(which, {})), value)


def _types(word: _Words) -> frozenset[str] | None:
    schema = word.schema
    if not isinstance(schema, dict):
        return None if schema else frozenset()
    said: list[frozenset[str]] = []
    if "type" in schema:
        said.append(
            frozenset([schema["type"]] if isinstance(schema["type"], str) else schema["type"])
        )
    for values in ([schema["const"]] if "const" in schema else None, schema.get("enum")):
        if values is not None:
            said.append(frozenset(map(_kind, values)))
    more = [_target(word), *(word._replace(schema=inner) for inner in schema.get("allOf", ()))]
    said += [kinds for inner in more if inner is not None and (kinds := _types(inner)) is not None]
    branches = [_types(word._replace(schema=inner)) for inner in schema.get("anyOf", ())]
    if branches and None not in branches:
        said.append(frozenset().union(*(kinds for kinds in branches if kinds is not None)))
    return frozenset[str].intersection(*said) if said else None


def _target(word: _Words) -> _Words | None:
    if "$ref" not in word.schema:
        return None
    found = word.resolver.lookup(word.schema["$ref"])
    return _Words(found.contents, found.resolver, word.sure)


def _of_member(word: _Words, name: str) -> Iterator[_Words]:
    named = word.schema.get("properties", {})
    patterns = word.schema.get("patternProperties", {})
    found = [named[name]] if name in named else []
    found += [inner for pattern, inner in patterns.items() if re.search(pattern, name)]
    for inner in found:
        yield word._replace(schema=inner, sure=True)
    if not found and "additionalProperties" in word.schema:
        yield word._replace(schema=word.schema["additionalProperties"], sure=True)


def _of_item(word: _Words, index: int) -> Iterator[_Words]:
    first = word.schema.get("prefixItems", ())
    if index < len(first):
        yield word._replace(schema=first[index], sure=True)
    elif "items" in word.schema:
        yield word._replace(schema=word.schema["items"], sure=True)


def _takes(word: _Words, schema: Any, value: Any) -> bool:
    validator = Draft202012Validator(word.schema, registry=REGISTRY, _resolver=word.resolver)
    return bool(validator.evolve(schema=schema).is_valid(value))


def _kind(value: Any) -> str:
    return _NAMES.get(type(value), "object")


def _replaced(value: Any, path: Path, other: Any) -> Any:
    if not path:
        return other
    first, *rest = path
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[first] = _replaced(value[first], tuple(rest), other)
    return changed
