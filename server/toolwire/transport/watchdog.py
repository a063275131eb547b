"""What ends and reports a server whose interpreter is stuck, without the interpreter.

Strategy. A tool may hold the interpreter's lock for ever, inside of C code such as a regular expression. Then no
thread of this process runs Python code: none reads the end of input, no handler of a signal is called, no timer ends
the process. What is left is C code and other processes. `faulthandler.dump_traceback_later` has a thread in C, but
knows only time: it would also end a server whose host is connected and waits for a long computation. So a small
process, `guard.py`, looks at what can be seen from outside: whether the host has hung up (by polling a duplicate of
standard input), which signals have come (Python's C code writes their numbers to the pipe of `signal.set_wakeup_fd`,
and the main thread takes them out only when it has the lock), and whether Python code runs here (a sign of life each
quarter of a second, while calls are under way). Once the end is due and this process does not get to it, it kills it.
While the host is there, it only reports, with the names of the tools that run.

It costs nothing before the first call that runs in this process, a posix_spawn and some 3 MB in the other process
then, and one write to shared memory a call.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from .. import log
from .descriptors import moved, private_pipe, unchanged

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..timers import Clock

_PULSE_SECONDS = 0.25
"""How often there is a sign of life while calls are under way; a fraction of what the end may take without any."""

_BEYOND_GRACE_SECONDS = 0.9
"""What the end may take beyond the grace: more than it does where Python code runs, less than the second promised."""

_STUCK_SECONDS = 5.0
"""After how long no sign of life is reported. Many a library holds the lock for a second."""

_SLOTS = 512
_NAMES = 4096
_NAME_BYTES = 64

_LOWEST_DESCRIPTOR = 7
"""Below are the numbers under which the guard finds what it watches."""


class Board:
    """Which tools run, for a process that can only read memory: a number for each thread or task that runs one.

    `marks[slot] = codes[name]` says that a tool runs, `marks[slot] = 0` that none does.
    """

    def __init__(self) -> None:
        self.marks = memoryview(bytearray(2 * _SLOTS)).cast("H")
        self.codes = _Codes()
        self._free = list(range(_SLOTS - 1, 0, -1))

    def take_slot(self) -> int:
        """Return a slot to be given back; 0, which is shared, if there is none left."""
        try:
            return self._free.pop()
        except IndexError:
            return 0

    def give_back(self, slot: int) -> None:
        """Let others have *slot*."""
        self.marks[slot] = 0
        if slot:
            self._free.append(slot)

    def share(self) -> int:
        """Move into shared memory; return a descriptor of it. Nothing is marked yet."""
        import mmap

        size = 2 * _SLOTS + (_NAMES + 1) * _NAME_BYTES
        descriptor = os.memfd_create("toolwire")
        try:
            os.ftruncate(descriptor, size)
            memory = memoryview(mmap.mmap(descriptor, size))
        except BaseException:
            os.close(descriptor)
            raise
        self.codes.share(memory[2 * _SLOTS :])
        self.marks = memory[: 2 * _SLOTS].cast("H")
        return descriptor


class _Codes(dict[str, int]):
    """A number from 1 for each name; 0 beyond the limit."""

    def __init__(self) -> None:
        self._shared: memoryview | None = None

    def __missing__(self, name: str) -> int:
        code = self[name] = len(self) + 1 if len(self) < _NAMES else 0
        self._publish(name, code)
        return code

    def share(self, memory: memoryview) -> None:
        """Write each name to its place in *memory*."""
        self._shared = memory
        for name, code in list(self.items()):
            self._publish(name, code)

    def _publish(self, name: str, code: int) -> None:
        if self._shared is not None and code:
            data = name.encode("utf-8", "replace")[:_NAME_BYTES]
            self._shared[code * _NAME_BYTES : code * _NAME_BYTES + len(data)] = data


class Watchdog:
    """Starts the guard at the first call, after *prepare*, and gives it signs of life until *is_idle* holds.

    *host* is the descriptor that the server reads, *wake* the two ends of the pipe that signals write to.
    """

    def __init__(
        self,
        host: int,
        wake: tuple[int, int],
        prepare: Callable[[], None],
        *,
        board: Board,
        clock: Clock,
        is_idle: Callable[[], bool],
        grace_seconds: float,
    ) -> None:
        self.asleep = True
        """Whether it must be woken for a call."""
        self._host = host
        self._wake = wake
        self._prepare = prepare
        self._board = board
        self._clock = clock
        self._is_idle = is_idle
        self._grace_seconds = grace_seconds
        self._pipe = -1
        self._is_unchanged: Callable[[], bool] = bool
        self._started = False

    def wake(self) -> None:
        """Watch over the call that is about to run."""
        self.asleep = False
        if not self._started:
            self._started = True
            try:
                self._start()
            except (OSError, AttributeError, ImportError, NotImplementedError) as error:
                log.debug(f"no process watches over this one: {error}")
        if self._pipe >= 0:
            self._tell(b".")
            with suppress(RuntimeError):  # there are no more threads
                self._clock.after(_PULSE_SECONDS, self._pulse)

    def begin_end(self) -> None:
        """Say that this process ends by itself from now on."""
        self._tell(b"e")

    def disconnect(self) -> None:
        """Let go of the guard: this process is a copy that a tool made."""
        self._is_unchanged, was_unchanged = bool, self._is_unchanged
        if was_unchanged():
            os.close(self._pipe)

    def _pulse(self) -> None:
        self.asleep = self._is_idle()
        if self.asleep and not self._is_idle():  # a call came between the two
            self.asleep = False
        self._tell(b"i" if self.asleep else b".")
        if not self.asleep:
            with suppress(RuntimeError):
                self._clock.after(_PULSE_SECONDS, self._pulse)

    def _tell(self, news: bytes) -> None:
        if self._is_unchanged():
            with suppress(OSError):  # it was killed
                os.write(self._pipe, news)

    def _start(self) -> None:
        program = os.path.join(os.path.dirname(__file__), "watchdog_process.py")
        if not sys.executable or getattr(sys, "frozen", False) or not os.path.exists(program):
            raise OSError("there is no Python to run it with")
        level, as_json = log.configured()
        style = "" if level in ("error", "off") else "json" if as_json else "text"
        seconds = min(self._grace_seconds, threading.TIMEOUT_MAX) + _BEYOND_GRACE_SECONDS
        options = [str(seconds), str(_STUCK_SECONDS), style, str(_SLOTS), str(_NAME_BYTES)]
        self._prepare()
        passed = {3: self._host, 4: self._wake[0], 5: self._wake[1]}
        theirs = ours = -1
        try:
            theirs, ours = private_pipe()
            passed[0] = theirs
            with suppress(OSError, AttributeError):  # then it names no tools
                passed[6] = moved(self._board.share())
            if min(passed.values()) < _LOWEST_DESCRIPTOR:
                raise OSError("there are too few descriptors")
            os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", program, *options],
                os.environ,
                file_actions=[(os.POSIX_SPAWN_DUP2, source, number) for number, source in passed.items()],
                setsigmask=[signal.SIGTERM, signal.SIGINT, signal.SIGHUP],  # which are for the server to deal with
            )
            os.set_blocking(ours, False)
            self._is_unchanged = unchanged(ours)
            self._pipe, ours = ours, -1
        finally:
            for descriptor in (theirs, ours, passed.get(6, -1)):
                if descriptor >= 0:
                    os.close(descriptor)
