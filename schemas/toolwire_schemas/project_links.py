"""Addresses of Toolwire's own repository, for reports, pages and generated code.

The address of the repository is written in `pyproject.toml` and nowhere else, so that a fork
changes one file. An installed distribution carries it in its metadata.
"""

from __future__ import annotations

from functools import cache

_DISTRIBUTION = "toolwire"
_LABEL = "Source"
"""The entry of `[project.urls]` in `pyproject.toml` that names the repository."""


@cache
def find_repository_url() -> str | None:
    """Return the address of the repository, without a slash at its end.

    `None` if Toolwire runs without the metadata of a distribution, such as from a copied folder.
    """
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        entries = metadata(_DISTRIBUTION).get_all("Project-URL") or []
    except PackageNotFoundError:
        return None
    for entry in map(str, entries):
        label, _, address = entry.partition(", ")
        if label == _LABEL:
            return address.rstrip("/")
    return None


def make_file_url(path: str) -> str | None:
    """Return the address of a file in the repository; *path* is relative to its root. `None` as
    above.
    """
    repository = find_repository_url()
    if not repository:
        return None
    return f"{repository}/blob/main/{path}"
