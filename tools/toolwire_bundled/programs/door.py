"""The only way out of a program's sandbox: a socket on which it calls tools.

Strategy. One thread reads calls and starts them, another writes outcomes, since a program may call
without reading, or read late. Neither trusts the program: the number of calls, how many run at
once, and all bytes together are limited. A program that writes anything else than calls loses its
door, and fails at its next call.
"""

from __future__ import annotations

import socket
import threading
from _queue import SimpleQueue
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
from toolwire_schemas.threads import start_thread

from .frames import BrokenDoor, FrameReader, Outcome, ProgramCall, read_call, write_outcome

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_CONCURRENT = 64
"""Calls of one program that run at once; further ones wait. Half as many as a server has
threads."""

_CHUNK_BYTES = 64 * 1024
_LOOK_SECONDS = 0.05
_THREADS = "toolwire-program"


class DoorLimits(msgspec.Struct, frozen=True):
    """How many calls a program may make, and how many bytes these and their outcomes may take."""

    max_calls: int = 1000
    max_bytes: int = 256 * 1024**2


def describe_calls(limits: DoorLimits) -> str:
    """Return why a call beyond *limits* fails."""
    limit = f"{limits.max_calls:,} calls, which is the limit"
    return f"This program has made {limit} (--limit max_program_calls)."


def describe_size(limits: DoorLimits) -> str:
    """Return why a call fails whose bytes are beyond *limits*."""
    limit = f"{limits.max_bytes:,} bytes (--limit max_program_bytes)"
    return f"The calls of this program and their results take more than {limit}."


class ProgramDoor:
    """Passes the calls of one program to *start*, which answers each by `answer`, from any
    thread.

    `start` may block, and may not raise. `inside` is the descriptor for the program.
    """

    def __init__(self, start: Callable[[ProgramCall], None], limits: DoorLimits) -> None:
        self._start = start
        self._limits = limits
        self._own_end, their_end = socket.socketpair()
        self._their_end: socket.socket | None = their_end
        self.inside = their_end.fileno()
        self.calls = 0
        """How many calls the program has made."""
        self.problem = ""
        """Why the door was closed to the program; empty if it was not."""
        self._bytes = 0
        self._counting = threading.Lock()
        self._is_closed = False
        self._room = threading.Semaphore(_MAX_CONCURRENT)
        self._frames: SimpleQueue[bytes | None] = SimpleQueue()
        self._threads = [start_thread(self._read, _THREADS), start_thread(self._write, _THREADS)]

    def let_go(self) -> None:
        """Close the end of the program, which has inherited it."""
        if self._their_end is not None:
            self._their_end.close()
            self._their_end = None

    def answer(self, call: ProgramCall, outcome: Outcome) -> None:
        """Send the program the *outcome* of a *call* that was started. Never blocks."""
        frame = write_outcome(call.id, outcome)
        if not self._count(len(frame)):
            frame = write_outcome(call.id, Outcome(failed=describe_size(self._limits)))
        self._frames.put(frame)

    def close(self) -> None:
        """Take no more calls; call it when the program has ended and no call of it runs."""
        self._is_closed = True
        self.let_go()
        with suppress(OSError):
            self._own_end.shutdown(socket.SHUT_RDWR)
        self._frames.put(None)
        for thread in self._threads:
            thread.join()
        self._own_end.close()

    def stop_reading(self) -> None:
        """Start no more calls from now on."""
        self._is_closed = True
        with suppress(OSError):
            self._own_end.shutdown(socket.SHUT_RD)

    def _read(self) -> None:
        reader = FrameReader()
        try:
            while data := self._own_end.recv(_CHUNK_BYTES):
                if not self._count(len(data)):
                    raise BrokenDoor(f"its calls take more than {self._limits.max_bytes:,} bytes")
                for frame in reader.feed(data):
                    self._take(read_call(frame))
        except BrokenDoor as broken:
            self.problem = str(broken)
        except OSError:
            pass  # it is closed
        with suppress(OSError):
            self._own_end.shutdown(socket.SHUT_RDWR)

    def _take(self, call: ProgramCall) -> None:
        while not self._room.acquire(timeout=_LOOK_SECONDS):
            if self._is_closed:
                return
        if self._is_closed:
            return
        self.calls += 1
        if self.calls <= self._limits.max_calls:
            self._start(call)
            return
        self.answer(call, Outcome(failed=describe_calls(self._limits)))

    def _write(self) -> None:
        while True:
            frame = self._frames.get()
            if frame is None:
                return
            with suppress(OSError):  # the program has ended: what is left is dropped
                self._own_end.sendall(frame)
            # Not before: the outcomes that a program does not read have no other limit in number.
            self._room.release()

    def _count(self, size: int) -> bool:
        """Count *size* more bytes; return whether they are within the limit."""
        with self._counting:
            self._bytes += size
            return self._bytes <= self._limits.max_bytes
