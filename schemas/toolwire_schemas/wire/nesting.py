"""Tells how deep a value is nested. Imported for large values alone."""

from __future__ import annotations

from typing import Any


def is_nested_deeper(value: Any, levels: int) -> bool:
    """Return whether *value* has more than *levels* levels of arrays and objects."""
    containers = [value]
    for _ in range(levels + 1):
        inner: list[Any] = []
        for container in containers:
            if isinstance(container, dict):
                inner += container.values()
            elif isinstance(container, list | tuple):
                inner += container
        if not inner:
            return False
        containers = inner
    return True
