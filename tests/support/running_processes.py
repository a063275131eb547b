"""Processes that others have started: which still run, and whether they end with their owner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from support.server_process import PATIENCE_SECONDS, wait_until

NOTE_PID = "sh -c 'echo $$ > $0.new; mv $0.new $0; exec sleep 600' {path}"
"""A command of a shell that sleeps and writes its number to *path*."""


class _State(NamedTuple):
    letter: str
    parent: int
    group: int


def _state_of(pid: int) -> _State:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):  # it may end between the two
        return _State("X", 0, 0)
    letter, parent, group, *_ = fields
    return _State(letter, int(parent), int(group))


def is_running(pid: int) -> bool:
    """Whether *pid* is a process that runs; one that is not reaped yet does not."""
    return _state_of(pid).letter not in "ZX"


def read_pid(path: Path) -> int:
    """Return the number of the process that has written it to *path*."""
    return int(path.read_text())


def running_in_group(group: int) -> list[int]:
    """The processes of a group that run."""
    return [pid for pid in _all_pids() if _state_of(pid).group == group and is_running(pid)]


def parent_of(pid: int) -> int:
    """The process that has started *pid*, or has inherited it."""
    return _state_of(pid).parent


def own_children() -> set[int]:
    """The children of this process, those that have ended and are not reaped included."""
    return {pid for pid in _all_pids() if parent_of(pid) == os.getpid()}


def _all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


OWNER = """
import os, sys, time
{start}
if sys.argv[2] == "forked" and os.fork() == 0:
    time.sleep(600)
print("ready", flush=True)
sys.stdin.read()
"""


def check_end_with_owner(path: Path, start: str, script: str, *, copies: str, end: str) -> None:
    """Check that *script*, which notes a process in *path*, ends with the process that started it.

    *start* is Python code that runs `sys.argv[1]`. With *copies* "forked", the owner leaves a copy
    of itself that goes on. It is killed or exits, as *end* says.
    """
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER.format(start=start), script, copies],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert owner.stdin is not None
    assert owner.stdout is not None
    try:
        assert owner.stdout.readline() == b"ready\n"
        wait_until(path.exists)
        noted = read_pid(path)
        assert is_running(noted)

        if end == "killed":
            owner.kill()
        else:
            owner.stdin.close()
        owner.wait(PATIENCE_SECONDS)

        wait_until(lambda: not is_running(noted))
    finally:
        if copies == "forked":
            os.killpg(owner.pid, signal.SIGKILL)
        else:
            owner.kill()
        owner.wait()
        for stream in (owner.stdin, owner.stdout):
            stream.close()
