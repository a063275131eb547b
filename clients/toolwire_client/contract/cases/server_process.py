"""A conversation with a real process: the one place of the kit that starts programs and waits."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import codec

from ...transport.child_process import ServerProcess
from .conversation import Conversation, answers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from toolwire_schemas.cases import Framing

    from ...errors import ServerGone

_MARK = "TOOLWIRE_CONTRACT"
"""A variable in the environment of whatever a server starts, also of what leaves its process group."""

_LAST_SECONDS = 2.0
"""How long what a server started may outlive it before it counts as left behind."""

_LOOK_SECONDS = 0.02
"""How often to look whether processes are there that are no children of ours: nothing tells of their end."""

_PATIENCE_SECONDS = 0.5


class ServerUnderTest:
    """Starts *command* and talks to it. Whatever waits gives up when the server ends or floods its output.

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
    ) -> None:
        self.conversation = Conversation(framing)
        self._mark = secrets.token_hex(8)
        self._changed = threading.Condition()
        whole = {**(os.environ if env is None else env), _MARK: self._mark}
        self._process = ServerProcess(command, env=whole, cwd=cwd)
        self._process.start(self._hear, self._end)
        self._settled = 0

    def __enter__(self) -> ServerUnderTest:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, message: bytes) -> None:
        """Send *message*, in the framing."""
        self.write(self.conversation.wrap(message))

    def write(self, data: bytes) -> None:
        """Send *data* as it is."""
        with self._changed:
            self.conversation.say(data)
        self._process.send(data)

    def finish_input(self) -> None:
        """End the server's input."""
        with self._changed:
            self.conversation.do("its standard input ends")
        self._process.finish_input()

    def signal(self, name: str) -> None:
        """Send the process that was started, and it alone, the signal of this *name*."""
        with self._changed:
            self.conversation.do(f"it is sent {name}")
        if self._process.exit_status() is None:
            os.kill(self._process.pid, getattr(signal, name))

    def request(self, message: dict[str, Any], timeout_seconds: float) -> dict[str, Any] | None:
        """Send a request and return its answer; `None` if there is none in time."""
        with self._changed:
            start = len(self.conversation.events)
        self.send(codec.encode(message))
        found: list[dict[str, Any]] = []

        def is_answered() -> bool:
            found[:] = answers(self.conversation.events[start:], message["id"])
            return bool(found)

        self.wait(is_answered, timeout_seconds)
        return found[0] if found else None

    def wait(self, is_done: Callable[[], bool], timeout_seconds: float) -> bool:
        """Wait until *is_done*, which is asked whenever something came; return whether it is."""
        deadline = time.monotonic() + timeout_seconds
        with self._changed:
            while not (done := is_done()):
                left = deadline - time.monotonic()
                if left <= 0 or self.conversation.ended or self.conversation.flooded:
                    return False
                self._changed.wait(left)
            return done

    def exit_status(self, wait_seconds: float = 0.0) -> int | None:
        """Return how the process ended; `None` if it has not, also after waiting."""
        status = self._process.exit_status(wait_seconds)
        if status is not None:  # what it said last is still to be read
            self.wait(lambda: self.conversation.ended is not None, _LAST_SECONDS)
        return status

    def left_behind(self) -> list[str] | None:
        """Return what the server started and left running, in words; `None` where that cannot be told."""
        deadline = time.monotonic() + _LAST_SECONDS
        while (found := _marked(self._mark, self._process.pid)) and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)
        return found

    def last_words(self) -> str:
        """Return what the server wrote to its stderr last, as the end of a sentence; empty if nothing."""
        words = self._process.stderr_tail()
        return f"; the end of its stderr: {words}" if words else ""

    def close(self, patience_seconds: float = _PATIENCE_SECONDS) -> None:
        """End the server, politely at first, and all it started. Nothing of it is left then."""
        self._process.close(patience_seconds)
        deadline = time.monotonic() + _LAST_SECONDS
        while (left := _pids(self._mark)) and time.monotonic() < deadline:
            for process in left:
                _kill(process)
            time.sleep(_LOOK_SECONDS)

    def _hear(self, data: bytes) -> None:
        with self._changed:
            self.conversation.hear(data)
            self._changed.notify_all()

    def _end(self, gone: ServerGone) -> None:
        with self._changed:
            self.conversation.end(gone.exit_status, gone.stderr)
            self._changed.notify_all()


def _marked(mark: str, leader: int) -> list[str] | None:
    if not os.path.isdir("/proc/self"):
        return None
    return [_words(process) for process in _pids(mark) if process != leader]


def _pids(mark: str) -> list[int]:
    """The processes whose environment has the *mark*; the dead, which have none, excepted."""
    wanted = f"{_MARK}={mark}".encode()
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if name.isdigit() and wanted in _of_process(name, "environ").split(b"\0"):
            found.append(int(name))
    return found


def _words(process: int) -> str:
    command = _of_process(str(process), "cmdline").replace(b"\0", b" ").decode(errors="replace").strip()
    return f"{command[:200]} ({process})"


def _of_process(name: str, what: str) -> bytes:
    try:
        with open(f"/proc/{name}/{what}", "rb") as file:
            return file.read()
    except OSError:  # it is gone, or somebody else's
        return b""


def _kill(process: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(process, signal.SIGKILL)
