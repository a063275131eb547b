"""The content of a worker process, and how one is started on this machine."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_tools.processes import subreaper

from .. import log
from ..timers import Timers

if TYPE_CHECKING:
    import socket
    from concurrent.futures import Future
    from queue import SimpleQueue

    from toolwire_tools import Entry
    from toolwire_tools.processes.child_group import ChildGroup

    from ..guarded_process import GuardedProcess
    from ..protocol.call import Call

    News = SimpleQueue[socket.socket | Future[None] | None]
    """Wakes the start of a worker that waits for a place: with the connection of the worker, with
    its job, which has ended, or with `None` if the start is no longer needed.
    """


class WorkerSpec(msgspec.Struct, frozen=True, kw_only=True):
    """The tools that a worker process loads, from where, and how it serves them.

    `loading` are arguments of `load`, `settings` some fields of `Settings`, `memory_limit` is for
    tools that set none.
    """

    loading: dict[str, Any]
    lifespan: str | None = None
    """The target of the lifespan that a `Server` was given."""
    folder: str = "."
    path: list[str] = []
    """For a node: the entries of the server's import path that do not belong to its Python."""
    settings: dict[str, Any] = {}
    memory_limit: int | None = None
    sources: dict[str, list[int]] = {}
    """The files that the server has loaded, each with its `stamp`, if they may change while it
    runs.
    """
    log_level: str = "info"
    log_as_json: bool = False


TIMERS = Timers()
"""Of this room: processes outlive the sessions, and their timers."""

META_SESSION_ID = "toolwire/sessionId"
"""Under `_meta` of a call: the session for which a worker process runs it."""

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


def start_here(spec: WorkerSpec, limited: bool, call: Call, news: News) -> GuardedProcess:
    """Return the transport to a new worker process of *spec*, which has not loaded its tools yet.

    *limited*: some of its tools have a memory limit. For the rest, see `ProcessPool`.

    Raises:
        NotStarted: if there can be none.
    """
    from ..guarded_process import GuardedProcess

    cgroup = _make_cgroup(spec, call.entry) if limited else ""
    try:
        return GuardedProcess(
            partial(make_command, spec, cgroup), env=None, cwd=spec.folder, keep_stderr=False
        )
    except BaseException:
        with suppress(OSError):
            os.rmdir(cgroup)
        raise


def _make_cgroup(spec: WorkerSpec, entry: Entry) -> str:
    """Return the path of a new cgroup; "" if that is not possible."""
    from toolwire_tools.processes import cgroups

    path = cgroups.make_cgroup()
    if path is None and (entry.options.memory_limit or spec.memory_limit):
        _log_separate_limits_once()
    return path or ""


@cache
def _log_separate_limits_once() -> None:
    log.info(
        "memory_limit applies to each process separately, not to a tool's process and its children:"
        " the server has no cgroup (version 2) of its own that it may divide"
    )


def make_command(spec: WorkerSpec, cgroup: str, group: ChildGroup) -> list[str]:
    """Return the command of a worker: this Python, with the same flags, path and arguments.

    *group* is the worker's, *cgroup* the path of its own cgroup, if it has one.
    """
    import subprocess

    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    if sys.dont_write_bytecode and "-B" not in flags:
        flags.append("-B")
    path = list(dict.fromkeys(entry for entry in (*sys.path, *spec.path) if isinstance(entry, str)))
    # before other imports
    fork = f"subreaper.fork_below_subreaper({group.child_end}, {cgroup!a})"
    guard = f"subreaper.EXISTS and {fork}; "
    code = (
        f"{subreaper.LOAD}{guard}sys.path[:] = {path!a}; sys.argv[:] = {sys.argv!a}; "
        "from toolwire.quick_msgspec import import_msgspec; import_msgspec(); "
        f"from toolwire.worker import main; main({msgspec.to_builtins(spec)!a}, {cgroup!a})"
    )
    return [sys.executable, *flags, "-c", code]
