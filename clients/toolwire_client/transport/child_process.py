"""The server's process: spawned in a session of its own, spoken to over pipes, ended with all it started.

Strategy. One thread reads the server's output and one its stderr, whatever we are doing, so that the server
never waits for us; writing waits for nobody either (`outbox.py`). Where that can be helped, the process is not reaped
before it is closed: until then its process group cannot be anybody else's.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

from toolwire_schemas.output import Lines, Output

from ..errors import NotStarted, ServerGone
from .pipe_writer import PipeWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .base import OnData, OnEnd


class ExitWatcher:
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


PATIENCE_SECONDS = 2.0
"""How long a server may take to end by itself, and then by SIGTERM. The official clients wait as long."""

LAST_SECONDS = 1.0
"""How long the end of a process may take after that of its output, before it counts as still running."""

_LOOK_SECONDS = 1.0
"""Where the end of a process cannot be waited for together with its output: how often to look for it."""

_LAST_WORDS_SECONDS = 0.5
_CHUNK = 256 * 1024
_STDERR_KEPT_BYTES = 16 * 1024
_STDERR_KEPT_LINES = 20


class ServerProcess:
    """Leads to the server that *command* starts; see `Transport`.

    *env* is its whole environment. With *show_stderr* what the server writes to its stderr goes to ours too.

    Raises:
        NotStarted: if the command cannot be run.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: dict[str, str],
        cwd: str | os.PathLike[str] | None = None,
        show_stderr: bool = False,
    ) -> None:
        # Closing the writing end wakes the threads, even if a stranger still holds the server's pipes.
        self._stop, self._stop_writer = os.pipe()
        try:
            self._process = _spawn(command, env, cwd)
        except BaseException:
            os.close(self._stop)
            os.close(self._stop_writer)
            raise
        self._exit = ExitWatcher(self._process)
        assert self._process.stdin is not None
        self._writer = PipeWriter(self._process.stdin, self._stop)
        self._show_stderr = show_stderr
        self._stderr = b""
        self._threads: list[threading.Thread] = []
        self._closing = threading.Lock()
        self._is_closed = False
        self._owner = os.getpid()

    @property
    def pid(self) -> int:
        """As `Transport.pid`."""
        return self._process.pid

    def start(self, on_data: OnData, on_end: OnEnd) -> None:
        """As `Transport.start`."""
        self._on_data, self._on_end = on_data, on_end
        self._threads = [
            threading.Thread(target=work, name=f"toolwire-client-{work.__name__.strip('_')}", daemon=True)
            for work in (self._read_stderr, self._read)
        ]
        for thread in self._threads:
            thread.start()

    def send(self, data: bytes) -> None:
        """As `Transport.send`. Nothing is written to a server that has closed its input."""
        self._writer.send(data)

    def stderr_tail(self) -> str:
        """As `Transport.stderr_tail`."""
        lines = self._stderr.decode(errors="replace").splitlines()
        return "\n".join(lines[-_STDERR_KEPT_LINES:])

    def finish_input(self) -> None:
        """End the server's input as soon as everything has been written. Does not wait."""
        self._writer.finish()

    def exit_status(self, wait_seconds: float = 0.0) -> int | None:
        """Return how the process ended; `None` if it has not, also after waiting. It is not reaped before `close`."""
        return self._exit.status(wait_seconds)

    def close(self, patience_seconds: float = PATIENCE_SECONDS) -> None:
        """As `Transport.close`, with everything in the process's group.

        It is asked by the end of its input, then by SIGTERM, then made to by SIGKILL, *patience_seconds* apart.
        """
        with self._closing:
            if self._is_closed or self._owner != os.getpid():  # a fork of ours leaves it to us
                return
            self._is_closed = True
            try:
                if self._process.returncode is None:  # else it was reaped, and its group may be somebody else's by now
                    self._end(patience_seconds)
            finally:
                self._let_go()

    def _end(self, patience_seconds: float) -> None:
        try:
            self._writer.finish()
            if self._exit.status(patience_seconds) is None:
                self._signal(signal.SIGTERM)
                self._exit.status(patience_seconds)
        finally:  # also if we are interrupted while we wait
            self._kill()
            self._process.wait()

    def _let_go(self) -> None:
        os.close(self._stop_writer)
        self._writer.finish()
        self._writer.join()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()
        os.close(self._stop)
        self._exit.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            for data in self._chunks(self._process.stdout.fileno()):
                self._on_data(data)
        finally:
            # A dying server's stderr often comes last, and it is what its death will be explained with.
            status = self._exit.status(LAST_SECONDS)
            if status is not None:
                self._threads[0].join(_LAST_WORDS_SECONDS)
            self._on_end(ServerGone(status, self.stderr_tail()))

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        text_of = codecs.getincrementaldecoder("utf-8")("replace").decode
        lines = Lines(Output(sys.stderr)) if self._show_stderr and sys.stderr is not None else None
        for data in self._chunks(self._process.stderr.fileno()):
            self._stderr = (self._stderr + data)[-_STDERR_KEPT_BYTES:]
            if lines is not None:
                with contextlib.suppress(OSError, ValueError):  # our own may be closed
                    lines.feed(text_of(data))
        if lines is not None:
            with contextlib.suppress(OSError, ValueError):
                lines.end()

    def _chunks(self, source: int) -> Iterator[bytes]:
        """What can be read from *source* until it ends, the process does, or it is to be closed."""
        if not hasattr(select, "poll"):  # Windows cannot wait for two pipes
            while data := os.read(source, _CHUNK):
                yield data
            return
        poll = select.poll()
        for descriptor in (source, self._stop, self._exit.descriptor):
            if descriptor is not None:
                poll.register(descriptor, select.POLLIN)
        patience = None if self._exit.descriptor is not None else _LOOK_SECONDS * 1000
        has_ended = False
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(patience)}
            if self._stop in ready:
                return
            if source in ready:
                if not (data := os.read(source, _CHUNK)):
                    return
                yield data
            elif has_ended:  # and has left nothing to read, though what it started may still hold its output open
                return
            else:
                has_ended = self._exit.status() is not None

    def _signal(self, number: signal.Signals) -> None:
        if os.name == "nt":
            self._process.terminate()
            return
        # The group is gone, or all of it has been handed to somebody else: both are fine.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _kill(self) -> None:
        """End whatever is left of the group: also what a server that ended by itself left behind."""
        if os.name == "nt":
            if self._process.poll() is None:
                tree = ["taskkill", "/F", "/T", "/PID", str(self._process.pid)]
                subprocess.run(tree, capture_output=True, check=False)
            return
        self._signal(signal.SIGKILL)


def _spawn(command: Sequence[str], env: dict[str, str], cwd: str | os.PathLike[str] | None) -> subprocess.Popen[bytes]:
    if not command:
        raise NotStarted("no command was given to start a server with")
    program, *rest = command
    if os.name == "nt":  # `npx` is `npx.cmd` there, which only the shell would find
        import shutil

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
        where = f" in {cwd}" if isinstance(error, OSError) and cwd is not None and error.filename == cwd else ""
        raise NotStarted(f"cannot start {program!r}{where}: {reason}") from error
