"""Checks a JSON Schema without its metaschema.

jsonschema takes 200 microseconds to check each part of a schema by the metaschema; this takes a few. It knows what the
drafts since 7 agree on, and leaves everything else to the metaschema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .subschemas import LISTS, NAMED, ONE

if TYPE_CHECKING:
    from collections.abc import Callable

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
            if word in ONE:
                waiting.append(value)
            elif word in LISTS:
                if not isinstance(value, list) or not value:
                    return False
                waiting += value
            elif word in NAMED:
                if not isinstance(value, dict):
                    return False
                waiting += value.values()
            elif word in _SHAPES and not _SHAPES[word](value):
                return False
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)


def _is_type(value: Any) -> bool:
    return value in _TYPES if isinstance(value, str) else bool(value) and _are_names(value) and _TYPES.issuperset(value)


def _is(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind)


def _is_unclear(value: Any) -> bool:
    return False


_SHAPES: dict[str, Callable[[Any], bool]] = {
    "type": _is_type,
    "multipleOf": lambda value: _is_number(value) and value > 0,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _is_count),
    **dict.fromkeys(("minContains", "maxContains"), _is_count),
    **dict.fromkeys(("pattern", "format", "title", "description", "$comment", "$ref", "$schema"), _is(str)),
    **dict.fromkeys(("contentEncoding", "contentMediaType"), _is(str)),
    **dict.fromkeys(("uniqueItems", "readOnly", "writeOnly", "deprecated"), _is(bool)),
    **dict.fromkeys(("enum", "examples"), _is(list)),
    "required": _are_names,
    **dict.fromkeys(("$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$vocabulary"), _is_unclear),
    **dict.fromkeys(("$recursiveAnchor", "$recursiveRef", "dependencies", "dependentRequired"), _is_unclear),
    "additionalItems": _is_unclear,
}
"""The check of each keyword's value; other keywords accept any value, or hold schemas."""
