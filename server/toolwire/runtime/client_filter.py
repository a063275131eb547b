"""A filter between the stream of a client and its session: a wrap, or one that keeps messages
while tools are loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from toolwire_schemas.wire.messages import Frame


class ClientFilter(Protocol):
    """Takes the messages of a client before its session does, and ends with it."""

    def receive(self, frames: list[Frame]) -> list[bytes]:
        """Take *frames* from the client; `Session.decide` takes those for the session.

        Returns the responses to be written at once. Only the reading thread calls this.
        """

    def prepare_end(self) -> None:
        """Finish what the session must not end before."""

    def end(self) -> None:
        """Free everything: the session has ended."""
