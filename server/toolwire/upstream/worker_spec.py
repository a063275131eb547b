"""The content of a worker process, how one is started on this machine, and its exit statuses."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_tools.byte_sizes import shown
from toolwire_tools.processes import subreaper
from toolwire_tools.processes.subreaper import OUT_OF_MEMORY

from .. import log

if TYPE_CHECKING:
    from toolwire_tools import Tool

    from ..protocol.call import Call
    from .guarded_process import WorkerPipes


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
    path: list[str] = []
    """For a node: the entries of the server's import path that do not belong to its Python."""
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


class LocalWorkers:
    """Starts worker processes of *spec*; *limited*: some of their tools have a memory limit."""

    def __init__(self, spec: WorkerSpec, *, limited: bool) -> None:
        self._spec = spec
        self._limited = limited
        self._has_warned = False

    def __call__(self, call: Call) -> WorkerPipes:
        """Return the transport to a new process, which has not loaded its tools yet.

        Raises:
            NotStarted: if there can be none.
        """
        from .guarded_process import WorkerPipes

        cgroup = self._cgroup(call.tool)
        try:
            return WorkerPipes(partial(command, self._spec, cgroup), env=None, cwd=self._spec.folder, keep_stderr=False)
        except BaseException:
            with suppress(OSError):
                os.rmdir(cgroup)
            raise

    def _cgroup(self, tool: Tool) -> str:
        """Return the path of a new cgroup; "" if it is not needed or not possible."""
        if not self._limited:
            return ""
        from toolwire_tools.processes import cgroups

        path = cgroups.new()
        if path is None and not self._has_warned and (tool.memory_limit or self._spec.memory_limit):
            self._has_warned = True
            log.info(
                "memory_limit applies to each process separately, not to a tool's process and its children: "
                "the server has no cgroup (version 2) of its own that it may divide"
            )
        return path or ""


def command(spec: WorkerSpec, cgroup: str, life: int) -> list[str]:
    """Return the command of a worker: this Python, with the same flags, path and arguments.

    *life* is its end of the life line, *cgroup* the path of its own cgroup, if it has one.
    """
    import subprocess

    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    if sys.dont_write_bytecode and "-B" not in flags:
        flags.append("-B")
    path = list(dict.fromkeys(entry for entry in (*sys.path, *spec.path) if isinstance(entry, str)))
    guard = f"subreaper.EXISTS and subreaper.fork_below_subreaper({life}, {cgroup!a}); "  # before other imports
    code = (
        f"{subreaper.LOAD}{guard}import sys; sys.path[:] = {path!a}; sys.argv[:] = {sys.argv!a}; "
        f"from toolwire.worker import main; main({msgspec.to_builtins(spec)!a}, {cgroup!a})"
    )
    return [sys.executable, *flags, "-c", code]
