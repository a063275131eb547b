"""Tells whether the files that decided about lists are still the same.

Strategy. A file that is written gets a new time of change (`ctime`), which no program can set. So a
file with the same status has the same content, and only others are read: a copy, or one that was
written again, may still have the same content. On Windows, programs can set all times, so all files
are read. A file that was written while the server started prevents that its lists are kept: its
content may have changed after it was imported.
"""

from __future__ import annotations

import os
import stat
import sys
from hashlib import sha256
from typing import TYPE_CHECKING

from .store import Source

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_SOURCES = 2_000
"""How many files and folders may decide about lists: to look at them takes some 10 ms."""

MAX_SOURCE_BYTES = 64 * 1024 * 1024
"""The size of all of them together: to read them takes some 100 ms."""

_CLOCK_SECONDS = 0.02
"""How much the times of files may be behind the clock: they change with the ticks of the kernel."""

_COARSE_CLOCK_SECONDS = 2.0
"""The same for file systems whose times are whole seconds."""

_ENDINGS = (".py", ".yaml", ".yml")
_ENDINGS_OF_PACKAGES = (".dist-info", ".egg-info")


class NotKept(ValueError):
    """The state of files cannot be kept. The message says why."""


def read_sources(paths: Iterable[str], started_at: float) -> list[Source]:
    """Return the state of the files and folders at *paths*, which may be missing, too.

    *started_at* is the time, in seconds since 1970, before which all of them must have been
    written.

    Raises:
        NotKept: if one was written later, or all of them are more than may be kept.
        OSError: if one cannot be read.
    """
    sources: list[Source] = []
    left_bytes = MAX_SOURCE_BYTES
    for path in sorted(set(paths)):
        if len(sources) == MAX_SOURCES:
            raise NotKept(f"more than {MAX_SOURCES} files decide about them")
        status = _read_status(path)
        if status is None:
            sources.append(Source(path, (), ""))
            continue
        left_bytes -= status.st_size
        if left_bytes < 0:
            raise NotKept(f"the files that decide about them take over {MAX_SOURCE_BYTES} bytes")
        source = Source(path, _summarize(status), _digest(path, status))
        after = _read_status(path)
        if (
            _is_later(path, status, started_at)
            or after is None
            or _summarize(after) != source.status
        ):
            raise NotKept(f"{path} was written when the server started")
        sources.append(source)
    return sources


def is_unchanged(source: Source) -> bool:
    """Return whether the file or folder of *source* still has the same content.

    Raises:
        OSError: if it cannot be read.
    """
    status = _read_status(source.path)
    if status is None:
        return not source.status
    if not source.status:
        return False
    if _summarize(status) == source.status and sys.platform != "win32":
        return True
    return status.st_size <= MAX_SOURCE_BYTES and _digest(source.path, status) == source.digest


def _read_status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _summarize(status: os.stat_result) -> tuple[int, ...]:
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return (status.st_mode, status.st_dev, status.st_ino, status.st_size, *times)


def _is_later(path: str, status: os.stat_result, time: float) -> bool:
    """Return whether the file at *path*, or one in the folder there, was written after *time*."""
    if not stat.S_ISDIR(status.st_mode):
        return _is_written_later(status, time)
    # Not the folder itself: an import adds __pycache__ to it.
    for name in _list_names(path):
        status_in_folder = _read_status(os.path.join(path, name))
        if status_in_folder is None or _is_written_later(status_in_folder, time):
            return True
    return False


def _is_written_later(status: os.stat_result, time: float) -> bool:
    written = max(status.st_mtime_ns, status.st_ctime_ns)
    is_coarse = written % 1_000_000_000 == 0
    margin = _COARSE_CLOCK_SECONDS if is_coarse else _CLOCK_SECONDS
    return written / 1e9 > time - margin


def _digest(path: str, status: os.stat_result) -> str:
    """Return the digest of a file, or of the names in a folder that mean something."""
    if stat.S_ISDIR(status.st_mode):
        return sha256("\n".join(_list_names(path)).encode("utf-8", "surrogateescape")).hexdigest()
    if not stat.S_ISREG(status.st_mode):
        raise NotKept(f"{path} is no file")
    with open(path, "rb") as file:
        return sha256(file.read(MAX_SOURCE_BYTES)).hexdigest()


def _list_names(folder: str) -> list[str]:
    """Return the names of packages in a folder of them, which have versions; else of sources."""
    is_of_packages = os.path.basename(folder) in ("site-packages", "dist-packages")
    endings = _ENDINGS_OF_PACKAGES if is_of_packages else _ENDINGS
    names = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(endings):
            names.append(name)
    return names
