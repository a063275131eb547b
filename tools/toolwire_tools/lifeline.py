"""How a group of processes is made to end with this one, even if that is killed (Linux)."""

from __future__ import annotations

import os
from contextlib import suppress


def end_when_closed(reader: int, group: int) -> None:
    """Have the system kill the processes of *group* when nobody holds the other end of the pipe *reader* any more.

    It does so as long as one of them holds *reader*: what is set here is the pipe's, and not this process's (fcntl(2)).
    Where the system cannot, nothing happens.
    """
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(reader, fcntl.F_SETSIG, 9)  # SIGKILL
        fcntl.fcntl(reader, fcntl.F_SETOWN, -group)
        fcntl.fcntl(reader, fcntl.F_SETFL, fcntl.fcntl(reader, fcntl.F_GETFL) | os.O_ASYNC)
