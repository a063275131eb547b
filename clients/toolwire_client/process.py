"""The server's process: spawned in a session of its own, spoken to over pipes, ended with all it started.

Strategy. One thread reads the server's output and one its stderr, whatever we are doing, so that the server
never waits for us; one thread writes, so that a server that does not read cannot hold up whoever asks. The
process is not reaped before it is closed: until then its process group cannot be anybody else's.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

from .environment import server_environment
from .errors import NotStarted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PATIENCE_SECONDS = 2.0
"""How long a server may take to end by itself, and then by SIGTERM. The official clients wait as long."""

_LOOK_SECONDS = 0.05
_CHUNK = 256 * 1024
_STDERR_KEPT_BYTES = 16 * 1024
_STDERR_KEPT_LINES = 20


class ServerProcess:
    """A running server.

    *on_data* gets its output in pieces and *on_end* is called once, when there is no more; both run in the
    reading thread. *env* is the whole environment, `None` the filtered one. With *show_stderr* what the
    server writes to its stderr goes to ours too.

    Raises:
        NotStarted: if the command cannot be run.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: dict[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        show_stderr: bool = False,
        on_data: Callable[[bytes], None],
        on_end: Callable[[], None],
    ) -> None:
        self._process = _spawn(command, server_environment() if env is None else env, cwd)
        self._on_data = on_data
        self._on_end = on_end
        self._show_stderr = show_stderr
        self._stderr = b""
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        # Closing the writing end wakes the readers, even if a stranger still holds the server's output.
        self._stop, self._stop_writer = os.pipe()
        self._threads = [
            threading.Thread(target=work, name=f"toolwire-client-{work.__name__.strip('_')}", daemon=True)
            for work in (self._read_stderr, self._read, self._write)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    def send(self, data: bytes) -> None:
        """Have *data* written. Nothing is written to a server that has closed its input."""
        self._outbox.put(data)

    def exit_status(self, wait_seconds: float = 0.0) -> int | None:
        """How the process ended, as `subprocess` tells it; `None` if it has not, also after waiting."""
        deadline = time.monotonic() + wait_seconds
        pause = 0.001
        while (status := self._ended()) is None and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(pause, left))
            pause = min(2 * pause, 0.02)
        return status

    def stderr_tail(self) -> str:
        """The last lines the server wrote to its stderr."""
        lines = self._stderr.decode(errors="replace").splitlines()
        return "\n".join(lines[-_STDERR_KEPT_LINES:])

    def close(self) -> int:
        """End the server and everything in its group, and return its exit status.

        It is asked by the end of its input, then by SIGTERM, then made to by SIGKILL, two seconds apart.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        self._outbox.put(None)
        # The end of its output is the first sign that it has ended, unless somebody else holds that open.
        while self._reader.is_alive() and self._ended() is None and time.monotonic() < deadline:
            self._reader.join(_LOOK_SECONDS)
        if self.exit_status(deadline - time.monotonic()) is None:
            self._signal(signal.SIGTERM)
            self.exit_status(PATIENCE_SECONDS)
        self._kill()
        status = self._process.wait()
        os.close(self._stop_writer)
        for thread in self._threads:
            thread.join()
        os.close(self._stop)
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()
        return status

    @property
    def _reader(self) -> threading.Thread:
        return self._threads[1]

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            for data in _chunks(self._process.stdout.fileno(), self._stop):
                self._on_data(data)
        finally:
            # A dying server's stderr often comes last, and it is what its death will be explained with.
            if self.exit_status(1.0) is not None:
                self._threads[0].join(0.5)
            self._on_end()

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        for data in _chunks(self._process.stderr.fileno(), self._stop):
            self._stderr = (self._stderr + data)[-_STDERR_KEPT_BYTES:]
            if self._show_stderr:
                with contextlib.suppress(OSError, ValueError):  # our own stderr may be closed
                    sys.stderr.write(data.decode(errors="replace"))
                    sys.stderr.flush()

    def _write(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError), self._process.stdin as stdin:
            while (data := self._outbox.get()) is not None:
                rest = memoryview(data)
                while rest:
                    rest = rest[stdin.write(rest) :]

    def _ended(self) -> int | None:
        """The exit status, if there is one, without reaping the process where that can be had."""
        if self._process.returncode is not None or not hasattr(os, "waitid"):
            return self._process.poll()
        try:
            seen = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # `close` has just reaped it
            return self._process.poll()
        if seen is None:
            return None
        return seen.si_status if seen.si_code == os.CLD_EXITED else -seen.si_status

    def _signal(self, number: signal.Signals) -> None:
        if os.name == "nt":
            self._process.terminate()
            return
        # The group is gone, or all of it has been handed to somebody else: both are fine.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _kill(self) -> None:
        """End whatever is left of the group: also what a server that ended by itself left behind."""
        if os.name == "nt":
            if self._process.poll() is None:
                tree = ["taskkill", "/F", "/T", "/PID", str(self.pid)]
                subprocess.run(tree, capture_output=True, check=False)
            return
        self._signal(signal.SIGKILL)


def _spawn(command: Sequence[str], env: dict[str, str], cwd: str | os.PathLike[str] | None) -> subprocess.Popen[bytes]:
    if not command:
        raise NotStarted("no command was given to start a server with")
    program, *rest = command
    if os.name == "nt":  # `npx` is `npx.cmd` there, which only the shell would find
        program = shutil.which(program, path=env.get("PATH")) or program
    try:
        return subprocess.Popen(
            [program, *rest],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=env,
            cwd=cwd,
            start_new_session=os.name != "nt",
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise NotStarted(f"cannot start {program!r}: {reason}") from error


def _chunks(source: int, stop: int) -> Iterator[bytes]:
    """What can be read from *source* until it ends or *stop* does."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(source, select.POLLIN)
        poll.register(stop, select.POLLIN)
        while all(ready != stop for ready, _ in poll.poll()) and (data := os.read(source, _CHUNK)):
            yield data
    else:  # Windows cannot wait for two pipes
        while data := os.read(source, _CHUNK):
            yield data
