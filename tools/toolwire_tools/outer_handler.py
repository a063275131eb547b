"""The base of handlers that run calls by another handler. Imported for the first of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import msgspec
from msgspec.structs import replace

if TYPE_CHECKING:
    from .handler import Handler


class OuterHandler(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What handlers have in common that run calls by an *inner* one, with other arguments or
    results.
    """

    inner: Handler
    gate: None = None

    @property
    def is_async(self) -> bool:
        """As `Handler.is_async`."""
        return self.inner.is_async

    @property
    def is_generator(self) -> bool:
        """As `Handler.is_generator`."""
        return self.inner.is_generator

    @property
    def notices_cancellation(self) -> bool:
        """As `Handler.notices_cancellation`."""
        return self.inner.notices_cancellation

    def with_name(self, name: str) -> Self:
        """Return the same handler for the entry called *name*."""
        return replace(self, inner=self.inner.with_name(name))
