"""Reads a server's output on the threads that wait for it.

Strategy. To wake a thread takes longer than a quick call. So a thread that waits for a response
takes the turn to read, if no other has it, and delivers what comes, also to others. The transport's
own thread reads while no call waits, and looks now and then while calls come one after another.

A call may also wait without a thread. Then a `Borrower`, which polls many outputs on one thread,
takes turns, too; without one, or while it does not read, the own thread does.
"""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol

from ..waiting.base import Inbox, Waiting

if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK = 64 * 1024
_LOOK_SECONDS = 1.0
"""How often to check for the end of the process where it cannot be polled together with its output.
"""

_TICK_SECONDS = 0.002
_BUSY_SECONDS = 0.1
"""The transport's own thread looks every tick until no call has waited for so long."""


_TURN = object()
"""Put into the inbox of a thread that waits, for it to read from now on."""


class Borrower(Protocol):
    """Polls the outputs of several servers."""

    def add(self, source: int, receive: Callable[[], bool]) -> None:
        """Call *receive* whenever *source* can be read, until that returns false. Never blocks; may
        be called on any thread, and again.
        """


class SharedReading(Waiting):
    """Reads *source* until it ends, *has_ended* is true and nothing is left, or *stop* can be read.

    *deliver* gets what comes, in order, on any thread. *process* can be read when the process ends,
    `None` if that is not possible. As a `Waiting`, it makes inboxes for threads that read while
    they wait.
    """

    def __init__(
        self,
        source: int,
        stop: int,
        process: int | None,
        has_ended: Callable[[], bool],
        deliver: Callable[[bytes], None],
    ) -> None:
        self._source, self._stop, self._has_ended, self._deliver = source, stop, has_ended, deliver
        self._turn = threading.Lock()
        self._waking = threading.Lock()
        self._reader: tuple[Inbox, int] | None = None
        """The inbox of the thread that has the turn; it keeps that while another one wakes it."""
        self.waits: list[Inbox] = []
        """Of threads that sleep while another one reads."""
        self.unattended: set[Inbox] = set()
        """Those whose callers will be notified, so that no thread waits for them."""
        self.borrower: Borrower | None = None
        """What may read for these."""
        self._has_borrower_read = False
        """Whether it has since the own thread looked."""
        self._error: Exception | None = None
        """What went wrong while it read."""
        self._wake, self._wake_writer = os.pipe()
        self._poll = _poll_for_input(source, stop, self._wake, process)
        self._patience = None if process is not None else _LOOK_SECONDS
        self._is_last = self._is_over = False
        self._busy_until = 0.0

    def make_inbox(self) -> Inbox:
        return _ReadingInbox(self)

    def run(self) -> None:
        """Read to the end, on the transport's own thread."""
        try:
            while self._read_in_turn(self._patience):
                while self._leaves_reading_to_others():
                    time.sleep(_TICK_SECONDS)
                    if self._has_borrower_read:
                        self._has_borrower_read = False
                        continue
                    if not (self._turn.locked() or self._read_in_turn(0)):
                        return
        finally:
            self._is_over = True

    def close(self) -> None:
        """Close the descriptors, after *stop* was closed."""
        with self._turn:
            self._is_over = True
            os.close(self._wake)
            os.close(self._wake_writer)

    def _leaves_reading_to_others(self) -> bool:
        if self._find_sleeper() is not None or (self.unattended and self.borrower is None):
            return False
        return time.monotonic() < self._busy_until

    def _read_in_turn(self, seconds: float | None) -> bool:
        with self._turn:
            return self._receive(seconds)

    def read_for(self, inbox: Inbox, seconds: float | None) -> bool:
        """Read once, for at most *seconds*; false if another thread reads, or the end has come."""
        self._busy_until = time.monotonic() + _BUSY_SECONDS
        if not self._turn.acquire(blocking=False):
            return False
        try:
            self._reader = inbox, threading.get_ident()
            if self._is_over or len(inbox):
                return not self._is_over
            limits = [limit for limit in (seconds, self._patience) if limit is not None]
            return self._receive(min(limits, default=None))
        finally:
            with self._waking:
                self._reader = None
            self._turn.release()
            if len(inbox) and (sleeper := self._find_sleeper()) is not None:
                sleeper.put(_TURN)

    def offer(self) -> None:
        """Let the borrower, if there is one, read for the callers to be notified."""
        if self.borrower is not None:
            self._busy_until = time.monotonic() + _BUSY_SECONDS
            self.borrower.add(self._source, self._read_for_borrower)

    def _read_for_borrower(self) -> bool:
        """Deliver what can be read; false if nothing more is to be read by the borrower: another
        thread reads, no caller is to be notified, or the end has come.
        """
        if not self._turn.acquire(blocking=False):
            return False
        try:
            self._has_borrower_read = True
            self._busy_until = time.monotonic() + _BUSY_SECONDS
            return not self._is_over and self._receive(0) and bool(self.unattended)
        except Exception as error:  # it reads for other servers, too: the own thread raises this
            self._error = error
            return False
        finally:
            self._turn.release()

    def _find_sleeper(self) -> Inbox | None:
        return next((inbox for inbox in tuple(self.waits) if not len(inbox)), None)

    def wake(self, inbox: Inbox) -> None:
        """Wake the thread that reads for *inbox*, unless that is the present one. Never blocks."""
        with self._waking:
            if (
                self._reader is not None
                and self._reader[0] is inbox
                and self._reader[1] != threading.get_ident()
            ):
                os.write(self._wake_writer, b"x")

    def _receive(self, seconds: float | None) -> bool:
        """Deliver what comes within *seconds*; false if nothing can come any more. Only with the
        turn.
        """
        if self._error is not None:
            raise self._error
        ready = {
            descriptor for descriptor, _ in self._poll(None if seconds is None else seconds * 1000)
        }
        if (
            self._source in ready
        ):  # also after *stop*: the process may have written just before its end
            data = os.read(self._source, _CHUNK)
            if data:
                self._deliver(data)
            return bool(data) and self._stop not in ready
        if self._stop in ready:
            return False
        if self._wake in ready:
            os.read(self._wake, _CHUNK)
        elif self._is_last:  # no output is left, though a descendant may still hold the pipe
            return False
        elif ready or self._patience is not None:
            self._is_last = self._has_ended()
        return True


class _ReadingInbox(Inbox):
    def __init__(self, reading: SharedReading) -> None:
        super().__init__()
        self._reading = reading

    def put(self, arrival: object) -> None:
        self._reading.unattended.discard(self)
        super().put(arrival)
        self._reading.wake(self)

    def notify(self, callback: Callable[[object], None]) -> bool:
        self._reading.unattended.add(self)
        if super().notify(callback):
            self._reading.offer()
            return True
        self._reading.unattended.discard(self)
        return False

    async def receive(self, seconds: float | None) -> Any:
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not len(self) and left != 0 and self._reading.read_for(self, left):
                continue
            self._reading.waits.append(self)
            try:
                arrival = await super().receive(left)
            finally:
                self._reading.waits.remove(self)
            if arrival is not _TURN:
                return arrival


def _poll_for_input(*descriptors: int | None) -> Callable[[float | None], list[tuple[int, int]]]:
    """Return the function that waits some milliseconds, or without limit, until one of
    *descriptors* can be read.
    """
    if sys.platform == "win32":
        raise OSError("Windows cannot poll pipes")
    poll = select.poll()
    for descriptor in descriptors:
        if descriptor is not None:
            poll.register(descriptor, select.POLLIN)
    return poll.poll
