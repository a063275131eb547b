"""The functions of a tools file, for servers that do not serve files by themselves."""

import runpy
from collections.abc import Callable
from typing import Any


def functions(path: str) -> list[Callable[..., Any]]:
    """What the file lists in `__tools__`, or else the functions that it defines."""
    names = runpy.run_path(path)
    defined = [
        value
        for value in names.values()
        if callable(value) and getattr(value, "__module__", "") == "<run_path>"
    ]
    return names.get("__tools__", defined)
