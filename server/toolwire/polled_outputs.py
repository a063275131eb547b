"""Reads the host's stream together with the outputs of mounted and wrapped servers.

Strategy. With a thread for each server, a call would wake two threads more: one that reads its
result, and one that writes the response. Instead, the worker whose turn it is to read polls all
streams, continues the calls whose results come, and writes their responses together. None of that
waits for a server: an output is read only when something is in it, and what a pipe has no room for
is left to a thread (`PipeWriter`).
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from threading import get_ident
from typing import TYPE_CHECKING, cast

from toolwire_client.transport.shared_reading import SharedReading

from .transport.busy_poll import poll_before
from .transport.descriptors import open_private_pipe

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from toolwire_client.transport.base import Transport

    from .protocol.call import Call
    from .runtime.session import Session

_MAX_WAKE_BYTES = 4096

_polled: PolledOutputs | None = None
_borrowing = threading.Lock()


def flush_soon(call: Call, transport: Transport) -> None:
    """Have *transport* send what it holds back for *call*: when the calls that have come together
    have run, or now if no outputs are polled.

    The thread that reads standard input, if it is that of the host, reads the output, too.
    """
    session = _get_session(call)
    polled = _find_polled(session)
    if polled is None:
        transport.flush()
        return
    reading = getattr(transport, "waiting", None)
    if isinstance(reading, SharedReading):
        reading.borrower = polled
    polled.flush_soon(transport)


def _find_polled(session: Session) -> PolledOutputs | None:
    """Return what polls outputs for *session*; `None` if its client is not at standard input, or no
    descriptor is free.
    """
    global _polled  # a process has one standard input
    reader = session.reader
    if reader is None or _polled is not None:
        return None if reader is None else _polled
    with suppress(OSError), _borrowing:
        if _polled is None:
            _polled = PolledOutputs(reader.descriptor, reader.read_some, session)
            reader.read_next, reader.polls = _polled.read, True
    return _polled


def has_next(call: Call) -> bool:
    """Return whether other calls wait to be run after *call*."""
    return bool(_get_session(call).backlog)


def deliver(call: Call, outcome: dict[str, Any] | BaseException) -> None:
    """Answer *call*: after this read on the thread that polls, else by the outbox of its host."""
    if _polled is not None and _polled.take(call, outcome):
        return
    call.host.deliver(call, outcome)
    call.host.wait_for_room()


def _make_poller() -> tuple[Any, int]:
    """Return what polls, and the event of a stream that can be read."""
    if sys.platform == "win32":
        raise OSError("Windows cannot poll pipes")
    import select

    return select.poll(), select.POLLIN


class PolledOutputs:
    """Polls *descriptor*, the stream of the host of *session*, which *read_host* reads, and what is
    added (`Borrower`).

    Raises:
        OSError: if no descriptor is free, or pipes cannot be polled.
    """

    def __init__(self, descriptor: int, read_host: Callable[[], bytes], session: Session) -> None:
        self._poll, self._readable = _make_poller()
        self._descriptor = descriptor
        self._read_host = read_host
        self._read_soon = poll_before(self._read, self.is_ready, self._is_idle)
        self._session = session
        self._reading_thread = 0
        self._is_read = False
        """Whether `read` has been called, and will be again."""
        self._responses: list[bytes] = []
        self._unflushed: set[Transport] = set()
        self._receivers: dict[int, Callable[[], bool]] = {}
        self._wake, self._wake_writer = open_private_pipe()
        self._poll.register(descriptor, self._readable)
        self._poll.register(self._wake, self._readable)

    def add(self, source: int, receive: Callable[[], bool]) -> None:
        """As `Borrower.add`."""
        if source in self._receivers:
            return
        self._receivers[source] = receive
        self._poll.register(source, self._readable)
        self._wake_reader()

    def _wake_reader(self) -> None:
        """Have a poll that has begun include what was added."""
        if self._reading_thread:
            os.write(self._wake_writer, b"x")

    # Reading

    def _is_idle(self) -> bool:
        return self._session.is_idle()

    def is_ready(self) -> bool:
        """Return whether `read` would not wait; if it would, yield the processor."""
        if self._poll.poll(0):
            return True
        if sys.platform != "win32":
            os.sched_yield()
        return False

    def read(self) -> bytes | list[bytes]:
        """Wait for one of the streams, and receive the outputs; return the responses to calls that
        are complete by that, else what the host has written.
        """
        self._reading_thread = get_ident()
        self._is_read = True
        try:
            self._flush()
            return self._read_soon()
        finally:
            self._reading_thread = 0

    def _read(self) -> bytes | list[bytes]:
        has_written = self._receive()
        responses, self._responses = self._responses, []
        if responses or not has_written:
            return responses
        data = self._read_host()
        if not data or self._session.is_ending:
            self._is_read = False
            self._flush()
        return data

    def _receive(self) -> bool:
        """Wait, and receive outputs; return whether the host has written."""
        has_written = False
        for source, _ in self._poll.poll():
            if source == self._descriptor:
                has_written = True
            elif source == self._wake:
                os.read(self._wake, _MAX_WAKE_BYTES)
            elif not self._receivers[source]():
                # An addition just before is lost; the server's own thread reads then.
                del self._receivers[source]
                self._poll.unregister(source)
        return has_written

    # The calls

    def take(self, call: Call, outcome: dict[str, Any] | BaseException) -> bool:
        """Have `read` return the response to *call*, and return whether it will: on its thread, if
        nothing that was sent before waits in the outbox.
        """
        if self._reading_thread != get_ident():
            return False
        session = _get_session(call)
        if session is not self._session or session.writer.unsent_bytes:
            return False
        response = session.end_call(call, outcome)
        if response is not None:
            self._responses.append(response)
        return True

    def flush_soon(self, transport: Transport) -> None:
        """Flush *transport* before the next wait, or now if another thread waits already, or none
        will.
        """
        self._unflushed.add(transport)
        if self._is_read:
            self._wake_reader()
        else:
            self._flush()

    def _flush(self) -> None:
        with suppress(KeyError):  # another thread has taken it
            while self._unflushed:
                self._unflushed.pop().flush()


def _get_session(call: Call) -> Session:
    """Return the host of a call that waits without a thread: only sessions have such calls."""
    return cast("Session", call.host)
