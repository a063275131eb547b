"""Describes mistakes in settings, and reads sizes. Imported when needed."""

from __future__ import annotations

from typing import Any, NoReturn

import msgspec
from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_tools.byte_sizes import parse_size

_IDENTITY = ("name", "version", "title", "instructions", "lifespan", "shape")
"""The other options of `Server` and `serve`."""


def describe_mistake(options: dict[str, Any], settings: type[msgspec.Struct]) -> str | None:
    """Return what is wrong with the *options* that the type *settings* has refused; `None` if that
    is unknown.
    """
    fields = settings.__struct_fields__
    for name, value in options.items():
        if name not in fields:
            return explain_unknown_name("option", name, (*_IDENTITY, *fields))
        try:
            msgspec.convert({name: value}, settings)
        except (msgspec.ValidationError, AttributeError):
            return f"{name} takes {settings.__annotations__[name]}, not {value!r}"
    return None


def read_memory_limit(limit: int | str) -> int:
    """Return the bytes of a *limit* such as `512MiB`.

    Raises:
        ValueError: if it is no size.
    """
    try:
        return parse_size(str(limit))
    except ValueError as error:
        raise ValueError(f"memory_limit must be {error}, not {limit!r}") from None


def refuse_value(name: str, value: Any, unit: str, *, may_be_zero: bool) -> NoReturn:
    """Raise a `ValueError` for a *value* out of the range of the setting *name*."""
    valid = _describe_range(unit, may_be_zero=may_be_zero)
    raise ValueError(f"{name} must be {valid}, not {value!r}")


def _describe_range(unit: str, *, may_be_zero: bool) -> str:
    if unit == "SECONDS":
        return "at least 0" if may_be_zero else "above 0"
    if unit == "TEXT":
        return "printable ASCII text such as '_' or '.'"
    if unit == "PATTERN":
        return "a list of patterns"
    if "|" in unit:
        return f"one of {unit.replace('|', ', ')}"
    return "at least 1"
