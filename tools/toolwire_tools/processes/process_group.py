"""How a group of processes is made to end with this one, even if that is killed, and what has left it is found (Linux).

For Python processes of ours there is more: see guardian.py.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

_END_SECONDS = 1.0
"""How long to go on ending processes that start others faster than they are found."""


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


def end_marked(mark: bytes, *, since: int = 0) -> None:
    """Kill every process of ours with *mark* in its environment, until there are none, nor any new ones.

    What a process starts has its environment, in whatever group or session, unless it is given another one. Processes
    from before the number *since* are left alone, which saves reading their environments.
    """
    latest = time.monotonic() + _END_SECONDS
    known, before = set[int](), set[int]()
    if _last_started() < since:  # numbers have begun again
        since = 0
    while time.monotonic() < latest:
        present = {process for process in _processes() if process >= since}
        has_killed = False
        for process in present - known:
            environment = _environment(process)
            if environment:  # else it is about to have one, or about to go, or belongs to the kernel or somebody else
                known.add(process)
            if mark in environment:
                has_killed = True
                with suppress(OSError):
                    os.kill(process, 9)  # SIGKILL
        if not has_killed and present <= before:
            return
        before = present


def _last_started() -> int:
    try:
        with open("/proc/loadavg", "rb") as file:
            return int(file.read().split()[-1])
    except (OSError, ValueError):
        return 0


def _processes() -> set[int]:
    try:
        return set(map(int, filter(str.isdigit, os.listdir("/proc"))))
    except OSError:  # no Linux
        return set()


def _environment(process: int) -> bytes:
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""
