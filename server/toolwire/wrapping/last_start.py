"""The handshake and the lists of a wrapped server from its last start.

Strategy. Nothing tells whether the program of others is the same as last time, so its command is
compared, with the files that this names. Whatever differs after the start is announced. What is
kept is what the host was shown, so everything that changes this is a part of the key: the options,
the lock, and what the host has declared.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from .. import log
from ..list_cache.cached_catalog import CachedCatalog
from ..list_cache.commands import make_command_key
from ..list_cache.store import Lists, forget, load, save
from ..protocol.catalog import LIST_METHODS
from ..protocol.lifecycle import SUPPORTED_VERSIONS

if TYPE_CHECKING:
    from ..protocol.catalog import Catalog
    from ..protocol.lifecycle import Identity
    from ..runtime.session import Session
    from .host_side import HostDeclaration
    from .server_side import WrapSettings

_WITHOUT_EFFECT = ("list_cache", "log_level", "log_json", "record", "max_record_bytes")
"""Options that change no list."""


class _Handshake(msgspec.Struct, frozen=True):
    """The part of a handshake that the wrapped server decides about."""

    server_info: dict[str, Any]
    capabilities: dict[str, Any]
    instructions: str | None = None


class LastStart:
    """The last start of the server of *settings* for a host with this *declaration*."""

    def __init__(self, settings: WrapSettings, declaration: HostDeclaration) -> None:
        self._revision = declaration.revision
        self._keeps_results = settings.options.get("on_large_result", "resource") == "resource"
        self._key = _make_key(settings, declaration)
        self._lists = None if self._key is None else load(self._key)

    def show(self, session: Session, identity: Identity) -> bool:
        """Let *session* and *identity* show what the server declared and listed last time; return
        `False` if that is unknown.
        """
        handshake = self._read_handshake()
        if self._lists is None or handshake is None:
            return False
        identity.show_as(handshake.server_info, handshake.instructions)
        session.replace(CachedCatalog(self._lists.entries, handshake.capabilities))
        session.declare(handshake.capabilities)
        return True

    def _read_handshake(self) -> _Handshake | None:
        if self._lists is None or self._revision not in self._lists.handshakes:
            return None
        try:
            return msgspec.convert(self._lists.handshakes[self._revision], _Handshake)
        except msgspec.ValidationError as problem:
            log.debug(f"cached lists are ignored: {problem}")
            return None

    def keep(self, catalog: Catalog, identity: Identity) -> None:
        """Keep the lists of *catalog*, and the *identity* of the server, for the next start."""
        if self._key is None:
            return
        entries = {kind: catalog.describe(kind) for kind in LIST_METHODS.values()}
        capabilities = catalog.describe_capabilities(self._keeps_results)
        handshake = _Handshake(identity.describe_server(), capabilities, identity.instructions)
        handshakes = {self._revision: msgspec.to_builtins(handshake)}
        lists = Lists(entries=entries, handshakes=handshakes)
        if lists != self._lists:
            save(self._key, lists)
            self._lists = lists

    def forget(self) -> None:
        """Keep nothing for the next start."""
        if self._key is not None:
            forget(self._key)


def _make_key(settings: WrapSettings, declaration: HostDeclaration) -> str | None:
    """Return the key of what *settings* and *declaration* decide about; `None` if nothing can be
    kept.
    """
    if declaration.revision not in ("", *SUPPORTED_VERSIONS):
        return None
    decisive = {}
    for name, value in settings.options.items():
        if name not in _WITHOUT_EFFECT:
            decisive[name] = repr(value)
    try:
        lock = Path(settings.options["lock"]).read_bytes() if "lock" in settings.options else b""
        return make_command_key(
            "wrap",
            settings.command,
            env=os.environ,
            options=decisive,
            lock=lock,
            revision=declaration.revision,
            capabilities=declaration.capabilities,
            client=declaration.client_info.get("name"),
        )
    except (OSError, ValueError, TypeError) as problem:
        log.debug(f"lists are not cached: {problem}")
        return None
