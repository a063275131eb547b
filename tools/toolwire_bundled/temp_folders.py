"""Temporary folders that are removed when they are no longer needed, together with the processes
that work in them.

Strategy. A server that is killed removes nothing. So a folder is locked (flock(2), which ends with
its holder) as long as it is in use, and the first one that a server makes has it remove those that
no process holds. systemd-tmpfiles lets a locked folder be as well (tmpfiles.d(5)).

What runs in such a folder has its path in the environment, and so has all that it starts, in
whatever process group: that is how it is found (as Jenkins finds what a build has left behind), if
it has not taken pains to get rid of it.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import suppress
from functools import cache

from toolwire_tools.processes.ownership import disown, own
from toolwire_tools.processes.process_group import kill_marked

_PREFIX, _SUFFIX = "toolwire-", ".scratch"
"""A prefix that no other program uses."""


class Scratch:
    """A folder for what is called *purpose*, at `path`. A process that is to end with it has to
    receive that path in its environment."""

    def __init__(self, purpose: str) -> None:
        _remove_abandoned()
        self.path, self._lock = _make_folder(f"{_PREFIX}{purpose}-")
        own(self)

    def end(self) -> None:
        """Remove the folder, and kill all processes that know of it (Linux)."""
        if not disown(self):  # it has ended
            return
        _remove(self.path)
        self.abandon()

    def abandon(self) -> None:
        """Unlock the folder; it stays locked as long as its owner has it."""
        if self._lock is not None:
            os.close(self._lock)


def _make_folder(prefix: str) -> tuple[str, int | None]:
    """A new folder and what keeps it locked; None where there is no such thing."""
    while True:
        path = tempfile.mkdtemp(_SUFFIX, prefix)
        try:
            lock = _lock_folder(path)
        except NotImplementedError:
            return path, None
        if lock is not None:
            return path, lock
        # Another server took it for abandoned, and removes it.


def _lock_folder(path: str) -> int | None:
    """Return a descriptor that locks the folder at *path*, or None if another process has it, or it
    has gone.

    Raises:
        NotImplementedError: if folders are not locked here.
    """
    if sys.platform == "win32":
        raise NotImplementedError
    import fcntl

    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(fd), os.lstat(path)):
            return fd
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:  # some file systems of networks
        os.close(fd)
        raise NotImplementedError from None
    os.close(fd)
    return None


@cache
def _remove_abandoned() -> None:
    """Remove the folders of servers that were killed. Once is enough: it is done by all that come
    after.
    """
    with suppress(OSError, NotImplementedError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if not _is_ours(entry) or (lock := _lock_folder(entry.path)) is None:
                continue
            _remove(entry.path)
            os.close(lock)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    is_called_so = entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX)
    if not is_called_so or not entry.is_dir(follow_symlinks=False):
        return False
    return not hasattr(os, "geteuid") or entry.stat(follow_symlinks=False).st_uid == os.geteuid()


def _remove(path: str) -> None:
    kill_marked(os.fsencode(path))
    shutil.rmtree(path, ignore_errors=True)
    if os.path.isdir(path):  # there are folders that not even their owner may enter
        for above, names, _ in os.walk(path):
            for inner in (os.path.join(above, name) for name in names):
                if not os.path.islink(inner):
                    os.chmod(inner, 0o700)
        shutil.rmtree(path, ignore_errors=True)
