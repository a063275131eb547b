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
from collections import Counter
from concurrent.futures import wait
from shutil import which
from typing import TYPE_CHECKING

from toolwire_client.protocol.events import LogEntry
from toolwire_client.protocol.tasks import has_tasks
from toolwire_client.waiting.base import run_in_daemon_thread
from toolwire_schemas.output import make_printable
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.messages import INTERNAL_ERROR, OVERLOADED

from .. import log
from ..protocol.catalog import Catalog
from ..protocol.lifecycle import Identity
from ..runtime.loading_filter import WaitingMessages
from ..runtime.session import Session
from ..transport.stdio import leave
from .host_side import HostDeclaration, HostSide, read_declaration, refuse
from .routes import (
    PassedRequests,
    Peers,
    Route,
    ServerState,
    make_host_table,
    note_passing,
    read_head,
    route_from_host,
    route_from_server,
)
from .server_side import WrappedServer
from .summary import summarize

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from toolwire_client.async_client import Running
    from toolwire_client.errors import ServerGone
    from toolwire_client.protocol.client_protocol import ClientProtocol
    from toolwire_schemas.wire.messages import Frame

    from ..runtime.writer import Write
    from ..settings import Settings
    from .last_start import LastStart
    from .routes import Head
    from .server_side import WrapSettings

_LATE_SECONDS = 1.0
"""How long a host waits for the start before lists of the last one answer: the shortest time limit
of a host known is 1.5 s.
"""

_LONG_SECONDS = 0.5
"""A start that takes less leaves no lists for the next one."""

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


class Wrap:
    """The filter of *session*, which shows the *identity* of the wrapped server."""

    def __init__(
        self, session: Session, identity: Identity, wrapped: WrapSettings, settings: Settings
    ) -> None:
        self._session = session
        self._identity = identity
        self._wrapped = wrapped
        self._settings = settings
        self._counts: Counter[str] = Counter()
        self._host = HostSide(session)
        self._server = WrappedServer(
            wrapped,
            self._counts,
            take_frame=self._take_from_server,
            on_change=self._update_lists,
            on_end=self._note_end,
        )
        self._declaration = HostDeclaration()
        self._table = make_host_table(session.methods)
        self._of_host = PassedRequests()
        self._of_server = PassedRequests()
        self._deciding = threading.RLock()
        self._waiting: WaitingMessages | None = None
        """The host's messages while the server starts; `None` when it does not."""
        self._start: Future[None] | None = None
        self._last_start: LastStart | None = None
        """The lists of the last start, once they are needed."""
        self._keeps_lists = False
        self._catalog: Catalog | None = None
        self._is_known = False
        """Whether they answer, since the server is not ready."""

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
        if is_passing_request and self._is_full(running):
            problem = "too many requests are open, or too many responses unread"
            return refuse(head, OVERLOADED, problem)
        # Only what runs has open requests.
        if running is not None and note_passing(head, route, self._of_host, self._of_server):
            assert isinstance(frame, bytes)
            self._pass_to_server(frame, head, running)
            return []
        return self._answer(frame, head)

    def _is_full(self, running: Running | None) -> bool:
        """Return whether no further request may pass."""
        if self._of_host.is_full or self._session.writer.is_full:
            return True
        return running is not None and running.connection.is_full

    def _describe_state(self, running: Running | None) -> ServerState:
        if self._waiting is not None:
            return ServerState.KNOWN if self._is_known else ServerState.STARTING
        if running is None:
            return ServerState.ABSENT
        return ServerState.RUNNING if running.connection.end is None else ServerState.ENDED

    def _list_peers(self, running: Running | None) -> Peers:
        has_legacy_host = self._declaration.is_legacy
        if running is None or running.connection.protocol.is_modern:
            return Peers(has_legacy_host, has_legacy_server=False)
        handshake = running.handshake
        return Peers(
            has_legacy_host,
            has_legacy_server=True,
            has_tasks=has_tasks(handshake.version, handshake.capabilities),
        )

    def _pass_to_server(self, frame: bytes, head: Head, running: Running) -> None:
        if head.method == "logging/setLevel":
            level = head.members.get("level")
            if isinstance(level, str):
                self._server.keep_log_level(level)
        running.connection.send(frame)
        end = running.connection.end
        if end is not None:  # just now, so that nothing else answers it
            self._fail_passed(end.reason)

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
        if self._waiting is not None:
            if self._waiting.add(frame):
                return []
            problem = "too many messages wait for the wrapped server to start"
            return refuse(head, OVERLOADED, problem)
        is_first = self._server.running is None
        if is_first:
            self._declaration = read_declaration(head.members)
        self._waiting = WaitingMessages(self._settings.max_pending_bytes)
        self._waiting.frames.append(frame)
        self._start = run_in_daemon_thread(self._start_server)
        if is_first and self._wrapped.list_cache != "never":
            self._use_last_start()
        return []

    def _use_last_start(self) -> None:
        """Answer with the lists of the last start until the server is ready."""
        if self._wrapped.list_cache == "always":
            self._answer_early()
        else:
            self._session.timers.after(_LATE_SECONDS, self._answer_early)

    def _answer_early(self) -> None:
        """Answer the handshake and lists that wait, unless the server has started by now."""
        if self._waiting is None:
            return
        last = self._find_last_start()
        with self._deciding:
            if self._waiting is None or self._server.running is not None:
                return
            if not last.show(self._session, self._identity):
                return
            self._is_known = True
            answers = []
            for frame in self._waiting.take():
                answers += self._receive(frame)
            self._session.writer.enqueue_all(answers)

    def _find_last_start(self) -> LastStart:
        from .last_start import LastStart  # most servers start quickly

        if self._last_start is None:
            self._last_start = LastStart(self._wrapped, self._declaration)
        return self._last_start

    def _keep_lists(self) -> None:
        """Keep the lists for the next start, if this one took long."""
        if self._keeps_lists and self._catalog is not None:
            self._find_last_start().keep(self._catalog, self._identity)

    def _start_server(self) -> None:
        """Start the server, and answer what waits for that. On a thread of its own."""
        problem = None
        started_at = time.monotonic()
        try:
            self._server.connect(self._declaration)
            self._keeps_lists = self._is_worth_keeping(time.monotonic() - started_at)
            self._serve_lists()
        except (
            Exception
        ) as error:  # the outer edge of a thread: whatever a foreign server causes is its failure
            if self._session.is_ending:
                return
            problem = make_printable(f"The wrapped server does not run: {error}")
            if self._last_start is not None:
                self._last_start.forget()
        self._serve_waiting(problem)
        self._session.run_accepted()
        self._keep_lists()

    def _is_worth_keeping(self, start_seconds: float) -> bool:
        mode = self._wrapped.list_cache
        return mode == "always" or (mode == "late" and start_seconds > _LONG_SECONDS)

    def _update_lists(self) -> None:
        self._serve_lists()
        self._keep_lists()

    def _serve_waiting(self, problem: str | None) -> None:
        """Serve the messages that waited, in their order; if there is a *problem*, refuse them."""
        with self._deciding:
            waiting, self._waiting, self._is_known = self._waiting, None, False
            assert waiting is not None
            answers = []
            for frame in waiting.frames:
                if problem is None:
                    answers += self._receive(frame)
                else:
                    answers += refuse(read_head(frame), INTERNAL_ERROR, problem)
            self._session.writer.enqueue_all(answers)

    def _serve_lists(self) -> None:
        """Serve what the wrapped server lists from now on."""
        running = self._server.running
        if running is None:  # it is starting, and this is called again
            return
        default = {"name": self._wrapped.command[0], "version": ""}
        server_info = {**default, **running.handshake.server_info}
        instructions = self._server.read_instructions(running)
        catalog = self._server.make_catalog(running)
        with self._deciding:  # so that lists of the last start do not replace these
            self._catalog = catalog
            self._identity.show_as(server_info, instructions)
            self._session.replace(catalog)

    # From the wrapped server

    def _take_from_server(self, frame: Frame, protocol: ClientProtocol) -> bool:
        """Pass *frame* to the host if it is not for our client; return whether it was passed."""
        if self._session.is_ending or not isinstance(frame, bytes):
            return False
        head = read_head(frame)
        is_legacy = self._declaration.is_legacy
        peers = Peers(is_legacy, not protocol.is_modern, can_ask=protocol.can_ask)
        route = route_from_server(head, peers)
        if note_passing(head, route, self._of_server, self._of_host):
            is_notification = bool(head.method) and head.request_id is None
            self._host.pass_on(frame, is_legacy=is_legacy, may_drop=is_notification)
            return True
        if "noise" in self._wrapped.without and _is_noise(frame, protocol):
            self._host.pass_on(frame, is_legacy=is_legacy, may_drop=True)
            return True
        return False

    def _note_end(self, gone: ServerGone) -> None:
        """Fail what waits for the server, whose process has ended."""
        if self._server.running is None or self._session.is_ending:
            return
        self._fail_passed(gone.reason)
        if "restart" in self._wrapped.without:
            log.error(make_printable(f"{self._server.name}: {gone.reason}"))
            os.kill(os.getpid(), signal.SIGTERM)

    def _fail_passed(self, reason: str) -> None:
        """Answer the host's requests that only the wrapped server could: it has ended."""
        problem = f"The wrapped server has ended: {reason}"
        for id in self._of_host.remove_all():
            self._session.writer.enqueue(messages.encode_error(id, INTERNAL_ERROR, problem))
        self._of_server.remove_all()

    # The end

    def prepare_end(self) -> None:
        """As `ClientFilter.prepare_end`: a start may take the grace."""
        if self._start is not None:
            wait([self._start], timeout=self._settings.grace_seconds)

    def end(self) -> None:
        """As `ClientFilter.end`: end the server, and say on stderr what was done."""
        if self._server.running is None:
            # Before closing, since closing a start may take all the time that is left.
            self._report_no_run()
            wait([run_in_daemon_thread(self._server.close)], timeout=_CLOSE_SECONDS)
            return
        wait([run_in_daemon_thread(self._server.close)], timeout=_CLOSE_SECONDS)
        self._server.count_orphans()
        self._counts["heartbeat"] = self._session.heartbeats_sent
        self._counts["framing"] = int(self._session.has_headers)
        large = self._session.in_flight.large
        self._counts["results"] = 0 if large is None else large.made
        name = self._identity.server_info()["name"]
        log.info(make_printable(summarize(name, self._counts, has_warned=log.has_warned())))

    def _report_no_run(self) -> None:
        """Say that the server did not run, and exit with 1 if there is no such program."""
        is_missing = which(self._wrapped.command[0]) is None
        reason = ", since there is no such program, or it may not be run" if is_missing else ""
        log.info(make_printable(f"{self._server.name}: it did not run{reason}"))
        if is_missing and self._wrapped.launch is None:  # else other sessions go on
            leave(1)


def _is_noise(frame: bytes, protocol: ClientProtocol) -> bool:
    """Return whether a line of the server's output is no message."""
    for event in protocol.receive(frame):
        if isinstance(event, LogEntry) and event.source == "output":
            return True
    return False
