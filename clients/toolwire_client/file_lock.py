"""A lock on a file that one process writes at a time."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_FAR = 2**31 - 2
"""The locked byte on Windows, behind all that is written: others may read what is written."""


def lock(file: int, path: Path) -> None:
    """Lock the file until it is closed, where the system and the disk support it.

    Raises:
        BlockingIOError: if it is locked.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file, _FAR, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            raise BlockingIOError(errno.EAGAIN, "another run is writing it", str(path)) from None
