"""An open folder, and what can be done inside of it without ever following a link.

Strategy. Where the system has it (POSIX), everything is done relative to the descriptor of the
folder and with O_NOFOLLOW: renaming a place, or replacing it by a link, does not change what was
opened. Elsewhere (Windows) a path is checked before it is used and again when it is open, which
leaves a moment between the two.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

_USUAL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# Opening a fifo does not wait for a writer, and no terminal becomes the controlling one.
_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)

HAS_DESCRIPTORS = (
    hasattr(os, "O_NOFOLLOW") and os.open in os.supports_dir_fd and os.scandir in os.supports_fd
)


class Folder(Protocol):
    """An open folder. All names are of things right inside of it; every method raises what the
    system does.
    """

    def enter(self, name: str) -> Folder:
        """Return the folder *name*. Raises `NotADirectoryError` if it is something else, or a
        link.
        """

    def look(self, name: str) -> os.stat_result:
        """What *name* is, a link itself and not what it leads to."""

    def read_link(self, name: str) -> str:
        """Where the link *name* leads to."""

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """A descriptor of the file *name*. Raises an `OSError` if it is a link."""

    def list_names(self) -> Iterator[str]:
        """The names of all there is."""

    def make(self, name: str) -> None:
        """Make the folder *name*."""

    def rename(self, name: str, new: str) -> None:
        """Give the file *name* the name *new*, in the place of what has it."""

    def link(self, name: str, new: str) -> None:
        """Give the file *name* a second name, *new*. Raises `FileExistsError` if that is taken."""

    def remove(self, name: str) -> None:
        """Remove the file *name*."""

    def remove_folder(self, name: str) -> None:
        """Remove the folder *name*, which has to be empty."""

    def sync(self) -> None:
        """Wait until the names in it are on the disk (POSIX)."""

    def close(self) -> None:
        """Take note that it is used no more."""


class _ByDescriptor:
    def __init__(self, fd: int) -> None:
        self._fd = fd

    def enter(self, name: str) -> _ByDescriptor:
        return _ByDescriptor(_open_folder(name, self._fd))

    def look(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self._fd, follow_symlinks=False)

    def read_link(self, name: str) -> str:
        return os.readlink(name, dir_fd=self._fd)

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        return os.open(name, flags | _USUAL | _AT_ONCE, mode, dir_fd=self._fd)

    def list_names(self) -> Iterator[str]:
        with os.scandir(self._fd) as entries:
            for entry in entries:
                yield entry.name

    def make(self, name: str) -> None:
        os.mkdir(name, dir_fd=self._fd)

    def rename(self, name: str, new: str) -> None:
        os.rename(name, new, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def link(self, name: str, new: str) -> None:
        os.link(name, new, src_dir_fd=self._fd, dst_dir_fd=self._fd, follow_symlinks=False)

    def remove(self, name: str) -> None:
        os.unlink(name, dir_fd=self._fd)

    def remove_folder(self, name: str) -> None:
        os.rmdir(name, dir_fd=self._fd)

    def sync(self) -> None:
        try:
            os.fsync(self._fd)
        except OSError as error:
            if error.errno != errno.EINVAL:  # a file system that has no such thing for folders
                raise

    def close(self) -> None:
        os.close(self._fd)


class _ByPath:
    def __init__(self, path: str) -> None:
        self._path = path

    def enter(self, name: str) -> _ByPath:
        if not stat.S_ISDIR(self.look(name).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        return _ByPath(self._join_path(name))

    def look(self, name: str) -> os.stat_result:
        found = os.lstat(self._join_path(name))
        if getattr(found, "st_reparse_tag", 0) and not stat.S_ISLNK(
            found.st_mode
        ):  # a junction, or the like
            raise PermissionError(errno.EACCES, "it leads elsewhere")
        return found

    def read_link(self, name: str) -> str:
        return os.readlink(self._join_path(name))

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        path = self._join_path(name)
        if os.path.lexists(path) and stat.S_ISLNK(self.look(name).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        fd = os.open(path, flags | _USUAL, mode)
        if not os.path.samestat(os.fstat(fd), os.lstat(path)):
            os.close(fd)
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        return fd

    def list_names(self) -> Iterator[str]:
        with os.scandir(self._path) as entries:
            for entry in entries:
                yield entry.name

    def make(self, name: str) -> None:
        os.mkdir(self._join_path(name))

    def rename(self, name: str, new: str) -> None:
        os.replace(self._join_path(name), self._join_path(new))

    def link(self, name: str, new: str) -> None:
        os.link(self._join_path(name), self._join_path(new))

    def remove(self, name: str) -> None:
        os.unlink(self._join_path(name))

    def remove_folder(self, name: str) -> None:
        os.rmdir(self._join_path(name))

    def sync(self) -> None:
        pass

    def close(self) -> None:
        pass

    def _join_path(self, name: str) -> str:
        return os.path.join(self._path, name)


def open_root(path: str) -> Folder:
    """Return the folder at *path*, which the server's settings name: links on the way there are
    followed.
    """
    if sys.platform != "win32" and HAS_DESCRIPTORS:
        return _ByDescriptor(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    if not os.path.isdir(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return _ByPath(os.path.realpath(path))


def _open_folder(name: str, fd: int) -> int:
    if sys.platform == "win32":
        raise OSError(
            errno.ENOTSUP, os.strerror(errno.ENOTSUP)
        )  # `open_root` opens none by descriptor
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | _USUAL | _AT_ONCE, dir_fd=fd)
    except OSError as error:
        if error.errno == errno.ELOOP:  # what some systems say of a link, where others say ENOTDIR
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
        raise
