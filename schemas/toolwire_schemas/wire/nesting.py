"""Tells how deep a value is nested. Imported for large values alone."""

from __future__ import annotations

from typing import Any


def check_depth(value: Any, levels: int) -> None:
    """Raise a `ValueError` if *value* has more than *levels* levels of arrays and objects."""
    containers = [value]
    for _ in range(levels + 1):
        inner: list[Any] = []
        for container in containers:
            if isinstance(container, dict):
                inner += container.values()
            elif isinstance(container, list | tuple):
                inner += container
        if not inner:
            return
        containers = inner
    raise ValueError(f"nested more than {levels} levels deep")
