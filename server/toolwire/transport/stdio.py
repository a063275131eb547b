"""The process around a session: its descriptors, signals and exit.

Theory of operation. The protocol's two descriptors are moved away before any user code runs, and
never put back: tools that print, C libraries that write and child processes that read can neither
corrupt the stream nor steal from it, not even at exit (`claim`).

`serve` starts the reading thread and then only waits for the end, since Python handles signals in
the main thread. The end of the input, a signal or a lost descriptor sets `_End`; the session gets
its grace to send responses; `leave` ends the process without waiting for threads, in which tools
may hang. A timer bounds each of these steps, and the watchdog process kills a process whose
interpreter is stuck. Until the tools are loaded, `_ImportEnd` does the same with less: there is no
session to end yet.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
from toolwire_schemas.threads import start_timer

from .. import log
from .descriptors import duplicate_privately, open_private_pipe, watch_descriptor

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from ..runtime.loading_filter import LoadingFilter
    from ..runtime.session import Read, Session
    from ..runtime.writer import Write
    from ..settings import Settings
    from ..watchdog.watchdog import Watchdog

_CHUNK_BYTES = 8 * 1024
"""Some eighty calls. With the size of a pipe on Linux (64 KiB), a flood of calls was answered a
fifth slower: the host has nothing to do until the first responses."""

_LARGE_CHUNK_BYTES = 256 * 1024
"""For the rest of a message that does not end within a chunk."""

_EXIT_HOOKS_SECONDS = 0.3
"""The time for `atexit` functions: with the grace and the cleaning up, still below a client's two
seconds.
"""

_HANDSHAKE_SECONDS = 1.0
"""How long a handshake waits for an import that decides what it declares: hosts wait for 1.5 s at
least.
"""

_HELD_REQUESTS_SECONDS = 10.0
"""How long requests wait for an import after the end of the input."""

_HEARTBEAT_SECONDS = 0.25

_LAST_SECONDS = 0.5
"""How long the exit may take beyond the grace: tools and responses need less, unless something is
stuck.
"""


class Streams(msgspec.Struct, frozen=True):
    """The descriptors of the protocol, which no child inherits.

    `watched` means that another process ends this one if its interpreter is stuck. With
    `ends_children`, this process leads the session or the process group of all that tools start,
    which ends with it.
    """

    read: int
    write: int
    watched: bool = False
    ends_children: bool = False


class Loading(msgspec.Struct, frozen=True):
    """How a server gets its tools while its client is served already."""

    keep_messages: Callable[[Session], LoadingFilter]
    """Keeps what needs the tools, from now on."""
    load: Callable[[LoadingFilter], None]


class AlreadyClaimed(RuntimeError):
    """The process serves tools already, and has only one standard input and output."""


class NotConnected(RuntimeError):
    """The process was started with standard input or output closed."""


_claimed = False


def claim(*, watched: bool = False, keep_children: bool = False) -> Streams:
    """Reserve standard input and output for the protocol; call it before importing user code.

    Descriptor 0 becomes the null device and descriptor 1 stderr, and SIGTERM, SIGINT or SIGHUP end
    the process at once, with status 0. On Linux, this process leads a session from then on, unless
    it has a terminal, leads a process group already, or is to *keep_children*.

    Raises:
        AlreadyClaimed: if they are reserved already.
        NotConnected: if the process was started without standard input or output.
    """
    global _claimed  # a process has one standard input
    if _claimed:
        raise AlreadyClaimed(
            "this process serves tools already; call serve() once, under `if __name__ =="
            " '__main__':`"
        )
    try:
        os.fstat(0)
        os.fstat(1)
    except OSError:
        raise NotConnected(
            "standard input or standard output is closed; start it with a pipe on both"
        ) from None
    if os.getpid() == 1 and threading.active_count() == 1:
        from toolwire_tools.processes.subreaper import reap_orphans

        reap_orphans()
    try:
        null = os.open(os.devnull, os.O_RDWR)
    except OSError as error:
        raise NotConnected(f"the null device cannot be opened: {error}") from None
    _claimed = True
    if null == 2:  # started without stderr: the protocol must not get that number
        os.set_inheritable(2, True)
        null = os.dup(null)
    ends_children = not watched and not keep_children and _lead_children()
    streams = Streams(duplicate_privately(0), duplicate_privately(1), watched, ends_children)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(streams.read, os.O_BINARY)
        msvcrt.setmode(streams.write, os.O_BINARY)
    else:
        os.set_blocking(streams.read, True)
        os.set_blocking(streams.write, True)
    log.take_over_stderr()
    if hasattr(os, "register_at_fork"):
        # A child that still had our handlers would ignore a signal.
        os.register_at_fork(
            before=_hold_signals,
            after_in_parent=_release_signals,
            after_in_child=lambda: _disconnect(streams),
        )
    _take_signals(lambda number, frame: leave())  # no request is open yet
    return streams


def _lead_children() -> bool:
    """Lead the session, or at least the process group, of all that tools start; return whether this
    process does.

    A child is in both, whatever its environment is and whether its own parent has ended, until it
    leaves them.
    """
    if sys.platform != "linux":
        return False
    if not os.isatty(0):  # with a terminal, a session of its own would not get Ctrl-C
        with suppress(PermissionError):  # it leads a process group already
            os.setsid()
    # A shell with job control starts each pipeline in a group, led by its first process.
    return os.getpgrp() == os.getpid()


def serve(
    begin: Callable[[Write], Session],
    settings: Settings,
    streams: Streams,
    loading: Loading | None = None,
) -> NoReturn:
    """Serve until the host hangs up or a signal arrives, then exit with status 0.

    *begin* makes the session from the function that writes. With *loading*, the process may also
    end before the tools are loaded.
    """
    session = begin(_make_writer(streams.write))
    ended = ProcessEnd()
    if loading is None:
        end_on_signals(ended)  # until then, a signal ends the process at once
    reader = session.reader = Reader(streams.read)
    watchdogs: list[Watchdog] = []  # none, or the one that the first call starts
    session.watch_calls = _watch_calls(session, ended, settings, streams, reader, watchdogs)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _detach(session, watchdogs))
    if os.isatty(streams.read):
        log.info("waiting for JSON-RPC messages, one per line (Ctrl-D exits)")
    if loading is None:
        _start_reading(session, reader.read, ended.come)
    else:
        kept = loading.keep_messages(session)
        import_end = _ImportEnd(kept, ended, settings, streams)
        _start_reading(session, reader.read, import_end.notice_end_of_input)
        too_long = session.timers.after(_HANDSHAKE_SECONDS, kept.answer_late)
        loading.load(kept)
        session.timers.cancel(too_long)
        import_end.finish()
        kept.serve()
    if streams.ends_children and _has_children():
        session.watch_calls()  # which ends them if this process is killed before the first call
    ended.wait()
    for watchdog in watchdogs:
        watchdog.notify_exit()
    # Nothing may keep the process alive, such as a host that does not read stderr either.
    leave_within(settings.grace_seconds + _LAST_SECONDS)
    try:
        session.end()
    except Exception as bug:  # the outer edge of the process
        log.traceback("error during shutdown; please report this", bug)
    leave()


class _ImportEnd:
    """Ends the process while tools are loaded: within the grace after the end of the input, even if
    the interpreter is stuck.
    """

    def __init__(
        self, kept: LoadingFilter, ended: ProcessEnd, settings: Settings, streams: Streams
    ) -> None:
        from ..watchdog.loading_watch import watch_loading

        self._kept = kept
        self._ended = ended
        self._grace_seconds = settings.grace_seconds
        self._is_loaded = threading.Event()
        _take_signals(self._stop)
        self._watch = watch_loading(
            streams.read,
            ended.pipe,
            settings.grace_seconds,
            ends_children=streams.ends_children,
        )

    def notice_end_of_input(self) -> None:
        """End the process when the tools are loaded, or after the grace; in the reading thread."""
        self._ended.come()
        if not self._is_loaded.is_set():
            self._leave_unless_loaded()

    def finish(self) -> None:
        """Let the session end the process from now on."""
        self._is_loaded.set()
        end_on_signals(self._ended)
        if self._watch is not None:
            self._watch.stop()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal: leave at once if no request waits, else within the grace."""
        if self._ended.has_come or not self._kept.has_requests:
            leave()
        self._ended.come()
        start_timer(self._grace_seconds, self._leave_if_loading)

    def _leave_if_loading(self) -> None:
        if not self._is_loaded.is_set():
            leave()

    def _leave_unless_loaded(self) -> None:
        seconds = self._grace_seconds
        if self._kept.has_requests:
            # A shell that pipes requests into a server wants their responses.
            seconds = max(seconds, _HELD_REQUESTS_SECONDS)
        deadline = time.monotonic() + seconds
        while not self._is_loaded.wait(_HEARTBEAT_SECONDS):
            if self._watch is not None:
                self._watch.send_heartbeat()
            if time.monotonic() >= deadline:
                log.warning("the input ended before the tools were imported")
                leave()


def _watch_calls(
    session: Session,
    ended: ProcessEnd,
    settings: Settings,
    streams: Streams,
    reader: Reader,
    watchdogs: list[Watchdog],
) -> Callable[[], None]:
    """Return the function that wakes the watchdog; the first call imports what only calls need."""

    def watch() -> None:
        try:
            if not reader.polls:
                reader.poll(may_poll=session.is_idle)
            if streams.watched:
                session.are_calls_watched = True
                return
            if not watchdogs:
                from ..version import guard_imports
                from ..watchdog.watchdog import Watchdog

                guard_imports()
                watchdog = Watchdog(
                    streams.read,
                    ended.pipe,
                    ended.poll_from_now_on,
                    session,
                    settings.grace_seconds,
                    ends_children=streams.ends_children,
                )
                watchdogs.append(watchdog)
                _last.append(watchdog.stop)
        except (ImportError, OSError) as error:  # without descriptors; the next call tries again
            log.debug(f"the watchdog process could not be started: {error}")
            return
        watchdogs[0].wake()

    return watch


def _has_children() -> bool:
    """Return whether the main thread has started processes: when tools were imported, or in a
    lifespan.
    """
    with suppress(OSError), open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
        return bool(file.read(1))
    return False


def _detach(session: Session, watchdogs: list[Watchdog]) -> None:
    for watchdog in watchdogs:
        watchdog.detach_after_fork()
    session.detach_after_fork(leave_copy)


def _start_reading(session: Session, read: Read, at_end: Callable[[], None]) -> None:
    """Start to read; retry while the system allows no more threads."""
    for _ in range(_ATTEMPTS):
        try:
            session.start_reading(read, at_end)
            return
        except RuntimeError:
            time.sleep(_RETRY_SECONDS)
    log.error(
        "the system does not allow a thread for reading; the limit on processes (ulimit -u) may be"
        " reached"
    )
    os._exit(1)


_ATTEMPTS = 100
_RETRY_SECONDS = 0.02


def leave(status: int = 0) -> NoReturn:
    """End the process now: run exit functions, but wait for no thread, since a tool may hang."""
    if not _leaving.acquire(blocking=False):
        threading.Event().wait()  # another thread ends the process
    leave_within(_EXIT_HOOKS_SECONDS, status)
    atexit._run_exitfuncs()
    _flush()
    for stop in _last:
        stop()
    os._exit(status)


_leaving = threading.Lock()
_last: list[Callable[[], None]] = []
"""Called right before the process ends, after the exit functions, which a watchdog still watches.
"""


def leave_within(seconds: float, status: int = 0) -> None:
    """End the process after *seconds*, whatever it does then."""
    with suppress(RuntimeError):  # the system allows no more threads
        start_timer(seconds, os._exit, status)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        # Closed or replaced by the user's code, or the signal arrived while it was writing.
        except (OSError, ValueError, AttributeError, RuntimeError):
            continue


def _disconnect(streams: Streams) -> None:
    """Take our streams and signal handlers from a process that a tool has forked."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, streams.read, inheritable=False)
    os.dup2(null, streams.write, inheritable=False)
    os.close(null)
    for number, handler in _handled.items():
        signal.signal(number, handler)
    _release_signals()


def _hold_signals() -> None:
    if sys.platform == "win32":  # where no process forks
        return
    _held[threading.get_ident()] = signal.pthread_sigmask(signal.SIG_BLOCK, _handled)


def _release_signals() -> None:
    if sys.platform == "win32":
        return
    signal.pthread_sigmask(signal.SIG_SETMASK, _held.pop(threading.get_ident()))


_held: dict[int, set[int]] = {}
"""The signals that were blocked before, for each thread that is forking."""


def leave_copy(outcome: object) -> None:
    """End a process that a tool has forked and that returns from the tool into our code."""
    code = outcome.code if isinstance(outcome, SystemExit) else isinstance(outcome, BaseException)
    status = code if isinstance(code, int) else int(code is not None)
    leave_within(
        _EXIT_HOOKS_SECONDS, status
    )  # a thread that is not in the copy may have locked the streams
    _flush()
    os._exit(status)


class ProcessEnd:
    """The event that the main thread waits for; signal handlers may set it at any time.

    A signal may be delivered to any thread, or to the main one just before it waits: only the
    wakeup descriptor certainly wakes it. (An `Event` has a lock that a handler may find held, for
    ever.)
    """

    def __init__(self) -> None:
        self.has_come = False
        self.pipe = open_private_pipe()
        self._poll: Callable[[], object] | None = None
        self._polls = threading.Event()
        self._is_unchanged = watch_descriptor(self.pipe[1])
        if sys.platform != "win32":
            os.set_blocking(self.pipe[1], False)
            if threading.current_thread() is threading.main_thread():
                signal.set_wakeup_fd(self.pipe[1], warn_on_full_buffer=False)

    def come(self) -> None:
        """Make the main thread go on."""
        self.has_come = True
        for _ in range(_ATTEMPTS):
            if not self._is_unchanged():  # nothing else wakes the main thread
                log.error("a tool closed or replaced a file descriptor of the server; exiting")
                leave(70)
            try:
                os.write(self.pipe[1], b"\0")
            except BlockingIOError:  # the pipe is full of them
                return
            except OSError:
                time.sleep(_RETRY_SECONDS)
            else:
                return

    def wait(self) -> None:
        """Return when the end has come; for the main thread."""
        while not self.has_come:
            try:
                if sys.platform == "win32":  # where no signal interrupts a read
                    time.sleep(0.1)
                else:
                    if self._poll is not None:
                        self._polls.set()
                        self._poll()
                    if not os.read(self.pipe[0], 1):
                        raise OSError("another file's end")
            except BlockingIOError:  # it became non-blocking, or the watchdog has read it
                continue
            except OSError:
                log.error("a tool closed a file descriptor of the server; exiting")
                return

    def poll_from_now_on(self) -> None:
        """Poll the pipe instead of reading: the watchdog checks whether this process takes the
        bytes out.

        A blocked read would take them out though the interpreter is stuck. Polling costs an import,
        so only from here.
        """
        if sys.platform == "win32":  # which has no watchdog
            return
        import select

        poller = select.poll()
        poller.register(self.pipe[0], select.POLLIN)
        self._poll = poller.poll
        os.set_blocking(self.pipe[0], False)
        if threading.current_thread() is threading.main_thread():
            return  # a call that waited for the import: this thread polls as soon as it waits
        os.write(self.pipe[1], b"\xff")  # which is no signal's number
        self._polls.wait(1)


def _make_blocking(descriptor: int) -> None:
    """Undo what another process that shares the stream, such as a wrapper, may do to it at any
    time.
    """
    if sys.platform != "win32":  # whose pipes stay as they were made
        os.set_blocking(descriptor, True)


class Reader:
    """Reads *descriptor*, after a check that it is unchanged: while the host is busy anyway."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._is_unchanged = watch_descriptor(descriptor)
        self._size = _CHUNK_BYTES
        # Waits for input; `polled_outputs.py` replaces it.
        self.read_next: Read = self.read_some
        self.polls = sys.platform == "win32"  # where pipes cannot be polled
        """Whether `poll` need not be called."""

    def poll(self, may_poll: Callable[[], bool]) -> None:
        """Poll for the next request of a quick host from now on, while *may_poll* is true."""
        from .busy_poll import make_readiness_check, poll_before

        self.read_next, self.polls = (
            poll_before(self.read_some, make_readiness_check(self.descriptor), may_poll),
            True,
        )

    def read(self) -> bytes | list[bytes]:
        """As `Read`; nothing also if the descriptor has changed."""
        if self._is_unchanged():
            return self.read_next()
        log.error(
            f"a tool closed or replaced descriptor {self.descriptor}, which the server reads from;"
            " exiting"
        )
        return b""

    def read_some(self) -> bytes:
        """Wait for input, and return some; nothing at its end."""
        try:
            data = os.read(self.descriptor, self._size)
        except BlockingIOError:
            _make_blocking(self.descriptor)
            return self.read_some()
        except OSError:  # the terminal is gone
            return b""
        self._size = (
            _LARGE_CHUNK_BYTES if len(data) == self._size and b"\n" not in data else _CHUNK_BYTES
        )
        return data


def _make_writer(descriptor: int) -> Write:
    is_unchanged = watch_descriptor(descriptor)

    def write(data: bytes) -> None:
        rest: bytes | memoryview = data
        attempts = 0
        while rest:
            if not is_unchanged():
                log.error(
                    f"a tool closed or replaced descriptor {descriptor}, which the server writes"
                    " to; exiting"
                )
                leave(70)
            try:
                written = os.write(descriptor, rest)
            except BlockingIOError:
                _make_blocking(descriptor)
                continue
            except BrokenPipeError:  # the host has closed its end
                leave()
            except OSError as error:
                attempts += 1
                if attempts == _ATTEMPTS:
                    log.error(f"responses cannot be written: {error}")
                    leave()
                time.sleep(_RETRY_SECONDS)
                continue
            if written == len(rest):
                return
            rest = memoryview(rest)[written:]

    return write


_handled: dict[int, Any] = {}
"""The signals that we handle, with their handlers before."""


def end_on_signals(ended: ProcessEnd) -> None:
    """Let SIGTERM, SIGINT and SIGHUP make *ended* come; the second of them ends the process."""

    def stop(number: int, frame: FrameType | None) -> None:
        if ended.has_come:  # the second signal ends the process at once
            os._exit(0)
        ended.come()

    _take_signals(stop)


def _take_signals(handler: Callable[[int, FrameType | None], None]) -> None:
    if threading.current_thread() is not threading.main_thread():
        return  # Python lets only the main thread handle signals
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            _handled.setdefault(number, signal.signal(number, handler))
