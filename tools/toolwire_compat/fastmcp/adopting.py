"""Lets the user's modules, and no others, import Toolwire's classes as those of fastmcp and mcp.

Strategy. An import statement calls the `__import__` of its own module's builtins. The user's
modules get builtins of their own, in which the names of fastmcp and mcp lead here: also when a tool
imports them later, and without an entry in `sys.modules`. So libraries that import the real
packages get these. A finder gives those builtins to the modules that the user's modules import; it
is installed only during such an import.
"""

from __future__ import annotations

import builtins
import os
import sys
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from typing import TYPE_CHECKING, Any

from toolwire_schemas import PACKAGES as OUR_PACKAGES

from .names import PACKAGES, find_member, find_module
from .starting import is_program_running, make_signal_module

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


@contextmanager
def adopt_user_modules() -> Iterator[None]:
    """Inside the `with` block, the user's modules that are imported get Toolwire's FastMCP."""
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def adopt_files(paths: Iterable[str]) -> None:
    """Adopt the installed modules at *paths*, too, from now on."""
    for path in paths:
        _adopted_files.add(path)
        folder = os.path.dirname(path)
        while _is_installed(folder) and folder not in _adopted_folders:
            _adopted_folders.add(folder)
            folder = os.path.dirname(folder)


_adopted_files: set[str] = set()
_adopted_folders: set[str] = set()


def find_loader(name: str, path: str) -> Loader | None:
    """Return the loader of the user's file at *path* inside of `adopt_user_modules`, else None."""
    active = any(isinstance(finder, _Finder) for finder in sys.meta_path)
    return TargetLoader(name, path) if active else None


class Loader(SourceFileLoader):
    """Executes a module of the user."""

    def exec_module(self, module: ModuleType) -> None:
        """Execute *module* with the builtins whose `__import__` is ours."""
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": _import}
        super().exec_module(module)


class TargetLoader(Loader):
    """Executes the file that is served. Its command line is the path of the file: some files parse
    it.
    """

    def exec_module(self, module: ModuleType) -> None:
        """Execute *module* with a command line of its own, which stays for its calls if the process
        is Toolwire's.
        """
        if is_program_running():  # which has a command line of its own
            super().exec_module(module)
            return
        command_line = sys.argv
        sys.argv = [self.path]
        try:
            super().exec_module(module)
        finally:
            if not _is_of_toolwire(command_line[0]):
                sys.argv = command_line


def _is_of_toolwire(program: str) -> bool:
    """Return whether *program* is the command `toolwire`, or its module that Python runs."""
    folder, name = os.path.split(program)
    if name == "__main__.py":
        name = os.path.basename(folder)
    return name.partition(".")[0] == "toolwire"


class _Finder:
    """Finds the user's modules, as the other finders do."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a user's module in Python; None for all others, which the other
        finders find.
        """
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names or top in OUR_PACKAGES:
            return None
        if path is not None and not any(map(_may_hold_adopted_files, path)):
            return None
        spec = _find_spec_elsewhere(name, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader:
            return None
        if not _is_adopted(spec.loader.path):
            return None
        spec.loader = Loader(name, spec.loader.path)
        return spec


def _find_spec_elsewhere(
    name: str, path: Sequence[str] | None, target: ModuleType | None
) -> ModuleSpec | None:
    for finder in list(sys.meta_path):
        if isinstance(finder, _Finder):
            continue
        spec = finder.find_spec(name, path, target)
        if spec is not None:
            return spec
    return None


def _may_hold_adopted_files(folder: str) -> bool:
    return not _is_installed(folder) or os.path.realpath(folder) in _adopted_folders


def _is_adopted(path: str) -> bool:
    return not _is_installed(path) or os.path.realpath(path) in _adopted_files


def _is_installed(path: str) -> bool:
    return "site-packages" in path or "dist-packages" in path


def _import(
    name: str,
    names: Any = None,
    local_names: Any = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    """As the built-in `__import__`, whose arguments import statements pass by position."""
    top = name.partition(".")[0]
    if name == "signal" and not level and is_program_running():
        return make_signal_module()
    if level or top not in PACKAGES:
        with adopt_user_modules():
            return builtins.__import__(name, names, local_names, fromlist or (), level)
    stand_in = find_module(name)
    if not fromlist:
        return find_module(top)
    for wanted in fromlist:
        find_member(name, wanted)  # raises an error if it is missing
    return stand_in
