"""The files a shared process was made of: if one changes, new sessions get a new process."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Stamp = tuple[object, ...]


class LoadedFiles:
    """The files of all modules imported so far, those of Toolwire and of libraries included, and
    the *named* files and folders.
    """

    def __init__(self, named: Iterable[str]) -> None:
        self._named = [os.path.abspath(path) for path in named]
        self._stamps: dict[str, Stamp] = {}

    def note(self) -> None:
        """Keep the state of the files that were not known yet."""
        for path in (*self._named, *_list_module_files()):
            if path not in self._stamps:
                with suppress(OSError):
                    self._stamps[path] = _take_stamp(path)

    def have_changed(self) -> bool:
        """Return whether a known file is another one now, or is gone."""
        try:
            return any(_take_stamp(path) != stamp for path, stamp in self._stamps.items())
        except OSError:
            return True


def _list_module_files() -> Iterator[str]:
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str):
            yield path


def _take_stamp(path: str) -> Stamp:
    if os.path.isdir(path):  # a target: its files are known, but others may come
        return tuple(sorted(name for name in os.listdir(path) if name.endswith(_SOURCES)))
    found = os.stat(path)
    return (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)


_SOURCES = (".py", ".yaml", ".yml")
