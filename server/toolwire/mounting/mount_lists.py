"""The lists of a mounted server: read at each start, and again after each change.

Strategy. The lists of the last reading stay until the next, also while the server is down. A list
that cannot be read is left out alone.
"""

from __future__ import annotations

import time
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from toolwire_client.errors import BrokenRules, RequestFailed
from toolwire_client.session.request import RequestHandle
from toolwire_client.session.tool_list import fetch_pages
from toolwire_client.waiting.base import run, run_in_daemon_thread
from toolwire_schemas.deadline import Deadline
from toolwire_schemas.output import make_printable
from toolwire_schemas.wire.messages import METHOD_NOT_FOUND

from .. import log
from ..forwarding import BLOCKING
from ..protocol.catalog import LIST_METHODS
from .listed_entries import Kept

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from toolwire_client.async_client import Running
    from toolwire_tools import Tool

    from .listed_entries import EntryRules
    from .locking import LockedEntries, Refusal
    from .mounted_entry import Forward

_LIST_SECONDS = 60.0

_CHANGE_SECONDS = 0.2
"""The least time between two readings of the lists: a server that never stops changing them costs
little.
"""


class ProblemLog:
    """Logs a problem of a subject once, until it changes: one `list` of a client is up to five
    requests.
    """

    def __init__(self) -> None:
        self._last: dict[str, str] = {}

    def report(self, subject: str, problem: str) -> None:
        """Log *problem*, unless it is the last one of *subject*."""
        is_known = self._last.get(subject) == problem
        self._last[subject] = problem
        write = log.debug if is_known else log.warning
        write(make_printable(problem))

    def forget(self, subject: str) -> None:
        """Log the next problem of *subject*, whatever it is."""
        self._last.pop(subject, None)


class MountLists:
    """The lists of the server called *title*, as tools whose calls *send* runs.

    *changed* is called, on any thread, when its lists were read and differ. *rules* and *lock*
    choose among their entries. *find_running* returns the server, if it runs.
    """

    def __init__(
        self,
        title: str,
        rules: EntryRules,
        send: Forward,
        lock: LockedEntries | None,
        changed: Callable[[], None],
        find_running: Callable[[], Running | None],
    ) -> None:
        self.tools: list[Tool] = []
        """Everything it lists, in the order of its lists, without what *lock* refuses."""
        self.refused: list[Refusal] = []
        self.listed: list[tuple[str, dict[str, Any]]] | None = None
        """What its lists hold, by kind; `None` before they were read."""
        self.unread: dict[str, str] = {}
        """Why lists could not be read the last time, in a sentence each, by kind."""
        self.reading: Future[None] | None = None
        """The latest reading after a change."""
        self._title = title
        self._rules = rules
        self._send = send
        self._locked = lock
        self._changed = changed
        self._find_running = find_running
        self._problems = ProblemLog()
        self._lock = Lock()
        self._is_reading_due = False
        self._next_reading = 0.0

    def read(self, running: Running) -> None:
        """Read all lists of the *running* server.

        Raises:
            ClientError: if it ends, or does not answer in time.
        """
        deadline, kept = Deadline(_LIST_SECONDS), Kept()
        tools: list[Tool] = []
        for method, kind in LIST_METHODS.items():
            if kind != "tools" and method.partition("/")[0] not in running.handshake.capabilities:
                continue
            try:
                with RequestHandle(running.connection, BLOCKING) as handle:
                    select = partial(self._rules.select, kind=kind, kept=kept)
                    entries, _ = run(fetch_pages(handle, deadline, method, kind, select))
            except (RequestFailed, BrokenRules) as error:  # of this list alone
                self._report_unread(running, kind, error)
                continue
            self._problems.forget(kind)
            self.unread.pop(kind, None)
            tools += [self._rules.make_tool(entry, kind, self._send) for entry in entries]
        before = self.listed
        self.listed = [(tool.kind, tool.describe()) for tool in tools]
        self.tools, self.refused = tools, []
        if self._locked is not None:
            self.tools, self.refused = self._locked.check(tools)
        if self.listed != before:
            self._changed()

    def _report_unread(
        self, running: Running, kind: str, error: RequestFailed | BrokenRules
    ) -> None:
        has_declared = kind in running.handshake.capabilities
        if isinstance(error, RequestFailed) and error.code == METHOD_NOT_FOUND and not has_declared:
            # Servers without tools, and those without resource templates, need not know these
            # methods.
            log.debug(make_printable(f"{self._title} has no list of {kind}: {error}"))
            return
        problem = f"the list of {kind} of {self._title} cannot be read"
        self.unread[kind] = make_printable(f"{problem}: {error}")
        self._problems.report(kind, f"{problem}, and is left out: {error}")

    def schedule_reading(self, what: str) -> None:
        """Read all lists again soon, on a thread, since the server has changed *what*."""
        with self._lock:
            if not self._is_reading_due:
                self.reading = run_in_daemon_thread(partial(self._read_again, self.reading))
                self._is_reading_due = True

    def _read_again(self, last: Future[None] | None) -> None:
        if last is not None:
            last.exception()
        time.sleep(max(0.0, self._next_reading - time.monotonic()))
        with self._lock:
            self._is_reading_due = False
        running = self._find_running()
        try:
            if running is not None:
                self.read(running)
        except Exception as error:  # the outer edge of a thread
            self._problems.report("lists", f"the lists of {self._title} cannot be read: {error}")
        self._next_reading = time.monotonic() + _CHANGE_SECONDS
