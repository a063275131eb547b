"""What this process ends before it exits: child processes, and the folders in which they work.

A fork of this process does not own them, and abandons them.
"""

from __future__ import annotations

import atexit
import os
from contextlib import ExitStack
from typing import Protocol


class Owned(Protocol):
    """Something that does not end by itself when this process exits."""

    def end(self) -> None:
        """End it, and call `disown`."""

    def abandon(self) -> None:
        """Close its descriptors in a fork of this process, and leave the rest to the owner."""


_owned: dict[Owned, None] = {}
"""In the order of `own`. Each may use those before it, so the last ends first."""


def own(thing: Owned) -> None:
    """End *thing* when this process exits."""
    _owned[thing] = None


def disown(thing: Owned) -> bool:
    """Take *thing* back from `own`, since it has ended; return whether this process owned it."""
    try:
        del _owned[thing]
    except KeyError:
        return False
    return True


@atexit.register
def _end_all() -> None:
    with ExitStack() as stack:  # ends the last first, and all even if one of them raises
        for thing in list(_owned):
            stack.callback(thing.end)


def _abandon_all() -> None:
    for thing in list(_owned):
        thing.abandon()
    _owned.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
