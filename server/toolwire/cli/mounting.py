"""The mounted servers that a command line names."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from toolwire_schemas.output import printable

from .. import log
from ..errors import UsageError
from ..loading.targets import is_chosen
from .open_client import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..mounting.locking import LockedEntries
    from ..server import Server

    Mounted = tuple[list[str], str | None, dict[str, Any]]
    """A command, its name, and further options of `Server.mount`."""


def mount_all(
    server: Server, options: Mapping[str, Any], include: Sequence[str], exclude: Sequence[str]
) -> None:
    """Mount what *options* name; *include* and *exclude* choose among all tools.

    Raises:
        UsageError: if a command or a file is no such thing.
        ValueError: if two servers could have tools of the same name.
    """
    if "mount" not in options and "mount_config" not in options:
        raise UsageError(f"--{next(iter(options))} goes with --mount or --mount-config")
    lock = open_lock(options)
    keep = partial(is_chosen, include=include, exclude=exclude)
    for command, name, more in (
        *_typed(options.get("mount", ())),
        *_configured(options.get("mount_config", ())),
    ):
        server.mount(command, name, keep=keep, eager=options.get("eager", False), lock=lock, **more)


def prefixes_of(options: Mapping[str, Any]) -> list[str]:
    """Return what stands before the names of tools of the servers that *options* mount."""
    from ..mounting.mounts import make_prefix

    mounted = (*_typed(options.get("mount", ())), *_configured(options.get("mount_config", ())))
    return [make_prefix(name) for _, name, _ in mounted if name is not None]


def open_lock(options: Mapping[str, Any]) -> LockedEntries | None:
    """Return the lock that *options* name, if any.

    Raises:
        UsageError: if it cannot be read, or `--lock-texts` stands alone.
    """
    if "lock" not in options:
        if "lock_texts" in options:
            raise UsageError("--lock-texts goes with --lock FILE")
        return None
    from ..mounting.locking import LockedEntries

    return LockedEntries(options["lock"], options.get("lock_texts", "approved"))


def _typed(texts: Sequence[str]) -> Iterator[Mounted]:
    for text in texts:
        name, equals, command = text.partition("=")
        is_named = equals and name.replace("-", "_").isidentifier()
        words = words_of(command if is_named else text)
        if not words:
            raise UsageError(f"--mount {text!r} has no command: write NAME='COMMAND WORDS'")
        yield words, name if is_named else None, {}


def _configured(paths: Sequence[str]) -> Iterator[Mounted]:
    from toolwire_client.errors import BadConfiguration
    from toolwire_client.host_config import read_config

    for path in paths:
        try:
            servers = read_config(path, {})
        except BadConfiguration as error:
            raise UsageError(str(error)) from None
        for name, server in servers.items():
            if isinstance(server, BadConfiguration):
                log.warning(printable(f"{path}: {server}; it is not mounted"))
            else:
                yield (
                    server.command,
                    name,
                    {"env": server.env, "cwd": server.cwd, "inherit_env": False},
                )
