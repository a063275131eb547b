"""Finds modules, and the tools that installed distributions announce. Imported for the first of
them.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

from toolwire_schemas.extensions import find_extensions

from ..errors import LoadError
from .importing import add_users_folder, import_file, run_user_code

if TYPE_CHECKING:
    from types import ModuleType


def find_module_or_installed(name: str) -> Any:
    """Return the module *name*, or else the value that an installed distribution announces under
    that name.

    Raises:
        LoadError: if there is neither, or importing it failed; its traceback is on stderr by then.
    """
    # The bare name of a standard module means installed tools of that name.
    if name in sys.stdlib_module_names:
        entry = find_extensions(kind="tools").get(name)
        if entry is not None:
            return run_user_code(name, entry.load)
    add_users_folder(os.getcwd(), name)
    if _exists(name):
        return _import(name)
    entry = find_extensions(kind="tools").get(name)
    if entry is not None:
        return run_user_code(name, entry.load)
    raise LoadError(_explain_unknown(name))


def _explain_unknown(name: str) -> str:
    if os.path.isfile(f"{name}.py"):  # a name no module can have, such as `my-tools`
        return f"no module {name!r}; to serve the file, write {name}.py"
    from toolwire_bundled import BUNDLED

    kit, dot, tool = name.partition(".")
    if dot and kit in BUNDLED:
        return f"no module {name!r}; write a tool of the bundled {kit} as {kit}:{tool}"
    from .diagnostics.not_found import explain_unknown_target

    installed = find_extensions(kind="tools")
    here = [file[:-3] for file in sorted(os.listdir()) if file.endswith(".py")]
    return explain_unknown_target(name, [*installed, *here, *BUNDLED])


def _exists(name: str) -> bool:
    """Return whether there is a module *name*. Its parents are imported to find out."""
    from importlib.util import find_spec

    parent, _, last = name.rpartition(".")
    if not last.isidentifier():
        return False
    if parent:
        is_in_package = _exists(parent) and hasattr(_import(parent), "__path__")
        if not is_in_package:
            return name in sys.modules  # as os.path is
    return name in sys.modules or find_spec(name) is not None


def _import(name: str) -> ModuleType:
    return run_user_code(name, lambda: importlib.import_module(name))


def import_beside(folder: str, name: str) -> ModuleType:
    """Return the module *name*: that of a file in *folder*, or else as Python finds it.

    Raises:
        ModuleNotFoundError: if the module does not exist.
        LoadError: if importing it failed; its traceback is on stderr by then.
    """
    path = os.path.join(folder, *name.split(".")) + ".py"
    if os.path.isfile(path):
        return import_file(path)
    add_users_folder(folder, name)
    if not _exists(name):
        raise ModuleNotFoundError(f"no module {name!r}", name=name)
    return _import(name)
