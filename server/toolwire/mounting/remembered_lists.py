"""Keeps the last lists of a mounted server in the user's cache folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolwire_tools import Tool


def make_list_key(command: Sequence[str], env: Mapping[str, str], cwd: str | None) -> str:
    """Return the key of the lists of the server that *command* starts; "" without a working
    folder.
    """
    from ..list_cache.commands import make_command_key

    try:
        return make_command_key("mount", command, env=env, cwd=cwd)
    except OSError:
        return ""


def load_lists(key: str) -> dict[str, list[dict[str, Any]]] | None:
    """Return the entries that the server listed last time, by kind; `None` if that is unknown."""
    from ..list_cache.store import load

    lists = load(key)
    return None if lists is None else lists.entries


def save_lists(key: str, tools: Sequence[Tool]) -> None:
    """Keep the entries of *tools*, with the names that they have there."""
    from ..list_cache.store import Lists, save

    entries: dict[str, list[dict[str, Any]]] = {}
    for tool in tools:
        entry = tool.describe()
        if tool.kind in ("tools", "prompts"):
            entry = {**entry, "name": tool.entry.parts[-1]}
        entries.setdefault(tool.kind, []).append(entry)
    save(key, Lists(entries=entries))
