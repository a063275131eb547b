"""Polls briefly for the next request after a quick one, before the reading thread sleeps.

Strategy. To wake a sleeping thread takes 5 µs, and 50 or more on a virtual machine, whose idle
processors have gone back to their owner: longer than a quick call. So after a quick request, the
reader polls for the next one for a moment. If none comes, it does not poll for a while: the host
has stopped, or others need the processors. This is adaptive polling, as Linux does it for idle
virtual machines (`Documentation/virt/guest-halt-polling.rst` in its source).
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..runtime.session import Read

_SOON_SECONDS = 200e-6
"""How long to poll, and how quick the request before must have been: the value of Linux."""

_REST_SECONDS = 0.01
"""How long not to poll after it was in vain. Where all processors are busy, a polling thread loses
its turn now and then; with this rest, not even the slowest of a hundred calls showed it."""


def poll_before(
    read: Read,
    ready: Callable[[], bool],
    may_poll: Callable[[], bool],
    now: Callable[[], float] = time.perf_counter,
) -> Read:
    """Return *read* with polling of *ready* before it blocks, while *may_poll* is true."""
    was_quick = False
    resting_until = (
        now() + _REST_SECONDS
    )  # requests during the start do not show how quick the host is

    def read_soon() -> bytes | list[bytes]:
        nonlocal was_quick, resting_until
        began = now()
        if was_quick and began >= resting_until and may_poll():
            while not ready():
                looked = now()
                if looked - began >= _SOON_SECONDS:
                    resting_until = looked + _REST_SECONDS
                    break
        data = read()
        was_quick = now() - began < _SOON_SECONDS
        return data

    return read_soon


def make_readiness_check(descriptor: int) -> Callable[[], bool]:
    """Return a function: whether *descriptor* can be read, or polling is impossible.

    If not, it yields the processor, which the writing process may be waiting for.
    """
    poll: Callable[[int], object] | None = None

    def ready() -> bool:
        nonlocal poll
        if sys.platform == "win32":
            return True
        if poll is None:
            try:
                # a library of its own, a millisecond to load: not before a host is quick
                import select
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
