"""The servers that `ask` and `chat` name: commands, targets and those of a config file."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from toolwire_schemas.language import say
from toolwire_schemas.output import make_printable

from ...errors import Failed, UsageError
from ..open_client import (
    check_remote,
    explain_failure,
    format_loading_options,
    format_own_command,
    split_command,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AsyncExitStack

    from toolwire_agent.servers import Trusted
    from toolwire_client import AsyncClient, ClientError

    from ..options import Words


class ServersToStart:
    """The servers of a command line."""

    def __init__(self, words: Words) -> None:
        self._trust: list[str] = words.options.get("trust_hints", [])
        if len(self._trust) > 1 and not {"yes", "no"}.isdisjoint(self._trust):
            raise UsageError("--trust-hints takes servers, or else yes or no alone")
        self._config: str | None = words.options.get("config")
        self._commands: dict[str, list[str]] = {}
        for text in words.options.get("server", ()):
            self._commands[text] = split_command(text)
        if words.command is not None:
            self._commands[shlex.join(words.command)] = words.command
        if [] in self._commands.values():
            raise UsageError("a server's command is missing, after --server or `--`")
        for command in self._commands.values():
            check_remote(command)
        targets = words.options.get("tools", [])
        self._own = shlex.join(["toolwire", "serve", *targets]) if targets else None
        if self._own:
            self._commands[self._own] = format_own_command(targets, words.options)
        self.are_any = bool(self._commands or self._config)
        self.words = _format_words(words)
        """What names the same servers on a command line."""

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
        from toolwire_agent.servers import Command, UnknownServer, start_servers
        from toolwire_client import BadConfiguration

        def on_failure(name: str, error: ClientError) -> None:
            failed = explain_failure(error, is_ours=name == self._own)
            if name == self._own:
                raise failed
            if name in self._commands:
                raise Failed(make_printable(f"{name} does not start: {error}"), failed.status)
            sentence = say("{name} does not start: {error}", name=name, error=error)
            tell(make_printable(sentence))

        commands = {
            text: Command(words, is_own=text == self._own) for text, words in self._commands.items()
        }
        try:
            servers = await start_servers(
                stack,
                commands,
                self._config,
                on_ask=on_ask,
                on_failure=on_failure,
                timeout_seconds=timeout_seconds,
            )
        except BadConfiguration as error:
            raise UsageError(str(error)) from None
        if self._own:
            own = servers.clients[servers.names[self._own]]
            await _wait_for_tools(own, timeout_seconds)
        trust_hints = self._trust
        if self._own and trust_hints not in (["yes"], ["no"]):
            trust_hints = [*trust_hints, self._own]
        try:
            return servers.clients, servers.find_trusted(trust_hints)
        except UnknownServer as error:
            known = ", ".join(map(repr, error.known)) or "none"
            raise UsageError(
                f"--trust-hints takes yes, no or a server, not {error.name!r}; the servers are"
                f" {known}"
            ) from None


def _format_words(words: Words) -> str:
    named: list[str] = []
    for option in ("tools", "server"):
        for text in words.options.get(option, ()):
            named += [f"--{option}", text]
    if "config" in words.options:
        named += ["--config", words.options["config"]]
    named += format_loading_options(words.options)
    if words.command is not None:
        named += ["--", *words.command]
    return shlex.join(named)


async def _wait_for_tools(client: AsyncClient, timeout_seconds: float | None) -> None:
    """Wait until our own server has imported its tools, which it does after the handshake.

    Raises:
        Failed: if it cannot; the server reports the reason itself.
    """
    from toolwire_client import ClientError

    try:
        await client.list_tools(timeout_seconds=timeout_seconds)
    except ClientError as error:
        raise explain_failure(error, is_ours=True) from None
