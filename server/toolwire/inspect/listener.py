"""The connections of the page: those that do not know its token are few, and do not stay.

Any program on the machine can connect. Connections that have not named the token may be at most
`MAX_STRANGERS`, and each has `STRANGER_SECONDS` to send the head of a request that names it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

MAX_STRANGERS = 32
"""How many connections that have not named the token are open at a time. A browser opens six."""

STRANGER_SECONDS = 10.0
"""How long such a connection may stay. The page's own requests come at once."""


class PageProtocol(H11Protocol):
    """One connection to the page, whose application is a `Page`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._page: Any = self.config.app
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        strangers = self._page.strangers
        if len(strangers) >= MAX_STRANGERS:
            transport.abort()
            return
        strangers.add(self)
        self._deadline = self.loop.call_later(STRANGER_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if (
            self._deadline is not None
            and self.scope is not None
            and self._page.guard.knows(self.scope["path"])
        ):
            self._accept()

    def connection_lost(self, exc: Exception | None) -> None:
        self._accept()
        super().connection_lost(exc)

    def _accept(self) -> None:
        """Stop counting this connection among the strangers."""
        self._page.strangers.discard(self)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
