"""Ends and reports a server whose interpreter is stuck, from another process. Imported for the
first call.

Strategy. A tool may hold the interpreter's lock for ever, inside C code such as a regular
expression. Then no thread of this process runs Python code: none reads the end of input, handles a
signal or runs a timer. (`faulthandler.dump_traceback_later` has a thread in C, but knows only time:
it would also end a server whose host waits for a long computation.) So a small process,
`watchdog_process.py`, watches from outside: whether the host has hung up (by polling a duplicate of
standard input), which signals have arrived (Python's C code writes their numbers to the pipe of
`signal.set_wakeup_fd`, and the main thread takes them out only when it has the lock), and whether
Python code runs (a heartbeat each quarter of a second, while calls run). When the exit is due and
this process does not get to it, the watchdog kills it. While the host is connected, it only
reports, with the names of the running tools.

The same process ends what tools have started and left running, after this process has ended in any
way, SIGKILL included: everything in the session that this process leads (`stdio.claim`), unless its
settings keep children.

It costs nothing before the first call in this process, then a posix_spawn and some 3 MB in the
other process, and one write to shared memory a call.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from .. import log
from ..transport.descriptors import move_high, open_private_pipe, watch_descriptor
from .board import NAME_BYTES, SLOTS, Board
from .loading_watch import make_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..runtime.session import Session

_HEARTBEAT_SECONDS = 0.25
"""A fraction of the time that the exit may take without a heartbeat."""

_STUCK_SECONDS = 5.0
"""After how long without a heartbeat to report. Some libraries hold the lock for a second."""

_LOWEST_DESCRIPTOR = 7
"""Below are the fixed descriptors of the watchdog process."""


class Watchdog:
    """Starts the watchdog process, after *prepare*, and sends it heartbeats until *session* is
    idle.

    *host* is the descriptor that the server reads, *wakeup* the two ends of the pipe that signals
    write to. With *ends_children*, the watchdog process ends what is left of the session that this
    process leads, after its end.
    """

    def __init__(
        self,
        host: int,
        wakeup: tuple[int, int],
        prepare: Callable[[], None],
        session: Session,
        grace_seconds: float,
        *,
        ends_children: bool,
    ) -> None:
        self._host = host
        self._wakeup = wakeup
        self._prepare = prepare
        self._session = session
        self._grace_seconds = grace_seconds
        self._ends_children = ends_children
        self._pipe = -1
        self._process = 0
        self._is_unchanged: Callable[[], object] = bool
        self._started = False

    def wake(self) -> None:
        """Watch the call that is about to run."""
        self._session.are_calls_watched = True
        if not self._started:
            self._started = True
            try:
                self._start()
            except (OSError, AttributeError, ImportError, NotImplementedError) as error:
                log.debug(f"the watchdog process could not be started: {error}")
        if self._pipe >= 0:
            self._send(b".")
            self._beat_later()

    def notify_exit(self) -> None:
        """Report that this process exits by itself from now on."""
        self._send(b"e")

    def stop(self) -> None:
        """Kill the watchdog process and reap it, so that this process leaves none behind.

        If tools have left processes behind, it stays, and ends them first.
        """
        process, self._process = self._process, 0
        if sys.platform != "win32" and process:
            if self._ends_children and _has_children_besides(process):
                return
            with suppress(OSError):  # a tool has reaped it
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)

    def detach_after_fork(self) -> None:
        """Close the pipe to the watchdog process: this process is a fork."""
        self._process = 0
        self._is_unchanged, was_unchanged = bool, self._is_unchanged
        if was_unchanged():
            os.close(self._pipe)

    def _beat_later(self) -> None:
        with suppress(RuntimeError):  # the system allows no more threads
            self._session.timers.after(_HEARTBEAT_SECONDS, self._beat)

    def _beat(self) -> None:
        session = self._session
        session.are_calls_watched = not session.is_idle()
        if not session.are_calls_watched and not session.is_idle():  # a call came between the two
            session.are_calls_watched = True
        self._send(b"." if session.are_calls_watched else b"i")
        if session.are_calls_watched:
            self._beat_later()

    def _send(self, status: bytes) -> None:
        if self._is_unchanged():
            with suppress(OSError):  # the watchdog process was killed
                os.write(self._pipe, status)

    def _start(self) -> None:
        if sys.platform == "win32":
            raise OSError("this system has no watchdog")
        program = os.path.join(os.path.dirname(__file__), "watchdog_process.py")
        if not sys.executable or getattr(sys, "frozen", False) or not os.path.exists(program):
            raise OSError("there is no Python executable")
        options = make_options(
            self._grace_seconds,
            _STUCK_SECONDS,
            (SLOTS, NAME_BYTES),
            ends_children=self._ends_children,
        )
        self._prepare()
        passed = {3: self._host, 4: self._wakeup[0], 5: self._wakeup[1]}
        theirs = ours = -1
        try:
            theirs, ours = open_private_pipe()
            passed[0] = theirs
            with suppress(OSError):  # without shared memory, reports name no tools
                board = Board()
                passed[6] = move_high(board.descriptor)
                self._session.show_calls(board)
            if min(passed.values()) < _LOWEST_DESCRIPTOR:
                raise OSError("too few file descriptors are free")
            self._process = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", program, *options],
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, source, number) for number, source in passed.items()
                ],
                setsigmask=[
                    signal.SIGTERM,
                    signal.SIGINT,
                    signal.SIGHUP,
                ],  # the server handles them
            )
            os.set_blocking(ours, False)
            self._is_unchanged = watch_descriptor(ours)
            self._pipe, ours = ours, -1
        finally:
            for descriptor in (theirs, ours, passed.get(6, -1)):
                if descriptor >= 0:
                    os.close(descriptor)


def _has_children_besides(watchdog: int) -> bool:
    if sys.platform != "win32":  # no watchdog is started there
        try:
            from .watchdog_process import find_children

            return find_children(os.getpid()) != [watchdog]
        except (OSError, ImportError):  # no descriptor is free: the watchdog process looks itself
            return True
    return False
