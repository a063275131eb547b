"""Starts the process of a mounted server before what talks to it is imported.

Strategy. The imports take as long as small servers take to start, and another processor can do
one of both.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from toolwire_client.errors import NotStarted

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..guarded_process import GuardedProcess


class EarlyStart:
    """Launches processes by *launch*; the first one before it is needed, after `start`."""

    def __init__(self, launch: Callable[[], GuardedProcess]) -> None:
        self._launch = launch
        self._lock = Lock()
        self._early: GuardedProcess | None = None

    def start(self) -> None:
        """Start the process that the next `take` returns."""
        try:
            self._early = self._launch()
        except (NotStarted, OSError):
            return  # `take` tries again, and raises the error where it is expected

    def take(self) -> GuardedProcess:
        """Return a process that was not taken yet; raises what the launch raises."""
        return self._pop() or self._launch()

    def close(self) -> None:
        """End a process that was started early and not taken."""
        process = self._pop()
        if process is not None:
            process.close()

    def _pop(self) -> GuardedProcess | None:
        with self._lock:
            process, self._early = self._early, None
        return process
