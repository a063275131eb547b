"""How a host that asks one thing after another finds the server awake.

Strategy. To wake a sleeping thread takes 5 µs, and 50 or more on a virtual machine, whose idle processors have gone
back to their owner: longer than a quick call. So a reader whose host has just been quick looks out for the host's next
request for a moment before it sleeps. If that was in vain, it sleeps at once for a while: the host has stopped asking,
or others want the processors. This is adaptive polling, as Linux does it for the idle processors of virtual machines
(`Documentation/virt/guest-halt-polling.rst` in its source).
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..runtime.session import Read

_SOON_SECONDS = 200e-6
"""How long to look out, and how quick a host must have been: as long as Linux does."""

_REST_SECONDS = 0.01
"""How long not to look out after it was in vain. Where all processors are busy, a thread that does loses its turn now
and then; with this rest, not even the slowest of a hundred calls showed it."""


def polled(
    read: Read,
    ready: Callable[[], bool],
    may_look: Callable[[], bool],
    now: Callable[[], float] = time.perf_counter,
) -> Read:
    """Return *read*, made to look out before it waits, while it *may_look*, for whether there is something *ready*."""
    was_quick = False
    resting_until = now() + _REST_SECONDS  # what came while the process started does not tell how quick the host is

    def read_soon() -> bytes:
        nonlocal was_quick, resting_until
        began = now()
        if was_quick and began >= resting_until and may_look():
            while not ready():
                looked = now()
                if looked - began >= _SOON_SECONDS:
                    resting_until = looked + _REST_SECONDS
                    break
        data = read()
        was_quick = now() - began < _SOON_SECONDS
        return data

    return read_soon


def readiness(descriptor: int) -> Callable[[], bool]:
    """Return what tells whether *descriptor* can be read or nobody can tell, and else lets others have the processor.

    Whoever is to write may be waiting for this very processor.
    """
    poll: Callable[[int], object] | None = None

    def ready() -> bool:
        nonlocal poll
        if poll is None:
            try:
                import select  # a library of its own, a millisecond to load: not before a host is quick
            except ImportError:  # a tool has used up the descriptors
                return True

            poller = select.poll()
            poller.register(descriptor, select.POLLIN)
            poll = poller.poll
        if poll(0):
            return True
        os.sched_yield()
        return False

    return ready
