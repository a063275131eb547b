"""Extensions: what other distributions announce by entry points.

A name that Toolwire has is never looked up: no start pays for this, and no extension can take the
place of a built-in one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Kind = Literal["tools", "models", "commands", "dialects", "hosts"]
"""The kinds of extensions; the group of entry points is `toolwire.KIND`."""


class ExtensionFailed(Exception):
    """An extension is installed and cannot be imported. The text names it and its distribution."""


def list_extensions(kind: Kind) -> list[str]:
    """Return the names of the installed extensions of a *kind*."""
    return sorted(find_extensions(kind))


def find_extension(kind: Kind, name: str) -> Any:
    """Return the object that an installed distribution announces; `None` without one called
    *name*.

    Raises:
        ExtensionFailed: if it cannot be imported.
    """
    entry = find_extensions(kind).get(name)
    if entry is None:
        return None
    try:
        return entry.load()
    except Exception as error:
        owner = "another distribution"
        if entry.dist is not None:
            owner = entry.dist.name
        problem = f"{type(error).__name__}: {error}"
        raise ExtensionFailed(
            f"{name!r} of {owner} cannot be imported from {entry.value}: {problem}"
        ) from error


def find_extensions(kind: Kind) -> dict[str, EntryPoint]:
    """Return the entry points of the installed extensions of a *kind*, by name."""
    from importlib.metadata import entry_points  # expensive, and only unknown names need it

    return {entry.name: entry for entry in entry_points(group=f"toolwire.{kind}")}
