"""The files by which sessions find a shared process, and the pipe that says whether they live."""

from __future__ import annotations

import os
import sys

if sys.platform == "win32":
    raise ImportError("shared processes need Unix sockets, which Windows lacks")

from contextlib import suppress
from typing import TYPE_CHECKING

from ..transport.descriptors import move_high
from .connection import open_listener

if TYPE_CHECKING:
    from .place import Place


class OpenPlace:
    """Listens at *place*, and reads its pipe, which every session holds open.

    Another process may replace the files, so each is known by its number, too.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self.pipe = move_high(os.open(place.alive, os.O_RDONLY | os.O_NONBLOCK))
        """Hangs up when no process holds it open for writing."""
        self._pipe_number = os.fstat(self.pipe).st_ino
        self.listener = open_listener(place.socket)
        self._socket_number = os.stat(place.socket).st_ino
        self._own_end = -1

    def is_own_pipe(self, number: str) -> bool:
        """Return whether the pipe with this *number* is the one of this process."""
        return number == str(self._pipe_number)

    def hold_pipe(self) -> None:
        """Hold the pipe open as a session does, if that is possible."""
        if self._own_end < 0:
            self._own_end = self._open_own_end()

    def release_pipe(self) -> None:
        """Leave the pipe to the sessions."""
        if self._own_end >= 0:
            os.close(self._own_end)
            self._own_end = -1

    def unregister(self) -> None:
        """Remove the files, so that new sessions start another process."""
        self._remove(self._place.socket, self._socket_number)
        self._remove(self._place.alive, self._pipe_number)

    def detach_after_fork(self, null: int) -> None:
        """Replace what this process reads by *null*, in a copy of it."""
        if self.listener.fileno() >= 0:
            os.dup2(null, self.listener.fileno(), inheritable=False)
        os.dup2(null, self.pipe, inheritable=False)

    def _open_own_end(self) -> int:
        """Return a descriptor that holds the pipe open; -1 if that is not possible."""
        # The path may be another process's by now, or be gone.
        for path in (self._place.alive, f"/dev/fd/{self.pipe}"):
            with suppress(OSError):
                descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
                if os.fstat(descriptor).st_ino == self._pipe_number:
                    return move_high(descriptor)
                os.close(descriptor)
        return -1

    def _remove(self, path: str, number: int) -> None:
        with suppress(OSError):
            if os.stat(path).st_ino == number:
                os.unlink(path)
