"""The lists and the identity of a wrapped server that a host is shown.

Strategy. Most servers start quickly, so the lists of the last start are looked up only when a start
takes long. They are replaced by those of the server itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..protocol.catalog import Catalog
    from ..protocol.lifecycle import Identity
    from ..runtime.session import Session
    from .host_side import HostSide
    from .last_start import LastStart
    from .server_side import WrapSettings

_LONG_SECONDS = 0.5
"""A start that takes less leaves no lists for the next one."""


class ServedLists:
    """Has *session* serve lists, and show *identity*, to the *host*. Not thread-safe: the caller
    decides whose lists are shown last.
    """

    def __init__(
        self, session: Session, identity: Identity, host: HostSide, wrapped: WrapSettings
    ) -> None:
        self._session = session
        self._identity = identity
        self._host = host
        self._wrapped = wrapped
        self._catalog: Catalog | None = None
        """The lists of the server itself, once they were read."""
        self._last_start: LastStart | None = None
        self._is_worth_keeping = False

    @property
    def server_name(self) -> str:
        """The name of the server that the host is shown."""
        name: str = self._identity.describe_server()["name"]
        return name

    def find_last_start(self) -> LastStart:
        """Return the last start for this host, read from the disk once."""
        from .last_start import LastStart

        if self._last_start is None:
            self._last_start = LastStart(self._wrapped, self._host.declaration)
        return self._last_start

    def show_last_start(self) -> bool:
        """Serve the lists of the last start; return `False` if they are unknown."""
        return self.find_last_start().show(self._session, self._identity)

    def forget_last_start(self) -> None:
        """Keep no lists that were shown of a server that does not start any more."""
        if self._last_start is not None:
            self._last_start.forget()

    def show(self, catalog: Catalog, server_info: dict[str, Any], instructions: str | None) -> None:
        """Serve the *catalog* of the server, which describes itself by the other two."""
        default = {"name": self._wrapped.command[0], "version": ""}
        self._identity.show_as({**default, **server_info}, instructions)
        self._catalog = catalog
        self._session.replace(catalog)

    def note_start(self, seconds: float) -> None:
        """Note how long the server took to start, which decides whether its lists are kept."""
        mode = self._wrapped.list_cache
        self._is_worth_keeping = mode == "always" or (mode == "late" and seconds > _LONG_SECONDS)

    def keep(self) -> None:
        """Keep what the server has listed for its next start, if this one took long."""
        if self._is_worth_keeping and self._catalog is not None:
            self.find_last_start().keep(self._catalog, self._identity)
