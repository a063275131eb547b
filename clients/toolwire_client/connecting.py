"""Connect to a server: a command, an address, or an object in this process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from toolwire_schemas.wire.messages import DEFAULT_MAX_MESSAGE_BYTES

from .async_client import OWN_NAME, OWN_VERSION, START_TIMEOUT_SECONDS, AsyncClient, ClientSettings
from .client import Client
from .remote import RemoteServer, is_address, read_words
from .transport.child_process import ServerProcess, make_server_environment
from .waiting.base import Waiting, run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from toolwire_schemas.output import Output

    from .protocol.events import OnLog
    from .session.elicitation import OnAsk
    from .session.handshake import Era
    from .transport.base import InProcess, Transport


class PendingConnection:
    """A server to start: `with` gives its `Client`, `async with` its `AsyncClient`."""

    _client: AsyncClient

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings

    if not TYPE_CHECKING:  # or type checkers would accept the mistake

        def __getattr__(self, name: str) -> object:
            raise AttributeError(
                f"connect(...) has no {name!r}, the client in its block has: with connect(...) as"
                " client, or async with connect(...) as client"
            )

    def make_client(self, waiting: Waiting) -> AsyncClient:
        """Return a client that is not open yet and waits by *waiting*."""
        return AsyncClient(self._settings, waiting)

    def __enter__(self) -> Client:
        self._client = self.make_client(Waiting())
        return Client(self._client).__enter__()

    def __exit__(self, *error: object) -> None:
        run(self._client.close())

    async def __aenter__(self) -> AsyncClient:
        from .waiting.event_loop import (
            OnEventLoop,
        )  # imports anyio, which the synchronous client does not need

        self._client = self.make_client(OnEventLoop())
        return await self._client.__aenter__()

    async def __aexit__(self, *error: object) -> None:
        await self._client.close()


def connect(
    server: str | Sequence[str] | RemoteServer | InProcess,
    *,
    env: Mapping[str, str] | None = None,
    inherit_env: bool = False,
    cwd: str | os.PathLike[str] | None = None,
    show_stderr: bool | Output = False,
    era: Era = "auto",
    restart: bool | int = False,
    on_ask: OnAsk | None = None,
    on_log: OnLog | None = None,
    start_timeout_seconds: float | None = START_TIMEOUT_SECONDS,
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
    name: str = OWN_NAME,
    version: str = OWN_VERSION,
) -> PendingConnection:
    """Return what `with` turns into a `Client` of *server*, and `async with` into an `AsyncClient`.

    *server* is the command that starts it, which runs inside the block; the address of a remote
    server, as a text or a `RemoteServer`; or a server in this process. The latter two ignore the
    next four arguments. A remote server needs the extra `http`, and is reconnected by the next call
    after its connection was lost.

    Args:
        env: the server's environment, in addition to the few variables that the official clients
            pass on.
        inherit_env: pass on the whole environment of this process.
        cwd: the server's working folder.
        show_stderr: copy the server's stderr to ours, or to that output. Errors quote its last
            lines in any case.
        era: the family of MCP revisions to speak. By default the modern one is tried first.
        restart: how often to restart a server that ended, at its next call; `True` for any number,
            with growing pauses of up to 30 s. Open calls fail with `ServerGone` in any case, since
            their effect is unknown.
        on_ask: answers a tool's question to the user with the fields of the form,
            `NoAnswer.DECLINED` or `NoAnswer.DISMISSED`. Without it, servers learn that this client
            cannot ask. It runs where a call is waited for, possibly for several calls at once. For
            an `AsyncClient` it may be async.
        on_log: receives log entries on the reading thread: it must be quick and must not call the
            client.
        start_timeout_seconds: how long the server may take to get ready; `None` for no limit.
        max_message_bytes: the longest message accepted from the server; a longer response is an
            error.
        name: the client's name, as the server sees it.
        version: its version.

    Raises:
        BadConfiguration: if an address cannot be used.

    Raises (on entering the block):
        NotStarted: if the command cannot be run.
        Unreachable: if a remote server cannot be reached, or refuses this client.
        ServerGone: if the server ends before it is ready.
        TimedOut: if it is not ready in time.
        RequestFailed, BrokenRules: if it refuses all revisions of MCP that this client speaks.
    """
    launch: Callable[[], Transport]
    server = _read_server(server, env)
    is_remote = isinstance(server, RemoteServer)
    if isinstance(server, RemoteServer):
        launch = partial(server.open, max_message_bytes)
    elif isinstance(server, Sequence):
        environment = {**os.environ, **(env or {})} if inherit_env else make_server_environment(env)
        launch = partial(
            ServerProcess, [*server], env=environment, cwd=cwd, show_stderr=show_stderr
        )
    else:
        from .transport.base import InMemoryTransport

        launch = partial(InMemoryTransport, server.open_session)
    return PendingConnection(
        ClientSettings(
            launch=launch,
            era=era,
            restart=restart or is_remote,
            on_ask=on_ask,
            on_log=on_log,
            takes_tasks=True,
            loses_notifications=is_remote,
            start_timeout_seconds=start_timeout_seconds,
            max_message_bytes=max_message_bytes,
            name=name,
            version=version,
        )
    )


def _read_server(
    server: str | Sequence[str] | RemoteServer | InProcess, env: Mapping[str, str] | None
) -> Sequence[str] | RemoteServer | InProcess:
    """Return *server*, as a `RemoteServer` if it is an address.

    Raises:
        TypeError: if it is no server at all.
        BadConfiguration: if it is an address that cannot be used.
    """
    if isinstance(server, RemoteServer):
        return server
    if isinstance(server, str) and is_address(server):
        return RemoteServer(server)
    if isinstance(server, str | bytes):
        import shlex

        raise TypeError(
            f"the command must be a list of words: connect({shlex.split(os.fsdecode(server))})"
        )
    if isinstance(server, Sequence):
        if server and is_address(server[0]):
            return read_words(server, {**os.environ, **(env or {})})
        return server
    if not hasattr(server, "open_session"):
        raise TypeError(
            f"connect takes a command, an address or a server in this process, not {server!r}"
        )
    return server
