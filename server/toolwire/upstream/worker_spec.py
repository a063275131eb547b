"""The content of a worker process, and how one is started on this machine."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_tools.processes import subreaper

if TYPE_CHECKING:
    from ..protocol.call import Call
    from .guarded_process import GuardedProcess


class WorkerSpec(msgspec.Struct, frozen=True, kw_only=True):
    """The tools that a worker process loads, from where, and how it serves them.

    `loading` are arguments of `load`, `settings` some fields of `Settings`, `memory_limit` is for tools that set none.
    """

    loading: dict[str, Any]
    lifespan: str | None = None
    """The target of the lifespan that a `Server` was given."""
    folder: str = "."
    path: list[str] = []
    """For a node: the entries of the server's import path that do not belong to its Python."""
    settings: dict[str, Any] = {}
    memory_limit: int | None = None
    log_level: str = "info"
    log_as_json: bool = False


NO_LIMIT = 1 << 62
"""In bytes: limits hold between server and host, not between server and worker."""


def start_here(spec: WorkerSpec, call: Call, news: object) -> GuardedProcess:
    """Return the transport to a new worker process of *spec*, which has not loaded its tools; see `ProcessPool`.

    Raises:
        NotStarted: if there can be none.
    """
    from .guarded_process import GuardedProcess

    return GuardedProcess(partial(command, spec), env=None, cwd=spec.folder, keep_stderr=False)


def command(spec: WorkerSpec, life: int) -> list[str]:
    """Return the command of a worker: this Python, with the same flags, path and arguments.

    *life* is its end of the life line.
    """
    import subprocess

    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    if sys.dont_write_bytecode and "-B" not in flags:
        flags.append("-B")
    path = list(dict.fromkeys(entry for entry in (*sys.path, *spec.path) if isinstance(entry, str)))
    guard = f"subreaper.EXISTS and subreaper.fork_below_subreaper({life}); "  # before other imports
    code = (
        f"{subreaper.LOAD}{guard}import sys; sys.path[:] = {path!a}; sys.argv[:] = {sys.argv!a}; "
        f"from toolwire.worker import main; main({msgspec.to_builtins(spec)!a})"
    )
    return [sys.executable, *flags, "-c", code]
