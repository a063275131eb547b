"""Names of the user's modules that other modules have. Imported for the first of them."""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from typing import TYPE_CHECKING

from toolwire_schemas import PACKAGES

from .. import log

if TYPE_CHECKING:
    from collections.abc import Iterable

_DISTRIBUTIONS = {
    "attr": "attrs",
    "pptx": "python-pptx",
    "rpds": "rpds-py",
    "yaml": "PyYAML",
}
"""Distributions of modules that Toolwire imports late and that are not named like them."""


def choose_other_name(path: str) -> str:
    """Return a name to import the file at *path* under, whose own is taken: the same one again."""
    taken = [name for name in sys.modules if name.startswith("toolwire_target_")]
    for name in taken:
        if getattr(sys.modules[name], "__file__", None) == path:
            return name
    own = os.path.basename(path)[:-3]
    readable = "".join(letter if letter.isalnum() else "_" for letter in own)
    return f"toolwire_target_{len(taken)}_{readable}"


def shadows_installed(folder: str, names: Iterable[str]) -> bool:
    """Return whether one of *names*, modules in *folder* and installed ones, is an installed
    package of others. The log names them.

    Many distributions install a module `tests` or `utils` by mistake: only modules that are named
    like their distribution count.
    """
    packages = [name for name in sorted(names) if _is_package_of_others(folder, name)]
    if not packages:
        return False
    log.warning(
        f"{', '.join(packages)} in {folder} will not be imported: installed packages have the same"
        " names"
    )
    return True


def _is_package_of_others(folder: str, name: str) -> bool:
    if name in PACKAGES:  # also in a checkout, which would be the user's own project
        return not _is_ours(os.path.join(folder, name))
    try:
        found = distribution(_DISTRIBUTIONS.get(name, name))
    except (PackageNotFoundError, ValueError):
        return False
    return not _is_local(found)


def _is_ours(path: str) -> bool:
    """Return whether *path* is the very package of Toolwire that this process uses."""
    found = find_spec(os.path.basename(path))
    if found is None or found.submodule_search_locations is None:
        return False
    return os.path.realpath(path) in map(os.path.realpath, found.submodule_search_locations)


def _is_local(found: Distribution) -> bool:
    """Return whether *found* was installed from a folder, as the user's own project is, whose
    sources are newer.
    """
    origin = found.read_text("direct_url.json")
    return origin is not None and "dir_info" in json.loads(origin)
