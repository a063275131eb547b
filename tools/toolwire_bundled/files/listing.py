"""Walking through folders, and listing what is in them."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from .limits import MAX_DEPTH, MAX_ENTRIES, MAX_LISTED
from .roots import name_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .folders import Folder
    from .results import Entry, Listing
    from .roots import Places


class Thing(msgspec.Struct, frozen=True):
    """Something in a folder, as a walk finds it.

    `path` is what callers call it, and `inner` the part of that below where the walk began; both
    are text in any case.
    """

    folder: Folder
    name: str
    path: str
    inner: str
    status: os.stat_result

    @property
    def kind(self) -> str:
        """The kind that callers see."""
        mode = self.status.st_mode
        kinds = ((stat.S_ISREG, "file"), (stat.S_ISDIR, "folder"), (stat.S_ISLNK, "link"))
        return next((kind for is_kind, kind in kinds if is_kind(mode)), "other")


class Walk:
    """Things in a folder and, down to *depth* levels, in those inside of it, by name. Links are not
    followed.

    `is_cut` tells afterwards that there was more than is looked at in one call.
    """

    def __init__(self, places: Places, path: str, depth: int = MAX_DEPTH) -> None:
        self._places = places
        self._path = path
        self._depth = min(depth, MAX_DEPTH)
        self._left = MAX_ENTRIES
        self.is_cut = False

    def __iter__(self) -> Iterator[Thing]:
        if self._places.is_above(self._path):
            for name in self._places.names:
                yield from self._walk_root(name)
        else:
            yield from self._walk(self._path, "", self._depth)

    def _walk_root(self, name: str) -> Iterator[Thing]:
        with self._places.locate(name) as there, name_errors(name):
            yield Thing(there.folder, ".", name, name, there.folder.look("."))
        if self._depth > 1:
            yield from self._walk(name, f"{name}/", self._depth - 1)

    def _walk(self, path: str, inner: str, depth: int) -> Iterator[Thing]:
        with self._places.locate(path) as there:
            if not there.name:
                yield from self._walk_folder(
                    there.folder, "" if there.path == "." else f"{there.path}/", inner, depth
                )
                return
            with name_errors(path):
                thing = Thing(
                    there.folder,
                    there.name,
                    there.path,
                    inner + there.name,
                    there.folder.look(there.name),
                )
            if thing.kind == "folder":
                yield from self._walk_below(thing, inner, depth)
            else:
                yield thing

    def _walk_folder(self, folder: Folder, prefix: str, inner: str, depth: int) -> Iterator[Thing]:
        for name in self._list_names(folder):
            shown = make_readable(name)
            try:
                thing = Thing(folder, name, prefix + shown, inner + shown, folder.look(name))
            except OSError:  # it is gone
                continue
            yield thing
            if thing.kind == "folder":
                yield from self._walk_below(thing, f"{inner}{shown}/", depth - 1)

    def _walk_below(self, thing: Thing, prefix: str, depth: int) -> Iterator[Thing]:
        if depth < 1:
            return
        try:
            folder = thing.folder.enter(thing.name)
        except OSError:  # not permitted, or no folder any more
            return
        try:
            yield from self._walk_folder(folder, f"{thing.path}/", prefix, depth)
        finally:
            folder.close()

    def _list_names(self, folder: Folder) -> list[str]:
        found: list[str] = []
        for name in folder.list_names():
            if self._left == 0:
                self.is_cut = True
                break
            self._left -= 1
            found.append(name)
        return sorted(found)


def list_folder(places: Places, path: str, *, depth: int, limit: int) -> Listing:
    """Return the content of the folder at *path*."""
    walk = Walk(places, path, depth)
    entries: list[Entry] = []
    for thing in walk:
        if len(entries) >= min(limit, MAX_LISTED):
            return {"entries": entries, "more": True}
        entries.append(_make_entry(thing))
    return {"entries": entries, "more": walk.is_cut}


def make_readable(name: str) -> str:
    """Return *name* as text: bytes in it that are not valid UTF-8 are written `\\xff`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _make_entry(thing: Thing) -> Entry:
    try:
        modified = datetime.fromtimestamp(int(thing.status.st_mtime), UTC)
    except (OverflowError, ValueError, OSError):  # some file systems hold nonsense
        modified = datetime.fromtimestamp(0, UTC)
    return {
        "path": thing.path,
        "kind": thing.kind,
        "bytes": thing.status.st_size if thing.kind == "file" else 0,
        "modified": f"{modified:%Y-%m-%dT%H:%M:%SZ}",
    }
