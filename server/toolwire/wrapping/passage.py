"""The messages that pass between a host and a wrapped server as they came, in both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire_client.protocol.events import LogEntry
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.messages import INTERNAL_ERROR

from .routes import PassedRequests, Peers, note_passing, read_head, route_from_server

if TYPE_CHECKING:
    from collections.abc import Collection

    from toolwire_client.async_client import Running
    from toolwire_client.protocol.client_protocol import ClientProtocol
    from toolwire_schemas.wire.messages import Frame

    from ..runtime.session import Session
    from .host_side import HostSide
    from .routes import Head, Route


class Passage:
    """Passes messages between *host*, the client of *session*, and the wrapped server.

    Also passes lines that are no messages, if "noise" is one of the fixes *without* which a wrap
    does.
    """

    def __init__(self, session: Session, host: HostSide, without: Collection[str]) -> None:
        self._session = session
        self._host = host
        self._passes_noise = "noise" in without
        self._of_host = PassedRequests()
        self._of_server = PassedRequests()

    def is_full(self, running: Running | None) -> bool:
        """Return whether no further request may pass."""
        if self._of_host.is_full or self._session.writer.is_full:
            return True
        return running is not None and running.connection.is_full

    def pass_to_server(self, frame: Frame, head: Head, route: Route, running: Running) -> bool:
        """Pass a message with this *head* to the server, if its *route* says so; return whether it
        was passed.
        """
        if not note_passing(head, route, self._of_host, self._of_server):
            return False
        assert isinstance(frame, bytes)
        running.connection.send(frame)
        end = running.connection.end
        if end is not None:  # just now, so that nothing else answers it
            self.fail_all(end.reason)
        return True

    def pass_to_host(self, frame: Frame, protocol: ClientProtocol) -> bool:
        """Pass a message of the server to the host, if it is not for our client, which speaks
        *protocol*; return whether it was passed.
        """
        if self._session.is_ending or not isinstance(frame, bytes):
            return False
        head = read_head(frame)
        peers = Peers(
            self._host.declaration.is_legacy,
            has_legacy_server=not protocol.is_modern,
            can_ask=protocol.can_ask,
        )
        route = route_from_server(head, peers)
        if note_passing(head, route, self._of_server, self._of_host):
            is_notification = bool(head.method) and head.request_id is None
            self._host.pass_on(frame, may_drop=is_notification)
            return True
        if self._passes_noise and _is_noise(frame, protocol):
            self._host.pass_on(frame, may_drop=True)
            return True
        return False

    def fail_all(self, reason: str) -> None:
        """Answer the requests of the host that only the server could: it has ended."""
        problem = f"The wrapped server has ended: {reason}"
        for id in self._of_host.remove_all():
            self._session.writer.enqueue(messages.encode_error(id, INTERNAL_ERROR, problem))
        self._of_server.remove_all()


def _is_noise(frame: bytes, protocol: ClientProtocol) -> bool:
    """Return whether a line of the server's output is no message."""
    for event in protocol.receive(frame):
        if isinstance(event, LogEntry) and event.source == "output":
            return True
    return False
