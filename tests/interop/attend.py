"""Runs a server in a client's place of it and writes down how that went.

    python attend.py REPORT COMMAND…

appends a line of JSON with the number of this process to the file REPORT, and another once COMMAND
has ended: its exit status (negative for a signal), the signals that the client sent, how many
processes it left behind, and the names in its environment. The streams are COMMAND's own: nothing
is read or written here.
"""

from __future__ import annotations

import os
import sys

with open(
    sys.argv[1], "a", encoding="utf-8"
) as start:  # before anything that takes time: the client may send a signal
    start.write(f'{{"process": {os.getpid()}}}\n')

import ctypes
import json
import signal
import time

PR_SET_CHILD_SUBREAPER = 36


def main(report: str, command: list[str]) -> int:
    """Run *command*, append what happened to *report* and return the exit status for this
    process.
    """
    # Whatever the server leaves behind becomes our child instead of the init process's.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    received: list[str] = []
    server = 0

    def forward(number: int, _frame: object) -> None:
        received.append(signal.Signals(number).name)
        if server:
            os.kill(server, number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, forward)
    server = os.posix_spawnp(command[0], command, os.environ)
    # The client's end of the pipes must see the server's exit, not ours.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    _, how = os.waitpid(server, 0)
    status = os.waitstatus_to_exitcode(how)
    seen = {
        "process": os.getpid(),
        "status": status,
        "signals": received,
        "left_behind": _left_behind(),
        "environment": sorted(os.environ),
    }
    with open(report, "a", encoding="utf-8") as file:
        file.write(json.dumps(seen) + "\n")
    return status if status >= 0 else 128 - status


ENDING_SECONDS = 5
"""How long a process that sees the server's end may take to end itself: on a busy machine it gets
no processor for a while."""


def _left_behind() -> int:
    """How many processes have outlived the server; each is killed."""
    own = os.getpid()
    count = 0
    patient_until = time.monotonic() + ENDING_SECONDS
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return count
        if pid:
            continue  # Had ended by itself.
        if time.monotonic() < patient_until:
            time.sleep(0.01)
            continue
        for name in os.listdir("/proc"):
            if name.isdigit() and _parent_of(int(name)) == own:
                os.kill(int(name), signal.SIGKILL)
                os.waitpid(int(name), 0)
                count += 1


def _parent_of(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
