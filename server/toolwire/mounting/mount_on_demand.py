"""The mount of a server: opened for the first use, closed after an idle time, and opened again."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from .. import log
from ..idle_end import NEVER, IdleEnd

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from toolwire_client.async_client import Running
    from toolwire_client.errors import ClientError

    from ..protocol.lifecycle import Capabilities
    from ..timers import Timers
    from .mount import Mount


class MountOnDemand:
    """Opens a mount of the server that messages call *title* by *open_mount*, and closes one that
    nothing has used for *idle_seconds*.
    """

    def __init__(
        self,
        title: str,
        open_mount: Callable[[], Mount],
        timers: Timers,
        idle_seconds: float = NEVER,
    ) -> None:
        self.current: Mount | None = None
        """The open mount; `None` before the first use, and after an idle time."""
        self._title = title
        self._open_mount = open_mount
        self._idle_seconds = idle_seconds
        self._idle_end = IdleEnd(timers, self._close_if_idle)
        self._lock = Lock()  # for the open mount, the uses, and the end
        self._uses = 0
        self._closing: Future[None] | None = None
        """The end of an idle process, which the next start waits for."""
        self._is_closed = False

    def begin_use(self) -> Mount:
        """Return the mount, which stays open until `end_use`."""
        with self._lock:
            if self.current is None:
                self.current = self._open_mount()
                if self._is_closed:
                    self.current.close()
            self._uses += 1
            self._idle_end.cancel()
            return self.current

    def end_use(self) -> None:
        """Let the mount close after the idle time, unless it has other uses."""
        with self._lock:
            self._uses -= 1
            if self._uses == 0:
                self._idle_end.schedule(self._idle_seconds)

    def start(self, capabilities: Capabilities | None = None) -> Future[Running]:
        """As `Mount.start`. The start is a use."""
        mount = self.begin_use()
        try:
            starting = mount.start(capabilities)
        except BaseException:
            self.end_use()
            raise
        starting.add_done_callback(lambda _: self.end_use())
        return starting

    def notify(self, method: str) -> None:
        """As `Mount.notify`."""
        mount = self.current
        if mount is not None:
            mount.notify(method)

    def close(self) -> None:
        """End the server, for good."""
        with self._lock:
            self._is_closed = True
            mount = self.current
        if mount is not None:
            mount.close()

    @property
    def is_resting(self) -> bool:
        """Whether it has ended so often, and so recently, that no call waits for the next start."""
        return self.current is not None and self.current.is_resting

    @property
    def end(self) -> ClientError | None:
        """Why the server does not run; `None` if it does, or was never started."""
        return None if self.current is None else self.current.client.end

    @property
    def is_ending(self) -> bool:
        """Whether an idle process is to end, and still runs."""
        return self._closing is not None and not self._closing.done()

    def wait_for_end(self) -> None:
        """Wait until an idle process, if there was one, has ended: two at once could disagree."""
        closing = self._closing
        if closing is not None:
            closing.exception()

    def _close_if_idle(self) -> None:
        from toolwire_client.waiting.base import run_in_daemon_thread

        with self._lock:
            mount = self.current
            if mount is None or self._uses or self._is_closed:
                return
            if mount.running is None:  # it has failed, and keeps its pause before the next start
                return
            # The next one has no such pause: this one has not failed.
            self.current = None
            self._closing = run_in_daemon_thread(mount.close)
        log.info(f"{self._title} ends: no call for {self._idle_seconds:g} seconds")
