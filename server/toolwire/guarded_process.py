"""The transport to a child process that ends with all its descendants, even if this process is
killed.

Strategy. A child's own group ends it with all its descendants: see child_group.py of the tools. On
Linux, that is a subreaper, which also passes the exit status on.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from toolwire_client.errors import NotStarted
from toolwire_client.transport.child_process import ServerProcess
from toolwire_tools.processes import subreaper
from toolwire_tools.processes.child_group import make_strongest_group
from toolwire_tools.processes.process_group import SIGKILL

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Sequence

    from toolwire_tools.processes.child_group import ChildGroup

_KILL_SECONDS = 1.0
"""How long a subreaper may take to kill everything, before it gets help."""

_END_SECONDS = 0.15
"""The time that children have to end with this process: half of that for its exit functions."""


class GuardedProcess(ServerProcess):
    """The transport to the child that *command* starts; *command* is called with the child's group.

    On Linux, that command forks the subreaper. *more* is for `ServerProcess`.

    Raises:
        NotStarted: if it cannot be started.
    """

    def __init__(self, command: Callable[[ChildGroup], Sequence[str]], **more: Any) -> None:
        self._signalling = threading.Lock()
        self.was_killed = False
        try:
            self._group = make_strongest_group()
        except OSError as error:  # no descriptors are left
            raise _make_start_error(error) from error
        try:
            super().__init__(command(self._group), descriptors=self._group.descriptors, **more)
        except BaseException as error:
            self._group.close()
            if isinstance(error, OSError):
                raise _make_start_error(error) from error
            raise
        self._group.guard(self._process)
        RUNNING.add(self)

    @property
    def orphans(self) -> int:
        """How many processes the child has left behind, which were killed; known after `close`, on
        Linux.
        """
        return self._group.orphans

    def kill(self) -> None:
        """Kill the child and its descendants. Never blocks. A second call is for a child that stops
        the subreaper.
        """
        is_again, self.was_killed = self.was_killed, True
        if is_again and self.exit_status() is None:
            self._group.kill_descendants()
        self._send_signal(SIGKILL)

    def _send_signal(self, number: signal.Signals) -> None:
        with self._signalling:
            if self._process.returncode is not None:  # its number may have been reused
                return
            if number == SIGKILL:
                self._group.kill()
            else:
                self._group.terminate()

    def _kill(self) -> None:
        super()._kill()
        if self.exit_status(_KILL_SECONDS) is None:
            self.was_killed = True
            self.kill()

    def _reap(self) -> None:
        self.exit_status(_KILL_SECONDS)
        with self._signalling:
            super()._reap()

    def _let_go(self) -> None:
        RUNNING.discard(self)
        self._group.close()
        super()._let_go()

    def abandon(self) -> None:
        """Close the descriptors in a fork of this process, which must not keep the child alive."""
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        for descriptor in (self._stop, self._stop_writer, self._pidfd):
            with suppress(OSError):
                os.close(-1 if descriptor is None else descriptor)


def _make_start_error(error: OSError) -> NotStarted:
    return NotStarted(f"no process can be started: {error.strerror}")


def start_guarded(command: Sequence[str], *, env: dict[str, str], **more: Any) -> GuardedProcess:
    """Return the transport to the server that *command* starts; the parameters are those of
    `ServerProcess`.

    Raises:
        NotStarted: if the command cannot be run.
    """
    program = command[0] if command else ""
    cwd = more.get("cwd")
    if cwd is not None and not os.path.isdir(cwd):
        raise NotStarted(f"cannot start {program!r} in {os.fspath(cwd)}: that is no folder")
    place = program
    if os.path.dirname(program):
        place = os.path.join(cwd or "", program)
    # Here, since the error of a command that another process cannot run arrives as its exit status.
    if subreaper.EXISTS and shutil.which(place, path=env.get("PATH")) is None:
        raise NotStarted(f"cannot start {program!r}: no such program, or it may not be run")
    return GuardedProcess(lambda group: group.wrap_command(command, env), env=env, **more)


_KILLED_SECONDS = 0.1
"""How long this process waits for the end of those that it has killed: within the time of its exit
functions.
"""

RUNNING: set[Any] = set()
"""The transports to children and to workers on nodes, which end with this process."""


def end_all() -> None:
    """End every child and every worker on a node, since this process exits."""
    left = list(RUNNING)
    for process in left:
        process.finish_input()
    _wait(left, _END_SECONDS)
    for process in left:
        process.kill()
    _wait(left, _KILLED_SECONDS)
    if cgroups := sys.modules.get("toolwire_tools.processes.cgroups"):
        cgroups.leave()


def _wait(processes: list[Any], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    for process in processes:
        process.exit_status(max(0.0, deadline - time.monotonic()))


def _abandon_all() -> None:
    for process in list(RUNNING):
        process.abandon()
    RUNNING.clear()


atexit.register(end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
