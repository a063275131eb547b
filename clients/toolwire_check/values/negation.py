"""Values that break a schema: a valid value with one change, if the validator refuses it then.

Strategy. A place in the value is drawn, and a change of what is there: a value of another type, one
item or member more or less, or a value just outside a bound of the schemas for that place. The
validator decides whether the changed value is invalid.
"""

from __future__ import annotations

import math
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from hypothesis import reject
from hypothesis import strategies as st
from toolwire_schemas.json_schema.subschemas import walk

from .document import NoValues
from .generate import item, known_names, member
from .scalars import LOOKALIKES, matches_somewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hypothesis.strategies import DrawFn

    from .document import Parts, Schema
    from .generate import Maker

    Place = tuple[str | int, ...]

_MAX_PLACES = 100
_MAX_LEVELS = 4
_TRIES = 8
_MAX_COUNT = (
    1000  # values with more items or members than this are not made, only to have one too many
)
_UNKNOWN = ("unknown", "__proto__", "", "x" * 300, "1", "A", "a-b", "é")


def broken_values(maker: Maker, within: Schema) -> st.SearchStrategy[Any]:
    """Return a strategy for values that *maker* makes and that are broken then. They fit *within*.

    Raises:
        NoValues: if every value fits the schema.
    """
    root = maker.document.root
    words: dict[str, Any] = root if isinstance(root, dict) else {}
    known: dict[str, Any] = within if isinstance(within, dict) else {}
    own = {word: value for word, value in words.items() if (word, value) not in known.items()}
    if not any(_refuses(part) for _, part in walk(own, "")):
        raise NoValues("", "everything fits the schema")
    return st.composite(_broken)(maker, within)


def _broken(draw: DrawFn, maker: Maker, within: Schema) -> Any:
    root = (maker.document.root,)
    value = maker.value(draw, root, maker.depth)
    places = list(_places(value, _MAX_LEVELS))[:_MAX_PLACES]
    for _ in range(_TRIES):
        place = draw(st.sampled_from(places))
        inner, parts = value, maker.parts(root, _every_branch) or []
        for step in place:
            inner = inner[step]
            schemas = member(step, parts) if isinstance(step, str) else item(step, parts)
            parts = maker.parts(schemas, _every_branch) or []
        changed = _changed(
            value, place, draw(st.sampled_from(draw(st.sampled_from(_changes(inner, parts)))))
        )
        if maker.document.is_valid(within, changed) and _is_broken(maker.document.errors(changed)):
            return deepcopy(changed)  # parts of it are the schema's own
    return reject()


def _is_broken(errors: list[Any]) -> bool:
    return any(
        error.validator != "pattern" or not matches_somewhere(error.validator_value, error.instance)
        for error in errors
    )


_ACCEPTING = frozenset(
    (
        *(
            "title",
            "description",
            "default",
            "examples",
            "deprecated",
            "readOnly",
            "writeOnly",
            "$comment",
            "format",
        ),
        *(
            "$schema",
            "$id",
            "$ref",
            "$defs",
            "definitions",
            "properties",
            "items",
            "prefixItems",
            "allOf",
            "anyOf",
        ),
    )
)
"""Words that refuse no value themselves."""


def _refuses(part: dict[str, Any]) -> bool:
    values = [part[word] for word in part if word not in _ACCEPTING]
    return (
        any(value is not True and value not in ({}, []) for value in values)
        or "uniqueItems" in part
    )


def _every_branch(schema: dict[str, Any]) -> Iterator[Schema]:
    """What *schema* applies to the same value, under any condition; also what it forbids, for its
    bounds.
    """
    yield from (schema[word] for word in ("not", "if", "then", "else") if word in schema)
    yield from (branch for word in ("anyOf", "oneOf") for branch in schema.get(word, ()))
    yield from schema.get("dependentSchemas", {}).values()


def _places(value: Any, levels: int) -> Iterator[Place]:
    yield ()
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for step, inner in inside if levels else ():
        yield from ((step, *place) for place in _places(inner, levels - 1))


def _changed(value: Any, place: Place, new: Any) -> Any:
    """A copy of *value* with *new* at *place*."""
    if not place:
        return new
    copy = value.copy()
    copy[place[0]] = _changed(value[place[0]], place[1:], new)
    return copy


def _changes(value: Any, parts: Parts) -> list[list[Any]]:
    """What can take the place of *value*, to which *parts* apply, in groups that are equally
    likely.
    """
    near = [
        new
        for part in parts
        for word, bound in part.items()
        if word in _NEAR
        for new in _NEAR[word](bound)
    ]
    containers = [*_similar({}, parts), *_similar([], parts)]
    return [group for group in (LOOKALIKES, _similar(value, parts), near, containers) if group]


def _similar(value: Any, parts: Parts) -> list[Any]:
    found: list[Any] = []
    match value:
        case str():
            found = [value + "x", "x" + value, value[:-1], value.swapcase(), value + "\n!"]
        case int() | float() if abs(value) < 2**53:
            found = [value + 0.5]
        case list():
            found = [
                value[:index] + value[index + 1 :] for index in range(len(value[:_MAX_PLACES]))
            ]
            found += [[*value, item] for item in (*value[:_MAX_PLACES], None, "0")]
            found += [
                (value + [None] * size)[:size] for size in _sizes(parts, "minItems", "maxItems")
            ]
        case dict():
            found = [
                {name: value[name] for name in value if name != gone}
                for gone in list(value)[:_MAX_PLACES]
            ]
            new = [name for name in (*_UNKNOWN, *known_names(parts)) if name not in value]
            found += [{**value, name: inner} for name in new for inner in (None, "0")]
            for size in _sizes(parts, "minProperties", "maxProperties"):
                more = {f"member {number}": None for number in range(size)}
                found.append(dict(list({**value, **more}.items())[:size]))
    return found


def _sizes(parts: Parts, least: str, most: str) -> list[int]:
    """The sizes that are just outside the bounds of *parts*."""
    too_small = [int(part[least]) - 1 for part in parts if part.get(least)]
    return too_small + [
        int(part[most]) + 1 for part in parts if part.get(most, _MAX_COUNT) < _MAX_COUNT
    ]


def _beyond(bound: float, sign: int) -> list[float]:
    far = bound + sign * abs(bound)  # unlike one more, this differs from a huge float
    return [bound + sign, bound if math.inf in (far, -far) else far]


# Values at or just outside the bound of a keyword.
_NEAR: dict[str, Callable[[Any], list[Any]]] = {
    "const": lambda bound: [bound],
    "enum": lambda bound: bound[:3],
    "minimum": lambda bound: _beyond(bound, -1),
    "maximum": lambda bound: _beyond(bound, 1),
    "exclusiveMinimum": lambda bound: [bound],
    "exclusiveMaximum": lambda bound: [bound],
    "multipleOf": lambda bound: [bound / 2] if bound < 2**53 else [1],
    "minLength": lambda bound: ["x" * int(bound - 1)] if bound else [],
    "maxLength": lambda bound: ["x" * int(bound + 1)] if bound < 100 * _MAX_COUNT else [],
    "pattern": lambda _: ["", " ", "\u2028", "!", "0", "é"],
}
