"""The import path by which another process finds an object."""

from __future__ import annotations

import os
import sys
from functools import partial
from types import MethodType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def import_path_of(thing: Any) -> str | None:
    """Return the target, for `load`, that is *thing* in every process; `None` without one.

    *thing* must have a name at the top level of its module, or of the script that runs.
    """
    for module in _modules(thing):
        place = _place(module)
        if place is None:
            continue
        names = [name for name, value in list(vars(module).items()) if _same(value, thing) and name.isidentifier()]
        own = getattr(thing, "__name__", None)
        for name in sorted(names, key=lambda name: name != own):
            if module.__name__ != "__main__" or name in _names_in_script(module):
                return f"{place}:{name}"
    return None


def _modules(thing: Any) -> Iterator[ModuleType]:
    """Yield the modules where *thing* may have a name, the likeliest first."""
    while isinstance(thing, partial):
        thing = thing.func
    names = [getattr(thing, "__module__", None), type(thing).__module__, "__main__"]
    for name in dict.fromkeys(name for name in names if isinstance(name, str)):
        module = sys.modules.get(name)
        if module is not None:
            yield module


def _same(value: object, thing: object) -> bool:
    # Each access makes a new bound method.
    return value is thing or (type(value) is type(thing) is MethodType and value == thing)


def _place(module: ModuleType) -> str | None:
    """Return the target of *module*: its name if `load` finds it by that, or its file."""
    from importlib.machinery import PathFinder

    spec = getattr(module, "__spec__", None)
    name = module.__name__ if module.__name__ != "__main__" or spec is None else spec.name
    file = getattr(module, "__file__", None)
    file = os.path.realpath(file) if isinstance(file, str) and os.path.isfile(file) else None
    if name != "__main__" and ("." in name or file is None):
        return name
    found = None if name == "__main__" else PathFinder.find_spec(name)
    if found is not None and found.origin and os.path.realpath(found.origin) == file:
        return name
    return file if file is not None and file.endswith(".py") else None


def _names_in_script(module: ModuleType) -> set[str]:
    """Return the names that a script defines, without those that exist only if it is run."""
    import ast

    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return set()
    with open(file, "rb") as source:
        statements = ast.parse(source.read()).body
    names = set()
    for statement in statements:
        if isinstance(statement, ast.If) and "'__name__'" in ast.dump(statement.test):
            continue  # only if the file is run
        for node in ast.walk(statement):
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    names.add(name)
                case ast.Name(id=name, ctx=ast.Store()):
                    names.add(name)
                case ast.alias():
                    names.add((node.asname or node.name).partition(".")[0])
    return names
