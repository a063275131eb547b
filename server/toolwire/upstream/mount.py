"""One mounted server: started when needed, listed, restarted after it has ended.

Strategy. `start` runs on a thread of its own, for all calls that need the server at once; a call that ends before it
waits no longer, and the start goes on. The lists of the last start stay until the next, also while the server is down.
"""

from __future__ import annotations

import time
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client.async_client import AsyncClient, ClientSettings, RestartPolicy
from toolwire_client.errors import BrokenRules, ClientError, RequestFailed
from toolwire_client.session.elicitation import NoAnswer
from toolwire_client.session.request import RequestHandle
from toolwire_client.session.tool_list import pages
from toolwire_client.waiting.base import in_daemon_thread, run
from toolwire_client.waiting.deadline import Deadline
from toolwire_schemas.output import printable
from toolwire_schemas.wire.codec import encode
from toolwire_tools import ToolError
from toolwire_tools.context.context import LEVELS

from .. import log
from ..protocol import log_messages
from ..protocol.in_flight import cancelled
from ..protocol.lifecycle import can_elicit
from .forwarding import BLOCKING, forward, pass_on_log
from .mounted_tool import MountedTool, problem_of, report_names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from toolwire_client.async_client import Running
    from toolwire_client.protocol.events import LogEntry

    from ..protocol.call import Call

LISTS = {
    "tools": "tools/list",
    "resources": "resources/list",
    "resourceTemplates": "resources/templates/list",
    "prompts": "prompts/list",
}
"""The method that lists things of each kind."""

_LIST_SECONDS = 60.0
_MAX_ENTRIES = 10_000
_MAX_ENTRY_BYTES = 256 * 1024  # the largest known tools take some 30 KiB
_MAX_LIST_BYTES = 4 * 1024 * 1024
"""Beyond any of these limits, entries are left out: all lists together must fit into a response."""

_PATIENCE_SECONDS = 2.0
"""The longest pause before a restart that a call waits for; else it fails at once."""

_CHANGE_SECONDS = 0.2
"""The least time between two readings of a list: a server that never stops changing it costs little."""


class Mount:
    """The server that *settings* start, called *name* in messages, whose names begin with *prefix*.

    *changed* is called when its lists were read and differ, *stray_log* with log messages of no call; on any thread.
    """

    reports_names = True
    """Whether to log which of its tools some hosts refuse."""
    kind = "mounted"

    def __init__(
        self,
        name: str,
        prefix: str,
        settings: ClientSettings,
        changed: Callable[[], None],
        stray_log: Callable[[LogEntry], None],
    ) -> None:
        self.name = name
        self.prefix = prefix
        self.tools: list[MountedTool] = []
        """Everything it lists, in the order of its lists."""
        self.is_listed = False
        self.running: Running | None = None
        self._settings = settings
        self._changed = changed
        self._stray_log = stray_log
        self._lock = Lock()
        self._client: AsyncClient | None = None
        self._starting: Future[Running] | None = None
        self._restarts = RestartPolicy(True)
        self._failure: ClientError | None = None
        self._open: set[Call] = set()
        self._log_level: str | None = None
        self.reading: Future[None] | None = None
        """The latest reading of its lists after a change."""
        self._read_at = 0.0
        self._is_stale = self._is_closed = False

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"the {self.kind} server {self.name}"

    @property
    def is_resting(self) -> bool:
        """Whether it has ended so often, and so recently, that no call waits for the next start."""
        return self._end() is not None and (self._restarts.wait_seconds() or 0.0) > _PATIENCE_SECONDS

    def tool(self, kind: str, entry: dict[str, Any]) -> MountedTool:
        """Return what it lists in *entry* as a tool of *kind*."""
        return MountedTool(self.name, self.prefix, self.call, kind, entry)

    def call(self, tool: MountedTool, params: dict[str, Any], call: Call) -> dict[str, Any]:
        """Return the result of the request with *params* that calls *tool*; raises what `forward` raises."""
        running = self.running
        if running is None or running.connection.end is not None:
            running = self._wait_until_ready(call)
        self._request_logs(running, call)
        self._open.add(call)
        try:
            waiting = getattr(running.connection.transport, "waiting", BLOCKING)
            return forward(call, running.connection, params, waiting=waiting)
        finally:
            self._open.discard(call)

    def start(self, can_ask: bool = True) -> Future[Running]:
        """Start the server, unless it runs or that is under way, and read its lists.

        *can_ask* is whether the user can be asked, for a server that wants to know it at the start.
        """
        with self._lock:
            is_up = self.running is not None and self.running.connection.end is None
            if self._starting is None or (self._starting.done() and not is_up):
                self._starting = in_daemon_thread(partial(self._start, can_ask))
            return self._starting

    def close(self) -> None:
        """End the server, for good."""
        self._is_closed = True
        if self._client is not None:
            run(self._client.close())

    def _wait_until_ready(self, call: Call) -> Running:
        wait_for([self.start(can_elicit(call.capabilities))], call, None)
        assert self._starting is not None
        try:
            return self._starting.result()
        except ClientError as error:
            raise ToolError(f"{call.tool.name}: {self.title} does not run: {error}") from None

    def _start(self, can_ask: bool) -> Running:
        end, old, settings = self._end(), self._client, self._settings
        if end is not None and self.is_resting:
            raise end.again()
        if end is not None and old is not None:
            run(old.close())
            log.info(printable(f"{self.title} is restarted: {getattr(end, 'reason', end)}"))
        time.sleep(self._restarts.wait_seconds() or 0.0)
        self._restarts.begin()
        if can_ask:
            settings = msgspec.structs.replace(settings, on_ask=lambda question: NoAnswer.DISMISSED)
        settings = msgspec.structs.replace(settings, on_log=self._log, on_list_changed=self._list_changed)
        self._log_level = None
        try:
            self._client = client = AsyncClient(settings, BLOCKING)
            run(client.__aenter__())
            running = run(client.ready(Deadline(0)))
            if running.connection.protocol.is_modern:
                running.tool_list.subscribe(running.connection)
            self._read_lists(running)
        except Exception as error:  # the outer edge of a thread: whatever a foreign server causes is its failure
            self._failure = error if isinstance(error, ClientError) else ClientError(f"{type(error).__name__}: {error}")
            log.warning(printable(f"{self.title} does not start: {error}"))
            run(client.close())
            raise self._failure from None
        self.running, self._failure = running, None
        if self._is_closed:
            self.close()
        return running

    def _end(self) -> ClientError | None:
        """Why it does not run; `None` if it does, or was never started."""
        return self._failure or (None if self.running is None else self.running.connection.end)

    # Lists

    def _read_lists(self, running: Running) -> None:
        deadline, tools, left = Deadline(_LIST_SECONDS), list[MountedTool](), _MAX_LIST_BYTES
        for kind, method in LISTS.items():
            if kind != "tools" and method.partition("/")[0] not in running.handshake.capabilities:
                continue
            kept = _Kept(self.name, kind, left)
            try:
                with RequestHandle(running.connection, BLOCKING) as handle:
                    entries, _ = run(pages(handle, deadline, method, kind, partial(self._read_page, kept)))
            except (RequestFailed, BrokenRules) as error:  # of this list alone
                log.debug(printable(f"{self.title} has no list of {kind}: {error}"))
                continue
            left = kept.left
            tools += [self.tool(kind, entry) for entry in entries]
        before, was_listed = [(tool.kind, tool.describe()) for tool in self.tools], self.is_listed
        self.tools, self.is_listed = tools, True
        if not was_listed or before != [(tool.kind, tool.describe()) for tool in tools]:
            if self.reports_names:
                report_names(self.name, tools)
            self._changed()

    def _read_page(self, kept: _Kept, page: list[Any]) -> list[Any]:
        return kept.of(self.mend(kept.kind, page))

    def mend(self, kind: str, page: list[Any]) -> list[Any]:
        """Return the entries of a *page* of the list of *kind* to read: of a server as it is, those that it sent."""
        return page

    def _list_changed(self, what: str) -> None:
        with self._lock:
            self._is_stale = self.reading is not None and not self.reading.done()
            if not self._is_stale:
                self.reading = in_daemon_thread(self._read_again)

    def _read_again(self) -> None:
        time.sleep(max(0.0, self._read_at + _CHANGE_SECONDS - time.monotonic()))
        self._read_at = time.monotonic()
        running = self.running
        try:
            if running is not None and running.connection.end is None:
                self._read_lists(running)
        except Exception as error:  # the outer edge of a thread
            log.warning(printable(f"the lists of {self.title} cannot be read: {error}"))
        with self._lock:
            if self._is_stale:
                self._is_stale, self.reading = False, in_daemon_thread(self._read_again)

    # Log messages

    def _request_logs(self, running: Running, call: Call) -> None:
        """Have a legacy server send the log messages that the client of *call* wants."""
        wanted, connection = log_messages.wanted_by(call), running.connection
        level = None if wanted is None else LEVELS[wanted]
        is_new = level not in (None, self._log_level) and not connection.protocol.is_modern
        if is_new and "logging" in running.handshake.capabilities:
            self._log_level = level
            connection.begin(connection.protocol.request("logging/setLevel", {"level": level}), BLOCKING.inbox())

    def _log(self, entry: LogEntry) -> None:
        if entry.source == "output":
            text = f"{self.title} wrote a line to its output that is no message: {entry.text}"
            log.rarely(f"output of {self.name}", printable(text))
        elif entry.source == "server":
            hosts = {call.host: call for call in list(self._open)}  # which of its calls a message is about is unknown
            for call in hosts.values():
                pass_on_log(call, entry)
            if not hosts:
                self._stray_log(entry)


class _Kept:
    """The entries of a list of *kind* that are kept: well-formed ones, of *left* bytes in all."""

    def __init__(self, server: str, kind: str, left: int) -> None:
        self._server = server
        self.kind = kind
        self._names: set[str] = set()
        self._room = _MAX_ENTRIES
        self.left = left

    def of(self, page: list[Any]) -> list[Any]:
        kept = []
        for entry in page:
            problem = problem_of(entry, self.kind, self._names)
            size = 0 if problem else len(encode(entry))
            if problem is None and (size > _MAX_ENTRY_BYTES or size > self.left or not self._room):
                problem = "it or the list is too large"
            if problem is None:
                self.left, self._room = self.left - size, self._room - 1
                kept.append({name: value for name, value in entry.items() if value is not None})
            else:
                what = f"an entry of {self._server}'s list of {self.kind} is left out: {problem}"
                log.rarely(f"{self._server} {self.kind} {problem[:40]}", printable(what))
        return kept


def wait_for(starts: Sequence[Future[Any]], call: Call, seconds: float | None) -> None:
    """Return when all *starts* have ended, or after *seconds*; the time limit of *call* is paused until then.

    Raises:
        Cancelled: if the call has ended.
    """
    ended: SimpleQueue[Any] = SimpleQueue()
    call.stop = partial(ended.put, call)
    if call.ended:  # before it could be stopped
        ended.put(call)
    deadline = None if seconds is None else time.monotonic() + seconds
    with call.host.pause(call):
        for start in starts:
            start.add_done_callback(ended.put)
        for _ in starts:
            try:
                arrived = ended.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
            except Empty:
                break
            if arrived is call:
                break
    call.stop = None
    if call.ended:
        raise cancelled(call)
