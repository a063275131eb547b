"""The import path by which another process finds an object."""

from __future__ import annotations

import os
import sys
from functools import partial
from types import MethodType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator


def import_path_of(thing: Any) -> str | None:
    """Return the target, for `load`, that is *thing* in every process; `None` without one.

    *thing* must have a name at the top level of its module, or of the script that runs.
    """
    for module in _modules(thing):
        place = _place(module)
        if place is None:
            continue
        script = module.__name__ == "__main__"
        names = [name for name, value in list(vars(module).items()) if _same(value, thing) and name.isidentifier()]
        own = getattr(thing, "__name__", None)
        for name in sorted(names, key=lambda name: name != own):
            if not script or name in _names_in_script(module):
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
    spec = getattr(module, "__spec__", None)
    name = module.__name__ if module.__name__ != "__main__" or spec is None else spec.name
    file = getattr(module, "__file__", None)
    file = os.path.realpath(file) if isinstance(file, str) and os.path.isfile(file) else None
    if name != "__main__" and ("." in name or file is None or _origin(name) == file):
        return name
    return file if file is not None and file.endswith(".py") else None


def _origin(name: str) -> str | None:
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec(name)
    return os.path.realpath(spec.origin) if spec is not None and spec.origin else None


def _names_in_script(module: ModuleType) -> set[str]:
    """Return the names of a script's top level, without those that exist only if it is run."""
    import ast

    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return set()
    with open(file, "rb") as source:
        return set(_names(ast.parse(source.read())))


def _names(node: ast.AST) -> Iterator[str]:
    import ast

    for child in ast.iter_child_nodes(node):
        match child:
            case ast.If() if any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(child.test)):
                continue  # only if the file is run
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield child.name
            case ast.alias():
                yield (child.asname or child.name).partition(".")[0]
            case ast.Name(ctx=ast.Store()):
                yield child.id
            case _:
                yield from _names(child)
