"""Opens the client of the server that a command line names, and asks the user for it."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from ..errors import Failed, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from toolwire_client import Client, ClientError, Elicitation
    from toolwire_client.connecting import PendingConnection
    from toolwire_client.session.elicitation import Answer, OnAsk
    from toolwire_client.session.handshake import Era
    from toolwire_client.transport.base import Transport
    from toolwire_schemas.deadline import Deadline
    from toolwire_schemas.output import Output

    from .options import Words

    Launch = Callable[[], Transport]


def make_limit(words: Words) -> Deadline:
    """Return the limit of `--timeout`, from now on, for everything a command does with its
    servers.
    """
    from toolwire_schemas.deadline import Deadline

    return Deadline(words.options.get("timeout"))


def make_client(
    words: Words,
    targets: list[str],
    *,
    limit: Deadline | None = None,
    env: dict[str, str] | None = None,
    own_era: Era = "modern",
) -> AbstractContextManager[Client]:
    """Return a client of the named server: a Toolwire server for *targets*, or any that a command
    starts.

    *env* is added to the environment of a Toolwire server, which speaks MCP of *own_era*.
    """
    command = choose_command(words, targets)
    is_ours = is_own_server(words, command)
    more = env if is_ours else None
    return connect_to(command, is_ours=is_ours, limit=limit, env=more, own_era=own_era)


@contextmanager
def connect_to(
    command: list[str],
    *,
    is_ours: bool,
    limit: Deadline | None = None,
    env: dict[str, str] | None = None,
    folder: str | None = None,
    on_ask: OnAsk | None = None,
    calls_tools: bool = False,
    own_era: Era = "modern",
) -> Iterator[Client]:
    """Connect to the server that *command* starts in *folder*, within *limit*; failures become one
    sentence.

    The server inherits our environment, with *env* added. A Toolwire server reports itself why it
    cannot load its targets. With *calls_tools*, what calls need is imported while it starts. Only
    lists of the legacy *own_era* say which tools may be tasks.

    Raises:
        Failed: if the server cannot be started, or fails.
    """
    from toolwire_client.errors import ClientError, TimedOut
    from toolwire_schemas.deadline import Deadline

    from ..mounting.foreign_stderr import ForeignStderr
    from .printing.own_stderr import OwnStderr

    stderr = OwnStderr() if is_ours else ForeignStderr()
    own = own_era if is_ours else None
    left = limit.seconds_left if limit is not None else None
    try:
        with (
            _start(command, env, folder, stderr) as launch,
            _make_connection(command, launch, own, on_ask, left, calls_tools) as client,
        ):
            try:
                yield client
            except TimedOut as error:
                # The client knows only what is left of the limit, and the user only the whole; so
                # too below.
                raise Failed(str(error) if limit is None else f"no answer {limit}") from None
    except TimedOut as error:
        raise Failed(
            str(error) if limit is None else str(error).replace(str(Deadline(left)), str(limit), 1)
        ) from None
    except ClientError as error:
        raise explain_failure(error, is_ours=is_ours) from None
    finally:
        stderr.end()


@contextmanager
def _start(
    command: list[str], env: dict[str, str] | None, folder: str | None, stderr: Output
) -> Iterator[Launch | None]:
    """Start *command* in *folder*, and yield what gives its process, and later a new one; `None`
    for a remote server.

    The server starts on another processor while this process imports the client.
    """
    from toolwire_client.remote import is_address

    if is_address(command[0]):
        yield None
        return

    from toolwire_client.transport.child_process import ServerProcess

    def launch() -> ServerProcess:
        if started:
            return started.pop()
        environment = {**os.environ, **(env or {})}
        return ServerProcess(command, env=environment, cwd=folder, show_stderr=stderr)

    started: list[ServerProcess] = []
    started.append(launch())
    try:
        yield launch
    finally:
        for process in started:  # an exception came before the client took it
            process.close()


def _make_connection(
    command: list[str],
    launch: Launch | None,
    own_era: Era | None,
    on_ask: OnAsk | None,
    seconds_left: float | None,
    calls_tools: bool,
) -> PendingConnection:
    """Return the connection to the server that *launch* gives; without it, to the remote server of
    *command*. The *own_era* is that of a Toolwire server, `None` for others.
    """
    from toolwire_client.async_client import START_TIMEOUT_SECONDS, ClientSettings
    from toolwire_client.connecting import PendingConnection, connect

    if calls_tools:
        import orjson  # noqa: F401 (later, it would delay the first call)

    limit = START_TIMEOUT_SECONDS if seconds_left is None else seconds_left
    if launch is None:
        return connect(command, on_ask=on_ask, start_timeout_seconds=limit)
    settings = ClientSettings(
        launch=launch,
        # A Toolwire server that cannot load its target would be started again in the other era, and
        # complain twice.
        era=own_era or "auto",
        on_ask=on_ask,
        # A task of our own server would end with this command.
        takes_tasks=own_era is None,
        start_timeout_seconds=limit,
    )
    return PendingConnection(settings)


def explain_failure(error: ClientError, *, is_ours: bool) -> Failed:
    """Return the failure of a server whose stderr is shown: a Toolwire server reports there why it
    refused a target.
    """
    from toolwire_client import NotStarted, RequestFailed, ServerGone
    from toolwire_schemas.wire.messages import LOADING_FAILED

    if is_ours and isinstance(error, RequestFailed) and error.data == LOADING_FAILED:
        return Failed("", 2)
    if isinstance(error, ServerGone):
        return Failed("", 2) if is_ours and error.exit_status == 2 else Failed(error.reason)
    return Failed(str(error), 2 if isinstance(error, NotStarted) else 1)


def is_own_server(words: Words, command: list[str]) -> bool:
    """Return whether *command*, chosen for *words*, starts a Toolwire server for targets."""
    from toolwire_client.remote import is_address

    return words.command is None and not is_address(command[0])


def choose_command(words: Words, targets: list[str]) -> list[str]:
    """Return the command that starts the named server: of *targets*, or the words after `--`; for
    a remote server, its address, with options.
    """
    if words.command is None and any(map(_is_remote, targets)):
        return _choose_remote(words, targets)
    if words.command is None:
        if not targets and not is_mounting(words.options):
            raise UsageError("name a target, or a server's command after `--`")
        return format_own_command(targets, words.options)
    if targets:
        raise UsageError(
            f"either a target or a command after `--`, not both: leave out {targets[0]}"
        )
    for option in (*_REPEATABLE, "adopt"):
        if option in words.options:
            raise UsageError(
                f"--{option.replace('_', '-')} goes with a target, not with a command after `--`"
            )
    if not words.command:
        raise UsageError("the server's command is missing after `--`")
    check_remote(words.command)
    return words.command


def check_target(words: Words) -> None:
    """Report a target that cannot be loaded as a mistake on the command line, not as one of a
    server.
    """
    try:
        with make_client(words, words.words) as client:
            client.list_tools()  # which waits until the target is loaded
    except Failed as failure:
        if failure.status == 2:
            raise  # who looks at the server reports everything else


def _is_remote(target: str) -> bool:
    return target.startswith(("http:", "https:"))


def _choose_remote(words: Words, targets: list[str]) -> list[str]:
    if len(targets) > 1 or is_mounting(words.options):
        (address, *_) = filter(_is_remote, targets)
        raise UsageError(
            f"a remote server is named alone; with other tools, write --mount NAME={address}"
        )
    if format_loading_options(words.options):
        raise UsageError("options for loading tools do not go with a remote server")
    check_remote(targets)
    return targets


def check_remote(command: list[str]) -> None:
    """Raise `UsageError` if *command* describes a remote server, and that cannot be used."""
    if not command or not _is_remote(command[0]):
        return
    import os

    from toolwire_client.errors import BadConfiguration
    from toolwire_client.remote import read_words

    try:
        read_words(command, os.environ)
    except BadConfiguration as error:
        raise UsageError(str(error)) from None


def is_mounting(options: Mapping[str, Any]) -> bool:
    """Return whether *options* name servers to mount, so that no target is needed."""
    return "mount" in options or "mount_config" in options


def split_command(command: str) -> list[str]:
    """Return the words of a command, split as by a shell."""
    import shlex

    try:
        return shlex.split(command)
    except ValueError as error:
        raise UsageError(f"in the command {command!r} there is {str(error).lower()}") from None


def format_own_command(targets: Sequence[str], options: Mapping[str, Any] = {}) -> list[str]:
    """Return the command that serves *targets*, loaded as the *options* of this command say."""
    # -P keeps the working folder off the path, so that a file there cannot shadow a module we need.
    return [
        sys.executable,
        "-P",
        "-m",
        "toolwire",
        "serve",
        "--log-level",
        "warning",
        "--list-cache=never",  # what is shown and compared is what there is now
        *format_loading_options(options),
        "--",
        *targets,
    ]


def format_loading_options(options: Mapping[str, Any]) -> list[str]:
    """Return the words of `serve` for the *options* of another command that say how to load its
    targets.
    """
    words = [
        f"--{name.replace('_', '-')}={value}"
        for name in _REPEATABLE
        for value in options.get(name, ())
    ]
    if "env_file" in options:
        words.append(f"--env-file={options['env_file']}")
    if "adopt" in options:
        words.append("--adopt")
    return words


_REPEATABLE = ("set", "include", "exclude", "mount", "mount_config", "run_on", "limit")


def is_attended() -> bool:
    """Return whether a user at a terminal can be asked."""
    return is_typed_at() and sys.stderr.isatty()


def is_typed_at() -> bool:
    """Return whether standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def ask_user(*, before: Callable[[], object]) -> Callable[[Elicitation], Answer] | None:
    """Return a handler of elicitations that asks at the terminal, *before* first; `None` without a
    terminal.
    """
    if not is_attended():
        return None

    def fill_in(question: Elicitation) -> Answer:
        from toolwire_agent.terminal import Keyboard, Person, PlainRenderer

        before()
        return Person(
            Keyboard(nullcontext).read, PlainRenderer(sys.stdout, sys.stderr).tell
        ).fill_in(question)

    return fill_in
