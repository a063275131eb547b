"""Schemas of the kinds that tools have, before and after an edit, and values that they accept or
nearly accept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

Schema = Any

NAMES = ("a", "b", "c")
_NAME = st.sampled_from(NAMES)
_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
_PATTERNS_OF_NAMES = st.sampled_from(["^a", "b", "^[a-z]$", "^\\d+$"])
"""Without "": next to `additionalProperties: false`, jsonschema takes it for no pattern."""
_PATTERNS = _PATTERNS_OF_NAMES | st.just("")
_BOUND = st.sampled_from([-1, 0, 1, 2, 3, 1.5, 2.0])
_COUNT = st.integers(0, 3)

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from(
        [None, False, True, -1, 0, 1, 2, 3, 4, 1.0, 1.5, 2.5, "", "a", "b", "ab", "12", "zzzz"]
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(_NAME | st.sampled_from(["d", "ab"]), inner, max_size=4)
    ),
    max_leaves=8,
)

_WORDS: dict[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from(_TYPES)
    | st.lists(st.sampled_from(_TYPES), min_size=1, max_size=3, unique=True),
    "enum": st.lists(VALUES, min_size=1, max_size=4),
    "const": VALUES,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _BOUND),
    "multipleOf": st.sampled_from([1, 2, 3, 0.5, 1.5]),
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _COUNT
    ),
    "pattern": _PATTERNS,
    "uniqueItems": st.booleans(),
    "required": st.lists(_NAME, max_size=2, unique=True),
    "dependentRequired": st.dictionaries(
        _NAME, st.lists(_NAME, max_size=2, unique=True), max_size=2
    ),
    **dict.fromkeys(("minContains", "maxContains"), _COUNT),
    "default": VALUES,
    "description": st.sampled_from(["One.", "Two."]),
}


def _containing(inner: st.SearchStrategy[Schema]) -> dict[str, st.SearchStrategy[Any]]:
    several = st.lists(inner, min_size=1, max_size=3)
    return {
        **dict.fromkeys(
            ("items", "contains", "additionalProperties", "propertyNames", "not", "if", "then"),
            inner,
        ),
        **dict.fromkeys(("prefixItems", "anyOf", "oneOf", "allOf"), several),
        "properties": st.dictionaries(_NAME, inner, max_size=3),
        "patternProperties": st.dictionaries(_PATTERNS_OF_NAMES, inner, max_size=2),
        "$ref": st.sampled_from(["#/$defs/one", "#/$defs/other"]),
    }


def _inner(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    words = {**_WORDS, **_containing(inner)}
    anything = st.lists(st.sampled_from(sorted(words)), max_size=4, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries({word: words[word] for word in chosen})
    )
    typical = st.fixed_dictionaries(
        {"type": st.just("object"), "properties": words["properties"]},
        optional={"required": words["required"], "additionalProperties": st.booleans() | inner},
    )
    arrays = st.fixed_dictionaries(
        {"type": st.just("array"), "items": inner},
        optional={"minItems": _COUNT, "maxItems": _COUNT},
    )
    return anything | typical | arrays


_LEAVES = st.booleans() | st.sampled_from(_TYPES).flatmap(
    lambda name: st.fixed_dictionaries(
        {"type": st.just(name)},
        optional={
            word: _WORDS[word]
            for word in ("minimum", "maximum", "minLength", "maxLength", "enum", "pattern")
        },
    )
)
_PARTS = st.recursive(_LEAVES, _inner, max_leaves=5)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """A schema with two definitions that it may refer to, and that may refer to each other."""
    root = draw(_PARTS)
    if isinstance(root, bool):
        return root
    return {**root, "$defs": {"one": draw(_PARTS), "other": draw(_PARTS)}}


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Schema, Schema]:
    """Two schemas: mostly one and the same after some edits, sometimes two that have nothing to do
    with each other.
    """
    one = draw(schemas())
    if draw(st.integers(0, 4)) == 0:
        return one, draw(schemas())
    other = one
    for _ in range(draw(st.integers(1, 3))):
        other = draw(edited(other))
    return (one, other) if draw(st.booleans()) else (other, one)


@st.composite
def edited(draw: st.DrawFn, schema: Schema) -> Schema:
    """*schema* with one word somewhere in it added, changed or taken away."""
    places = [path for path in _places(schema, ()) if path or not isinstance(schema, bool)] or [()]
    path = draw(st.sampled_from(places))

    def edit(inner: Schema) -> Schema:
        if isinstance(inner, bool) or draw(st.integers(0, 5)) == 0:
            return draw(_LEAVES) if path else inner
        words = {**_WORDS, **_containing(_LEAVES)}
        word = draw(st.sampled_from([*(name for name in inner if name in words), *sorted(words)]))
        if word in inner and draw(st.booleans()):
            return {name: value for name, value in inner.items() if name != word}
        return {**inner, word: draw(words[word])}

    return _changed(schema, path, edit)


def moved_into_definitions(schema: Schema) -> Schema:
    """The same schema with every member and element of it behind a reference."""
    definitions: dict[str, Schema] = dict(schema.get("$defs", {}))

    def moved(inner: Schema) -> Schema:
        name = f"moved{len(definitions)}"
        definitions[name] = inner
        return {"$ref": f"#/$defs/{name}"}

    root = dict(schema)
    for path in [
        path for path in _places(schema, ()) if len(path) in (1, 2) and path[0] != "$defs"
    ]:
        root = _changed(root, path, moved)
    return {**root, "$defs": definitions}


_ONE = ("items", "contains", "additionalProperties", "propertyNames", "not", "if", "then")
_MANY = ("prefixItems", "anyOf", "oneOf", "allOf", "properties", "patternProperties", "$defs")


def _places(schema: Schema, path: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    found = [path]
    if isinstance(schema, dict):
        for word, value in schema.items():
            if word in _ONE:
                found += _places(value, (*path, word))
            elif word in _MANY:
                for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
                    found += _places(inner, (*path, word, name))
    return found


def _changed(value: Any, path: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(value)
    first, *rest = path
    if isinstance(value, list):
        return [
            _changed(inner, tuple(rest), change) if at == first else inner
            for at, inner in enumerate(value)
        ]
    return {
        name: _changed(inner, tuple(rest), change) if name == first else inner
        for name, inner in value.items()
    }
