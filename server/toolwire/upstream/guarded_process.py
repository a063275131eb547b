"""The transport to a child process that ends with all its descendants, even if this process is killed.

Strategy. On Linux, a subreaper is between this process and the child (see subreaper.py): it kills everything that the
child leaves behind, in its group or not, and passes the exit status on. A life line leads there, a pipe on which
nothing is written. Only this process holds its writing end. When this process ends, for any reason, the life line is
closed, and the subreaper kills the child. Elsewhere the child's process group is killed.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from toolwire_client.errors import NotStarted
from toolwire_client.transport.child_process import ServerProcess
from toolwire_tools.processes import subreaper

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_KILL_SECONDS = 6.0
"""How long a subreaper may take to kill everything: a little longer than it tries."""

_END_SECONDS = 0.15
"""The time that children have to end with this process: half of that for its exit functions."""


class GuardedProcess(ServerProcess):
    """The transport to the child that *command* starts; *command* is called with the child's end of the life line.

    That command forks the subreaper. The other parameters are those of `ServerProcess`.

    Raises:
        NotStarted: if it cannot be started.
    """

    def __init__(
        self,
        command: Callable[[int], Sequence[str]],
        *,
        env: dict[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        show_stderr: bool = False,
        keep_stderr: bool = True,
    ) -> None:
        self._signalling = threading.Lock()
        try:
            life, self._life = os.pipe()
        except OSError as error:
            raise NotStarted(f"no process can be started: {error.strerror}") from error
        try:
            super().__init__(
                command(life),
                env=env,
                cwd=cwd,
                show_stderr=show_stderr,
                keep_stderr=keep_stderr,
                descriptors=[life] if subreaper.EXISTS else [],
            )
        except BaseException as error:
            os.close(self._life)
            if isinstance(error, OSError):
                raise NotStarted(f"no process can be started: {error.strerror}") from error
            raise
        finally:
            os.close(life)
        _running.add(self)

    def kill(self) -> None:
        """Kill the child and its descendants. Never blocks."""
        self._tell(signal.SIGTERM if subreaper.EXISTS else signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        self._tell(signal.SIGUSR1 if subreaper.EXISTS and number == signal.SIGTERM else number)

    def _tell(self, number: signal.Signals) -> None:
        """Send *number* to the subreaper, or to the group where no subreaper exists, unless it was reaped."""
        with self._signalling:
            if self._process.returncode is not None:
                return
            if not subreaper.EXISTS:
                super()._signal(number)
                return
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, number)
                os.kill(self.pid, signal.SIGCONT)  # a tool may have stopped it

    def _kill(self) -> None:
        if not subreaper.EXISTS:
            super()._kill()
            return
        self.kill()
        if self.exit_status(_KILL_SECONDS) is None:
            self._tell(signal.SIGKILL)  # which kills the child, though not what has left it

    def _reap(self) -> None:
        self.exit_status(_KILL_SECONDS)
        with self._signalling:  # its number may be reused afterwards
            super()._reap()

    def _let_go(self) -> None:
        _running.discard(self)
        os.close(self._life)
        super()._let_go()

    def abandon(self) -> None:
        """Close the descriptors in a fork of this process, which must not keep the child alive."""
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        for descriptor in (self._life, self._stop, self._stop_writer, self._pidfd):
            with suppress(OSError):
                os.close(-1 if descriptor is None else descriptor)


def guarded(
    command: Sequence[str],
    *,
    env: dict[str, str],
    cwd: str | os.PathLike[str] | None = None,
    show_stderr: bool = False,
) -> GuardedProcess:
    """Return the transport to the server that *command* starts; the parameters are those of `ServerProcess`.

    Raises:
        NotStarted: if the command cannot be run.
    """
    if not command:
        raise NotStarted("the command of the server is empty")
    program = command[0]
    if cwd is not None and not os.path.isdir(cwd):
        raise NotStarted(f"cannot start {program!r} in {os.fspath(cwd)}: that is no folder")
    # Here, since the error of a command that another process cannot run arrives as its exit status.
    place = os.path.join(cwd or "", program) if os.path.dirname(program) else program
    if subreaper.EXISTS and shutil.which(place, path=env.get("PATH")) is None:
        raise NotStarted(f"cannot start {program!r}: no such program, or it may not be run")

    def with_guard(life: int) -> Sequence[str]:
        code = f"{subreaper.LOAD}import sys; "
        code += f"subreaper.exec_below_subreaper({life}, sys.argv[1:], has_locale={'LC_CTYPE' in env})"
        return [sys.executable, "-I", "-S", "-c", code, *command] if subreaper.EXISTS else command

    return GuardedProcess(with_guard, env=env, cwd=cwd, show_stderr=show_stderr)


_running: set[GuardedProcess] = set()


def _end_all() -> None:
    """End every child, since this process exits."""
    left = list(_running)
    for process in left:
        process.finish_input()
    deadline = time.monotonic() + _END_SECONDS
    for process in left:
        process.exit_status(max(0.0, deadline - time.monotonic()))
        process.kill()
    if cgroups := sys.modules.get("toolwire_tools.processes.cgroups"):
        cgroups.leave()


def _abandon_all() -> None:
    for process in _running:
        process.abandon()
    _running.clear()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
