"""A borrower reads the output of a server for calls that wait without a thread."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import pytest
from support.server_process import PATIENCE_SECONDS
from toolwire_client.transport.shared_reading import SharedReading
from toolwire_client.waiting.base import Inbox

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot poll pipes")


class Output:
    """The output of a server, and the borrower of its reading. What is read is put into the inbox
    of the oldest call.
    """

    def __init__(self) -> None:
        self.source, self.sink = os.pipe()
        self.stop, self.stop_writer = os.pipe()
        self.borrowed: dict[int, Callable[[], bool]] = {}
        self.read: SimpleQueue[tuple[object, str]] = SimpleQueue()
        self.inboxes: list[Inbox] = []
        self.reading = SharedReading(self.source, self.stop, None, lambda: False, self._deliver)
        self.reading.borrower = self
        self.pool = ThreadPoolExecutor(1, "own")

    def _deliver(self, data: bytes) -> None:
        self.inboxes.pop(0).put(data)

    def add(self, source: int, receive: Callable[[], bool]) -> None:
        self.borrowed[source] = receive

    def call(self) -> None:
        """Make a call that waits without a thread."""
        inbox = self.reading.make_inbox()
        self.inboxes.append(inbox)
        inbox.notify(lambda event: self.read.put((event, threading.current_thread().name)))

    def receive(self) -> bool:
        """Read as the borrower."""
        return self.borrowed[self.source]()

    def next(self) -> tuple[object, str]:
        """What was read next, and on which thread."""
        return self.read.get(timeout=PATIENCE_SECONDS)

    def end(self) -> None:
        """Close the writing end."""
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, self.sink)
        os.close(null)

    def close(self) -> None:
        os.close(self.stop_writer)
        self.pool.shutdown()
        self.reading.close()
        for descriptor in (self.source, self.stop, self.sink):
            os.close(descriptor)


@pytest.fixture
def output() -> Iterator[Output]:
    output = Output()
    yield output
    output.close()


def test_a_borrower_reads_until_no_call_waits_without_a_thread(output: Output) -> None:
    output.call()
    output.call()
    os.write(output.sink, b"first")
    reads_on = output.receive()
    first = output.next()
    os.write(output.sink, b"last")

    assert (reads_on, output.receive()) == (True, False)
    assert (first, output.next()) == ((b"first", "MainThread"), (b"last", "MainThread"))


def test_nothing_is_borrowed_for_a_call_that_keeps_its_thread(output: Output) -> None:
    output.reading.make_inbox()

    assert not output.borrowed


def test_a_borrower_that_comes_too_late_does_not_wait(output: Output) -> None:
    output.call()

    assert output.receive()


def test_a_borrower_leaves_the_output_to_a_thread_that_reads(output: Output) -> None:
    output.call()
    os.write(output.sink, b"result")
    with output.reading._turn, ThreadPoolExecutor(1) as borrower:
        assert not borrower.submit(output.receive).result(PATIENCE_SECONDS)


def test_the_own_thread_reads_where_the_borrower_does_not(output: Output) -> None:
    output.call()
    output.call()
    os.write(output.sink, b"first")
    output.receive()
    output.pool.submit(output.reading.run)
    os.write(output.sink, b"second")

    assert output.next() == (b"first", "MainThread")
    assert output.next() == (b"second", "own_0")


def test_the_end_of_the_output_is_left_to_the_own_thread(output: Output) -> None:
    output.call()
    output.end()

    assert not output.receive()
    output.pool.submit(output.reading.run).result(PATIENCE_SECONDS)


def test_what_goes_wrong_while_a_borrower_reads_ends_this_reading_alone(output: Output) -> None:
    output.call()
    output.inboxes.clear()  # so that there is none to deliver to
    os.write(output.sink, b"result")

    assert not output.receive()
    with pytest.raises(IndexError):
        output.pool.submit(output.reading.run).result(PATIENCE_SECONDS)
