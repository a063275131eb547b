"""From a command, or a server in this process, to a client of either kind."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from toolwire_schemas.wire.frames import DEFAULT_MAX_MESSAGE_BYTES

from .async_client import AsyncClient
from .client import Client
from .settings import OWN_NAME, OWN_VERSION, START_TIMEOUT_SECONDS, Settings
from .transport.child_process import ServerProcess
from .transport.environment import server_environment
from .waiting.blocking import Blocking

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from .session.elicitation import OnAsk
    from .session.handshake import Era
    from .session.logs import OnLog
    from .transport.base import InProcess, Transport
    from .waiting.base import Waiting


class PendingConnection:
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
        from .waiting.event_loop import OnEventLoop  # with anyio, which the synchronous client can do without

        self._async_client = self.client(OnEventLoop())
        return await self._async_client.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._async_client is not None:
            await self._async_client.close()


def connect(
    server: Sequence[str] | InProcess,
    *,
    env: Mapping[str, str] | None = None,
    inherit_env: bool = False,
    cwd: str | os.PathLike[str] | None = None,
    show_stderr: bool = False,
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

    *server* is the command that starts it, which runs inside the block, or a server in this process, for which the
    next four do not matter.

    Args:
        env: the server's environment, on top of the handful of our variables that the official clients pass on.
        inherit_env: pass on all of ours instead.
        cwd: the folder it runs in.
        show_stderr: let what it writes to its stderr appear on ours; the last of it is in errors anyway.
        era: the family of MCP revisions to speak. By itself the modern one is tried first; what a command was found to
            speak is remembered within this process.
        restart: start the server again if it has ended and is called again: so many times, or as often as needed
            (`True`) with growing pauses of up to 30 s. Calls that were under way fail with `ServerGone` all the same:
            nobody knows what they did.
        on_ask: asked when a tool asks the user something; returns the fields of the answer, `NoAnswer.DECLINED` or
            `NoAnswer.DISMISSED`. Without it servers are told that nobody can be asked. It runs where a call is waited
            for, and may be running for several calls at once. For an `AsyncClient` it may be async.
        on_log: told what is worth noting, on the thread that reads: it must be quick and not call the client.
        start_timeout_seconds: how long the server may take to get ready; `None` for ever.
        max_message_bytes: how long a message of the server's may be; a longer answer is an error.
        name: what the client calls itself.
        version: the version it gives.

    Raises (on entering the block):
        NotStarted: if the command cannot be run.
        ServerGone: if the server ends before it is ready.
        TimedOut: if it takes too long.
        RequestFailed, BrokenRules: if it refuses every revision of MCP known here.
    """
    if isinstance(server, str | bytes):
        import shlex

        raise TypeError(f"the command must be a list of words: connect({shlex.split(os.fsdecode(server))})")
    if not isinstance(server, Sequence) and not hasattr(server, "converse"):
        raise TypeError(f"connect takes a command, or a server in this process, and not {server!r}")
    launch: Callable[[], Transport]
    if isinstance(server, Sequence):
        environment = {**os.environ, **(env or {})} if inherit_env else server_environment(env)
        launch = partial(ServerProcess, [*server], env=environment, cwd=cwd, show_stderr=show_stderr)
        command = (*server, str(cwd))
    else:
        from .transport.base import InMemoryTransport

        launch, command = partial(InMemoryTransport, server.converse), None
    return PendingConnection(
        Settings(
            launch=launch,
            command=command,
            era=era,
            restart=restart,
            on_ask=on_ask,
            on_log=on_log,
            start_timeout_seconds=start_timeout_seconds,
            max_message_bytes=max_message_bytes,
            name=name,
            version=version,
        )
    )
