"""The client: ask a server, wait, hear of progress, cancel. Written once, for event loops and for blocking threads."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import msgspec

from .errors import Closed, TimedOut
from .protocol.client_protocol import LOG_LEVEL, Session
from .protocol.events import Event, Listening, ToolsChanged
from .protocol.results import CallResult, ToolDescription, describe
from .session.connection import Connection, Nowhere
from .session.elicitation import Asker
from .session.handshake import Welcome, shake_hands
from .session.request import Exchange, OnProgress
from .session.restart_policy import Restarts
from .session.tool_call import AsyncPendingCall
from .session.tool_list import Listing
from .waiting.deadline import Limit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from .settings import Settings
    from .waiting.base import Waiting

_NOT_OPEN = "the client is not open: use it inside its `with` block"


class Running(msgspec.Struct, frozen=True, eq=False):
    """A server that was started and got ready; it may have ended since."""

    connection: Connection
    welcome: Welcome
    listing: Listing


class AsyncClient:
    """A tool server's other end. Open inside `async with connect(...)`, where the server's process lives.

    Any number of tasks of one event loop may use it at once; cancelling one that waits cancels its request.
    """

    def __init__(self, settings: Settings, waiting: Waiting) -> None:
        self._settings = settings
        self._waiting = waiting
        self._asker = Asker(settings.on_ask, waiting)
        self._restarts = Restarts(settings.restart)
        self._starting = waiting.turn()
        self._running: Running | None = None
        self._connection: Connection | None = None  # also while its server is not ready yet
        self._closed: Closed | None = Closed(_NOT_OPEN)

    async def __aenter__(self) -> Self:
        self._closed = None
        try:
            self._running = await self._start(Limit(self._settings.start_timeout_seconds))
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    # The server

    @property
    def version(self) -> str | None:
        """The MCP revision spoken."""
        return self._running.welcome.version if self._running else None

    @property
    def server_info(self) -> dict[str, Any]:
        """The server's name and version, as it tells them."""
        return self._running.welcome.server_info if self._running else {}

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the server says that it can do."""
        return self._running.welcome.capabilities if self._running else {}

    @property
    def instructions(self) -> str | None:
        """What the server says about its use."""
        return self._running.welcome.instructions if self._running else None

    @property
    def pid(self) -> int | None:
        """The server's process id; `None` if it has no process of its own, or the client is closed."""
        return self._running.connection.wire.pid if self._running and not self._closed else None

    @property
    def stderr(self) -> str:
        """The last lines the server wrote to its stderr."""
        return self._running.connection.wire.stderr_tail() if self._running else ""

    @property
    def noise(self) -> int:
        """How many lines on the server's output were no messages."""
        return self._running.connection.noise if self._running else 0

    @property
    def noise_tail(self) -> list[str]:
        """The last of them."""
        return list(self._running.connection.noise_tail) if self._running else []

    # Asking

    async def list_tools(self, *, timeout_seconds: float | None = None) -> list[ToolDescription]:
        """Return every tool the server has, from all its pages.

        The server is asked again only if its tools may have changed. Raises what `request` raises.
        """
        return list(map(describe, await self.list_entries(timeout_seconds=timeout_seconds)))

    async def list_entries(self, *, timeout_seconds: float | None = None) -> list[Any]:
        """Return the same as the server sent it; an entry may be anything that JSON can say."""
        limit = Limit(timeout_seconds)
        running = await self._ready(limit)
        if running.welcome.tells_of_changes and running.connection.session.is_modern:
            running.listing.subscribe(running.connection)
        with self._exchange(running) as exchange:
            return await running.listing.read(exchange, limit)

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> CallResult:
        """Call a tool and wait for what it comes to. A tool that fails is a result too: see `is_error`.

        Raises what `AsyncPendingCall.result` raises.
        """
        limit = Limit(timeout_seconds)
        with self._exchange(await self._ready(limit), on_progress) as exchange:
            return await self._call(exchange, name, arguments).finish(limit)

    async def start(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
    ) -> AsyncPendingCall:
        """Call a tool and return as soon as the request is on its way."""
        with self._exchange(await self._ready(Limit(None)), on_progress) as exchange:
            return self._call(exchange, name, arguments)

    async def ping(self, *, timeout_seconds: float | None = None) -> float:
        """Return how many seconds the server takes to answer anything at all.

        The modern revision has no `ping`: there it is asked to describe itself.
        """
        limit = Limit(timeout_seconds)
        running = await self._ready(limit)
        start = time.perf_counter()
        with self._exchange(running) as exchange:
            exchange.begin("server/discover" if running.connection.session.is_modern else "ping")
            await exchange.result(limit)
        return time.perf_counter() - start

    async def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> Any:
        """Send any request and return its result.

        Raises:
            RequestFailed: if the answer is an error.
            TimedOut: if it takes too long; the request is cancelled then, as by any exception while waiting.
            ServerGone: if the server ended.
            BrokenRules: if the answer cannot be read.
        """
        limit = Limit(timeout_seconds)
        with self._exchange(await self._ready(limit), on_progress) as exchange:
            exchange.begin(method, params)
            return await exchange.result(limit)

    async def close(self) -> None:
        """End the server. Whoever still waits is told; a second time does nothing."""
        self._closed = self._closed or Closed("the client was closed")
        if self._connection is not None:
            await self._waiting.apart(self._connection.close)

    def _call(self, exchange: Exchange, name: str, arguments: Mapping[str, Any] | None) -> AsyncPendingCall:
        return AsyncPendingCall(exchange, self._asker, self._waiting, name, dict(arguments or {}))

    def _exchange(self, running: Running, on_progress: OnProgress | None = None) -> Exchange:
        return Exchange(running.connection, self._waiting, self._asker, on_progress)

    # Starting

    async def _ready(self, limit: Limit) -> Running:
        """The server, started again if it has ended and may be."""
        if self._closed is not None:
            raise self._closed.again()
        running = self._running
        if running is not None and running.connection.end is None:
            return running
        if not await self._starting.take(limit.left()):
            raise TimedOut(f"the server was not started again {limit}")
        try:
            return await self._restart(limit)
        finally:
            self._starting.give_back()

    async def _restart(self, limit: Limit) -> Running:
        running = self._running
        if running is None:
            raise Closed(_NOT_OPEN)
        ended = running.connection.end
        if ended is None:  # somebody else has started it meanwhile
            return running
        pause, left = self._restarts.wait_seconds(), limit.left()
        if pause is None or (left is not None and pause > left):
            raise ended.again()
        await self._waiting.apart(running.connection.close)
        await self._waiting.sleep(pause)
        self._restarts.begin()
        self._running = running = await self._start(limit.at_most(self._settings.start_timeout_seconds))
        return running

    async def _start(self, limit: Limit) -> Running:
        settings, listing = self._settings, Listing()
        launch = partial(self._launch, listing)
        connection, welcome = await shake_hands(
            launch, self._waiting, limit, era=settings.era, command=settings.command
        )
        if not connection.session.is_modern:
            listing.promise(to_tell=welcome.tells_of_changes)
            if settings.on_log is not None and "logging" in welcome.capabilities:
                connection.begin(connection.session.request("logging/setLevel", {"level": LOG_LEVEL}), Nowhere())
        return Running(connection, welcome, listing)

    def _launch(self, listing: Listing) -> Connection:
        settings = self._settings
        session = Session(
            settings.name,
            settings.version,
            can_ask=settings.on_ask is not None,
            wants_log=settings.on_log is not None,
        )
        wire, hear = settings.launch(), partial(self._hear, listing)
        try:
            self._connection = Connection(wire, session, max_message_bytes=settings.max_message_bytes, hear=hear)
        except BaseException:
            wire.close()
            raise
        if self._closed is not None:  # by another thread, which may not have seen this one
            self._connection.close()
        return self._connection

    def _hear(self, listing: Listing, event: Event) -> None:
        """Take note of what belongs to no request; on the thread that reads."""
        if isinstance(event, ToolsChanged):
            listing.changed()
        elif isinstance(event, Listening):
            listing.promise(to_tell=event.to_tools)
        elif self._settings.on_log is not None:
            from .session.logs import log

            log(event, self._settings.on_log)
