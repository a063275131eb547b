"""Keeps the last lists of a mounted server in the user's cache folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from .mounted_entry import has_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolwire_tools import Tool


class RememberedLists(msgspec.Struct, frozen=True):
    """The last lists of a server, kept under *key*. While they are shown, a list waits for the
    start of the server for *patience_seconds*.
    """

    key: str
    patience_seconds: float

    def load(self) -> dict[str, list[dict[str, Any]]] | None:
        """Return the entries that the server listed last time, by kind; `None` if that is
        unknown.
        """
        from ..list_cache.store import load

        lists = load(self.key)
        return None if lists is None else lists.entries

    def save(self, tools: Sequence[Tool]) -> None:
        """Keep the entries of *tools*, with the names that they have there."""
        from ..list_cache.store import Lists, save

        entries: dict[str, list[dict[str, Any]]] = {}
        for tool in tools:
            entry = tool.describe()
            if has_name(tool.kind):
                entry = {**entry, "name": tool.entry.parts[-1]}
            entries.setdefault(tool.kind, []).append(entry)
        save(self.key, Lists(entries=entries))


def find_remembered(
    command: Sequence[str], env: Mapping[str, str], cwd: str | None, patience_seconds: float
) -> RememberedLists | None:
    """Return the last lists of the server that *command* starts, which there need not be; `None`
    without a working folder.
    """
    from ..list_cache.commands import make_command_key

    try:
        key = make_command_key("mount", command, env=env, cwd=cwd)
    except OSError:
        return None
    return RememberedLists(key, patience_seconds)
