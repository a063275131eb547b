"""When and how a child process ends, without reaping it: its group stays its own for as long as it is a zombie."""

from __future__ import annotations

import os
import select
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess


class ExitWatch:
    """Watches *process*. `descriptor` becomes readable when it ends; `None` where there is no such thing."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        try:
            self.descriptor: int | None = os.pidfd_open(process.pid)
        except (AttributeError, OSError):  # it is Linux's
            self.descriptor = None

    def status(self, wait_seconds: float = 0.0) -> int | None:
        """Return how the process ended, as `subprocess` tells it; `None` if it has not, also after waiting."""
        deadline = time.monotonic() + wait_seconds
        pause = 0.001
        while (status := self._status()) is None and (left := deadline - time.monotonic()) > 0:
            if self.descriptor is not None:
                poll = select.poll()
                poll.register(self.descriptor, select.POLLIN)
                poll.poll(left * 1000)
            else:
                time.sleep(min(pause, left))
                pause = min(2 * pause, 0.02)
        return status

    def close(self) -> None:
        """Let go of the descriptor."""
        if self.descriptor is not None:
            os.close(self.descriptor)

    def _status(self) -> int | None:
        if self._process.returncode is not None or not hasattr(os, "waitid"):
            return self._process.poll()
        try:
            seen = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # reaped by now, by us or by a handler of SIGCHLD
            return self._process.poll()
        if seen is None:
            return None
        return seen.si_status if seen.si_code == os.CLD_EXITED else -seen.si_status
