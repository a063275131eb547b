"""Worker processes on this machine."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from toolwire_tools.processes import subreaper

from .. import log

if TYPE_CHECKING:
    from toolwire_tools import Tool

    from ..protocol.call import Call
    from .worker_process import WorkerTransport
    from .worker_spec import WorkerSpec


class LocalWorkers:
    """Starts worker processes of *spec*; *limited*: some of their tools have a memory limit."""

    def __init__(self, spec: WorkerSpec, *, limited: bool) -> None:
        self._spec = spec
        self._limited = limited
        self._has_warned = False

    def __call__(self, call: Call) -> WorkerTransport:
        """Return the transport to a new process, which has not loaded its tools yet.

        Raises:
            NotStarted: if there can be none.
        """
        from .worker_pipes import WorkerPipes

        cgroup = self._cgroup(call.tool)
        try:
            return WorkerPipes(partial(_command, self._spec, cgroup), cwd=self._spec.folder, keep_stderr=False)
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


def _command(spec: WorkerSpec, cgroup: str, life: int) -> list[str]:
    """Return the command of a worker: this Python, with the same flags, path and arguments.

    *life* is its end of the life line, *cgroup* the path of its own cgroup, if it has one.
    """
    import subprocess

    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    if sys.dont_write_bytecode and "-B" not in flags:
        flags.append("-B")
    path = [entry for entry in sys.path if isinstance(entry, str)]
    guard = f"subreaper.EXISTS and subreaper.fork_below_subreaper({life}, {cgroup!a}); "  # before other imports
    code = (
        f"{subreaper.LOAD}{guard}import sys; sys.path[:] = {path!a}; sys.argv[:] = {sys.argv!a}; "
        f"from toolwire.worker import main; main({msgspec.to_builtins(spec)!a}, {cgroup!a})"
    )
    return [sys.executable, *flags, "-c", code]
