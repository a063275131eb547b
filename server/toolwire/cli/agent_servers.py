"""Starts the servers that `ask` and `chat` name: commands, targets and those of a config file."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from toolwire_schemas.output import printable

from ..errors import Failed, UsageError
from .open_client import failure, own_command, words_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AsyncExitStack

    from toolwire_client import AsyncClient

    from .options import Words

Trusted = bool | tuple[str, ...]
"""Whose hints are trusted: those of all clients, of none, or of the named ones."""


class ServersToStart:
    """The servers of a command line."""

    def __init__(self, words: Words) -> None:
        self._trust: list[str] = words.options.get("trust_hints", [])
        if len(self._trust) > 1 and not {"yes", "no"}.isdisjoint(self._trust):
            raise UsageError("--trust-hints takes servers, or else yes or no alone")
        self._config: str | None = words.options.get("config")
        self._commands = {text: words_of(text) for text in words.options.get("server", ())}
        if words.command is not None:
            self._commands[shlex.join(words.command)] = words.command
        if [] in self._commands.values():
            raise UsageError("a server's command is missing, after --server or `--`")
        targets = words.options.get("tools", [])
        self._own = shlex.join(["toolwire", "serve", *targets]) if targets else None
        if self._own:
            self._commands[self._own] = own_command(targets, words.options)
        self.are_any = bool(self._commands or self._config)

    async def start(
        self,
        stack: AsyncExitStack,
        on_ask: Any,
        tell: Callable[[str], object],
        timeout_seconds: float | None,
    ) -> tuple[dict[str, AsyncClient], Trusted]:
        """Return the clients of all servers, which *stack* closes, and those whose hints are
        trusted.

        All have to be ready within *timeout_seconds*. Servers named on the command line must start;
        *tell* reports failures of those of a config file.
        """
        from toolwire_agent.toolbox.toolbox import free_name
        from toolwire_client import BadConfiguration, PendingServers, connect, connect_config
        from toolwire_client.async_client import START_TIMEOUT_SECONDS

        seconds = START_TIMEOUT_SECONDS if timeout_seconds is None else timeout_seconds
        connecting = {"restart": True, "on_ask": on_ask, "start_timeout_seconds": seconds}
        try:
            named = connect_config(
                {"mcpServers": {}} if self._config is None else self._config, **connecting
            )
        except BadConfiguration as error:
            raise UsageError(str(error)) from None
        typed = {
            text: connect(
                command,
                # A command typed by the user is expected to inherit their environment.
                inherit_env=True,
                # Toolwire's own server reports why it cannot load a target, and tracebacks of the
                # user's tools.
                show_stderr=text == self._own,
                era="modern" if text == self._own else "auto",
                **connecting,
            )
            for text, command in self._commands.items()
        }
        servers = await stack.enter_async_context(
            PendingServers({**named.connections, **typed}, named.errors)
        )
        for name, reason in servers.errors.items():
            failed = failure(reason, is_ours=name == self._own)
            if name == self._own:
                raise failed
            sentence = printable(f"{name} does not start: {reason}")
            if name in typed:
                raise Failed(sentence, failed.status)
            tell(sentence)
        clients = {name: client for name, client in servers.items() if name not in typed}
        names = {name: name for name in clients}  # of the clients, by the names in the command line
        for text in typed:
            names[text] = free_name(str(servers[text].server_info.get("name") or "server"), clients)
            clients[names[text]] = servers[text]
        return clients, self._trusted(names, {*names, *servers.errors})

    def _trusted(self, names: dict[str, str], known: set[str]) -> Trusted:
        if self._trust in (["yes"], ["no"]):
            return self._trust == ["yes"]
        for text in self._trust:
            if text not in known:
                servers = ", ".join(map(repr, sorted(known))) or "none"
                raise UsageError(
                    f"--trust-hints takes yes, no or a server, not {text!r}; the servers are"
                    f" {servers}"
                )
        return tuple(name for text, name in names.items() if text in (*self._trust, self._own))
