"""One mounted server: started when needed, listed, restarted after it has ended.

Strategy. `start` runs on a thread of its own, for all calls that need the server at once; a call
that ends before it waits no longer, and the start goes on. The lists of the last start stay until
the next, also while the server is down.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client.async_client import AsyncClient, ClientSettings
from toolwire_client.errors import ClientError, Closed
from toolwire_client.session.elicitation import NoAnswer
from toolwire_client.waiting.base import run, run_in_daemon_thread
from toolwire_schemas.deadline import Deadline
from toolwire_schemas.output import make_printable
from toolwire_schemas.wire import messages
from toolwire_tools import ToolError

from .. import log
from ..forwarding import (
    BLOCKING,
    forward,
    select_capabilities,
)
from ..protocol.in_flight import make_cancelled_error
from ..protocol.lifecycle import can_elicit
from .listed_entries import MountedEntries
from .mount_lists import MountLists, ProblemLog
from .stray_messages import StrayMessages, log_output

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolwire_client.async_client import Running
    from toolwire_client.session.request import RequestHandle

    from ..protocol.call import Call
    from ..protocol.lifecycle import Capabilities
    from ..runtime.session import Session
    from .listed_entries import EntryRules
    from .locking import LockedEntries
    from .mounted_entry import Forward, Response

_PATIENCE_SECONDS = 2.0
"""The longest pause before a restart that a call waits for; else it fails at once."""

_ASSUMED: Capabilities = {"elicitation": {}}
"""The capabilities of a client that is not known yet."""


class Mount:
    """The server that *settings* start, called *name* in messages, whose names begin with *prefix*.

    *changed* is called, on any thread, when its lists were read and differ. *sessions* get its log
    messages of no call. *kind* is how messages call it, *rules* are for the entries of its lists,
    *send* runs the calls of its tools instead of `call`, and *on_output* gets lines of its output
    that are no messages, instead of the log. *on_close* is called after the end of the server, for
    good.
    """

    def __init__(
        self,
        name: str,
        prefix: str,
        settings: ClientSettings,
        changed: Callable[[], None],
        sessions: Callable[[], list[Session]],
        lock: LockedEntries | None = None,
        *,
        kind: str = "mounted",
        rules: EntryRules | None = None,
        send: Forward | None = None,
        on_output: Callable[[str], None] | None = None,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        self.title = f"the {kind} server {name}"
        """What messages call it."""
        self.running: Running | None = None
        """The server, if it runs, or else as it ran last."""
        self.declared: Capabilities = {}
        """Capabilities to declare in addition to those of the client that needs the start."""
        self.lists = MountLists(
            self.title,
            rules or MountedEntries(name, prefix),
            send or self.call,
            lock,
            changed,
            self._find_running,
        )
        self._open: dict[Call, RequestHandle] = {}
        on_output = on_output or partial(log_output, name, self.title)
        stray = StrayMessages(sessions, self._open, on_output)
        settings = msgspec.structs.replace(
            settings,
            restart=True,
            on_log=stray.log,
            on_list_changed=self.lists.schedule_reading,
            on_host_event=stray.pass_event,
            # Calls declare what their hosts can: see `forward`. A wrapped server gets its host's.
            takes_tasks=kind == "mounted",
        )
        self.client = AsyncClient(settings, BLOCKING)
        self.client.open()
        self._on_close = on_close
        self._problems = ProblemLog()
        self._lock = Lock()
        self._starting: Future[Running] | None = None

    @property
    def is_resting(self) -> bool:
        """Whether it has ended so often, and so recently, that no call waits for the next start."""
        pause = self.client.pause_seconds or 0.0
        return self.client.end is not None and pause > _PATIENCE_SECONDS

    async def call(self, params: dict[str, Any], call: Call) -> dict[str, Any]:
        """Return the result of the request with *params*, for *call*; raises what `start_for` and
        `send` raise.
        """
        return await self.send(self.start_for(call), params, call)

    def start_for(self, call: Call) -> Running:
        """Return the server, which is started if it does not run.

        Raises:
            ToolError: if it does not start.
            Cancelled: if *call* has ended before.
        """
        running = self._find_running()
        if running is not None:
            return running
        starting = self.start(call.capabilities)
        wait_for([starting], call, None)
        try:
            return starting.result()
        except ClientError as error:
            raise ToolError(f"{call.entry.name}: {self.title} does not run: {error}") from None

    def send(self, running: Running, params: dict[str, Any], call: Call) -> Response:
        """Return what awaits the result of the request with *params*, for *call*; as `forward`."""
        return forward(call, running.connection, params, self._open)

    def start(self, capabilities: Capabilities | None = None) -> Future[Running]:
        """Start the server, unless it runs or that is under way, and read its lists.

        *capabilities* are those of the client that needs it, `None` if it is not known yet: a
        legacy server learns at its start what it may ask for.
        """
        if capabilities is None:
            capabilities = _ASSUMED
        with self._lock:
            is_down = self._find_running() is None
            if self._starting is None or (self._starting.done() and is_down):
                self._starting = run_in_daemon_thread(partial(self._start, capabilities))
            return self._starting

    def close(self) -> None:
        """End the server, for good."""
        run(self.client.close())
        self._on_close()

    def _start(self, capabilities: Capabilities) -> Running:
        client, end = self.client, self.client.end
        if end is not None and self.is_resting:
            raise end.copy()
        if end is not None and self.running is not None:
            log.info(make_printable(f"{self.title} is restarted: {end.reason}"))
        self._declare(capabilities)
        try:
            running = run(client.ensure_running(Deadline(None)))
            if running.connection.protocol.is_modern:
                running.tool_list.subscribe(running.connection)
            self.lists.read(running)
        # The outer edge of a thread: whatever a foreign server causes is its failure.
        except Exception as error:
            failure = error
            if not isinstance(failure, ClientError):
                failure = ClientError(f"{type(error).__name__}: {error}")
            if not isinstance(failure, Closed):  # by `close`
                # Its stderr has been passed on already.
                self._problems.report("start", f"{self.title} does not start: {failure.reason}")
            run(client.fail(failure))
            raise failure from None
        self._problems.forget("start")
        self.running = running
        return running

    def notify(self, method: str) -> None:
        """Send a legacy server a notification, if it runs."""
        running = self._find_running()
        if running is None:
            return
        if not running.connection.protocol.is_modern:
            running.connection.send(messages.encode_notification(method))

    def _find_running(self) -> Running | None:
        """Return the server, if it runs."""
        if self.client.end is not None:
            return None
        return self.running

    def _declare(self, capabilities: Capabilities) -> None:
        """Have the next start declare *capabilities*, those of the client that needs it."""
        on_ask = None
        if can_elicit(capabilities):
            on_ask = _dismiss
        declared = {**select_capabilities(capabilities), **self.declared}
        self.client.settings = msgspec.structs.replace(
            self.client.settings, on_ask=on_ask, capabilities=declared
        )


def _dismiss(question: Any) -> NoAnswer:
    """Decline a request of the server at its start, when no call can answer it."""
    return NoAnswer.DISMISSED


def wait_for(starts: Sequence[Future[Any]], call: Call, seconds: float | None) -> None:
    """Return when all *starts* have ended, or after *seconds*; the time limit of *call* is paused
    until then.

    Raises:
        Cancelled: if the call has ended.
    """
    starts = [start for start in starts if not start.done()]
    if not starts:
        return
    deadline, stopped = Deadline(seconds), Future[None]()
    call.stop = partial(stopped.set_result, None)
    with call.host.pause(call):
        for start in starts:
            if not call.ended:
                wait([start, stopped], deadline.seconds_left, FIRST_COMPLETED)
    call.stop = None
    if call.ended:
        raise make_cancelled_error(call)
