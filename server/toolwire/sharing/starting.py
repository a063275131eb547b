"""Connects to the shared process of a place, which the first session starts.

Strategy. The holder of the lock of the place may start the process, and gives the lock back when
the process listens; the system does so if the holder is killed. So two sessions that start at once
get one process, and a socket that nothing listens on is replaced.
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    raise ImportError("shared processes need Unix sockets, which Windows lacks")

import _socket
import fcntl
import os
import select
from _socket import SOCK_STREAM, SOL_SOCKET, socket

from .place import CannotShare, make_environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .place import Place

_PATIENCE_SECONDS = 5.0
"""How long a process may take to greet, before and after the lock: one that is stuck gets no new
sessions.
"""

_START_SECONDS = 60.0
"""How long a process may take until it listens, on a machine that is busy."""

_ATTEMPTS = 5
"""How often to connect: a process may end, or refuse new sessions, just after it was found."""

_MAX_LINE_BYTES = 1024
_REPORT = 3
"""The descriptor through which a new process reports that it listens, or why it does not."""


class ProcessNotStarted(Exception):
    """The shared process ended before it listened; the text is its reason."""


class SessionRefused(Exception):
    """The shared process takes no further session; the text says why."""


class NotShared(Exception):
    """The tools must not be shared; the text says so."""


class SharedConnection:
    """A session with a shared process, which gives calls *grace_seconds* after its end.

    While *alive* is open, the watchdog of the process knows that there is a session.
    """

    note = ""
    """A sentence about it for the user; mostly empty."""

    def __init__(self, stream: socket, alive: int, grace_seconds: float) -> None:
        self.socket = stream
        self.grace_seconds = grace_seconds
        self._alive = alive

    def close(self) -> None:
        """End the session."""
        self.socket.close()
        os.close(self._alive)


def connect(place: Place, words: Sequence[str]) -> SharedConnection:
    """Return a session with the shared process of *place*, which the first one starts with
    *words*. If the tools must not be shared, it is a process for this session.

    Raises:
        CannotShare: if another user listens there, or the process comes and goes.
        ProcessNotStarted: if it cannot be started.
        SessionRefused: if it has as many sessions as it may have.
        OSError: if the folder cannot be used.
    """
    try:
        return _connect(place, words, is_alone=False)
    except NotShared as reason:
        connection = _connect(place.make_private(os.getpid()), words, is_alone=True)
        connection.note = str(reason)
        return connection


def _connect(place: Place, words: Sequence[str], *, is_alone: bool) -> SharedConnection:
    for _ in range(_ATTEMPTS):
        connection = _connect_to_running(place)
        if connection is not None:
            return connection
        lock = os.open(place.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            connection = _connect_to_running(place)
            if connection is not None:
                return connection
            _start(place, words, is_alone)
        finally:
            os.close(lock)
    raise CannotShare("the shared process ends again and again before it takes a session")


def read_peer(stream: socket) -> int:
    """Return the number of the process at the other end.

    Raises:
        CannotShare: if it belongs to another user.
    """
    if sys.platform != "linux":  # the folder alone keeps others out
        return 0
    credentials = memoryview(stream.getsockopt(SOL_SOCKET, _socket.SO_PEERCRED, 12)).cast("i")
    pid, user = credentials[0], credentials[1]
    if user != os.geteuid():
        raise CannotShare(f"the socket belongs to a process of another user ({user})")
    return pid


def open_socket(path: str) -> socket | None:
    """Return a connection to *path*; `None` if nothing listens there, or it is stuck."""
    stream = socket(_socket.AF_UNIX, SOCK_STREAM)
    stream.settimeout(_PATIENCE_SECONDS)
    try:
        stream.connect(path)
    except OSError:
        stream.close()
        return None
    return stream


def read_line(stream: socket) -> bytes:
    """Return the next line of *stream* without its end, or what there is of it."""
    line = b""
    while len(line) < _MAX_LINE_BYTES:
        byte = stream.recv(1)  # what follows the line belongs to the session
        if byte in (b"", b"\n"):
            break
        line += byte
    return line


def _connect_to_running(place: Place) -> SharedConnection | None:
    """Return a session with the process that listens at *place*, if there is one that takes it."""
    place.stuck_pid = 0
    try:
        alive = _open_alive(place)
    except OSError:
        return None
    stream = open_socket(place.socket)
    try:
        if stream is not None:
            grace_seconds = _greet(stream, os.fstat(alive).st_ino)
            if grace_seconds is not None:
                connection = SharedConnection(stream, alive, grace_seconds)
                connection.note = place.note
                stream, alive = None, -1
                return connection
    except TimeoutError:
        place.note = "the shared process does not answer, so new sessions have another one"
        assert stream is not None
        place.stuck_pid = read_peer(stream)
    finally:
        if stream is not None:
            stream.close()
        if alive >= 0:
            os.close(alive)
    return None


def _open_alive(place: Place) -> int:
    # for both, since opening it for writing alone waits for a reader
    return os.open(place.alive, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW)


def _greet(stream: socket, alive: int) -> float | None:
    """Begin a session, for which the pipe with the file number *alive* is held open.

    Returns the grace of the process; `None` if it takes no session.

    Raises:
        TimeoutError: if it is stuck.
    """
    read_peer(stream)
    try:
        stream.sendall(b"serve %d\n" % alive)
        status, _, text = read_line(stream).decode().partition(" ")
        if status == "wait":  # its tools are being loaded
            stream.settimeout(None)
            status, _, text = read_line(stream).decode().partition(" ")
    except TimeoutError:
        raise
    except (OSError, ValueError):  # it has just ended
        return None
    if status == "ok":
        stream.settimeout(None)
        return float(text)
    if status == "full":
        raise SessionRefused(text)
    if status == "alone":
        raise NotShared(text)
    if status == "failed":
        raise ProcessNotStarted(text)
    return None  # its files have changed, or they are not those of this place any more


def _start(place: Place, words: Sequence[str], is_alone: bool) -> None:
    """Start the process of *place*, and return when it listens."""
    if place.stuck_pid:
        _move_stuck(place)
    for stale in (place.socket, place.alive):
        try:
            os.unlink(stale)
        except FileNotFoundError:
            continue
    os.mkfifo(place.alive, 0o600)
    alive = _open_alive(place)  # until there is a session, which holds its own
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    log = os.open(place.log, flags, 0o600)
    report, theirs = os.pipe()
    mode = "alone" if is_alone else "many"
    command = [sys.executable, "-m", "toolwire", "share", "run", place.socket, mode, "--", *words]
    environment = make_environment(words, os.environb)
    environment[b"PWD"] = os.getcwdb()
    try:
        os.posix_spawn(
            sys.executable,
            command,
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, theirs, _REPORT),
                (os.POSIX_SPAWN_DUP2, log, 1),
                (os.POSIX_SPAWN_DUP2, log, 2),
            ],
            setsid=True,  # since hosts kill the process group of a session
        )
        os.close(theirs)
        theirs = -1
        _wait_for_report(report)
    finally:
        for descriptor in (alive, log, report, theirs):
            if descriptor >= 0:
                os.close(descriptor)


def _move_stuck(place: Place) -> None:
    """Leave the place of a process that is stuck to another one; `toolwire share` finds both."""
    try:
        os.rename(place.socket, place.make_private(place.stuck_pid).socket)
    except FileNotFoundError:  # it has ended just now
        return


def _wait_for_report(report: int) -> None:
    poll = select.poll()
    poll.register(report, select.POLLIN)
    text = b""
    while poll.poll(_START_SECONDS * 1000):
        piece = os.read(report, 4096)
        text += piece
        if text == b"listening\n":
            return
        if not piece:
            raise ProcessNotStarted(
                text.decode("utf-8", "replace").strip() or "the process has ended"
            )
    raise ProcessNotStarted(f"the process did not listen within {_START_SECONDS:g} seconds")
