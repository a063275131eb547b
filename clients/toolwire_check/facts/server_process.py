"""Drive a real process; the only part of the kit that starts programs and waits.

A thread of `ServerProcess` reads the output and adds it to the conversation, under the lock of the
condition `_changed`; all other methods run in the thread that plays the cases.

Processes that the server leaves running are found by a mark in their environment: they may have
left its process group. Only Linux shows the environment of other processes (`/proc`).
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

from toolwire_client.remote import as_process
from toolwire_client.transport.child_process import ServerProcess
from toolwire_schemas.wire import codec

from ..judging.conversation import CaseConversation, find_answers
from ..judging.costs import CallTimer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from toolwire_client.errors import ServerGone
    from toolwire_schemas.cases import Framing

    from ..judging.costs import TimedCall

_MARK = "TOOLWIRE_CONTRACT"
"""The environment variable that marks all descendants of a server, even outside its process group.
"""

_HAS_PROC = os.path.isdir("/proc/self")
_MAX_COMMAND_CHARS = 200
_LAST_SECONDS = 2.0  # how long a descendant may outlive the server before it counts as orphaned

_SIGKILL = getattr(signal, "SIGKILL", signal.SIGTERM)
"""Windows has only the latter, which ends a process there at once."""

_LOOK_SECONDS = 0.02  # between checks for orphans, whose end sends no signal to this process
_PATIENCE_SECONDS = 0.5


class ServerUnderTest:
    """Starts *command* and exchanges messages with it. Waits end when the server ends or floods its
    output.

    Its calls are added to *calls*.

    Raises:
        NotStarted: if the command cannot be run.
    """

    def __init__(
        self,
        command: Sequence[str],
        framing: Framing = "lines",
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        calls: list[TimedCall] | None = None,
    ) -> None:
        self._timer = CallTimer([] if calls is None else calls)
        self.conversation = CaseConversation(framing, self._timer.note_response)
        self._mark = secrets.token_hex(8)
        self._changed = threading.Condition()
        environment = dict(os.environ if env is None else env)
        environment[_MARK] = self._mark
        process = as_process(command, keeps_all_tools=True)
        self._process = ServerProcess(process, env=environment, cwd=cwd)
        self._process.start(self._on_data, self._on_end)

    def send(self, message: bytes) -> None:
        """Send *message*, in the framing."""
        with self._changed:  # the reading thread notes the responses with the same timer
            self._timer.note_request(message)
        self.write(self.conversation.wrap(message))

    def write(self, data: bytes) -> None:
        """Send *data* as it is."""
        with self._changed:
            self.conversation.record_input(data)
        self._process.send(data)

    def finish_input(self) -> None:
        """End the server's input."""
        with self._changed:
            self.conversation.record_action("its standard input ends")
        self._process.finish_input()

    def signal(self, name: str) -> None:
        """Send the signal of this *name* to the started process only."""
        with self._changed:
            self.conversation.record_action(f"it is sent {name}")
        if self._process.exit_status() is None:
            os.kill(self._process.pid, getattr(signal, name))

    def request(self, message: dict[str, Any], timeout_seconds: float) -> dict[str, Any] | None:
        """Send a request and return its response; `None` if it does not arrive in time."""
        with self._changed:
            start = len(self.conversation.events)
        self.send(codec.encode(message))
        found: list[dict[str, Any]] = []

        def is_answered() -> bool:
            found[:] = find_answers(self.conversation.events[start:], message["id"])
            return bool(found)

        self.wait(is_answered, timeout_seconds)
        return found[0] if found else None

    def wait(self, is_done: Callable[[], bool], timeout_seconds: float) -> bool:
        """Wait until *is_done()*, which is called after each event; return whether it was."""
        deadline = time.monotonic() + timeout_seconds
        with self._changed:
            while not is_done():
                seconds_left = deadline - time.monotonic()
                if seconds_left <= 0 or self.conversation.ended or self.conversation.flood:
                    return False
                self._changed.wait(seconds_left)
            return True

    def exit_status(self, wait_seconds: float = 0.0) -> int | None:
        """Return the exit status; `None` if the process still runs after the wait."""
        status = self._process.exit_status(wait_seconds)
        if status is not None:  # its last output may still be on the way
            self.wait(lambda: self.conversation.ended is not None, _LAST_SECONDS)
        return status

    def find_orphans(self) -> list[str] | None:
        """Return the orphaned descendants of the server, in words; `None` where they cannot be
        found.
        """
        if not _HAS_PROC:
            return None
        orphans = []
        for pid in self._await_end_of_descendants():
            words = _read(pid, "cmdline").replace(b"\0", b" ")
            command = words.decode(errors="replace").strip()
            orphans.append(f"{command[:_MAX_COMMAND_CHARS]} ({pid})")
        return orphans

    def list_descendants(self) -> set[int]:
        """Return the running processes that the server has started; none where they cannot be
        found.
        """
        if not _HAS_PROC:
            return set()
        mark = f"{_MARK}={self._mark}".encode()
        found = set()
        for pid in _list_processes():
            if pid != self._process.pid and mark in _read(pid, "environ").split(b"\0"):
                found.add(pid)
        parents = set(found)
        if self._process.exit_status() is None:  # else another process may have its number
            parents.add(self._process.pid)
        return found | list_children(parents)

    def find_command_with(self, library: str) -> list[str]:
        """Return the command line of the server, or else of a descendant, that has loaded a file
        with *library* in its path; empty if none has, or where that cannot be found.
        """
        if not _HAS_PROC:
            return []
        for pid in (self._process.pid, *sorted(self.list_descendants())):
            if library.encode() in _read(pid, "maps"):
                return _read(pid, "cmdline").decode(errors="replace").split("\0")[:-1]
        return []

    def quote_end_of_stderr(self) -> str:
        """Return the end of the server's stderr as the end of a sentence; empty if it is empty."""
        words = self._process.get_stderr_tail()
        return f"; the end of its stderr: {words}" if words else ""

    def close(self, patience_seconds: float = _PATIENCE_SECONDS) -> None:
        """End the server and all its descendants, killing them if needed."""
        self._process.close(patience_seconds)
        self._await_end_of_descendants(kills=True)

    def _await_end_of_descendants(self, *, kills: bool = False) -> list[int]:
        """Wait until all descendants have ended, and return those that have not."""
        deadline = time.monotonic() + _LAST_SECONDS
        while True:
            running = sorted(self.list_descendants())
            if not running or time.monotonic() >= deadline:
                return running
            if kills:
                kill_all(running)
            time.sleep(_LOOK_SECONDS)

    def _on_data(self, data: bytes) -> None:
        with self._changed:
            self.conversation.record_output(data)
            self._changed.notify_all()

    def _on_end(self, gone: ServerGone) -> None:
        with self._changed:
            self.conversation.record_end(gone.exit_status, gone.stderr)
            self._changed.notify_all()


def kill_all(pids: Iterable[int]) -> None:
    """Kill the processes *pids*, as far as they still run."""
    for pid in pids:
        with contextlib.suppress(OSError):  # it has just ended
            os.kill(pid, _SIGKILL)


def _list_processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def list_children(parents: set[int]) -> set[int]:
    """Return the running children of *parents*, also those whose environment cannot be read: that
    of a process is empty while it starts a program.
    """
    children = set()
    for pid in _list_processes():
        fields = _read(pid, "stat").rpartition(b") ")[2].split()
        if not fields:
            continue
        state, parent = fields[0], int(fields[1])
        if state != b"Z" and parent in parents:
            children.add(pid)
    return children


def _read(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:  # it has just ended, or belongs to another user
        return b""
