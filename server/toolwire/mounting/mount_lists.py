"""The lists of a mounted server: read at each start, and again after each change.

Strategy. The lists of the last reading stay until the next, also while the server is down. A list
that cannot be read is left out alone.
"""

from __future__ import annotations

import time
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import msgspec
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
    from collections.abc import Callable, Sequence
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


class Reading(msgspec.Struct, frozen=True):
    """The lists of a server as they were read last."""

    tools: Sequence[Tool] = ()
    """Everything it lists, in the order of its lists, without what its lock refuses."""
    refused: Sequence[Refusal] = ()
    listed: Sequence[tuple[str, dict[str, Any]]] | None = None
    """The entries of its lists, by kind; `None` before they were read."""
    unread: dict[str, str] = {}
    """Why lists could not be read, in a sentence each, by kind."""


class Rereading:
    """Runs *read* on a thread after each change of the lists, not too often."""

    def __init__(self, read: Callable[[], None]) -> None:
        self.latest: Future[None] | None = None
        """The latest reading after a change."""
        self._read = read
        self._lock = Lock()
        self._is_due = False
        self._next_at = 0.0

    def schedule(self) -> None:
        """Read the lists soon, unless that is planned already."""
        with self._lock:
            if not self._is_due:
                self.latest = run_in_daemon_thread(partial(self._run, self.latest))
                self._is_due = True

    def _run(self, last: Future[None] | None) -> None:
        if last is not None:
            last.exception()
        time.sleep(max(0.0, self._next_at - time.monotonic()))
        with self._lock:
            self._is_due = False  # a change from now on needs another reading
        self._read()
        self._next_at = time.monotonic() + _CHANGE_SECONDS


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
        self.latest = Reading()
        self.rereading = Rereading(self._read_again)
        self._title = title
        self._rules = rules
        self._send = send
        self._locked = lock
        self._changed = changed
        self._find_running = find_running
        self._problems = ProblemLog()

    def read(self, running: Running) -> None:
        """Read all lists of the *running* server.

        Raises:
            ClientError: if it ends, or does not answer in time.
        """
        deadline, kept = Deadline(_LIST_SECONDS), Kept()
        tools: list[Tool] = []
        unread: dict[str, str] = {}
        for method, kind in LIST_METHODS.items():
            if kind != "tools" and method.partition("/")[0] not in running.handshake.capabilities:
                continue
            try:
                entries = self._read_list(running, method, kind, deadline, kept)
            except (RequestFailed, BrokenRules) as error:  # of this list alone
                if _is_absent(running, kind, error):
                    log.debug(make_printable(f"{self._title} has no list of {kind}: {error}"))
                    continue
                problem = f"the list of {kind} of {self._title} cannot be read"
                unread[kind] = make_printable(f"{problem}: {error}")
                self._problems.report(kind, f"{problem}, and is left out: {error}")
                continue
            self._problems.forget(kind)
            tools += [self._rules.make_tool(entry, kind, self._send) for entry in entries]
        self._take(tools, unread)

    def schedule_reading(self, what: str) -> None:
        """Read all lists again soon, on a thread, since the server has changed *what*."""
        self.rereading.schedule()

    def _read_list(
        self, running: Running, method: str, kind: str, deadline: Deadline, kept: Kept
    ) -> list[Any]:
        """Return the entries of all pages of a list that the rules select."""
        select = partial(self._rules.select, kind=kind, kept=kept)
        with RequestHandle(running.connection, BLOCKING) as handle:
            entries, _ = run(fetch_pages(handle, deadline, method, kind, select))
        return entries

    def _take(self, tools: list[Tool], unread: dict[str, str]) -> None:
        """Replace the latest reading, and report it if the lists differ."""
        allowed = tools
        refused: list[Refusal] = []
        if self._locked is not None:
            allowed, refused = self._locked.check(tools)
        listed = [(tool.kind, tool.describe()) for tool in tools]
        before = self.latest
        self.latest = Reading(allowed, refused, listed, unread)
        if listed != before.listed:
            self._changed()

    def _read_again(self) -> None:
        running = self._find_running()
        try:
            if running is not None:
                self.read(running)
        except Exception as error:  # the outer edge of a thread
            self._problems.report("lists", f"the lists of {self._title} cannot be read: {error}")


def _is_absent(running: Running, kind: str, error: RequestFailed | BrokenRules) -> bool:
    """Return whether *error* is that of a server without the list of *kind*: servers without tools,
    and those without resource templates, need not know these methods.
    """
    if not isinstance(error, RequestFailed) or error.code != METHOD_NOT_FOUND:
        return False
    return kind not in running.handshake.capabilities
