"""A connection of a shared process with the process that a host has started."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    raise ImportError("shared processes need Unix sockets, which Windows lacks")

import _socket
import threading
import time
from contextlib import suppress
from socket import SHUT_RD, SHUT_RDWR, SOCK_STREAM, socket

from ..transport.descriptors import move_high
from .place import CannotShare
from .starting import read_line, read_peer

_CHUNK_BYTES = 8 * 1024
_LARGE_CHUNK_BYTES = 256 * 1024
"""As those of standard input (`stdio.py`)."""

_BACKLOG = 256


def open_listener(path: str) -> socket:
    """Return a socket that listens at *path*."""
    listener = socket(_socket.AF_UNIX, SOCK_STREAM)
    listener.bind(path)
    listener.listen(_BACKLOG)
    return socket(fileno=move_high(listener.detach()))


class ClientConnection:
    """Reads and writes *stream*. Errors end the session, as a host that hangs up does."""

    pid = 0
    """The number of the other process, 0 if the system cannot tell."""

    def __init__(self, stream: socket) -> None:
        self.since = time.time()
        self.stream = socket(fileno=move_high(stream.detach()))
        self._size = _CHUNK_BYTES
        self._writing = threading.Lock()
        self._is_open = True

    def read_greeting(self) -> str:
        """Return what the other process wants; empty if it is another user's, or says nothing."""
        try:
            self.pid = read_peer(self.stream)
            return read_line(self.stream).decode()
        except (OSError, ValueError, CannotShare):
            return ""

    def read(self) -> bytes:
        """Return some input; nothing at its end."""
        try:
            data = self.stream.recv(self._size)
        except OSError:
            return b""
        is_part = len(data) == self._size and b"\n" not in data
        self._size = _LARGE_CHUNK_BYTES if is_part else _CHUNK_BYTES
        return data

    def write(self, data: bytes) -> None:
        """Write *data*, whole messages; nothing after an error."""
        with self._writing:
            if not self._is_open:
                return
            try:
                self.stream.sendall(data)
            except OSError:  # the host has gone
                self._is_open = False

    def send_line(self, text: str) -> None:
        """Write *text* as a line of the greeting."""
        self.write(text.encode("utf-8", "replace") + b"\n")

    def control(self, text: str) -> None:
        """Write *text* as a line for the other process, between two messages."""
        self.write(b"\0" + text.encode("utf-8", "replace").replace(b"\n", b" ") + b"\n")

    def note(self, sentence: str) -> None:
        """Tell the user *sentence*."""
        self.control(f"note {sentence}")

    def finish_input(self) -> None:
        """End the input."""
        with suppress(OSError):
            self.stream.shutdown(SHUT_RD)

    def close(self) -> None:
        """Close it, whatever threads still use it."""
        with suppress(OSError):
            self.stream.shutdown(SHUT_RDWR)  # wakes a thread that writes
        with self._writing:
            self._is_open = False
            self.stream.close()
