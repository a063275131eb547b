"""Arguments for a tool nobody told us about: the plainest that its input schema takes, and some that it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.subschemas import target

from .fitting import faults_in, is_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MAX_DEPTH = 8
_MAX_LENGTH = 10_000
"""Longer texts and lists are not made: whether a tool takes them is not what is asked here."""

_FORMATS = {
    "date-time": "2025-01-01T00:00:00Z",
    "date": "2025-01-01",
    "time": "00:00:00Z",
    "uri": "https://example.com/",
    "email": "a@example.com",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_WRONG = [{"not": "this"}, ["not this"], "not this", 0.5, None]


def plain(schema: Any) -> dict[str, Any] | None:
    """Return arguments that *schema* takes: the required ones alone. `None` if none were found, or it is no schema."""
    if not is_schema(schema):
        return None
    value = _value(schema, schema, 0)
    return value if isinstance(value, dict) and _takes(schema, value) else None


def of_wrong_type(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield arguments that *schema* refuses since one is of a wrong type."""
    base = plain(schema)
    for name in schema.get("properties", {}) if base is not None else ():
        changed = ({**(base or {}), name: value} for value in _WRONG)
        yield from (made for made in changed if not _takes(schema, made))


def incomplete(schema: Any) -> dict[str, Any] | None:
    """Return arguments that *schema* refuses since a required one is missing; `None` if none is required."""
    return {} if is_schema(schema) and schema.get("required") and not _takes(schema, {}) else None


def with_more(schema: Any) -> dict[str, Any] | None:
    """Return arguments that *schema* refuses since one is unknown; `None` if it takes unknown ones."""
    base = plain(schema)
    more = {**(base or {}), "toolwire_contract_unknown": 1}
    return None if base is None or _takes(schema, more) else more


def _takes(schema: Any, value: Any) -> bool:
    return not faults_in(value, schema)


def _value(schema: Any, root: Any, depth: int) -> Any:
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return "a"
    if "$ref" in schema:
        return _value(_target(root, schema["$ref"]), root, depth + 1)
    for word in ("const", "default"):
        if word in schema:
            return schema[word]
    for word in ("examples", "enum"):
        if schema.get(word):
            return schema[word][0]
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema and "properties" not in schema:
            return _value(schema[word][0], root, depth + 1)
    kinds = schema.get("type", "object" if "properties" in schema else "string")
    make = _MAKERS[kinds[0] if isinstance(kinds, list) else kinds]
    return make(schema, lambda inner: _value(inner, root, depth + 1))


def _target(root: Any, reference: str) -> Any:
    try:
        return target(root, reference)
    except LookupError:
        return None


def _object(schema: dict[str, Any], make: Callable[[Any], Any]) -> dict[str, Any]:
    return {name: make(schema.get("properties", {}).get(name)) for name in schema.get("required", ())}


def _array(schema: dict[str, Any], make: Callable[[Any], Any]) -> list[Any]:
    return [make(schema.get("items"))] * int(min(schema.get("minItems", 0), _MAX_LENGTH))


def _text(schema: dict[str, Any], _: Callable[[Any], Any]) -> str:
    text = _FORMATS.get(str(schema.get("format")), "a")
    return text.ljust(int(min(schema.get("minLength", 0), _MAX_LENGTH)), "a")


def _number(schema: dict[str, Any], _: Callable[[Any], Any]) -> Any:
    low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 2) - 1)
    return schema.get("multipleOf", 1 if low <= 1 <= high else low if low > 1 else high)


_MAKERS: dict[str, Callable[[dict[str, Any], Callable[[Any], Any]], Any]] = {
    "object": _object,
    "array": _array,
    "string": _text,
    "integer": _number,
    "number": _number,
    "boolean": lambda *_: True,
    "null": lambda *_: None,
}
