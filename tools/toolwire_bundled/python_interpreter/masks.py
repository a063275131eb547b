"""Finds what a sandbox hides in the folders that code can read. Changes nothing.

Strategy. A file system that is mounted read-only still lets a process connect to a socket in it,
and write into a named pipe, which other processes of the machine serve. Settings and the history of
a project have keys in them. These are found by walking through the folders, without following
links, before the code starts. What appears there later, and a secret by another name, is not found.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MAX_ENTRIES = 500_000
"""How much is looked at, at a microsecond or two each. Beyond that might be a secret, so the code
is not run then.
"""

_MAX_MASKS = 1000
"""How much is covered up. Each takes the kernel a mount, and the command line some 100 bytes."""


def find_masked(folder: str, kept: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Return what has to be hidden below *folder*, and whether it is a folder itself; nothing that
    has *kept* in it.

    Raises:
        ToolError: if there is too much to look at or to cover up.
    """
    looked_at = found = 0
    todo = [folder]
    while todo:
        try:
            entries = os.scandir(todo.pop())
        except OSError:  # a file, or gone, or closed to the server's user, and so to the code
            continue
        with entries:
            for entry in entries:
                looked_at += 1
                is_folder = entry.is_dir(follow_symlinks=False)
                if _is_secret(entry, is_folder=is_folder) and not _is_needed(entry.path, kept):
                    found += 1
                    yield entry.path, is_folder
                elif is_folder:
                    todo.append(entry.path)
        if looked_at > _MAX_ENTRIES or found > _MAX_MASKS:
            what = say("{count:,} secrets", count=_MAX_MASKS)
            if looked_at > _MAX_ENTRIES:
                what = say("{count:,} files and folders", count=_MAX_ENTRIES)
            raise ToolError(
                say(
                    "the folder {folder} has more than {what} to keep from the code; make a smaller"
                    " one readable",
                    folder=folder,
                    what=what,
                )
            )


def _is_secret(entry: os.DirEntry[str], *, is_folder: bool) -> bool:
    if entry.name in (".env", ".git") or entry.name.startswith(".env."):
        return not entry.is_symlink()  # which leads to what is covered up, or to what is not there
    if is_folder or entry.is_file(follow_symlinks=False) or entry.is_symlink():
        return False
    try:
        kind = entry.stat(follow_symlinks=False).st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(kind)  # a socket, a pipe, a device


def _is_needed(path: str, kept: Sequence[str]) -> bool:
    return any(f"{needed}/".startswith(f"{path}/") for needed in kept)
