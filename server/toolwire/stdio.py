"""The process around a session: its descriptors, its signals, its end. The only file that knows them.

Strategy. The protocol's two descriptors are moved away before any code of the user's runs, and never put back: what
a tool prints, what a C library writes and what a child process reads can then neither corrupt the stream nor steal
from it, not even at exit. The main thread only waits for the end, since that is where Python handles signals.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, NoReturn

import msgspec

from . import log
from .session import Read, Session, Write

if TYPE_CHECKING:
    from types import FrameType

    from .catalogue import Catalogue
    from .lifecycle import Identity
    from .settings import Settings

_CHUNK_BYTES = 64 * 1024
"""What a pipe holds on Linux: a larger read would never be filled."""

_EXIT_HOOKS_SECONDS = 0.3
"""What `atexit` functions get: with the grace and the cleaning up, still below a client's two seconds."""


class Streams(msgspec.Struct, frozen=True):
    """The descriptors of the protocol, known to nobody else in the process and inherited by no child."""

    read: int
    write: int


class AlreadyClaimed(RuntimeError):
    """The process serves already; it has only one standard input and output."""


class NotConnected(RuntimeError):
    """The process was started with standard input or output closed."""


_claimed = False


def claim() -> Streams:
    """Take standard input and output for the protocol and give the rest of the process harmless ones.

    From then on descriptor 0 is the null device and descriptor 1 is stderr. Call it before importing the user's code.

    Raises:
        AlreadyClaimed: if that has been done before.
        NotConnected: if the process was started without standard input or output.
    """
    global _claimed  # a process has one standard input
    if _claimed:
        raise AlreadyClaimed("this process serves tools already; call serve() once, under `if __name__ == '__main__':`")
    try:
        streams = Streams(os.dup(0), os.dup(1))  # os.dup makes them non-inheritable (PEP 446)
    except OSError:
        raise NotConnected("there is no standard input or no standard output; start it with a pipe on both") from None
    _claimed = True
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # started without stderr
        os.dup2(null, 2)
        os.dup2(null, 1)
    os.close(null)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(streams.read, os.O_BINARY)
        msvcrt.setmode(streams.write, os.O_BINARY)
    else:
        os.set_blocking(streams.read, True)
        os.set_blocking(streams.write, True)
    log.take_over_stderr()
    return streams


def serve(catalogue: Catalogue, identity: Identity, settings: Settings, streams: Streams) -> NoReturn:
    """Serve until the host hangs up or a signal says to stop, then leave the process with status 0."""
    session = Session(catalogue, identity, settings, _writer(streams.write))
    ended = threading.Event()
    _end_on_signals(ended)
    if os.isatty(streams.read):
        log.info(f"serving {len(catalogue.tools)} tools; waiting for JSON-RPC messages, one a line (Ctrl-D ends)")
    session.start_reading(_reader(streams.read), ended.set)
    ended.wait()
    session.end()
    leave()


def leave() -> NoReturn:
    """End the process now: exit functions are run, but no thread is waited for, since a tool's may hang."""
    if not _leaving.acquire(blocking=False):
        threading.Event().wait()  # another thread is about to end us
    watchdog = threading.Timer(_EXIT_HOOKS_SECONDS, os._exit, (0,))
    watchdog.daemon = True
    watchdog.start()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # closed or replaced by the user's code
            continue
    os._exit(0)


_leaving = threading.Lock()


def _reader(descriptor: int) -> Read:
    def read() -> bytes:
        try:
            return os.read(descriptor, _CHUNK_BYTES)
        except OSError:  # the terminal is gone
            return b""

    return read


def _writer(descriptor: int) -> Write:
    def write(data: bytes) -> None:
        try:
            written = os.write(descriptor, data)
            while written < len(data):
                written += os.write(descriptor, memoryview(data)[written:])
        except OSError:  # the host has closed its end: nobody is left to answer
            leave()

    return write


def _end_on_signals(ended: threading.Event) -> None:
    if threading.current_thread() is not threading.main_thread():
        return  # Python lets only the main thread handle signals

    def stop(number: int, frame: FrameType | None) -> None:
        if ended.is_set():  # the second one: whoever sends it is in a hurry
            os._exit(0)
        ended.set()

    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)
