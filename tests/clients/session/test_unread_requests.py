"""What waits for a server that does not read its input has a limit."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from toolwire_client.errors import ClientError
from toolwire_client.protocol.client_protocol import ClientProtocol
from toolwire_client.session.connection import Connection
from toolwire_client.transport import child_process
from toolwire_client.transport.base import OnData, OnEnd
from toolwire_client.transport.child_process import PipeWriter
from toolwire_client.waiting.base import Inbox

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot poll pipes")

LIMIT = 1_000_000
"""More than a pipe takes."""


class Unread:
    """A writer to a pipe that nothing reads, as a transport."""

    def __init__(self) -> None:
        self.source, sink = os.pipe()
        self.stop, self.stop_writer = os.pipe()
        self.writer = PipeWriter(os.fdopen(sink, "wb", buffering=0), self.stop)
        self.flush = self.writer.flush
        self.pid = None

    @property
    def is_full(self) -> bool:
        return self.writer.is_full

    def start(self, on_data: OnData, on_end: OnEnd) -> None:
        pass

    def send(self, data: bytes, *, more_follows: bool = False) -> None:
        self.writer.send(data, more_follows=more_follows)

    def get_stderr_tail(self) -> str:
        return ""

    def close(self) -> None:
        os.close(self.stop_writer)
        self.writer.finish()
        self.writer.join()
        os.close(self.source)
        os.close(self.stop)


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> Iterator[Unread]:
    monkeypatch.setattr(child_process, "MAX_UNREAD_BYTES", LIMIT)
    unread = Unread()
    yield unread
    unread.close()


def test_a_request_to_a_server_that_reads_nothing_is_refused_beyond_the_limit(
    unread: Unread,
) -> None:
    connection = Connection(
        unread,
        ClientProtocol("test", "1"),
        max_message_bytes=LIMIT,
        on_event=lambda event: None,
    )
    large = connection.protocol.request("tools/call", {"text": "x" * LIMIT})
    connection.begin(large, Inbox())
    connection.begin(large, Inbox())

    with pytest.raises(ClientError, match="does not read its requests"):
        connection.begin(large, Inbox())


def test_what_nothing_reads_is_dropped_at_twice_the_limit(unread: Unread) -> None:
    for _ in range(5):
        unread.send(b"x" * LIMIT)

    assert len(unread.writer._rest) <= 3 * LIMIT
    assert unread.writer.has_dropped


def test_what_is_read_late_is_not_dropped(unread: Unread) -> None:
    unread.send(b"x" * LIMIT + b"\n")

    with os.fdopen(os.dup(unread.source), "rb") as source:
        assert len(source.readline()) == LIMIT + 1
    assert not unread.is_full
    assert not unread.writer.has_dropped
