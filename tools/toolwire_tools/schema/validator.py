"""jsonschema as the judge: imported when the fast check has said no, or when a schema was written by hand."""

from __future__ import annotations

import datetime as dt
import functools
import re
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any

from toolwire_schemas.json_schema.error_text import Fault, worded
from toolwire_schemas.language import say

from .scalars import SCALARS
from .shape import Refused, Schema

if TYPE_CHECKING:
    from collections.abc import Iterator


class Judge:
    """Checks values against one JSON Schema, 2020-12, formats included. References never leave the schema."""

    def __init__(self, schema: Schema) -> None:
        from referencing import Registry

        self.schema = schema
        self._validator: Any = _validator()(schema, registry=Registry(), format_checker=_formats())

    def faults(self, value: Any, root: str) -> list[Fault]:
        """Return what the schema has against *value*, as places (starting with *root*) and sentences."""
        try:
            return worded(self._validator.iter_errors(value), root)
        except RecursionError:
            return [(root, say("is nested too deeply"))]

    def accepts(self, value: Any) -> bool:
        """True if the schema has nothing against *value*."""
        try:
            return bool(self._validator.is_valid(value))
        except RecursionError:
            return False


def problem(schema: Any) -> str | None:
    """Return what is wrong with a schema written by hand, or None."""
    from jsonschema import Draft202012Validator, FormatChecker
    from jsonschema.exceptions import best_match

    if not isinstance(schema, dict):
        return f"a JSON Schema is an object, not {type(schema).__name__}"
    patterns = FormatChecker(["regex"])
    meta = Draft202012Validator(Draft202012Validator.META_SCHEMA, format_checker=patterns)
    error = best_match(meta.iter_errors(schema))
    if error is not None:
        place = "/".join(map(str, error.absolute_path))
        return f"{error.message} at {place}" if place else str(error.message)
    return _unresolvable(schema)


def _unresolvable(schema: Schema) -> str | None:
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    resource = DRAFT202012.create_resource(schema)
    resolver = Registry().with_resource(schema.get("$id", ""), resource).resolver(schema.get("$id", ""))
    for reference in _references(schema):
        try:
            resolver.lookup(reference)
        except (Unresolvable, ValueError):
            return f"the reference {reference!r} leads nowhere inside the schema"
    return None


def _references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [found for inner in schema for found in _references(inner)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
    inside = (value for word, value in schema.items() if word not in ("enum", "const", "default", "examples"))
    return own + [found for value in inside for found in _references(value)]


@functools.cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def multiple_of(_: Any, step: Any, value: Any, schema: Any) -> Iterator[Any]:
        if isinstance(value, int | float) and not isinstance(value, bool) and not _is_multiple(value, step):
            yield ValidationError(f"{value} is not a multiple of {step}")

    return extend(Draft202012Validator, {"multipleOf": multiple_of})


def _is_multiple(value: float, step: float) -> bool:
    """True for the numbers as they are written: 19.99 is a multiple of 0.01, which binary fractions deny."""
    return (isinstance(value, int) or isfinite(value)) and _written(value) % _written(step) == 0


def _written(number: float) -> Fraction:
    return Fraction(number if isinstance(number, int) else repr(number))


_checker: Any = None


def _formats() -> Any:
    """A format checker that knows the formats we publish, whichever optional packages are installed."""
    global _checker
    if _checker is None:
        from jsonschema import FormatChecker

        _checker = FormatChecker()
        for name, holds in _HOLDS.items():
            _checker.checks(name)(lambda value, holds=holds: not isinstance(value, str) or holds(value))
    return _checker


def _loads(hint: Any) -> Any:
    shape = SCALARS[hint]("input")

    def holds(value: str) -> bool:
        try:
            shape.load(value)
        except Refused:
            return False
        return True

    return holds


_DURATION = re.compile(r"P(?!\Z)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+([.,]\d+)?S)?)?)", re.ASCII)
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)", re.ASCII)

_HOLDS: dict[str, Any] = {
    "date-time": _loads(dt.datetime),
    "time": lambda value: _TIME.fullmatch(value) is not None,
    "duration": lambda value: _DURATION.fullmatch(value.lstrip("+-")) is not None,
}
