"""The content of a worker process, and its exit statuses."""

from __future__ import annotations

import os
import signal
from typing import Any

import msgspec
from toolwire_tools.byte_sizes import shown
from toolwire_tools.processes.subreaper import OUT_OF_MEMORY


class WorkerSpec(msgspec.Struct, frozen=True, kw_only=True):
    """The tools that a worker process loads, from where, and how it serves them.

    `settings` are some fields of `Settings`, `memory_limit` is for tools that set none.
    """

    targets: list[str]
    include: list[str] = []
    exclude: list[str] = []
    tool_settings: list[str] = []
    adopt: bool = False
    keep_going: bool = False
    lifespan: str | None = None
    """The target of the lifespan that a `Server` was given."""
    folder: str = "."
    settings: dict[str, Any] = {}
    memory_limit: int | None = None
    sources: dict[str, list[int]] = {}
    """The files that the server has loaded, each with its `stamp`, if they may change while it runs."""
    log_level: str = "info"
    log_as_json: bool = False


NO_LIMIT = 1 << 62
"""In bytes: limits hold between server and host, not between server and worker."""

STALE = 110
"""The exit status of a worker whose sources differ from those the server has loaded."""


def stamp(path: str) -> list[int]:
    """Return the identity of this version of the file at *path*; empty if it does not exist."""
    try:
        status = os.stat(path)
    except OSError:
        return []
    return [status.st_mtime_ns, status.st_size, status.st_ino]


def describe_exit(status: int | None, memory_limit: int | None, *, by_us: bool) -> str:
    """Return a clause such as `ended with exit status 3`, for a process with this *memory_limit* in bytes.

    A negative *status* is a signal, `None` is unknown; *by_us* means that the server sent the signal.
    """
    if status is None:
        return "broke off the connection"
    limit = "" if memory_limit is None else f"limit {shown(memory_limit)}"
    if status == OUT_OF_MEMORY and limit:
        return f"ran out of memory ({limit})"
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        return f"was killed by signal {-status}"
    if name == "SIGKILL":
        hint = "" if by_us else ", as happens when the system's memory runs out"
    else:
        hint = limit and f"; its memory {limit}"
    return f"was killed by signal {-status} ({name}){hint}"
