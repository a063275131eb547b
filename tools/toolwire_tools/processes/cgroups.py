"""Cgroups for processes whose memory is limited together with that of their children (Linux, cgroup
v2).

Strategy. A process may divide its cgroup if it was delegated to it, that is, if writing succeeds
and no foreign processes are in it: only a cgroup without processes can pass controllers on to its
children (cgroups(7)). So the server moves into one child, with the processes that it has started,
and each worker gets another one.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from itertools import count

from .subreaper import find_descendants

_MOUNTED = "/sys/fs/cgroup"

_numbers = count(1)


def make_cgroup() -> str | None:
    """Return the path of a new cgroup with a limit of memory to be set; `None` if there can be none
    here.
    """
    parent = _divide()
    if parent is None:
        return None
    path = f"{parent}/toolwire-{os.getpid()}-{next(_numbers)}"
    try:
        os.mkdir(path)
        _write(f"{path}/memory.oom.group", "1")
    except OSError:
        return None
    with suppress(OSError):  # there may be no swap
        _write(f"{path}/memory.swap.max", "0")
    return path


def limit(path: str, size: int | None) -> None:
    """Let the processes in the cgroup *path* together use *size* bytes; `None` is no limit."""
    _write(f"{path}/memory.max", "max" if size is None else str(size))


def read_used_bytes(path: str) -> int:
    """Return how many bytes the processes in the cgroup *path* use."""
    return int(_read(f"{path}/memory.current"))


@cache
def _divide() -> str | None:
    """The cgroup of this process, made ready to have children with limits; `None` if that cannot
    be.
    """
    try:
        with open("/proc/self/cgroup", encoding="ascii") as file:
            own = next((line[3:].strip() for line in file if line.startswith("0::")), None)
        if own is None:
            return None
        path = os.path.normpath(f"{_MOUNTED}{own}")
        if "memory" not in _read(f"{path}/cgroup.controllers").split():
            return None
        if not set(_list_processes(path)) <= {os.getpid(), *find_descendants(os.getpid())}:
            return None
        ours = f"{path}/toolwire-{os.getpid()}"
        os.mkdir(ours)
    except OSError:
        return None
    try:
        _move(path, ours)
        _write(f"{path}/cgroup.subtree_control", "+memory")
    except OSError:
        _leave(path, ours)
        return None
    return path


def leave() -> None:
    """Undo the division, if there is one: when the server ends, and its workers have."""
    if _divide.cache_info().currsize and (path := _divide()):
        _leave(path, f"{path}/toolwire-{os.getpid()}")


def _leave(path: str, ours: str) -> None:
    with suppress(OSError):
        _write(f"{path}/cgroup.subtree_control", "-memory")
    with suppress(OSError):
        _move(ours, path)
        os.rmdir(ours)


def _list_processes(path: str) -> list[int]:
    return [int(word) for word in _read(f"{path}/cgroup.procs").split()]


def _move(path: str, to: str) -> None:
    _write(f"{to}/cgroup.procs", "0")  # first, so that those it starts now are there, too
    for process in _list_processes(path):
        with suppress(ProcessLookupError):  # it has ended
            _write(f"{to}/cgroup.procs", str(process))


def _read(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read()


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
