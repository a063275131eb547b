"""Imports the user's files, and explains failures.

A file is imported under its own name if that is free, so that a neighbour that imports it gets the
same module. If the name is taken (a tools file called `random.py`), it gets another one, so that
`import random` elsewhere is not affected.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, TypeVar

from toolwire_tools import RegistrationError

from ..errors import LoadError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

T = TypeVar("T")

YAML = (".yaml", ".yml")
"""How files end that describe tools."""


def import_file(path: str) -> ModuleType:
    """Return the module of the Python file at *path*, imported once.

    Raises:
        LoadError: if there is no such file, or importing it failed; its traceback is on stderr by
            then.
    """
    if not os.path.isfile(path):
        from .diagnostics.not_found import explain_missing_file

        raise LoadError(explain_missing_file(path))
    if not path.endswith(".py"):
        raise LoadError(
            f"{path} is not a Python file: its name must end in .py (or .yaml, if it describes"
            " tools)"
        )
    path = os.path.realpath(path)
    with open(path, "rb") as source:  # 20 µs
        if b"# /// script" in source.read():
            from .dependencies import provide_packages

            provide_packages(path, add_to_path)
    package, root = _find_package(path)
    add_to_path(os.path.dirname(path))
    if package:
        add_to_path(root)
        return run_user_code(path, lambda: importlib.import_module(package))
    name = _free_name(path)
    if name in sys.modules:
        return sys.modules[name]
    return run_user_code(path, lambda: _execute(name, path))


def _find_package(path: str) -> tuple[str, str]:
    """Return the dotted name of a file inside a package ("" without a package), and the folder that
    holds the package.
    """
    folder, base = os.path.split(path)
    is_package = base == "__init__.py"
    parts = [] if is_package else [base[:-3]]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    is_in_package = is_package or len(parts) > 1
    if is_in_package and all(part.isidentifier() for part in parts):
        return ".".join(parts), folder
    return "", folder


def _free_name(path: str) -> str:
    """Return the name to import the file under: its own, if that means this file or nothing yet."""
    own = os.path.basename(path)[:-3]
    if own.isidentifier() and own != "__main__" and own not in sys.stdlib_module_names:
        known = _find_file(own, path)
        if known is not None and os.path.realpath(known) == path:
            return own
    taken = [name for name in sys.modules if name.startswith("toolwire_target_")]
    for name in taken:
        if getattr(sys.modules[name], "__file__", None) == path:
            return name
    readable = "".join(letter if letter.isalnum() else "_" for letter in own)
    return f"toolwire_target_{len(taken)}_{readable}"


def _find_file(name: str, default: str) -> str | None:
    """Return the file of the module *name*, *default* if there is no such module."""
    from importlib.machinery import PathFinder

    if name in sys.modules:
        return getattr(sys.modules[name], "__file__", None)
    spec = PathFinder.find_spec(name)
    return spec.origin if spec else default


def _execute(name: str, path: str) -> ModuleType:
    from importlib.util import module_from_spec, spec_from_file_location

    adopting = sys.modules.get("toolwire_compat.fastmcp.adopting")
    loader = adopting.find_loader(name, path) if adopting else None
    spec = spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    # Pickle, dataclasses and forward references look the module up by its name, also while it is
    # made.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return sys.modules.get(name, module)


def add_to_path(folder: str) -> None:
    """Let modules in *folder* be imported: before installed ones, but never in place of the
    standard library.
    """
    if folder in sys.path:
        return
    for place, entry in enumerate(sys.path):
        if os.path.basename(entry) in ("site-packages", "dist-packages"):
            sys.path.insert(place, folder)
            return
    sys.path.append(folder)


def run_user_code(what: str, action: Callable[[], T]) -> T:
    """Return what *action*, which runs the user's code, returns.

    Raises:
        LoadError: if that failed; its traceback, from the user's first own line on, is on stderr by
            then.
    """
    try:
        return action()
    except (LoadError, RegistrationError, KeyboardInterrupt):
        raise
    except BaseException as error:
        from .diagnostics.import_errors import explain

        return explain(what, error, action)
