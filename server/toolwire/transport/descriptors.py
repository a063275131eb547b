"""Descriptors of the server, kept where no tool uses them by mistake.

Strategy. A tool that closes a number twice, or closes a few it never opened, hits low numbers, and
the next file that is opened gets the lowest that is free. So ours are high. A tool that closes or
replaces even those, or uses up all below them, ends the server: before each use its descriptor is
compared with its file at the start, so that nothing of the protocol is written to another file or
read from one. (Another thread can come between the two all the same; nothing in POSIX writes to a
descriptor on a condition.)
"""

from __future__ import annotations

import os
import signal
import stat
import sys
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def duplicate_privately(descriptor: int) -> int:
    """Return a duplicate of *descriptor* with a high number, which no child inherits."""
    if sys.platform == "win32":
        return os.dup(descriptor)
    try:
        import fcntl

        limit = os.sysconf("SC_OPEN_MAX")
        # Near 1024 at most: the system's table of descriptors is as long as the highest number.
        floor = (min(limit, 1024) if limit > 0 else 1024) * 15 // 16
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, floor)
    except (ImportError, OSError):  # all the high ones are taken
        return os.dup(descriptor)


def move_high(descriptor: int) -> int:
    """Give *descriptor* a high number, and return that."""
    try:
        return duplicate_privately(descriptor)
    finally:
        os.close(descriptor)


def open_private_pipe() -> tuple[int, int]:
    """Return a new pipe, the end to read first, with high numbers."""
    read, write = os.pipe()
    return move_high(read), move_high(write)


def watch_descriptor(descriptor: int) -> Callable[[], object]:
    """Return a function: whether *descriptor* is still open on the file that it is open on now."""
    was = os.fstat(descriptor)
    read_mark = _mark(descriptor, was.st_mode)

    def is_unchanged() -> object:
        try:
            if read_mark is not None:
                return read_mark()
            now = os.fstat(descriptor)
        except OSError:
            return False
        return now.st_ino == was.st_ino and now.st_dev == was.st_dev

    return is_unchanged


def _mark(descriptor: int, mode: int) -> Callable[[], int] | None:
    """Mark a pipe; return the function that reads the mark, at a third of the cost of fstat: 0 for
    another file.

    The mark is the signal that a process would get if it asked for signals about this pipe.
    Terminals and sockets, where processes do that, are left alone.
    """
    if sys.platform != "linux":
        return None
    if not stat.S_ISFIFO(mode):
        return None
    try:
        import fcntl

        if fcntl.fcntl(descriptor, fcntl.F_GETSIG):  # the host asked for signals
            return None
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)  # which is ignored by default
    except (ImportError, OSError):  # no descriptor is free to load it
        return None
    return partial(fcntl.fcntl, descriptor, fcntl.F_GETSIG)
