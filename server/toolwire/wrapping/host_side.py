"""The host of a wrapped server: what it declares, its messages that wait for a start, and what
passes to it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.messages import META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_VERSION

from . import get_object

if TYPE_CHECKING:
    from ..runtime.session import Session
    from .routes import Head

_MAX_EARLY = 100
"""How many messages wait until the host is ready; the rest is dropped."""


class HostDeclaration(msgspec.Struct, frozen=True):
    """A description of a host, from its first message, whichever that is."""

    is_legacy: bool = False
    is_modern: bool = False
    capabilities: dict[str, Any] = {}
    client_info: dict[str, Any] = {}
    revision: str = ""
    """The protocol revision that it asked for, if any."""


def read_declaration(params: dict[str, Any]) -> HostDeclaration:
    """Return what the *params* of the first message of a host say of it."""
    meta = get_object(params, "_meta")
    if META_VERSION in meta:
        return HostDeclaration(
            is_modern=True,
            capabilities=get_object(meta, META_CLIENT_CAPABILITIES),
            client_info=get_object(meta, META_CLIENT_INFO),
            revision=str(meta[META_VERSION]),
        )
    return HostDeclaration(
        is_legacy="protocolVersion" in params,
        capabilities=get_object(params, "capabilities"),
        client_info=get_object(params, "clientInfo"),
        revision=str(params.get("protocolVersion", "")),
    )


class HostSide:
    """Sends the host of *session* messages of the wrapped server, as they came.

    A host with a handshake gets none before it is ready.
    """

    def __init__(self, session: Session) -> None:
        self.declaration = HostDeclaration()
        """Read by the wrap from the first message of the host."""
        self._session = session
        self._lock = threading.Lock()
        self._early: list[bytes] | None = []
        """Messages from before the host was ready; `None` since then."""

    def pass_on(self, frame: bytes, *, may_drop: bool) -> None:
        """Send *frame*, as soon as the host is ready. Never blocks.

        One that *may_drop* does not go to a host that leaves too much unread.
        """
        with self._lock:
            if self._early is not None and self.declaration.is_legacy:
                if len(self._early) < _MAX_EARLY:
                    self._early.append(frame)
            elif may_drop:
                self._session.enqueue_notification(lambda: frame, len(frame))
            else:
                self._session.writer.enqueue(frame)

    def pass_early(self) -> None:
        """Send what came early: the host is ready."""
        with self._lock:
            early, self._early = self._early or [], None
            self._session.writer.enqueue_all(early)


def refuse(head: Head, code: int, problem: str) -> list[bytes]:
    """Return the error response to a request; nothing for another message."""
    id = head.request_id
    return [] if id is None else [messages.encode_error(id, code, problem)]
