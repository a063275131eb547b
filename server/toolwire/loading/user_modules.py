"""Which modules are the user's: neither installed nor of the standard library."""

from __future__ import annotations

import os
import sys
import sysconfig
from importlib.util import find_spec
from typing import TYPE_CHECKING

from toolwire_schemas import PACKAGES

if TYPE_CHECKING:
    from types import ModuleType


def find_sources() -> set[str]:
    """Return the files of all modules that are neither installed nor of the standard library."""
    files = map(find_file, list(sys.modules.values()))
    return set(filter(is_of_user, files))


def is_of_user(file: str) -> bool:
    """Return whether *file* is neither installed nor of the standard library; "" is no file."""
    return bool(file) and not file.startswith(_INSTALLED)


def find_file(module: ModuleType) -> str:
    """Return the path of the file of *module*; "" if it has none."""
    file = getattr(module, "__file__", None)
    return os.path.realpath(file) if isinstance(file, str) else ""


def _list_installed_folders() -> tuple[str, ...]:
    """Return the folders of installed modules, with a separator at their ends."""
    paths = sysconfig.get_paths()
    folders = [paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    # Toolwire may be installed elsewhere, and imports some modules late: the client with the first
    # call of a process.
    for name in PACKAGES:
        spec = find_spec(name)
        if spec is not None and spec.origin:
            folders.append(os.path.dirname(os.path.realpath(spec.origin)))
    return tuple(os.path.realpath(folder) + os.sep for folder in folders)


_INSTALLED = _list_installed_folders()
