"""The transport to a worker process on this machine, whose output the waiting thread reads."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from toolwire_client.errors import ServerGone
from toolwire_client.transport.child_process import LAST_SECONDS
from toolwire_client.waiting.base import Inbox, Waiting

from .guarded_process import GuardedProcess

if TYPE_CHECKING:
    from toolwire_client.transport.base import OnData, OnEnd


class WorkerPipes(GuardedProcess, Waiting):
    """The transport to a worker process, and the way to wait for its response.

    The thread that waits reads: to have another one read takes as long as all else that a call does. A second thread
    only waits for the end of the process, which may come while nothing waits for a response.
    """

    @property
    def waiting(self) -> Waiting:
        return self

    def inbox(self) -> Inbox:
        return _ReadingInbox(self)

    def start(self, on_data: OnData, on_end: OnEnd) -> None:
        assert self._process.stdout is not None
        self._on_data, self._on_end = on_data, on_end
        self._output = self._chunks(self._process.stdout.fileno())
        self._receiving = threading.Lock()
        self._has_ended = False
        watch = threading.Thread(target=self._watch, name="toolwire-process", daemon=True)
        watch.start()
        self._threads = [watch]

    def receive(self) -> None:
        """Wait for output and deliver it, or the end."""
        with self._receiving:
            if data := next(self._output, b""):
                self._on_data(data)
            else:
                self._deliver_end()

    def _watch(self) -> None:
        if hasattr(os, "waitid"):
            with suppress(ChildProcessError):  # it was reaped
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        else:  # Windows, and some versions of macOS
            self._process.wait()
        with self._receiving:
            self._deliver_end()

    def _deliver_end(self) -> None:
        if not self._has_ended:
            self._has_ended = True
            self._on_end(ServerGone(self.exit_status(LAST_SECONDS), ""))


class _ReadingInbox(Inbox):
    """Reads what *worker* sends until it holds an event."""

    def __init__(self, worker: WorkerPipes) -> None:
        super().__init__()
        self._worker = worker

    async def next(self, seconds: float | None) -> Any:
        while not len(self):
            self._worker.receive()
        return self._queue.get_nowait()
