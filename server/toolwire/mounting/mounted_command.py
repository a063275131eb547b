"""The command of a mounted server, and the mount that runs it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping  # noqa: TC003 (fields of a Struct)
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from .remembered_lists import find_remembered

if TYPE_CHECKING:
    from toolwire_client.transport.base import Transport

    from ..runtime.session import Session
    from .foreign_stderr import ForeignStderr
    from .mount import Mount
    from .mounted_server import MountedServer
    from .remembered_lists import RememberedLists

_DEPTH, _MAX_DEPTH = "TOOLWIRE_MOUNT_DEPTH", 3


class MountedCommand(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The *words* that start a server, and what its process gets.

    *env* is added to our environment, or unless *inherit_env* to the few variables that every
    server gets. *sessions* are the clients of this server.
    """

    words: list[str]
    env: Mapping[str, str]
    inherit_env: bool
    cwd: str | None
    stderr: ForeignStderr
    """One for all starts: a server that ends again and again has one limit, too."""
    max_message_bytes: int
    sessions: Callable[[], list[Session]]

    def find_remembered(self, patience_seconds: float) -> RememberedLists | None:
        """As the function of this name."""
        return find_remembered(self.words, self._make_environment(), self.cwd, patience_seconds)

    def open_mount(self, server: MountedServer) -> Mount:
        """Return what starts the process of *server* and talks to it."""
        from toolwire_client.remote import as_process

        from ..guarded_process import start_guarded
        from .early_start import EarlyStart

        launch = partial(
            start_guarded,
            as_process(self.words),
            env={**self._make_environment(), _DEPTH: str(_read_depth() + 1)},
            cwd=self.cwd,
            show_stderr=self.stderr,
        )

        processes = EarlyStart(launch)
        if not server.process.is_ending:
            processes.start()

        from toolwire_client.async_client import ClientSettings
        from toolwire_schemas.wire.codec import encode

        from .mount import Mount

        encode(None)  # imports orjson, which the first request would wait for

        def launch_alone() -> Transport:
            server.process.wait_for_end()
            return processes.take()

        return Mount(
            server.name,
            server.prefix,
            ClientSettings(launch=launch_alone, max_message_bytes=self.max_message_bytes),
            server.take_lists,
            self.sessions,
            server.lock,
            send=server.call,
            on_close=processes.close,
        )

    def _make_environment(self) -> dict[str, str]:
        if self.inherit_env:
            return {**os.environ, **self.env}
        from toolwire_client.transport.child_process import make_server_environment

        return make_server_environment(self.env)


def check_depth() -> None:
    """Refuse to mount below servers that are mounted themselves, beyond some levels.

    Raises:
        ValueError: if there are too many levels.
    """
    depth = _read_depth()
    if depth >= _MAX_DEPTH:
        raise ValueError(
            f"mounted servers mount servers, {depth} levels deep: does a config file mount itself?"
        )


def _read_depth() -> int:
    """Return how many servers above this one are mounted."""
    return int(os.environ.get(_DEPTH, 0))
