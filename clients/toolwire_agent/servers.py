"""Starts the servers of an agent: those of commands, and those of a host's configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client import PendingServers, connect, connect_config
from toolwire_client.async_client import START_TIMEOUT_SECONDS

from .toolbox.toolbox import find_free_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AsyncExitStack

    from toolwire_client import AsyncClient, ClientError

Trusted = bool | tuple[str, ...]
"""Whose hints are trusted: those of all clients, of none, or of the named ones."""


class UnknownServer(ValueError):
    """A server is named that has not been given. The text lists those that have."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(name, known)
        self.name = name
        self.known = known

    def __str__(self) -> str:
        servers = ", ".join(map(repr, self.known)) or "none"
        return f"{self.name!r} is no server; the servers are {servers}"


class Command(msgspec.Struct, frozen=True):
    """A command that starts a server. *is_own* for Toolwire's own server of the user's targets."""

    words: Sequence[str]
    is_own: bool = False


class StartedServers(msgspec.Struct, frozen=True):
    """The clients of an agent by the names of its tools' sources.

    `names` gives the name of each by the text that the user has written for it: that of the
    configuration, or the command.
    """

    clients: dict[str, AsyncClient]
    names: dict[str, str]
    failed: dict[str, ClientError]

    def find_trusted(self, trust_hints: Sequence[str]) -> Trusted:
        """Return the clients whose hints are trusted: `yes`, `no`, or texts that the user has
        written.

        Raises:
            UnknownServer: if one of *trust_hints* is no server.
        """
        if list(trust_hints) in (["yes"], ["no"]):
            return trust_hints[0] == "yes"
        known = {*self.names, *self.failed}
        for text in trust_hints:
            if text not in known:
                raise UnknownServer(text, sorted(known))
        return tuple(name for text, name in self.names.items() if text in trust_hints)


async def start_servers(
    stack: AsyncExitStack,
    commands: Mapping[str, Command],
    config: str | None,
    *,
    on_ask: Any,
    on_failure: Callable[[str, ClientError], object],
    timeout_seconds: float | None = None,
) -> StartedServers:
    """Start the servers of *commands* and of the configuration file *config*, which *stack* closes.

    All have to be ready within *timeout_seconds*. *on_failure* is called with the text of each
    server that does not start and its error; it may raise.

    Raises:
        BadConfiguration: if *config* is not a host's configuration.
    """
    seconds = START_TIMEOUT_SECONDS if timeout_seconds is None else timeout_seconds
    connecting = {"restart": True, "on_ask": on_ask, "start_timeout_seconds": seconds}
    configured = connect_config({"mcpServers": {}} if config is None else config, **connecting)
    connections = dict(configured.connections)
    for text, command in commands.items():
        connections[text] = connect(
            command.words,
            # A command typed by the user is expected to inherit their environment.
            inherit_env=True,
            # Toolwire's own server reports why it cannot load a target, and tracebacks of the
            # user's tools.
            show_stderr=command.is_own,
            era="modern" if command.is_own else "auto",
            **connecting,
        )
    pending = PendingServers(connections, configured.errors)
    servers = await stack.enter_async_context(pending)
    for text, error in servers.errors.items():
        on_failure(text, error)
    clients = {name: client for name, client in servers.items() if name not in commands}
    names = {name: name for name in clients}
    for text in commands:
        if text not in servers:
            continue
        names[text] = find_free_name(
            str(servers[text].server_info.get("name") or "server"), clients
        )
        clients[names[text]] = servers[text]
    return StartedServers(clients, names, servers.errors)
