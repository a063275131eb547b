"""The mounted servers that a command line names."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.output import make_printable

from .. import log
from ..errors import UsageError
from ..loading.targets import is_chosen
from .open_client import check_remote, split_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..mounting.locking import LockedEntries
    from ..server import Server


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
    shared: dict[str, Any] = {
        "keep": partial(is_chosen, include=include, exclude=exclude),
        "eager": "eager" in options,
        "lock": open_lock(options),
        "idle_seconds": options.get("idle"),
        "list_cache": options.get("list_cache", "late"),
    }
    servers = []
    for mounted in _list_servers(options):
        servers.append((mounted.command, mounted.name, {**shared, **mounted.settings}))
    server.mount_all(servers)


def list_prefixes(options: Mapping[str, Any]) -> list[str]:
    """Return what stands before the names of tools of the servers that *options* mount."""
    from ..mounting.mounts import make_prefix

    prefixes = []
    for mounted in _list_servers(options):
        if mounted.name is not None:
            prefixes.append(make_prefix(mounted.name))
    return prefixes


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


class _Mounted(msgspec.Struct, frozen=True):
    """A server to mount: its command, its name, and further arguments of `Server.mount`."""

    command: list[str]
    name: str | None
    settings: dict[str, Any] = {}


def _list_servers(options: Mapping[str, Any]) -> list[_Mounted]:
    servers = list(map(_read_mount, options.get("mount", ())))
    for path in options.get("mount_config", ()):
        servers += _read_config(path)
    return servers


def _read_mount(text: str) -> _Mounted:
    """Return the server in a value of `--mount`: `NAME=COMMAND`, or a command alone."""
    name, equals, command = text.partition("=")
    is_named = bool(equals) and name.replace("-", "_").isidentifier()
    words = split_command(command if is_named else text)
    if not words:
        raise UsageError(f"--mount {text!r} has no command: write NAME='COMMAND WORDS'")
    check_remote(words)
    return _Mounted(words, name if is_named else None)


def _read_config(path: str) -> Iterator[_Mounted]:
    """Yield the servers in a host's config file; the log names those that cannot be mounted."""
    from toolwire_client.errors import BadConfiguration
    from toolwire_client.host_config import read_config

    try:
        servers = read_config(path, {})
    except BadConfiguration as error:
        raise UsageError(str(error)) from None
    for name, server in servers.items():
        if isinstance(server, BadConfiguration):
            log.warning(make_printable(f"{path}: {server}; it is not mounted"))
            continue
        settings = {
            "env": server.env,
            "cwd": server.cwd,
            # The process of a remote server is ours, and needs the variables for proxies.
            "inherit_env": server.is_remote,
        }
        yield _Mounted(server.command, name, settings)
