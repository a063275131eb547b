"""Members of messages as the types they should have: a server may send anything in their place."""

from __future__ import annotations

from typing import Any


def as_object(value: Any) -> dict[str, Any]:
    """Return *value* if it is an object, else an empty one."""
    if isinstance(value, dict):
        return value
    return {}


def as_text(value: Any) -> str | None:
    """Return *value* if it is a text, else `None`."""
    if isinstance(value, str):
        return value
    return None


def as_integer(value: Any) -> int | None:
    """Return *value* if it is an integer, else `None`, also for a boolean."""
    if type(value) is int:
        return value
    return None


def as_number(value: Any) -> float | None:
    """Return *value* if it is a number, else `None`."""
    if isinstance(value, int | float):
        return value
    return None
