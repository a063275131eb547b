"""Builds what `ask` and `chat` need from the command line: model, servers, limits and renderer."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from toolwire_schemas.output import printable

from ..errors import Failed, LoadError, UsageError
from .open_client import own_command

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager, AsyncExitStack

    from toolwire_client import AsyncClient, ClientError, Question, Servers
    from toolwire_client.agent import Budgets
    from toolwire_client.models import Model
    from toolwire_client.session.elicitation import Answer
    from toolwire_client.terminal import Renderer

    from .options import Words

_LIMITS = {"turns": "max_turns", "tokens": "max_tokens"}
_FINAL = 0.25
"""The part of `--timeout` that is kept for the last turn, with the final answer."""
_MAX_FINAL_SECONDS = 60.0
_LEAST_SECONDS = 0.01


def model_of(options: dict[str, Any]) -> Model:
    """Return the model that is named, by an option or by the transcript that is resumed.

    Raises:
        UsageError: if none is.
        LoadError: if there is no such model, or it cannot be made.
    """
    from toolwire_client.models import ModelError, known_names, model_from_name

    from ..loading.importing import explained

    name = options.get("model") or _recorded_model(options)
    if name is None:
        raise UsageError(f"say which model to ask, with --model NAME. Known: {', '.join(known_names())}")
    settings = {"base_url": options["base_url"]} if "base_url" in options else {}

    def make() -> Model:
        try:
            return model_from_name(name, **settings)
        except (ModelError, OSError) as error:
            raise LoadError(str(error)) from None

    return explained(name, make)


def _recorded_model(options: dict[str, Any]) -> str | None:
    """The model that the transcript names; None if it names none, or one whose code a file is not to run."""
    from toolwire_client.agent import BrokenTranscript, load
    from toolwire_client.agent.events import Started
    from toolwire_client.models.by_name import needs_no_code

    if "resume" not in options:
        return None
    try:
        started = load(options["resume"])[0]
    except BrokenTranscript as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"cannot open {options['resume']}: {error.strerror}") from None
    return started.model if isinstance(started, Started) and needs_no_code(started.model) else None


def face_of(options: dict[str, Any], *, thinks: bool) -> Renderer:
    """Return the renderer of a run: rich on a terminal, plain text elsewhere, or JSON.

    Without *thinks* there is no animation while the model works.
    """
    from toolwire_client.terminal import JsonRenderer, PlainRenderer

    if options.get("json"):
        return JsonRenderer(sys.stdout, sys.stderr)
    plain = PlainRenderer(sys.stdout, sys.stderr)
    if not (sys.stdout.isatty() and sys.stderr.isatty()) or os.environ.get("TERM") == "dumb":
        return plain
    try:
        from toolwire_client.terminal.rich_renderer import RichRenderer
    except ImportError:
        note(plain, "with rich this looks better: pip install 'toolwire[agent]'")
        return plain
    return RichRenderer(thinks=thinks)


def budgets_of(options: dict[str, Any], spent_seconds: float = 0.0) -> Budgets:
    """Return the budgets of a question that has already taken *spent_seconds*.

    Raises:
        UsageError: if they are too small for any run.
    """
    from toolwire_client.agent import Budgets

    limits = {name: options[option] for name, option in _LIMITS.items() if option in options}
    if "timeout" in options:
        left = options["timeout"]
        if spent_seconds:
            left = max(_LEAST_SECONDS, left - spent_seconds)
        limits["final_seconds"] = min(_FINAL * left, _MAX_FINAL_SECONDS)
        limits["seconds"] = left - limits["final_seconds"]
    try:
        return Budgets(**limits)
    except ValueError as error:
        raise UsageError(f"the limits are too small: {error}") from None


def note(face: Renderer, text: str) -> None:
    """Show a note that is not part of the run."""
    from toolwire_client.terminal import Line

    face.tell(Line("note", printable(text)))


def is_attended() -> bool:
    """Return whether a user at a terminal can be asked."""
    return is_typed_at() and sys.stderr.isatty()


def is_typed_at() -> bool:
    """Return whether standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def person(*, before: Callable[[], object]) -> Callable[[Question], Answer] | None:
    """Return a handler that puts elicitations to the user at the terminal; `None` without a terminal.

    It calls *before* before each of them.
    """
    if not is_attended():
        return None

    def fill_in(question: Question) -> Answer:
        from toolwire_client.terminal import Keyboard, Person, PlainRenderer

        before()
        return Person(Keyboard(nullcontext).read, PlainRenderer(sys.stdout, sys.stderr).tell).fill_in(question)

    return fill_in


def check_set(options: dict[str, Any]) -> None:
    """Check that `--set` is given only where bundled tools may be.

    Raises:
        UsageError: if it is not.
    """
    if "set" in options and "tools" not in options:
        raise UsageError("--set goes with --tools: name the bundled tool there")


class ServersToStart:
    """The servers of a command line. After the start, `trusted` names those whose hints are trusted."""

    trusted: bool | tuple[str, ...]

    def __init__(self, words: Words) -> None:
        self._trust: list[str] = words.options.get("trust_hints", [])
        if len(self._trust) > 1 and not {"yes", "no"}.isdisjoint(self._trust):
            raise UsageError("--trust-hints takes servers, or else yes or no alone")
        self._config: str | None = words.options.get("config")
        self._commands = {text: _command(text) for text in words.options.get("server", ())}
        if words.command is not None:
            if not words.command:
                raise UsageError("the server's command is missing after `--`")
            self._commands[shlex.join(words.command)] = words.command
        targets = words.options.get("tools", [])
        self._own = shlex.join(["toolwire", "serve", *targets]) if targets else None
        if self._own:
            self._commands[self._own] = own_command(targets, words.options.get("set", ()))

    @property
    def are_any(self) -> bool:
        """Whether any server is named."""
        return bool(self._commands or self._config)

    async def start(
        self, stack: AsyncExitStack, on_ask: Any, tell: Callable[[str], object], timeout_seconds: float
    ) -> dict[str, AsyncClient]:
        """Return the clients of all servers, which *stack* closes. All have to be ready within *timeout_seconds*.

        Servers named on the command line must start; for those of a config file, *tell* reports failures.
        """
        from toolwire_client import PendingServers, connect
        from toolwire_client.waiting.deadline import Deadline

        limit = Deadline(timeout_seconds)
        configured = await stack.enter_async_context(self._configured(on_ask, timeout_seconds))
        for name, error in configured.errors.items():
            tell(f"{name} does not start: {error}")
        openings = {
            text: connect(
                command,
                # A command typed by the user is expected to inherit their environment.
                inherit_env=True,
                # Our own says why it cannot load a target, and shows tracebacks of the user's tools.
                show_stderr=text == self._own,
                era="modern" if text == self._own else "auto",
                restart=True,
                on_ask=on_ask,
                start_timeout_seconds=limit.left(),
            )
            for text, command in self._commands.items()
        }
        typed: Servers[AsyncClient] = await stack.enter_async_context(PendingServers(openings, {}))
        for text, error in typed.errors.items():
            raise self._failure(text, error)
        clients = dict(configured)
        names = {name: name for name in clients}  # as the clients are called, by what was typed
        for text, client in typed.items():
            names[text] = _free(str(client.server_info.get("name") or "server"), clients)
            clients[names[text]] = client
        self.trusted = self._trusted(names, {*names, *configured.errors})
        return clients

    def _trusted(self, names: dict[str, str], known: set[str]) -> bool | tuple[str, ...]:
        if self._trust in (["yes"], ["no"]):
            return self._trust == ["yes"]
        for text in self._trust:
            if text not in known:
                servers = ", ".join(map(repr, sorted(known))) or "none"
                raise UsageError(f"--trust-hints takes yes, no or a server, not {text!r}; the servers are {servers}")
        believed = (*self._trust, self._own)
        return tuple(name for text, name in names.items() if text in believed)

    def _configured(self, on_ask: Any, timeout_seconds: float) -> AbstractAsyncContextManager[Servers[AsyncClient]]:
        from toolwire_client import BadConfiguration, connect_config

        try:
            return connect_config(
                self._config or {"mcpServers": {}},
                restart=True,
                on_ask=on_ask,
                start_timeout_seconds=timeout_seconds,
            )
        except BadConfiguration as error:
            raise UsageError(str(error)) from None
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise UsageError(f"cannot read {self._config}: {reason}") from None

    def _failure(self, text: str, error: ClientError) -> Failed:
        from toolwire_client import NotStarted, ServerGone

        if text == self._own and isinstance(error, ServerGone):
            refused = error.exit_status == 2  # and it has said why
            return Failed("" if refused else error.reason, 2 if refused else 1)
        return Failed(printable(f"{text} does not start: {error}"), 2 if isinstance(error, NotStarted) else 1)


def _command(text: str) -> list[str]:
    try:
        command = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--server wants a command, and in {text!r} there is {str(error).lower()}") from None
    if not command:
        raise UsageError('--server wants a command, as in --server "npx -y some-mcp-server"')
    return command


def _free(name: str, taken: dict[str, Any]) -> str:
    """*name*, with a number appended if it is taken."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free
