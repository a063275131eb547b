"""Connect to all servers of a configuration; the failure of one does not affect the others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from .async_client import START_TIMEOUT_SECONDS
from .client import Client
from .connecting import connect
from .errors import ClientError
from .host_config import ServerConfig, read_config
from .waiting.base import Waiting, run

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from toolwire_schemas.output import Output

    from .async_client import AsyncClient
    from .connecting import PendingConnection
    from .protocol.events import OnLog
    from .session.elicitation import OnAsk
    from .session.handshake import Era

C = TypeVar("C")


class Servers(dict[str, C]):
    """The clients of the servers that got ready, by name.

    `errors` holds the errors of the others; looking one of them up raises its error.
    """

    def __init__(self, clients: Mapping[str, C], errors: dict[str, ClientError]) -> None:
        super().__init__(clients)
        self.errors = errors

    def __missing__(self, name: str) -> C:
        raise self.errors[name].copy() if name in self.errors else KeyError(name)


class PendingServers:
    """Servers to start concurrently: `with` gives a `Client` of each, `async with` an
    `AsyncClient`.
    """

    def __init__(
        self, connections: Mapping[str, PendingConnection], errors: Mapping[str, ClientError]
    ) -> None:
        self.connections = connections
        self.errors = dict(errors)
        self._clients: dict[str, AsyncClient] = {}
        self._waiting = Waiting()

    def __enter__(self) -> Servers[Client]:
        clients, errors = run(self._open(Waiting()))
        return Servers({name: Client(client) for name, client in clients.items()}, errors)

    def __exit__(self, *error: object) -> None:
        run(self._close())

    async def __aenter__(self) -> Servers[AsyncClient]:
        from .waiting.event_loop import OnEventLoop

        return Servers(*await self._open(OnEventLoop()))

    async def __aexit__(self, *error: object) -> None:
        await self._close()

    async def _open(
        self, waiting: Waiting
    ) -> tuple[dict[str, AsyncClient], dict[str, ClientError]]:
        self._waiting = waiting
        self._clients = {
            name: connection.make_client(waiting) for name, connection in self.connections.items()
        }
        errors = dict(self.errors)

        async def start(name: str) -> None:
            try:
                await self._clients[name].__aenter__()
            except ClientError as error:
                errors[name] = error

        try:
            await waiting.gather([partial(start, name) for name in self._clients])
        except BaseException:
            await self._close()
            raise
        return {
            name: client for name, client in self._clients.items() if name not in errors
        }, errors

    async def _close(self) -> None:
        await self._waiting.gather([client.close for client in self._clients.values()])


def connect_config(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    inputs: Mapping[str, str] | None = None,
    show_stderr: bool | Output = False,
    era: Era = "auto",
    restart: bool | int = False,
    on_ask: OnAsk | None = None,
    on_log: OnLog | None = None,
    start_timeout_seconds: float | None = START_TIMEOUT_SECONDS,
) -> PendingServers:
    """Return the servers of a configuration: `with` gives a `Client` of each, `async with` an
    `AsyncClient`.

    *source* is a host's file, with `{"mcpServers": {"name": {"command": ..., "args": ..., "env":
    ...}}}` or VS Code's `servers`, or the content of such a file. *inputs* are the values of
    `${input:...}`. Commands run in our working folder unless the file names another. The other
    arguments are as in `connect`.

    Servers that do not get ready are in the `errors` of the block's value.

    Raises:
        OSError: if the file cannot be read.
        BadConfiguration: if it is not a configuration of servers.
    """
    read = read_config(source, inputs or {})
    connect_one = partial(
        connect,
        show_stderr=show_stderr,
        era=era,
        restart=restart,
        on_ask=on_ask,
        on_log=on_log,
        start_timeout_seconds=start_timeout_seconds,
    )
    servers = {name: server for name, server in read.items() if isinstance(server, ServerConfig)}
    return PendingServers(
        {
            name: connect_one(server.command, env=server.env, cwd=server.cwd)
            for name, server in servers.items()
        },
        {name: error for name, error in read.items() if isinstance(error, ClientError)},
    )
