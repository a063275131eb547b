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

from toolwire_schemas import PACKAGES
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
    if not os.path.isfile(path) or not path.endswith(".py"):
        from .diagnostics.not_found import explain_unusable_file

        raise LoadError(explain_unusable_file(path))
    path = os.path.realpath(path)
    with open(path, "rb") as source:  # 20 µs
        if b"# /// script" in source.read():
            from .dependencies import provide_packages

            provide_packages(path, add_to_path)
    folder = os.path.dirname(path)
    add_users_folder(folder)
    if os.path.isfile(os.path.join(folder, "__init__.py")):
        from .packaged_files import find_package

        package, root = find_package(path)
        if package:
            add_users_folder(root, package)
            return run_user_code(path, lambda: importlib.import_module(package))
    name = _free_name(path)
    if name in sys.modules:
        return sys.modules[name]
    return run_user_code(path, lambda: _execute(name, path))


def _free_name(path: str) -> str:
    """Return the name to import the file under: its own, if that means this file or nothing yet."""
    own = os.path.basename(path)[:-3]
    if own.isidentifier() and own != "__main__" and own not in sys.stdlib_module_names:
        known = _find_file(own, path)
        if known is not None and os.path.realpath(known) == path:
            return own
    from .taken_names import choose_other_name

    return choose_other_name(path)


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


def add_users_folder(folder: str, target: str = "") -> None:
    """Let the user's modules in *folder* be imported, but never in place of installed packages,
    unless one is the *target*, a dotted name.
    """
    if folder in sys.path:
        return
    installed = set(PACKAGES)  # of a checkout, these are elsewhere
    for entry in filter(_has_installed, sys.path):
        installed |= _list_names(entry)
    taken = _list_names(folder) & installed
    if taken:
        from .taken_names import shadows_installed

        if shadows_installed(folder, taken - {target.partition(".")[0]}):
            sys.path.append(folder)
            return
    add_to_path(folder)


def _list_names(folder: str) -> set[str]:
    """Return the names of all that could be modules in *folder*."""
    try:
        files = os.listdir(folder)
    except OSError:  # imports from it fail, too
        return set()
    return {file.removesuffix(".py") for file in files if file != "__pycache__"}


def add_to_path(folder: str) -> None:
    """Let modules in *folder* be imported: before installed ones, but never in place of the
    standard library.
    """
    if folder in sys.path:
        return
    for place, entry in enumerate(sys.path):
        if _has_installed(entry):
            sys.path.insert(place, folder)
            return
    sys.path.append(folder)


def _has_installed(entry: str) -> bool:
    return os.path.basename(entry) in ("site-packages", "dist-packages")


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
