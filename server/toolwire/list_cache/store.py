"""Keeps the lists of servers in files: one for each key, in the user's cache folder.

Strategy. A model believes what the list of a server says, so a file counts only if no other user
can have written it: the folder and the file belong to the user, with no rights for others. A file
begins with the digest of its text, since a computer that stops may leave half of it. Whatever is
wrong, the file is ignored, and the log says so at the level debug: a cache is never needed.
"""

from __future__ import annotations

import os
import stat
import sys
import threading
from contextlib import suppress
from hashlib import sha256
from typing import Any

import msgspec

from .. import log
from ..version import __version__

MAX_FILES = 100
"""How many servers the cache remembers: a user has fewer; each version of a source is a new one."""

MAX_BYTES = 32 * 1024 * 1024
"""The size of all files together."""

MAX_FILE_BYTES = 4 * 1024 * 1024
"""The size of one file. A thousand tools with long descriptions take one to two megabytes."""

_FORMAT = 1
"""Part of each key. Raise it with every change of `Lists`."""

_ENDING = ".lists"


class Source(msgspec.Struct, frozen=True):
    """A file or folder that decided about the lists: its status, and the digest of its content."""

    path: str
    status: tuple[int, ...]
    digest: str


class Lists(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The lists of a server, and what it answered in the handshake.

    *entries* are those of each list by its kind: `tools`, `resources`, `resourceTemplates` and
    `prompts`. *handshakes* are the results of `initialize` or `server/discover` by the protocol
    revision that the client asked for. *sources* are the files that must be unchanged, if there are
    any.
    """

    entries: dict[str, list[dict[str, Any]]]
    handshakes: dict[str, dict[str, Any]] = {}
    sources: list[Source] = []


def make_key(kind: str, **facts: Any) -> str:
    """Return the key of a server of some *kind* (`serve`, `wrap`, `mount`) for `load` and `save`.

    *facts* are all that decides about its lists and is known before it starts, as JSON. Versions of
    Python and Toolwire are added. A key is a digest: secrets in *facts* cannot be read from it.
    """
    versions = [_FORMAT, __version__, sys.version, sys.prefix]
    text = msgspec.json.encode([kind, versions, facts], order="sorted")
    return sha256(text).hexdigest()


def load(key: str) -> Lists | None:
    """Return the lists that were saved for *key*; `None` without a file that can be trusted."""
    try:
        path = _make_path(_open_folder(create=False), key)
        lists = _decode(_read_private(path))
        with suppress(OSError):  # a folder that may only be read
            os.utime(path)  # what is used is not the oldest
        return lists
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:  # also of msgspec
        log.debug(f"cached lists are ignored: {problem}")
        return None


def save(key: str, lists: Lists) -> None:
    """Keep *lists* for *key*, instead of earlier ones. Those that were not used for the longest
    time make room.
    """
    text = msgspec.json.encode(lists)
    data = b"%s\n%s" % (sha256(text).hexdigest().encode(), text)
    try:
        if len(data) > MAX_FILE_BYTES:
            raise ValueError(f"they take {len(data)} bytes, more than {MAX_FILE_BYTES}")
        folder = _open_folder(create=True)
        _replace(_make_path(folder, key), data)
        _remove_oldest(folder)
    except (OSError, ValueError) as problem:
        log.debug(f"lists are not cached: {problem}")


def forget(key: str) -> None:
    """Remove what is saved for *key*."""
    with suppress(OSError, ValueError):
        os.unlink(_make_path(_open_folder(create=False), key))


def find_folder() -> str:
    """Return the path of the folder, which need not exist."""
    caches = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(caches):  # which the XDG specification wants to be ignored
        caches = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(caches, "toolwire", "lists")


def _open_folder(*, create: bool) -> str:
    """Return the path of the folder, which belongs to the user alone.

    Raises:
        ValueError: if others may write to it.
        OSError: if it does not exist, or cannot be made.
    """
    folder = find_folder()
    if create:
        os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise ValueError(f"{folder} is no folder")
    _check_private(folder, status)
    return folder


def _make_path(folder: str, key: str) -> str:
    return os.path.join(folder, key + _ENDING)


def _check_private(path: str, status: os.stat_result) -> None:
    if sys.platform == "win32":  # where the folder of a user is private by its access list
        return
    if status.st_uid != os.geteuid():
        raise ValueError(f"{path} belongs to another user")
    if status.st_mode & 0o077:
        raise ValueError(f"others may use {path}; run: chmod go= {path}")


def _read_private(path: str) -> bytes:
    # Not through a link, and without waiting for the writer of a FIFO.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_BINARY", 0)
    with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(f"{path} is no file")
        _check_private(path, status)
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(f"{path} is too large")
    return data


def _decode(data: bytes) -> Lists:
    digest, _, text = data.partition(b"\n")
    if digest != sha256(text).hexdigest().encode():
        raise ValueError("a file is damaged")
    return msgspec.json.decode(text, type=Lists)


def _replace(path: str, data: bytes) -> None:
    """Write *data* to *path* in one step, so that a reader finds all of it or the text before."""
    temporary = f"{path}.{os.getpid()}-{threading.get_ident()}"
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _remove_oldest(folder: str) -> None:
    """Remove the oldest files beyond the limits, among them what killed processes have left."""
    files = []
    for entry in os.scandir(folder):
        with suppress(OSError):  # another process has removed it
            status = entry.stat(follow_symlinks=False)
            files.append((status.st_mtime_ns, entry.path, status.st_size))
    files.sort(reverse=True)
    left_bytes = MAX_BYTES
    for number, (_, path, size) in enumerate(files):
        left_bytes -= size
        if number >= MAX_FILES or left_bytes < 0:
            with suppress(OSError):
                os.unlink(path)
