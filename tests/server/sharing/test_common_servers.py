"""The transports of sessions that have one server in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire.sharing.common_servers import CommonServers
from toolwire.timers import Timers
from toolwire_schemas.wire import messages

if TYPE_CHECKING:
    from toolwire_client.transport.base import OnData, OnEnd

DISCOVER = messages.encode_request(1, "server/discover", {})


class Unread:
    """A transport to a server that may leave unread what it gets."""

    pid = None
    is_full = False

    def start(self, on_data: OnData, on_end: OnEnd) -> None:
        pass

    def send(self, data: bytes, *, more_follows: bool = False) -> None:
        pass

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def get_stderr_tail(self) -> str:
        return ""


def test_server_that_does_not_read_is_full_for_each_of_its_sessions() -> None:
    unread = Unread()
    servers = CommonServers(lambda: unread, Timers(), idle_seconds=60.0)
    sessions = [servers.open(lambda reason: None) for _ in range(2)]
    assert [session.is_full for session in sessions] == [False, False]

    for session in sessions:
        session.send(DISCOVER)
    assert [session.is_full for session in sessions] == [False, False]

    unread.is_full = True
    assert [session.is_full for session in sessions] == [True, True]
