"""Descriptors that are the server's own, kept where no tool comes upon them by mistake.

Strategy. A tool that closes a number twice, or closes a few it never opened, hits low numbers, and the next file that
is opened gets the lowest that is free. So ours are high. Whoever goes out of their way to close or replace those, or
uses up all below them, ends the server: before each use its descriptor is compared with what it was, so that nothing
of the protocol is written to another file or read from one. (Another thread can come between the two all the same;
nothing in POSIX writes to a descriptor on a condition.)
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def private(descriptor: int) -> int:
    """Return a duplicate of *descriptor* with a high number, which no child inherits."""
    try:
        import fcntl

        limit = os.sysconf("SC_OPEN_MAX")
        # Near 1024 at most: the system's table of descriptors is as long as the highest number.
        floor = (min(limit, 1024) if limit > 0 else 1024) * 15 // 16
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, floor)
    except (ImportError, OSError):  # Windows; or all the high ones are taken
        return os.dup(descriptor)


def moved(descriptor: int) -> int:
    """Give *descriptor* a high number, and return that."""
    try:
        return private(descriptor)
    finally:
        os.close(descriptor)


def private_pipe() -> tuple[int, int]:
    """Return a new pipe, the end to read first, with high numbers."""
    read, write = os.pipe()
    return moved(read), moved(write)


def unchanged(descriptor: int) -> Callable[[], bool]:
    """Return what tells whether *descriptor* is still open on the file that it is open on now."""
    was = os.fstat(descriptor)
    mark, marked = _marked(descriptor, was.st_mode)

    def is_unchanged() -> bool:
        try:
            if mark is not None and mark() == marked:
                return True
            now = os.fstat(descriptor)
        except OSError:
            return False
        return now.st_ino == was.st_ino and now.st_dev == was.st_dev

    return is_unchanged


def _marked(descriptor: int, mode: int) -> tuple[Callable[[], int] | None, int]:
    """Mark a pipe: its owner, who would get signals if it were asked for them, is read at a third of fstat's cost.

    A quick call takes some 20 µs, and fstat more than one of them. Terminals and sockets are left alone: there, signals
    to the owner exist.
    """
    try:
        from fcntl import F_GETOWN, F_SETOWN, fcntl

        if mode & 0o170000 != 0o010000:
            return None, 0
        fcntl(descriptor, F_SETOWN, os.getpid())
    except (ImportError, OSError):
        return None, 0
    return partial(fcntl, descriptor, F_GETOWN), os.getpid()
