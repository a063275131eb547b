"""A server that is about to be asked, with or without an event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .async_client import AsyncClient
from .client import Client
from .waiting.blocking import Blocking

if TYPE_CHECKING:
    from types import TracebackType

    from .settings import Settings
    from .waiting.base import Waiting


class Opening:
    """A server to be started: `with` makes a `Client` of it, `async with` an `AsyncClient`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client: Client | None = None
        self._async_client: AsyncClient | None = None

    if not TYPE_CHECKING:  # a type checker is to find the mistake itself

        def __getattr__(self, name: str) -> object:
            raise AttributeError(
                f"connect(...) has no {name!r}, the client in its block has: with connect(...) as client, "
                "or async with connect(...) as client"
            )

    def client(self, waiting: Waiting) -> AsyncClient:
        """Return a client that waits in this way, and is not open yet."""
        return AsyncClient(self._settings, waiting)

    def __enter__(self) -> Client:
        self._client = Client(self.client(Blocking()))
        return self._client.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._client is not None:
            self._client.close()

    async def __aenter__(self) -> AsyncClient:
        from .waiting.event_loop import OnLoop  # with anyio, which the synchronous client can do without

        self._async_client = self.client(OnLoop())
        return await self._async_client.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._async_client is not None:
            await self._async_client.close()
