"""Validates by jsonschema: imported when the fast check has refused, or when a schema was written
by hand.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from typing import Any

from toolwire_schemas.json_schema.bounded_validator import (
    CannotJudge,
    SchemaValidator,
    TooExpensive,
)
from toolwire_schemas.json_schema.error_text import Fault, write_faults
from toolwire_schemas.json_schema.subschemas import get_reference, walk
from toolwire_schemas.language import say

from .scalars import plan_clock
from .shape import Schema, ValueRefused, load


class ToolSchemaValidator:
    """Checks values against one JSON Schema, 2020-12, formats included. References never leave the
    schema.
    """

    def __init__(self, schema: Schema) -> None:
        from jsonschema import Draft202012Validator

        self._validator = SchemaValidator(
            schema,
            dialect=Draft202012Validator,
            is_trusted=True,
            format_checker=_make_format_checker(),
        )

    def find_errors(self, value: Any) -> list[Any]:
        """Return jsonschema's errors about *value*; raises `CannotJudge`, for which there is
        `unjudged`.
        """
        return self._validator.find_errors(value)

    def find_faults(self, value: Any, root: str) -> list[Fault]:
        """Return what the schema has against *value*, as places (starting with *root*) and
        sentences.
        """
        try:
            return write_faults(self._validator.find_errors(value), root)
        except CannotJudge as error:
            return [(root, explain_failure(error))]

    def accepts(self, value: Any) -> bool:
        """Return whether the schema has nothing against *value*."""
        try:
            return self._validator.is_valid(value)
        except CannotJudge:
            return False


def explain_failure(error: Exception) -> str:
    """Return why a value could not be validated. (References were checked by `find_problem`.)"""
    if isinstance(error, TooExpensive):
        return say("takes too much work to check")
    return say("is nested too deeply")


def find_problem(schema: Any) -> str | None:
    """Return what is wrong with a schema written by hand, or None."""
    from jsonschema import Draft202012Validator, FormatChecker
    from jsonschema.exceptions import best_match
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    if not isinstance(schema, dict):
        return f"a JSON Schema is an object, not {type(schema).__name__}"
    patterns = FormatChecker(["regex"])
    meta = Draft202012Validator(Draft202012Validator.META_SCHEMA, format_checker=patterns)
    error = best_match(meta.iter_errors(schema))
    if error is not None:
        place = "/".join(map(str, error.absolute_path))
        if place:
            return f"{error.message} at {place}"
        return str(error.message)
    resolver = Registry().with_resource("", DRAFT202012.create_resource(schema)).resolver()
    for _, inner in walk(schema, ""):
        reference = get_reference(inner)
        if reference is None:
            continue
        try:
            resolver.lookup(reference)
        except (Unresolvable, ValueError):
            return f"the reference {reference!r} leads nowhere inside the schema"
    return None


@functools.cache
def _make_format_checker() -> Any:
    """Return a format checker that knows the formats we publish, whichever optional packages are
    installed.
    """
    from jsonschema import FormatChecker

    checker = FormatChecker()
    for name, holds in _HOLDS.items():
        checker.checks(name)(lambda value, holds=holds: not isinstance(value, str) or holds(value))
    return checker


def _is_date_time(value: str) -> bool:
    try:
        load(value, _DATE_TIME)
    except ValueRefused:
        return False
    return True


_DATE_TIME: Any = plan_clock(dt.datetime, has_offset=True)[0].msgspec_type
_DURATION = re.compile(
    r"P(?!\Z)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+([.,]\d+)?S)?)?)", re.ASCII
)
_TIME = re.compile(
    r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)", re.ASCII
)

_HOLDS: dict[str, Any] = {
    "date-time": _is_date_time,
    "time": lambda value: _TIME.fullmatch(value) is not None,
    "duration": lambda value: _DURATION.fullmatch(value.lstrip("+-")) is not None,
}
