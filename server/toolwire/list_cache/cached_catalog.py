"""A catalog of what a server listed last time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from ..protocol.catalog import Catalog

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class _CachedEntry(msgspec.Struct, frozen=True):
    """An entry of a list, as clients got it."""

    shown: dict[str, Any]

    def describe(self) -> dict[str, Any]:
        """As `Described.describe`."""
        return self.shown


class CachedCatalog(Catalog):
    """The *entries* of each list by its kind, and the *capabilities* of their server.

    It answers lists alone: nothing in it can be called.
    """

    def __init__(
        self,
        entries: Mapping[str, Sequence[dict[str, Any]]],
        capabilities: dict[str, Any],
        *,
        page_size: int | None = None,
    ) -> None:
        super().__init__((), page_size=page_size)
        self._entries = entries
        self._capabilities = capabilities

    def list_entries(self, kind: str) -> Sequence[_CachedEntry]:
        """As `Catalog.list_entries`."""
        return [_CachedEntry(shown) for shown in self._entries.get(kind, ())]

    def describe_capabilities(self, keeps_results: bool) -> dict[str, Any]:
        """As `Catalog.capabilities`: those of the server last time."""
        return self._capabilities
