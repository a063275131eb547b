"""The streams that the reading thread polls together, and the responses of one read."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from support.server_process import wait_until

if sys.platform == "win32":
    pytest.skip("Windows cannot poll pipes", allow_module_level=True)

from toolwire.polled_outputs import PolledOutputs


class Writer:
    unsent_bytes = 0


class Session:
    """A session that responds to a call with its outcome."""

    def __init__(self) -> None:
        self.writer = Writer()
        self.backlog: list[Any] = []
        self.is_ending = False

    def is_idle(self) -> bool:
        return False

    def end_call(self, call: Any, outcome: Any) -> Any:
        return outcome


class Call:
    def __init__(self) -> None:
        self.host = Session()


class Transport:
    def __init__(self) -> None:
        self.flushes = 0

    def flush(self) -> None:
        self.flushes += 1


class Streams:
    """The host's stream, and the output of one server, each line of which is the outcome of a
    call.
    """

    def __init__(self) -> None:
        self.host, self.host_writer = os.pipe()
        self.output, self.output_writer = os.pipe()
        self.call: Any = Call()
        self.polled = PolledOutputs(self.host, lambda: os.read(self.host, 100), self.call.host)
        self.taken: list[bool] = []
        self.goes_on = True

    def receive(self) -> bool:
        for outcome in os.read(self.output, 100).splitlines():
            self.taken.append(self.polled.take(self.call, outcome))  # type: ignore[arg-type]
        return self.goes_on

    def close(self) -> None:
        for descriptor in (self.host, self.output, self.host_writer, self.output_writer):
            os.close(descriptor)


@pytest.fixture
def streams() -> Iterator[Streams]:
    streams = Streams()
    streams.polled.add(streams.output, streams.receive)
    yield streams
    streams.close()


def test_results_of_one_read_are_returned_together(streams: Streams) -> None:
    before = streams.polled.is_ready()
    os.write(streams.output_writer, b"first\nsecond\n")

    assert (before, streams.polled.is_ready()) == (False, True)
    assert streams.polled.read() == [b"first", b"second"]


def test_input_of_the_host_is_returned_after_results(streams: Streams) -> None:
    os.write(streams.host_writer, b"request")
    os.write(streams.output_writer, b"result\n")

    assert streams.polled.read() == [b"result"]
    assert streams.polled.read() == b"request"


def test_a_call_without_a_response_leaves_nothing_to_return(streams: Streams) -> None:
    streams.call.host.end_call = lambda call, outcome: None
    os.write(streams.output_writer, b"cancelled\n")

    assert streams.polled.read() == []


def test_a_response_does_not_overtake_what_waits_in_the_outbox(streams: Streams) -> None:
    streams.call.host.writer.unsent_bytes = 1
    os.write(streams.output_writer, b"result\n")

    assert streams.polled.read() == []
    assert streams.taken == [False]


def test_other_threads_answer_by_the_outbox(streams: Streams) -> None:
    assert not streams.polled.take(streams.call, {})


def test_an_output_that_is_to_be_read_no_more_is_not_polled(streams: Streams) -> None:
    streams.goes_on = False
    os.write(streams.output_writer, b"result\n")
    streams.polled.read()
    os.write(streams.output_writer, b"another\n")

    assert not streams.polled.is_ready()
    streams.polled.add(streams.output, streams.receive)
    assert streams.polled.read() == [b"another"]


def test_an_output_that_is_added_wakes_a_thread_that_polls(streams: Streams) -> None:
    found: list[Any] = []
    other, writer = os.pipe()
    os.write(writer, b"result")

    def receive() -> bool:
        found.append(os.read(other, 100))
        return False

    def read_until_found() -> None:
        while not found:
            streams.polled.read()

    thread = threading.Thread(target=read_until_found)
    thread.start()
    streams.polled.add(other, receive)
    thread.join(10)

    assert found == [b"result"]
    os.close(other)
    os.close(writer)


def test_held_data_is_flushed_before_the_next_wait(streams: Streams) -> None:
    transport: Any = Transport()
    os.write(streams.host_writer, b"request")
    streams.polled.read()
    streams.polled.flush_soon(transport)
    before = transport.flushes
    os.write(streams.host_writer, b"request")
    streams.polled.read()

    assert (before, transport.flushes) == (0, 1)


def test_data_is_flushed_at_once_before_the_first_read(streams: Streams) -> None:
    transport: Any = Transport()
    streams.polled.flush_soon(transport)

    assert transport.flushes == 1


def test_sessions_elsewhere_answer_by_their_own_outbox(streams: Streams) -> None:
    streams.call.host = Session()
    os.write(streams.output_writer, b"result\n")
    os.write(streams.host_writer, b"request")

    assert streams.polled.read() == b"request"
    assert streams.taken == [False]


def test_held_data_is_flushed_while_another_thread_waits(streams: Streams) -> None:
    transport: Any = Transport()

    def read_to_the_end() -> None:
        while streams.polled.read() != b"the end":
            continue

    thread = threading.Thread(target=read_to_the_end)
    thread.start()
    wait_until(lambda: bool(streams.polled._reading_thread))
    streams.polled.flush_soon(transport)
    wait_until(lambda: transport.flushes == 1)
    os.write(streams.host_writer, b"the end")
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.parametrize("is_ending", [False, True])
def test_data_is_flushed_at_once_when_nothing_more_is_read(
    streams: Streams, is_ending: bool
) -> None:
    transport: Any = Transport()
    os.write(streams.host_writer, b"request")
    streams.polled.read()
    streams.call.host.is_ending = is_ending
    streams.polled.flush_soon(transport)
    if is_ending:
        os.write(streams.host_writer, b"too late")
    else:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, streams.host_writer)
        os.close(null)
    streams.polled.read()
    streams.polled.flush_soon(transport)

    assert transport.flushes == 2
