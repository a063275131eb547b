"""Arguments for a tool nobody told us about: the plainest that its input schema takes, and some that it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.subschemas import target

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_DEPTH = 8
_PLAIN: dict[str, Any] = {"string": "a", "integer": 1, "number": 1, "boolean": True, "null": None}
# Of the values with one of these formats that everything which knows the format takes.
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
    """Return arguments that *schema* takes: the required ones alone. `None` if none were found."""
    value = _value(schema, schema, 0)
    return value if isinstance(value, dict) and _takes(schema, value) else None


def of_wrong_type(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield arguments that *schema* refuses since one is of a wrong type."""
    base = plain(schema)
    for name in schema.get("properties", {}) if base is not None else ():
        for value in _WRONG:
            if not _takes(schema, changed := {**(base or {}), name: value}):
                yield changed
                break


def incomplete(schema: Any) -> dict[str, Any] | None:
    """Return arguments that *schema* refuses since a required one is missing; `None` if none is required."""
    return {} if schema.get("required") and not _takes(schema, {}) else None


def with_more(schema: Any) -> dict[str, Any] | None:
    """Return arguments that *schema* refuses since one is unknown; `None` if it takes unknown ones."""
    base = plain(schema)
    more = {**(base or {}), "toolwire_contract_unknown": 1}
    return None if base is None or _takes(schema, more) else more


def _takes(schema: Any, value: Any) -> bool:
    from jsonschema import Draft202012Validator
    from referencing.exceptions import Unresolvable

    try:
        return bool(Draft202012Validator(schema).is_valid(value))
    except (Unresolvable, RecursionError, TypeError, ValueError):  # it is no schema
        return False


def _value(schema: Any, root: Any, depth: int) -> Any:
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return "a"
    if isinstance(schema.get("$ref"), str):
        try:
            return _value(target(root, schema["$ref"]), root, depth + 1)
        except LookupError:
            return None
    for word, value in (("examples", None), ("enum", None), ("default", ...), ("const", ...)):
        if word in schema and (value is ... or schema[word]):
            return schema[word] if value is ... else schema[word][0]
    for word in ("anyOf", "oneOf", "allOf"):
        if schema.get(word) and "properties" not in schema:
            return _value({**schema[word][0], "description": ""}, root, depth + 1)
    kinds = schema.get("type", "object" if "properties" in schema else "string")
    kind = kinds[0] if isinstance(kinds, list) and kinds else kinds
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: _value(properties.get(name), root, depth + 1) for name in schema.get("required", ())}
    if kind == "array":
        return [_value(schema.get("items"), root, depth + 1)] * schema.get("minItems", 0)
    if kind == "string":
        return _text(schema)
    if kind in ("integer", "number"):
        return _number(schema)
    return _PLAIN.get(str(kind))


def _text(schema: dict[str, Any]) -> str:
    text = _FORMATS.get(str(schema.get("format")), "a")
    return text.ljust(schema.get("minLength", 0), "a")


def _number(schema: dict[str, Any]) -> Any:
    low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 2) - 1)
    number = 1 if low <= 1 <= high else low if low > 1 else high
    return schema.get("multipleOf", number)
