"""Checks a JSON Schema without its metaschema.

jsonschema takes 200 microseconds to check each part of a schema by the metaschema; this takes a
few. It knows what the drafts since 7 agree on, and leaves everything else to the metaschema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .subschemas import LISTS, NAMED, ONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_TYPES = frozenset(("null", "boolean", "integer", "number", "string", "array", "object"))


def is_well_formed(schema: Any) -> bool:
    """Return whether *schema* is valid in every draft since 7; False if that is not certain."""
    waiting = [schema]
    while waiting:
        found = waiting.pop()
        if isinstance(found, bool):
            continue
        if not isinstance(found, dict):
            return False
        for word, value in found.items():
            inner = _list_schemas(word, value)
            if inner is None:
                return False
            waiting += inner
    return True


def _list_schemas(word: str, value: Any) -> Iterable[Any] | None:
    """Return the schemas that the keyword *word* contains; `None` if its *value* may be wrong."""
    if word in ONE:
        return (value,)
    if word in LISTS:
        if isinstance(value, list) and value:
            return value
        return None
    if word in NAMED:
        if not isinstance(value, dict):
            return None
        return value.values()
    if word in _SHAPES and not _SHAPES[word](value):
        return None
    return ()


def _are_names(value: Any) -> bool:
    return (
        isinstance(value, list)
        and all(isinstance(name, str) for name in value)
        and len(set(value)) == len(value)
    )


def _is_type(value: Any) -> bool:
    if isinstance(value, str):
        return value in _TYPES
    return bool(value) and _are_names(value) and _TYPES.issuperset(value)


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "type": _is_type,
    "required": _are_names,
    "multipleOf": lambda value: type(value) in (int, float) and value > 0,
    "minimum maximum exclusiveMinimum exclusiveMaximum": lambda value: type(value) in (int, float),
    "minLength maxLength minItems maxItems": lambda value: type(value) is int and value >= 0,
    "minProperties maxProperties minContains maxContains": lambda value: (
        type(value) is int and value >= 0
    ),
    "pattern format title description $comment $ref $schema": lambda value: isinstance(value, str),
    "contentEncoding contentMediaType": lambda value: isinstance(value, str),
    "uniqueItems readOnly writeOnly deprecated": lambda value: isinstance(value, bool),
    "enum examples": lambda value: isinstance(value, list),
    # Here the drafts differ.
    "$id $anchor $dynamicAnchor $dynamicRef $vocabulary $recursiveAnchor $recursiveRef": (
        lambda value: False
    ),
    "dependencies dependentRequired additionalItems": lambda value: False,
}
_SHAPES = {word: check for words, check in _CHECKS.items() for word in words.split()}
"""The check of each keyword's value; other keywords accept any value, or hold schemas."""
