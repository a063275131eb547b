"""Answers lists with those of an earlier start while the user's modules are imported.

Strategy. The lists of a start are kept with the state of all files that decided about them. They
answer only if all of these are unchanged, so what they show is wrong only if something else has
changed, such as a variable of the environment, and only until the import has ended: then the client
is notified of what differs. Imported only for an import that takes long.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from toolwire_schemas.threads import start_thread

from .. import log
from ..list_cache.cached_catalog import CachedCatalog
from ..list_cache.sources import is_unchanged, read_sources
from ..list_cache.store import Lists, forget, load, make_key, save
from ..protocol.catalog import LIST_METHODS
from .importing import YAML
from .targets import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..runtime.loading_filter import LoadingFilter
    from ..runtime.session import Session
    from ..server import Server

_WITHOUT_EFFECT = ("list_cache", "log_level", "log_json", "reload", "keep_children")
"""Options that change no list."""

_ANY_REVISION = ""
"""The key of the handshake, which for our own servers is the same in all revisions."""


def open_lists(
    server: Server,
    places: Sequence[str],
    options: Mapping[str, Any],
    kept: LoadingFilter,
    started_at: float,
) -> None:
    """Give *kept* the lists of an earlier start, as the option `--list-cache` says."""
    mode = options.get("list_cache", "late")
    # Mounted servers may change by themselves, and have caches of their own.
    if mode == "never" or "mount" in options or "mount_config" in options:
        return

    def read() -> None:
        lists = CachedLists(server, places, options, kept.session, started_at)
        kept.use_early(lists)
        log.debug(f"there are {lists.validity} lists of an earlier start")

    if mode == "always":
        kept.is_late = True
        read()
    else:
        # The caller is the thread of the timers, and files may be slow.
        start_thread(read, "toolwire-lists")


class CachedLists:
    """The lists of *server* from an earlier start.

    *places* are the targets on its command line, as absolute paths, and *options* those there.
    *started_at* is the time, in seconds since 1970, at which the import began. *session* has the
    client that waits for it.
    """

    def __init__(
        self,
        server: Server,
        places: Sequence[str],
        options: Mapping[str, Any],
        session: Session,
        started_at: float,
    ) -> None:
        self._server = server
        self._places = places
        self._options = options
        self._session = session
        self._started_at = started_at
        self._key = _make_key(places, options)
        self._lists = _load_unchanged(self._key)
        self._is_shown = False

    @property
    def validity(self) -> str:
        """Whether there are valid lists, for the log."""
        return "no valid" if self._lists is None else "valid"

    def show(self) -> bool:
        """As `EarlyLists.show`."""
        if self._lists is None:
            return False
        handshake = self._lists.handshakes[_ANY_REVISION]
        self._server.identify(**handshake["identity"])
        capabilities = handshake["capabilities"]
        page_size = self._server.settings.page_size
        catalog = CachedCatalog(self._lists.entries, capabilities, page_size=page_size)
        self._session.replace(catalog)
        self._session.declare(capabilities)
        self._session.notifies_of_changes = True
        self._is_shown = True
        return True

    def save(self) -> None:
        """As `EarlyLists.save`."""
        server = self._server
        catalog = server.catalog
        entries = {kind: catalog.describe(kind) for kind in LIST_METHODS.values()}
        keeps_results = server.settings.on_large_result == "resource"
        handshake = {
            "identity": _describe_identity(server),
            "capabilities": catalog.describe_capabilities(keeps_results),
        }
        self._warn_if_changed(handshake)
        try:
            sources = read_sources(_list_paths(self._places, self._options), self._started_at)
        except (OSError, ValueError) as problem:
            log.debug(f"lists are not cached: {problem}")
            forget(self._key)
            return
        lists = Lists(entries=entries, handshakes={_ANY_REVISION: handshake}, sources=sources)
        if lists != self._lists:
            save(self._key, lists)

    def forget(self) -> None:
        """As `EarlyLists.forget`."""
        forget(self._key)

    def _warn_if_changed(self, handshake: dict[str, Any]) -> None:
        """Log that the handshake was answered with what is not so any more: no message of the
        protocol can tell the client.
        """
        if not self._is_shown or self._lists is None:
            return
        if self._lists.handshakes[_ANY_REVISION] != handshake:
            log.warning(
                "the handshake had the name, version, instructions or capabilities of the last"
                " start, which have changed: connect again to see the new ones"
            )


def _describe_identity(server: Server) -> dict[str, str | None]:
    """Return the arguments of `Server.identify` that give *server* its identity."""
    info = server.identity.describe_server()
    identity: dict[str, str | None] = dict.fromkeys(("name", "version", "title"))
    return {**identity, **info, "instructions": server.identity.instructions}


def _make_key(places: Sequence[str], options: Mapping[str, Any]) -> str:
    decisive = {}
    for name, value in options.items():
        if name not in _WITHOUT_EFFECT:
            decisive[name] = repr(value)
    path = os.environ.get("PYTHONPATH", "")
    return make_key("serve", places=list(places), options=decisive, path=path)


def _load_unchanged(key: str) -> Lists | None:
    """Return the lists for *key*, if nothing has changed that decided about them."""
    lists = load(key)
    if lists is None or _ANY_REVISION not in lists.handshakes:
        return None
    for source in lists.sources:
        try:
            if is_unchanged(source):
                continue
        except (OSError, ValueError) as problem:
            log.debug(f"{source.path} cannot be compared: {problem}")
        log.debug(f"cached lists are ignored: {source.path} has changed")
        return None
    return lists


def _list_paths(places: Sequence[str], options: Mapping[str, Any]) -> set[str]:
    """Return the files and folders that decide about the lists of *places*, which are loaded."""
    from .user_modules import find_sources

    paths = find_sources()
    for target in places:
        place = parse(target).place
        if os.path.isdir(place):
            paths.add(place)
            names = [name for name in os.listdir(place) if name.endswith((".py", *YAML))]
            paths.update(os.path.join(place, name) for name in names)
        elif os.path.exists(place):
            paths.add(place)
            stem = place.removesuffix(".py")
            paths.update(f"{stem}_config{ending}" for ending in YAML)
    if "env_file" in options:
        paths.add(os.path.abspath(options["env_file"]))
    # The names in these folders have the versions of what is installed there.
    for folder in sys.path:
        if os.path.basename(folder) in ("site-packages", "dist-packages"):
            paths.add(folder)
    return paths
