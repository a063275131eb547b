"""Process groups: start one, signal it, and make it end with this process, even if that is killed.

Toolwire's Python processes have a subreaper in addition; see subreaper.py.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

_END_SECONDS = 1.0
"""Limit for killing processes that start others faster than they are found."""

SIGKILL = getattr(signal, "SIGKILL", signal.SIGTERM)


class Leader(Protocol):
    """The common part of a `Popen` and anyio's `Process`."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | None: ...

    @property
    def terminate(self) -> Callable[[], None]: ...


def make_group_options(*descriptors: int) -> dict[str, Any]:
    """Return the arguments that make `Popen` start a process in a group of its own, with
    *descriptors*.
    """
    if sys.platform == "win32":
        import subprocess

        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True, "pass_fds": descriptors}


def signal_group(leader: Leader, number: int = SIGKILL) -> None:
    """Send a signal to the group of *leader*; on Windows, which has no groups, end *leader*."""
    # The group's number stays taken as long as there is a process in it, and is not given out again
    # at once.
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            leader.terminate()
        else:
            os.killpg(leader.pid, number)


def kill_group_when_pipe_closes(reader: int, group: int) -> None:
    """Have the system kill *group* when the other end of the pipe *reader* has been closed
    everywhere.

    It does so as long as one of the group holds *reader*: the setting belongs to the pipe, not to
    this process (fcntl(2)). Does nothing on other systems than Linux, which have no such setting.
    """
    if sys.platform != "linux":
        return
    import fcntl

    with suppress(OSError):
        fcntl.fcntl(reader, fcntl.F_SETSIG, SIGKILL)
        fcntl.fcntl(reader, fcntl.F_SETOWN, -group)
        fcntl.fcntl(reader, fcntl.F_SETFL, fcntl.fcntl(reader, fcntl.F_GETFL) | os.O_ASYNC)


def kill_marked(mark: bytes, *, since: int = 0) -> None:
    """Kill every process of this user with *mark* in its environment, until no new ones appear
    (Linux).

    A process inherits its parent's environment, in any group or session, unless it is given another
    one. Processes with a number below *since* are skipped, which saves reading their environments.
    """
    latest = time.monotonic() + _END_SECONDS
    known, before = set[int](), set[int]()
    if _find_last_started() < since:  # the numbers have started again from the beginning
        since = 0
    while time.monotonic() < latest:
        present = {process for process in _list_processes() if process >= since}
        is_settled = True
        for process in present - known:
            environment = _read(process, "environ")
            if environment:
                known.add(process)
            elif environment is not None:  # it ends, belongs to the kernel, or is about to have one
                is_settled = is_settled and not _is_in_exec(process)
            if environment and mark in environment:
                is_settled = False
                with suppress(OSError):
                    os.kill(process, SIGKILL)
        if is_settled and present <= before:
            return
        before = present


def _find_last_started() -> int:
    try:
        with open("/proc/loadavg", "rb") as file:
            return int(file.read().split()[-1])
    except (OSError, ValueError):
        return 0


def _list_processes() -> set[int]:
    try:
        return set(map(int, filter(str.isdigit, os.listdir("/proc"))))
    except OSError:  # no Linux
        return set()


def _is_in_exec(process: int) -> bool:
    """Return whether *process*, whose environment was read as empty, has replaced its memory since,
    or does so.

    See execve(2), and proc(5) for the fields. One started without an environment has one that ends
    where it starts.
    """
    fields = (_read(process, "stat") or b"").rpartition(b") ")[2].split()  # from the third on
    if len(fields) <= 48 or fields[20] == b"0":  # its size: it has no memory
        return False
    start, end = fields[47:49]
    return start != end or end == b"0"


def _read(process: int, name: str) -> bytes | None:
    """Return the file *name* of *process* in /proc; `None` if it has ended or belongs to another
    user.
    """
    try:
        with open(f"/proc/{process}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return None
