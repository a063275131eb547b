"""The process group of a child, by which the child ends with everything that it has started.

Strategy. The owner kills the group when the child is done, and when it exits. A process that is
killed cannot do that. So the child inherits one end of a *life line*, on which nothing is written
and whose other end closes with this process, for whatever reason (Linux; elsewhere the group goes
on).

- `ChildGroup`: the system kills the group when the life line closes. That is set up in the
  milliseconds after the start: earlier, only code between fork and exec could do it, which may hang
  in a process with threads. A mark in their environment leads to processes that have left the
  group, unless this process was killed.
- `ReapedGroup`: a subreaper, between this process and the child, holds the life line and kills
  everything that the child leaves behind, in its group or not. It is another Python process: too
  much for children that live for milliseconds.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from . import subreaper
from .ownership import disown, own
from .process_group import (
    SIGKILL,
    kill_group_when_pipe_closes,
    kill_marked,
    make_group_options,
    signal_group,
)

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence

    from .process_group import Leader

_RECENT_SECONDS = 10.0
"""Within this time, processes do not use up all numbers: later ones have higher numbers, or have
started again.
"""

_CLOSED = -1


class ChildGroup:
    """The group of a child, which ends with this process at the latest.

    The child is started by `start`, or in another way with `wrap_command` and `make_options`; then
    call `guard` as soon as it runs.

    *mark* is a `NAME=value` of the child's environment, by which `kill` also finds processes
    that have left the group (Linux). A child that ends with this process anyway needs no life line.

    Raises:
        OSError: if there are no descriptors left.
    """

    orphans = 0
    """How many processes the child has left behind; known after `close`, below a subreaper."""

    def __init__(self, *, mark: str = "", has_life_line: bool = True) -> None:
        self._mark = mark.encode()
        self._leader: Leader | None = None
        self._started = 0.0
        self.child_end = self._own_end = _CLOSED
        """The two ends of the life line."""
        if has_life_line and sys.platform == "linux":
            self.child_end, self._own_end = self._open_life_line()

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The descriptors that the child has to inherit: its end of the life line, or none."""
        if self.child_end == _CLOSED:
            return ()
        return (self.child_end,)

    def make_options(self, *more_descriptors: int) -> dict[str, Any]:
        """Return the arguments of `Popen` for the leader of a group that inherits the life line."""
        return make_group_options(*self.descriptors, *more_descriptors)

    def wrap_command(self, command: Sequence[str], environment: Mapping[str, str]) -> Sequence[str]:
        """Return what to start in order to run *command* with this *environment*."""
        return command

    def start(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        descriptors: Sequence[int] = (),
        **more: Any,
    ) -> subprocess.Popen[bytes]:
        """Return the child that runs *command*; *more* is for `Popen`.

        Raises:
            OSError: if it cannot be started.
        """
        import subprocess

        environment = os.environ if env is None else env
        process: subprocess.Popen[bytes] = subprocess.Popen(
            self.wrap_command(command, environment),
            env=env,
            **self.make_options(*descriptors),
            **more,
        )
        self.guard(process)
        return process

    def guard(self, leader: Leader) -> None:
        """Have the group of *leader*, which has just started, end with this process."""
        self._leader = leader
        self._started = monotonic()
        own(self)
        self._watch_life_line(leader)
        self._close_child_end()

    def terminate(self) -> None:
        """Ask the group to end, by SIGTERM."""
        if self._leader is not None:
            signal_group(self._leader, signal.SIGTERM)

    def kill(self) -> None:
        """Kill the group and all processes with the mark. Does not wait for their end."""
        if self._leader is None:
            return
        signal_group(self._leader)
        if self._mark:
            is_recent = monotonic() - self._started < _RECENT_SECONDS
            kill_marked(self._mark, since=self._leader.pid if is_recent else 0)

    def kill_descendants(self) -> None:
        """Kill the processes that `kill` has not ended in time."""
        self.kill()

    def close(self) -> None:
        """Let go of the group, whose number may be given out again."""
        disown(self)
        self._leader = None
        self._close_child_end()
        own_end, self._own_end = self._own_end, _CLOSED
        if own_end != _CLOSED:
            os.close(own_end)

    def end(self) -> None:
        """Kill the group and let go of it."""
        self.kill()
        self.close()

    def abandon(self) -> None:
        """Let go of the group in a fork of this process, which must not keep it alive."""
        self.close()

    def _open_life_line(self) -> tuple[int, int]:
        return os.pipe()

    def _watch_life_line(self, leader: Leader) -> None:
        if self.child_end != _CLOSED:
            kill_group_when_pipe_closes(self.child_end, group=leader.pid)

    def _close_child_end(self) -> None:
        child_end, self.child_end = self.child_end, _CLOSED
        if child_end != _CLOSED:
            os.close(child_end)


class ReapedGroup(ChildGroup):
    """The group of a child below a subreaper (Linux).

    The child has to be what `wrap_command` returns, or to call `fork_below_subreaper` itself.
    """

    def wrap_command(self, command: Sequence[str], environment: Mapping[str, str]) -> Sequence[str]:
        """As `ChildGroup.wrap_command`."""
        locale = environment.get("LC_CTYPE")
        run = f"subreaper.exec_below_subreaper({self.child_end}, sys.argv[1:], {locale!a})"
        code = f"{subreaper.LOAD}{run}"
        return [sys.executable, "-I", "-S", "-c", code, *command]

    def terminate(self) -> None:
        """Have the subreaper ask the child's group to end."""
        if sys.platform != "win32":
            self._send_signal(signal.SIGUSR1)

    def kill(self) -> None:
        """Have the subreaper kill the child and its descendants. Does not wait for their end."""
        self._send_signal(signal.SIGTERM)

    def kill_descendants(self) -> None:
        """Kill the descendants, one of which may keep the subreaper from it, and then `kill`."""
        subreaper_id = self._find_subreaper_id()
        if subreaper_id is None:
            return
        for process in subreaper.find_descendants(subreaper_id):
            with suppress(OSError):
                os.kill(process, SIGKILL)
        self.kill()

    def close(self) -> None:
        """As `ChildGroup.close`. The life line has the number of orphans if the child has ended."""
        if self._leader is not None:
            self.orphans = self._read_orphans()
        super().close()

    def abandon(self) -> None:
        """As `ChildGroup.abandon`."""
        self._leader = None  # the number of orphans is for the owner
        super().close()

    def _open_life_line(self) -> tuple[int, int]:
        if sys.platform == "win32":
            raise OSError("only Linux has subreapers")
        import _socket  # `socket` takes longer to import, and has nothing else that is needed

        child_end, own_end = _socket.socketpair()
        return child_end.detach(), own_end.detach()

    def _watch_life_line(self, leader: Leader) -> None:
        """Do nothing: the subreaper does."""

    def _send_signal(self, number: int) -> None:
        subreaper_id = self._find_subreaper_id()
        if sys.platform == "win32" or subreaper_id is None:
            return
        with suppress(ProcessLookupError):
            os.kill(subreaper_id, number)
            os.kill(subreaper_id, signal.SIGCONT)  # the child may have stopped it

    def _find_subreaper_id(self) -> int | None:
        """Return the id of the subreaper's process; `None` if it was reaped, and may be reused."""
        leader = self._leader
        if leader is None or leader.returncode is not None:
            return None
        return leader.pid

    def _read_orphans(self) -> int:
        if sys.platform == "win32":
            return 0
        with suppress(OSError):  # the subreaper has written nothing
            os.set_blocking(self._own_end, False)
            return int(os.read(self._own_end, 20) or 0)
        return 0


def make_strongest_group() -> ChildGroup:
    """Return the new group of a child whose descendants this system ends most reliably."""
    if subreaper.EXISTS:
        return ReapedGroup()
    return ChildGroup()
