"""Lists that are known before the tools are loaded."""

from __future__ import annotations

from typing import Protocol


class EarlyLists(Protocol):
    """Lists of an earlier start."""

    def show(self) -> bool:
        """Show them to the client; return `False` if there are no valid ones."""

    def save(self) -> None:
        """Keep those of this start for the next one."""

    def forget(self) -> None:
        """Keep nothing for the next start."""
