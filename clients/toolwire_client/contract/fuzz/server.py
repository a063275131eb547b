"""A server that answers call after call, and is restarted when it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import NotStarted
from ..cases.handshake import completed, open_session, probe
from .judge import Asked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..cases.conversation import Conversation, Event
    from ..cases.server_process import ServerUnderTest

    OnClosed = Callable[[Conversation, str], None]

_MANY_EVENTS = 5_000  # then the process is replaced, so that the noise of many calls is no flood


class Unstartable(Exception):
    """The server could not be started again, or does not answer any more."""


class FuzzedServer:
    """A server for any number of sequential calls."""

    def __init__(
        self,
        start: Callable[[], ServerUnderTest],
        revision: str,
        timeout_seconds: float,
        start_seconds: float,
        on_closed: OnClosed | None = None,
    ) -> None:
        self._start = start
        self._on_closed = on_closed
        self._revision = revision
        self._timeout = timeout_seconds
        self._start_seconds = start_seconds
        self._server: ServerUnderTest | None = None
        self._calls = 0

    def __enter__(self) -> FuzzedServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process; the next call starts another."""
        if self._server is not None:
            server, self._server = self._server, None
            server.close(0)
            if self._on_closed is not None:
                self._on_closed(server.conversation, self._revision)

    def call(self, name: str, arguments: dict[str, Any]) -> Asked:
        """Call the tool of this *name* and then see whether the server still answers.

        Raises:
            Unstartable: if it had to be started, and could not be.
        """
        server = self._server = self._server or self._opened()
        self._calls += 1
        call, alive = f"fuzz-{self._calls}", f"fuzz-{self._calls}-alive"
        begin = len(server.conversation.events)
        request = {"id": call, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        is_well = (
            server.request(completed(request, self._revision), self._timeout) is not None
            and server.request(probe(alive, self._revision), self._timeout) is not None
        )
        trouble = "" if is_well else server.conversation.flooded or f"nothing came in {self._timeout:g} s"
        asked = Asked(call, alive, server.conversation.events[begin:], trouble)
        if trouble or server.conversation.ended or len(server.conversation.events) > _MANY_EVENTS:
            self._last = list(server.conversation.events)
            self.close()
        return asked

    def everything(self) -> Sequence[Event]:
        """Return all that was said to and by the process that answered last, from its start."""
        return self._last if self._server is None else list(self._server.conversation.events)

    def _opened(self) -> ServerUnderTest:
        try:
            server = self._start()
        except NotStarted as error:
            raise Unstartable(str(error)) from None
        if obstacle := open_session(server, self._revision, self._start_seconds):
            server.close(0)
            raise Unstartable(obstacle.why)
        return server
