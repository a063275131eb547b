"""The names of files inside packages. Imported for the first of them."""

from __future__ import annotations

import os


def find_package(path: str) -> tuple[str, str]:
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
