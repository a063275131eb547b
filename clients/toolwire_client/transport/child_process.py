"""The transport to a child process, which runs in its own session and ends with all its
descendants.

Strategy. One thread reads the server's output and one its stderr, so that the server never blocks
on this client; writing never blocks either (`PipeWriter`). Where possible, the process is not
reaped before `close`, since until then its process group id cannot be reused.
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
from typing import IO, TYPE_CHECKING

from toolwire_schemas.output import LineOutput, Output
from toolwire_schemas.threads import start_thread

from ..errors import NotStarted, ServerGone
from ..waiting.base import Waiting
from .shared_reading import SharedReading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .base import OnData, OnEnd
    from .windows_job import WindowsJob

# The variables that the official clients pass on: a server must not see the keys and tokens in our
# environment. `env=` adds those it needs.
_POSIX = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
_WINDOWS = (
    *(
        "APPDATA",
        "COMSPEC",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATH",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
    ),
    *("PROGRAMDATA", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE", "WINDIR"),
)


def make_server_environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables that every server inherits, and those of *env*."""
    names = _WINDOWS if sys.platform == "win32" else _POSIX
    made = {}
    for name in names:
        value = os.environ.get(name)
        # A value that begins with "()" is an exported shell function.
        if value is not None and not value.startswith("()"):
            made[name] = value
    return {**made, **(env or {})}


PATIENCE_SECONDS = 2.0
"""How long a server may take to end by itself, and again after SIGTERM; as in the official clients.
"""

LAST_SECONDS = 1.0
"""How long a process may outlive its output before it counts as still running."""

_LOOK_SECONDS = 1.0
"""How often to check for the end of the process where it cannot be polled together with its output.
"""

_LAST_WORDS_SECONDS = 0.5
_PAUSE_SECONDS = 0.01
"""Between checks for the end of the process where it cannot be polled."""

_CHUNK = 64 * 1024
"""As much as a pipe holds. Memory for more comes from the system each time, which takes longer than
a small read.
"""

_STDERR_KEPT_BYTES = 16 * 1024
_STDERR_KEPT_LINES = 20


class ServerProcess:
    """The transport to the server that *command* starts; see `Transport`.

    *env* is its whole environment, `None` for ours. *show_stderr* copies the server's stderr to
    ours, or to that output; without *keep_stderr* it has ours, and `get_stderr_tail` nothing. It
    inherits *descriptors*, too.

    Raises:
        NotStarted: if the command cannot be run.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: dict[str, str] | None,
        cwd: str | os.PathLike[str] | None = None,
        show_stderr: bool | Output = False,
        keep_stderr: bool = True,
        descriptors: Sequence[int] = (),
    ) -> None:
        # Closing the writing end wakes the threads, even if another process still holds the
        # server's pipes.
        self._stop, self._stop_writer = os.pipe()
        try:
            self._process = spawn(
                command, env, cwd, subprocess.PIPE if keep_stderr else None, descriptors
            )
        except BaseException:
            os.close(self._stop)
            os.close(self._stop_writer)
            raise
        self._pidfd = _open_pidfd(self._process.pid)
        self._job = _open_job(self._process)
        assert self._process.stdin is not None
        self._writer = PipeWriter(self._process.stdin, self._stop)
        self._show_stderr = show_stderr
        self._stderr = b""
        self._threads: list[threading.Thread] = []
        self._closing = threading.Lock()
        self._is_closed = False
        self._owner = os.getpid()
        self._reading: SharedReading | None = None

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def waiting(self) -> Waiting:
        """The quickest way to wait for responses in blocking code."""
        return self._reading or Waiting()

    def start(self, on_data: OnData, on_end: OnEnd) -> None:
        self._on_data, self._on_end = on_data, on_end
        assert self._process.stdout is not None
        if sys.platform != "win32" and hasattr(select, "poll"):  # Windows cannot wait for two pipes
            source, has_ended = (
                self._process.stdout.fileno(),
                lambda: self.exit_status() is not None,
            )
            self._reading = SharedReading(source, self._stop, self._pidfd, has_ended, on_data)
        works = [self._read] if self._process.stderr is None else [self._read_stderr, self._read]
        for work in works:
            name = f"toolwire-client-{work.__name__.strip('_')}"
            self._threads.append(start_thread(work, name))

    def send(self, data: bytes, *, more_follows: bool = False) -> None:
        self._writer.send(data, more_follows=more_follows)

    def flush(self) -> None:
        self._writer.flush()

    @property
    def is_full(self) -> bool:
        """Whether the server leaves so much unread that no request may be sent."""
        return self._writer.is_full

    @property
    def has_lost_input(self) -> bool:
        """Whether some of what was sent has not reached the server's input, since that was
        closed.
        """
        return self._writer.has_dropped

    def get_stderr_tail(self) -> str:
        lines = self._stderr.decode(errors="replace").splitlines()
        return "\n".join(lines[-_STDERR_KEPT_LINES:])

    def finish_input(self) -> None:
        """Close the server's input after all sent data. Does not block."""
        self._writer.finish()

    def exit_status(self, wait_seconds: float = 0.0) -> int | None:
        """Return the exit status; `None` if the process still runs after the wait. It is not reaped
        before `close`.
        """
        deadline = time.monotonic() + wait_seconds
        while (status := self._read_status()) is None and (left := deadline - time.monotonic()) > 0:
            if sys.platform == "win32" or self._pidfd is None:
                time.sleep(min(_PAUSE_SECONDS, left))
            else:
                poll = select.poll()
                poll.register(self._pidfd, select.POLLIN)
                poll.poll(left * 1000)
        return status

    def _read_status(self) -> int | None:
        if sys.platform == "linux" and hasattr(os, "waitid") and self._process.returncode is None:
            with contextlib.suppress(ChildProcessError):  # a handler of SIGCHLD has reaped it
                seen = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if seen is None:
                    return None
                return seen.si_status if seen.si_code == os.CLD_EXITED else -seen.si_status
        return self._process.poll()

    def close(self, patience_seconds: float = PATIENCE_SECONDS) -> None:
        """End the process group: close the input, then SIGTERM, then SIGKILL, *patience_seconds*
        apart.
        """
        with self._closing:
            if (
                self._is_closed or self._owner != os.getpid()
            ):  # a forked child leaves it to its parent
                return
            self._is_closed = True
            try:
                if (
                    self._process.returncode is None
                ):  # else it was reaped, and its group id may be reused
                    self._end(patience_seconds)
            finally:
                self._let_go()

    def _end(self, patience_seconds: float) -> None:
        try:
            self._writer.finish()
            if self.exit_status(patience_seconds) is None:
                self._send_signal(signal.SIGTERM)
                self.exit_status(patience_seconds)
        finally:  # also if the wait is interrupted
            self._kill()
            self._reap()

    def _reap(self) -> None:
        self._process.wait()

    def _let_go(self) -> None:
        os.close(self._stop_writer)
        self._writer.finish()
        self._writer.join()
        for thread in self._threads:
            if thread.ident is not None and thread is not threading.current_thread():
                thread.join()
        if self._reading is not None:
            self._reading.close()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        for descriptor in (self._stop, self._pidfd):
            if descriptor is not None:
                os.close(descriptor)

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            if self._reading is not None:
                self._reading.run()
                return
            for data in self._read_chunks(self._process.stdout.fileno()):
                self._on_data(data)
        finally:
            # A dying server often writes its stderr last, and the error quotes it.
            status = self.exit_status(LAST_SECONDS)
            if status is not None and self._process.stderr is not None:
                self._threads[0].join(_LAST_WORDS_SECONDS)
            self._on_end(ServerGone(status, self.get_stderr_tail(), has_read=self._writer.is_read))

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        text_of = codecs.getincrementaldecoder("utf-8")("replace").decode
        shown = self._show_stderr
        if shown is True:
            shown = sys.stderr is not None and Output(sys.stderr)
        lines = LineOutput(shown) if shown else None
        for data in self._read_chunks(self._process.stderr.fileno()):
            self._stderr = (self._stderr + data)[-_STDERR_KEPT_BYTES:]
            if lines is not None:
                with contextlib.suppress(OSError, ValueError):  # our stderr may be closed
                    lines.feed(text_of(data))
        if lines is not None:
            with contextlib.suppress(OSError, ValueError):
                lines.end()

    def _read_chunks(self, source: int) -> Iterator[bytes]:
        """Yield chunks of *source* until it ends, the process ends, or `close` is called."""
        if sys.platform == "win32" or not hasattr(
            select, "poll"
        ):  # Windows cannot wait for two pipes
            while data := os.read(source, _CHUNK):
                yield data
            return
        poll = select.poll()
        for descriptor in (source, self._stop, self._pidfd):
            if descriptor is not None:
                poll.register(descriptor, select.POLLIN)
        patience = None if self._pidfd is not None else _LOOK_SECONDS * 1000
        has_ended = False
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(patience)}
            if source in ready:
                if data := os.read(source, _CHUNK):
                    yield data
                if (
                    not data or self._stop in ready
                ):  # what the process wrote just before its end fits into one chunk
                    return
            elif (
                has_ended or self._stop in ready
            ):  # no output is left, though a descendant may still hold the pipe
                return
            else:
                has_ended = self.exit_status() is not None

    def _send_signal(self, number: signal.Signals) -> None:
        if sys.platform == "win32":
            self._process.terminate()
            return
        # The group is gone, or belongs to another user: both are fine.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _kill(self) -> None:
        """Kill the rest of the group, including descendants of a server that ended by itself."""
        if sys.platform != "win32":
            self._send_signal(signal.SIGKILL)
        elif self._job is not None:
            self._job.close()
        else:
            self._process.kill()


def _open_job(process: subprocess.Popen[bytes]) -> WindowsJob | None:
    """Return the job by which *process* and its descendants are killed; `None` where the system has
    none.
    """
    if sys.platform != "win32":
        return None
    from .windows_job import WindowsJob

    try:
        handle: int = vars(process)[
            "_handle"
        ]  # of `Popen` on Windows, which has no public name for it
        return WindowsJob(handle)
    except OSError:  # a job of an old system that holds this process and allows no other
        return None


def _open_pidfd(process: int) -> int | None:
    """Return a descriptor that becomes readable when *process* ends; `None` where the system has
    none.
    """
    if sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(process)
    except (AttributeError, OSError):  # an old system
        return None


_WRITE_CHUNK = 64 * 1024

MAX_UNREAD_BYTES = 64 * 1024 * 1024
"""How much may wait for a server that does not read its input, before requests are refused; as much
as one message. At twice as much, everything is dropped.
"""


class PipeWriter:
    """Writes to *sink*: at once what the pipe has room for, the rest from a thread.

    The thread drops the rest when the other end of *stop*, the reading end of a pipe, is closed.
    """

    def __init__(self, sink: IO[bytes], stop: int) -> None:
        self._sink = sink
        self._stop = stop
        self._changed = threading.Condition()
        self._held = bytearray()
        """Data that is sent with more, or by `flush`."""
        self._rest = bytearray()
        """Data that the pipe had no room for; the thread writes it."""
        self._max_unread_bytes = MAX_UNREAD_BYTES
        self._finished = self._is_used = False
        self.has_dropped = False
        """Whether data was dropped."""
        self._thread: threading.Thread | None = None
        # Windows can neither write without blocking nor poll pipes.
        self._is_nonblocking = hasattr(select, "poll")
        if sys.platform != "win32" and self._is_nonblocking:
            os.set_blocking(sink.fileno(), False)

    @property
    def is_read(self) -> bool:
        """Whether something was sent, and the other end has read it all, as far as the system says
        that.
        """
        return self._is_used and not (self._is_unread() or self.has_dropped)

    @property
    def is_full(self) -> bool:
        """Whether so much is unread that nothing should be added."""
        return len(self._rest) > self._max_unread_bytes

    def _is_unread(self) -> bool:
        if sys.platform == "win32":
            return False
        import fcntl
        import termios

        with self._changed:
            try:
                return any(fcntl.ioctl(self._sink.fileno(), termios.FIONREAD, bytes(4)))
            except (OSError, ValueError):  # the sink is closed
                return False

    def send(self, data: bytes, *, more_follows: bool = False) -> None:
        """Write *data*, or drop it if the other end is closed, or reads far too little."""
        with self._changed:
            if self._finished:
                return
            if len(self._rest) > 2 * self._max_unread_bytes:
                self.has_dropped = True
                return
            self._is_used = True
            self._held += data
            if not more_follows or len(self._held) >= _WRITE_CHUNK:
                self._write_held()

    def flush(self) -> None:
        """Write the data that was to be followed by more."""
        with self._changed:
            if self._held and not self._finished:
                self._write_held()

    def _write_held(self) -> None:
        data, self._held = bytes(self._held), bytearray()
        if not self._rest:
            data = self._write_at_once(data)
            if not data:
                return
        self._rest += data
        if self._thread is None:
            self._thread = start_thread(self._work, "toolwire-client-write")
        self._changed.notify()

    def finish(self) -> None:
        """Close the pipe after all sent data. Does not block."""
        with self._changed:
            if self._held and not self._finished:
                self._write_held()
            if not self._finished and self._thread is None:
                self._close()
            self._finished = True
            self._changed.notify()

    def join(self) -> None:
        """Wait for the end of the thread, after `finish` and *stop*."""
        if self._thread is not None:
            self._thread.join()

    def _write_at_once(self, data: bytes) -> bytes:
        """Write as much of *data* as the pipe has room for; return the rest."""
        if not self._is_nonblocking:
            return data
        try:
            return data[os.write(self._sink.fileno(), data) :]
        except BlockingIOError:
            return data
        except OSError:  # the pipe is closed: waiting requests fail by the end of the process
            self.has_dropped = True
            return b""

    def _work(self) -> None:
        try:
            while data := self._wait_for_next():
                self._wait()
                with contextlib.suppress(BlockingIOError):
                    written = os.write(self._sink.fileno(), data)
                    with self._changed:
                        del self._rest[:written]
        except OSError:
            self.has_dropped = True
        with self._changed:
            self._finished = True
        self._close()

    def _wait_for_next(self) -> bytes:
        with self._changed:
            self._changed.wait_for(lambda: self._rest or self._finished)
            return bytes(self._rest[:_WRITE_CHUNK])

    def _wait(self) -> None:
        if sys.platform != "win32" and self._is_nonblocking:
            poll = select.poll()
            poll.register(self._sink.fileno(), select.POLLOUT)
            poll.register(self._stop, select.POLLIN)
            if any(ready == self._stop for ready, _ in poll.poll()):
                raise BrokenPipeError

    def _close(self) -> None:
        with contextlib.suppress(OSError):
            self._sink.close()


def spawn(
    command: Sequence[str],
    env: dict[str, str] | None,
    cwd: str | os.PathLike[str] | None = None,
    stderr: int | None = None,
    descriptors: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Return the process of *command*, in a session of its own, with pipes to it and from it.

    *stderr* is that of `Popen`.

    Raises:
        NotStarted: if the command cannot be run.
    """
    if not command:
        raise NotStarted("the command of the server is empty")
    program, *rest = command
    if sys.platform == "win32":  # `npx` is `npx.cmd` there, which only a shell finds
        import shutil

        program = shutil.which(program, path=None if env is None else env.get("PATH")) or program
    try:
        return subprocess.Popen(
            [program, *rest],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            env=env,
            cwd=cwd,
            pass_fds=descriptors,
            start_new_session=sys.platform != "win32",
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
    except OSError as error:
        where = ""
        if cwd is not None and error.filename == cwd:
            where = f" in {cwd}"
        raise NotStarted(f"cannot start {program!r}{where}: {error.strerror}") from error
    except ValueError as error:
        raise NotStarted(f"cannot start {program!r}: {error}") from error
