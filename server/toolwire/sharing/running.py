"""The shared processes of this user that run now."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    raise ImportError("shared processes need Unix sockets, which Windows lacks")

import json
import os
import select
import signal
import time
from contextlib import suppress
from typing import Any

from .open_place import has_process
from .place import CannotShare, check_private, list_folders
from .starting import open_socket, read_peer

_END_SECONDS = 5.0
"""How long a process may take to end, before it is killed."""

_KILL_SECONDS = 2.0
_LOOK_SECONDS = 0.02
"""How often to look for the end of a process where it cannot be waited for."""

_MAX_ANSWER_BYTES = 1024 * 1024


class RunningProcess:
    """The process *pid* at *path*; *facts* are what it says of itself, empty if it is stuck."""

    def __init__(self, path: str, pid: int, facts: dict[str, Any]) -> None:
        self.path = path
        self.key = os.path.basename(path).removesuffix(".sock")
        self.pid = pid
        self.facts = {**facts, "key": self.key} if facts else {}

    def measure_memory(self) -> int:
        """Return how many bytes no other process shares with it, 0 if that is not known."""
        with suppress(OSError), open(f"/proc/{self.pid}/smaps_rollup") as file:
            fields = [line.split() for line in file if line.startswith("Private_")]
            return sum(int(size) for _, size, _ in fields) * 1024
        return 0

    def stop(self) -> bool:
        """End it, by force if it does not end; return whether it has ended."""
        _ask(self.path, "stop")
        if self._has_ended_within(_END_SECONDS):
            return True
        with suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
        return self._has_ended_within(_KILL_SECONDS)

    def _has_ended_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            if not _is_running(self.pid):
                return True
            if left <= 0:
                return False
            _wait_for_end(self.pid, left)


def find_running() -> list[RunningProcess]:
    """Return all shared processes that accept connections, in the order of their keys."""
    found = []
    for folder in _list_private_folders():
        for name in sorted(os.listdir(folder)):
            if not name.endswith(".sock"):
                continue
            path = os.path.join(folder, name)
            pid, answer = _ask(path, "info")
            facts = _read_facts(answer)
            pid = pid or facts.get("pid", 0)
            if pid:
                found.append(RunningProcess(path, pid, facts))
    return found


def find_log(key: str) -> str | None:
    """Return the path of the log of the process whose key begins with *key*; it may have ended."""
    for folder in _list_private_folders():
        for name in sorted(os.listdir(folder)):
            if name.startswith(key) and name.endswith(".log"):
                return os.path.join(folder, name)
    return None


def _list_private_folders() -> list[str]:
    folders = []
    for folder in list_folders():
        try:
            check_private(folder)
        except (OSError, CannotShare):
            continue
        folders.append(folder)
    return folders


def _ask(path: str, verb: str) -> tuple[int, bytes]:
    """Return the number of the process that listens at *path*, and its answer; 0 for none, and
    where the system does not tell the number.
    """
    stream = open_socket(path)
    if stream is None:
        return 0, b""
    answer = b""
    try:
        pid = read_peer(stream)
    except CannotShare:
        stream.close()
        return 0, b""
    try:
        stream.sendall(verb.encode() + b"\n")
        while len(answer) < _MAX_ANSWER_BYTES:
            piece = stream.recv(4096)
            if not piece:
                break
            answer += piece
    except OSError:  # it is stuck
        answer = b""
    finally:
        stream.close()
    return pid, answer


def _read_facts(answer: bytes) -> dict[str, Any]:
    try:
        facts = json.loads(answer)
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


def _wait_for_end(pid: int, seconds: float) -> None:
    """Return when the process *pid* has ended, or after *seconds*; earlier where the system cannot
    tell.
    """
    if sys.platform != "linux":
        time.sleep(min(_LOOK_SECONDS, seconds))
        return
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:  # it has ended just now
        return
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    try:
        poll.poll(seconds * 1000)
    finally:
        os.close(descriptor)


def _is_running(pid: int) -> bool:
    if sys.platform != "linux":
        return has_process(pid)
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2][:1] not in (b"Z", b"X")
    except OSError:
        return False
