"""Several servers at once, as a configuration names them. What fails of one concerns no other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .client import Client
from .connect import connect
from .errors import ClientError
from .host_config import ServerConfig, read_config
from .settings import START_TIMEOUT_SECONDS
from .waiting.blocking import Blocking, run

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from types import TracebackType

    from .async_client import AsyncClient
    from .connect import PendingConnection
    from .session.elicitation import OnAsk
    from .session.handshake import Era
    from .session.logs import OnLog
    from .waiting.base import Waiting

C = TypeVar("C")


class Servers(Mapping[str, C], Generic[C]):
    """The clients of the servers that got ready, by name.

    `errors` tells why the others did not; to look one of them up raises its error.
    """

    def __init__(self, clients: Mapping[str, C], errors: dict[str, ClientError]) -> None:
        self._clients = clients
        self.errors = errors

    def __getitem__(self, name: str) -> C:
        if name in self.errors:
            raise self.errors[name].again()
        return self._clients[name]

    def __contains__(self, name: object) -> bool:
        return name in self._clients

    def __iter__(self) -> Iterator[str]:
        return iter(self._clients)

    def __len__(self) -> int:
        return len(self._clients)


class PendingServers:
    """Servers to be started, all together: `with` makes a `Client` of each, `async with` an `AsyncClient`."""

    def __init__(self, openings: Mapping[str, PendingConnection], errors: Mapping[str, ClientError]) -> None:
        self._openings = openings
        self._errors = errors
        self._fleet: _Fleet | None = None

    def __enter__(self) -> Servers[Client]:
        fleet = self._begin(Blocking())
        run(fleet.start())
        return Servers({name: Client(client) for name, client in fleet.clients.items()}, fleet.errors)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._fleet is not None:
            run(self._fleet.close())

    async def __aenter__(self) -> Servers[AsyncClient]:
        from .waiting.event_loop import OnEventLoop

        fleet = self._begin(OnEventLoop())
        await fleet.start()
        return Servers(fleet.clients, fleet.errors)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._fleet is not None:
            await self._fleet.close()

    def _begin(self, waiting: Waiting) -> _Fleet:
        clients = {name: opening.client(waiting) for name, opening in self._openings.items()}
        self._fleet = _Fleet(clients, dict(self._errors), waiting)
        return self._fleet


class _Fleet:
    """Clients that are opened and closed side by side; only those that could be opened stay among them."""

    def __init__(self, clients: dict[str, AsyncClient], errors: dict[str, ClientError], waiting: Waiting) -> None:
        self.clients = clients
        self.errors = errors
        self._waiting = waiting

    async def start(self) -> None:
        try:
            await self._waiting.gather([partial(self._start, name) for name in self.clients])
        except BaseException:
            await self.close()
            raise
        for name in self.errors.keys() & self.clients.keys():
            del self.clients[name]

    async def close(self) -> None:
        await self._waiting.gather([client.close for client in self.clients.values()])

    async def _start(self, name: str) -> None:
        try:
            await self.clients[name].__aenter__()
        except ClientError as error:
            self.errors[name] = error


def connect_config(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    inputs: Mapping[str, str] | None = None,
    show_stderr: bool = False,
    era: Era = "auto",
    restart: bool | int = False,
    on_ask: OnAsk | None = None,
    on_log: OnLog | None = None,
    start_timeout_seconds: float | None = START_TIMEOUT_SECONDS,
) -> PendingServers:
    """Return what `with` turns into a `Client`, and `async with` into an `AsyncClient`, for each of several servers.

    *source* is the file of a host, with `{"mcpServers": {"name": {"command": ..., "args": ..., "env": ...}}}` or VS
    Code's `servers`, or what such a file holds. *inputs* are the values of `${input:...}`. Commands run in our working
    folder, if the file does not say otherwise. The other arguments are as in `connect`.

    A server that does not get ready is among the `errors` of what the block begins with, and all others are clients.

    Raises:
        OSError: if the file cannot be read.
        BadConfiguration: if it is none.
    """
    read = read_config(source, inputs or {})
    return PendingServers(
        {
            name: connect(
                server.command,
                env=server.env,
                cwd=server.cwd,
                show_stderr=show_stderr,
                era=era,
                restart=restart,
                on_ask=on_ask,
                on_log=on_log,
                start_timeout_seconds=start_timeout_seconds,
            )
            for name, server in read.items()
            if isinstance(server, ServerConfig)
        },
        {name: error for name, error in read.items() if isinstance(error, ClientError)},
    )
