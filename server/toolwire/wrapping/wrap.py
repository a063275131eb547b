"""A filter between the stream of a host and that of a wrapped server.

Strategy. `routes.py` says for each message whether it passes as it came, is answered here, or waits
for a start. "Here" is, for messages of the host, the session of a server that has only the tools of
the wrapped one; for those of the wrapped server, the client of a mount. The first message of the
host starts the wrapped server (`server_side.py`).

Two threads decide: one reads from the host, the other one from the wrapped server. After a start,
the thread of the start serves the messages that have waited.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import wait
from functools import partial
from shutil import which
from typing import TYPE_CHECKING

from toolwire_client.protocol.tasks import has_tasks
from toolwire_client.remote import as_process
from toolwire_client.waiting.base import run_in_daemon_thread
from toolwire_schemas.output import make_printable
from toolwire_schemas.wire.messages import INTERNAL_ERROR, OVERLOADED

from .. import log
from ..protocol.catalog import Catalog
from ..protocol.lifecycle import Identity
from ..runtime.loading_filter import WaitingMessages
from ..runtime.session import Session
from ..transport.stdio import leave
from .host_side import HostSide, read_declaration, refuse
from .passage import Passage
from .routes import Peers, Route, ServerState, make_host_table, read_head, route_from_host
from .served_lists import ServedLists
from .server_side import WrappedServer
from .summary import summarize

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from toolwire_client.async_client import Running
    from toolwire_client.errors import ServerGone
    from toolwire_schemas.wire.messages import Frame

    from ..runtime.writer import Write
    from ..settings import Settings
    from .routes import Head
    from .server_side import WrapSettings

_LATE_SECONDS = 1.0
"""How long a host waits for the start before lists of the last one answer: the shortest time limit
of a host known is 1.5 s.
"""

_CLOSE_SECONDS = 0.3
"""How long the summary waits for the end of the wrapped server, whose last processes it counts."""


def begin_wrap(
    write: Write,
    wrapped: WrapSettings,
    settings: Settings,
    make_session: Callable[..., Session] = Session,
) -> Session:
    """Return the session with a host through *write*, which serves what *wrapped* says."""
    identity = Identity("", "")
    takes_headers = "framing" not in wrapped.without
    session = make_session(Catalog(()), identity, settings, write, takes_headers=takes_headers)
    session.filter_with(Wrap(session, identity, wrapped, settings))
    return session


class Start:
    """A start of the wrapped server, and the messages of the host that wait for it, in their order;
    they have at most *max_bytes* in all.
    """

    def __init__(self, max_bytes: int) -> None:
        self.waiting = WaitingMessages(max_bytes)
        self.thread: Future[None] | None = None
        self.is_over = False
        self.uses_last_lists = False
        """Whether lists of the last start answer, since this one takes long."""


class Wrap:
    """The filter of *session*, which shows the *identity* of the wrapped server."""

    def __init__(
        self, session: Session, identity: Identity, wrapped: WrapSettings, settings: Settings
    ) -> None:
        self._session = session
        self._wrapped = wrapped
        self._settings = settings
        self._table = make_host_table(session.methods)
        self._host = HostSide(session)
        self._passage = Passage(session, self._host, wrapped.without)
        self._lists = ServedLists(session, identity, self._host, wrapped)
        self._server = WrappedServer(
            wrapped,
            take_frame=self._passage.pass_to_host,
            on_change=self._update_lists,
            on_end=self._note_end,
        )
        self._deciding = threading.RLock()  # for the latest start, and whose lists are served
        self._start: Start | None = None

    # From the host

    def receive(self, frames: list[Frame]) -> list[bytes]:
        """As `ClientFilter.receive`."""
        answers = []
        with self._deciding:
            for frame in frames:
                answers += self._receive(frame)
        return answers

    def _receive(self, frame: Frame) -> list[bytes]:
        head = read_head(frame)
        running = self._server.running
        route = route_from_host(
            self._table, head, self._list_peers(running), self._describe_state(running)
        )
        if route is Route.WAIT:
            return self._keep_waiting(frame, head)
        is_passing_request = route is Route.PASS and head.request_id is not None
        if is_passing_request and self._passage.is_full(running):
            problem = "too many requests are open, or too many responses unread"
            return refuse(head, OVERLOADED, problem)
        # Only what runs has open requests.
        if running is not None and self._passage.pass_to_server(frame, head, route, running):
            self._keep_log_level(head)
            return []
        return self._answer(frame, head)

    def _describe_state(self, running: Running | None) -> ServerState:
        if self._start is not None and not self._start.is_over:
            return ServerState.KNOWN if self._start.uses_last_lists else ServerState.STARTING
        if running is None:
            return ServerState.ABSENT
        return ServerState.RUNNING if running.connection.end is None else ServerState.ENDED

    def _list_peers(self, running: Running | None) -> Peers:
        has_legacy_host = self._host.declaration.is_legacy
        if running is None or running.connection.protocol.is_modern:
            return Peers(has_legacy_host, has_legacy_server=False)
        handshake = running.handshake
        return Peers(
            has_legacy_host,
            has_legacy_server=True,
            has_tasks=has_tasks(handshake.version, handshake.capabilities),
        )

    def _keep_log_level(self, head: Head) -> None:
        """Keep the level that the host sets: the server gets it at its next start, too."""
        level = head.members.get("level")
        if head.method == "logging/setLevel" and isinstance(level, str):
            self._server.keep_log_level(level)

    def _answer(self, frame: Frame, head: Head) -> list[bytes]:
        answers = self._session.decide([frame])
        if head.method == "initialize":
            # Its response comes before all that the wrapped server sends.
            for answer in answers:
                self._session.writer.write(answer)
            return []
        if head.method == "notifications/initialized":
            self._host.pass_early()
        return answers

    # The start

    def _keep_waiting(self, frame: Frame, head: Head) -> list[bytes]:
        """Keep *frame* until the server has started, and start it if nothing else waits."""
        if self._start is None or self._start.is_over:
            self._start_server(frame, head)
            return []
        if self._start.waiting.add(frame):
            return []
        problem = "too many messages wait for the wrapped server to start"
        return refuse(head, OVERLOADED, problem)

    def _start_server(self, frame: Frame, head: Head) -> None:
        """Start the server on a thread; *frame* waits for that, however long it is."""
        start = self._start = Start(self._settings.max_pending_bytes)
        start.waiting.frames.append(frame)
        is_first = self._server.running is None
        if is_first:
            self._host.declaration = read_declaration(head.members)
        start.thread = run_in_daemon_thread(partial(self._run_start, start))
        if not is_first or self._wrapped.list_cache == "never":
            return
        if self._wrapped.list_cache == "always":
            self._answer_early(start)
        else:
            self._session.timers.after(_LATE_SECONDS, partial(self._answer_early, start))

    def _answer_early(self, start: Start) -> None:
        """Answer the handshake and lists that wait for *start* with those of the last one, unless
        it has ended.
        """
        if start.is_over:
            return
        self._lists.find_last_start()
        with self._deciding:
            if start.is_over or self._server.running is not None:
                return
            if not self._lists.show_last_start():
                return
            start.uses_last_lists = True
            answers = []
            for frame in start.waiting.take():
                answers += self._receive(frame)
            self._session.writer.enqueue_all(answers)

    def _run_start(self, start: Start) -> None:
        """Start the server, and answer what waits for *start*. On a thread of its own."""
        problem = None
        started_at = time.monotonic()
        try:
            self._server.connect(self._host.declaration)
            self._lists.note_start(time.monotonic() - started_at)
            self._serve_lists()
        except (
            Exception
        ) as error:  # the outer edge of a thread: whatever a foreign server causes is its failure
            if self._session.is_ending:
                return
            problem = make_printable(f"The wrapped server does not run: {error}")
            self._lists.forget_last_start()
        self._serve_waiting(start, problem)
        self._session.run_accepted()
        self._lists.keep()

    def _serve_waiting(self, start: Start, problem: str | None) -> None:
        """Serve the messages that waited, in their order; if there is a *problem*, refuse them."""
        with self._deciding:
            start.is_over = True
            answers = []
            for frame in start.waiting.take():
                if problem is None:
                    answers += self._receive(frame)
                else:
                    answers += refuse(read_head(frame), INTERNAL_ERROR, problem)
            self._session.writer.enqueue_all(answers)

    def _update_lists(self) -> None:
        self._serve_lists()
        self._lists.keep()

    def _serve_lists(self) -> None:
        """Serve what the wrapped server lists from now on."""
        running = self._server.running
        if running is None:  # it is starting, and this is called again
            return
        instructions = self._server.read_instructions(running)
        catalog = self._server.make_catalog(running)
        with self._deciding:  # so that lists of the last start do not replace these
            self._lists.show(catalog, running.handshake.server_info, instructions)

    # The end

    def _note_end(self, gone: ServerGone) -> None:
        """Fail what waits for the server, whose process has ended."""
        if self._server.running is None or self._session.is_ending:
            return
        self._passage.fail_all(gone.reason)
        if "restart" in self._wrapped.without:
            log.error(make_printable(f"{self._server.name}: {gone.reason}"))
            os.kill(os.getpid(), signal.SIGTERM)

    def prepare_end(self) -> None:
        """As `ClientFilter.prepare_end`: a start may take the grace."""
        if self._start is not None and self._start.thread is not None:
            wait([self._start.thread], timeout=self._settings.grace_seconds)

    def end(self) -> None:
        """As `ClientFilter.end`: end the server, and say on stderr what was done."""
        if self._server.running is None:
            # Before closing, since closing a start may take all the time that is left.
            self._report_no_run()
            self._close_server()
            return
        self._close_server()
        self._report_fixes()

    def _close_server(self) -> None:
        wait([run_in_daemon_thread(self._server.close)], timeout=_CLOSE_SECONDS)

    def _report_fixes(self) -> None:
        self._server.count_orphans()
        counts, large = self._server.counts, self._session.in_flight.large
        counts["heartbeat"] = self._session.heartbeats_sent
        counts["framing"] = int(self._session.has_headers)
        counts["results"] = 0 if large is None else large.made
        summary = summarize(self._lists.server_name, counts, has_warned=log.has_warned())
        log.info(make_printable(summary))

    def _report_no_run(self) -> None:
        """Say that the server did not run, and exit with 1 if there is no such program."""
        is_missing = which(as_process(self._wrapped.command)[0]) is None
        reason = ", since there is no such program, or it may not be run" if is_missing else ""
        log.info(make_printable(f"{self._server.name}: it did not run{reason}"))
        if is_missing and self._wrapped.launch is None:  # else other sessions go on
            leave(1)
