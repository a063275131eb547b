"""The sessions of a shared process, each with the connection that it serves.

Strategy. A session opens when its connection comes, or when the tools are loaded, and ends when
the connection does. One lock is held for every decision that depends on which sessions there are:
whether another one may open, and whether the process is needed any longer.
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    raise ImportError("shared processes need Unix sockets, which Windows lacks")

import os
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from toolwire_schemas.threads import start_thread

from .. import log
from ..idle_end import IdleEnd
from ..runtime.loading_filter import LoadingFilter

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..runtime.session import Session
    from ..settings import Settings
    from ..timers import Timers
    from .common_parts import CommonParts
    from .connection import ClientConnection
    from .open_place import Admission

    OpenSession = Callable[[ClientConnection], Session]

_HANDSHAKE_SECONDS = 1.0
"""How long a handshake may wait for the tools."""

_MAX_LISTED_CALLS = 20
"""How many calls of a session are listed by the names of their tools."""


class OpenSessions:
    """Opens and ends the sessions that *admission* lets in, which have *common* parts.

    *end_process* is called when no session has been open for *idle_seconds*.
    """

    def __init__(
        self,
        open_session: OpenSession,
        common: CommonParts,
        admission: Admission,
        settings: Settings,
        idle_seconds: float,
        end_process: Callable[[], None],
    ) -> None:
        self.lock = threading.Condition(threading.Lock())
        """Held while sessions open and end. Notified when one has ended."""
        self.waiting = WaitingClients(common.timers, settings.max_pending_bytes)
        self.idle_seconds = idle_seconds
        self._open_session = open_session
        self._common = common
        self._admission = admission
        self._grace_seconds = settings.grace_seconds
        self._end_process = end_process
        self._idle_end = IdleEnd(common.timers, self._end_if_unused)
        self._sessions: dict[ClientConnection, Session] = {}

    def answer(self, connection: ClientConnection, pipe: str = "") -> None:
        """Open a session for *connection*, which holds the pipe with the number *pipe* open, let it
        wait for the tools, or refuse it.
        """
        with self.lock:
            answer = self._admission.choose_answer(
                pipe, len(self._sessions), is_loading=self.waiting.is_loading
            )
            if answer == "wait":
                self.waiting.add(connection)
            if answer == "ok":
                session = self._open(connection)
        if answer == "ok":
            self._start(session, connection)
            return
        connection.send_line(answer)
        if answer != "wait":
            connection.close()

    def _open(self, connection: ClientConnection) -> Session:
        """Return a new session for *connection*. Only with the lock."""
        self._idle_end.cancel()
        session = self._open_session(connection)
        self._sessions[connection] = session
        self._common.add(session)
        if self.waiting.is_loading:
            self.waiting.keep_messages(session)
        connection.send_line(f"ok {self._grace_seconds}")
        return session

    def _start(self, session: Session, connection: ClientConnection) -> None:
        try:
            session.start_reading(connection.read, lambda: self._end_later(session, connection))
        except RuntimeError:  # the system allows no more threads
            self._end(session, connection)

    def _end_later(self, session: Session, connection: ClientConnection) -> None:
        """End *session* on another thread: this one is its own."""
        start_thread(self._end, "toolwire-session-end", session, connection)

    def _end(self, session: Session, connection: ClientConnection) -> None:
        # A host may hang up as soon as it has asked, while its messages wait for the tools.
        self.waiting.wait_until_served(self._grace_seconds)
        try:
            session.end()
        except Exception as bug:  # the outer edge: the other sessions go on
            log.traceback("a session could not be ended; please report this", bug)
        connection.close()
        if not self._common.absent.has(session):
            self._common.remove(session)
        with self.lock:
            self.waiting.forget(session)
            self._sessions.pop(connection, None)
            self.lock.notify_all()
        self.schedule_end()

    # When the tools are loaded

    def serve_waiting(self) -> None:
        """Serve what has waited for the tools."""
        with self.lock:
            waiting = self.waiting.take()
        for each in waiting.filters:
            each.serve()
        self.waiting.note_served()
        for connection in waiting.connections:
            self.answer(connection)

    def become_private(self, reason: str) -> None:
        """Keep the session that is open, and open no other: a module must not be shared."""
        with self.lock:
            self._common.keeps_tasks = False
            self.idle_seconds = 0.0
            self._admission.step_aside(f"alone {reason}")
            for connection in self._sessions:
                connection.note(reason)

    def fail(self, error: Exception) -> None:
        """Answer all clients that the tools cannot be loaded, and open no session any more."""
        from ..loading.failed_start import answer_failure

        sentence = " ".join(str(error).split())
        with self.lock:
            waiting = self.waiting.take()
            connections = list(self._sessions)
            self._admission.close(f"failed {sentence}")
        for each in waiting.filters:
            answer_failure(each, error)
        for connection in connections:
            connection.control(f"end 2 {sentence}")
        for connection in waiting.connections:
            self.answer(connection)

    # The end of the process

    def schedule_end(self, min_seconds: float = 0.0) -> None:
        """End the process after its idle time, and *min_seconds* at least, unless it is needed."""
        with self.lock:
            if not self._sessions and not self._common.absent.count:
                self._idle_end.schedule(max(self.idle_seconds, min_seconds))

    def _end_if_unused(self) -> None:
        with self.lock:
            if self._sessions or self.waiting.is_loading or self._common.absent.count:
                return
            self._admission.end()
        self._end_process()

    def finish_input(self) -> None:
        """Open no session any more, and end each one as if its host had hung up."""
        self._common.keeps_tasks = False
        with self.lock:
            self._admission.end()
            connections = list(self._sessions)
        for connection in connections:
            connection.finish_input()

    def wait_for_all(self, seconds: float) -> None:
        """Return when all sessions have ended, or after *seconds*."""
        with self.lock:
            self.lock.wait_for(lambda: not self._sessions, seconds)

    def wait_for_one(self, seconds: float) -> None:
        """Return when a session has ended, or after *seconds*."""
        with self.lock:
            self.lock.wait(seconds)

    def detach_after_fork(self, null: int) -> None:
        """Replace what the connections read by *null*, in a copy of this process."""
        for connection in self._sessions:
            if connection.stream.fileno() >= 0:
                os.dup2(null, connection.stream.fileno(), inheritable=False)

    def describe(self) -> list[dict[str, Any]]:
        """Return the facts about each session that `share ls` shows."""
        return [_describe_session(*each) for each in list(self._sessions.items())]


def _describe_session(connection: ClientConnection, session: Session) -> dict[str, Any]:
    running = session.in_flight.list_running()
    names = [call.entry.name for call in running[:_MAX_LISTED_CALLS]]
    return {
        "pid": connection.pid,
        "since": connection.since,
        "calls": len(running),
        "tools": names,
    }


class Waiting(NamedTuple):
    """The messages of the sessions that are open, and the connections that have none yet."""

    filters: list[LoadingFilter]
    connections: list[ClientConnection]


class WaitingClients:
    """Keeps what waits for the tools: messages of up to *max_bytes* in each session, and
    connections. Not thread-safe, except for `wait_until_served`.
    """

    def __init__(self, timers: Timers, max_bytes: int) -> None:
        self.is_loading = False
        self._timers = timers
        self._max_bytes = max_bytes
        self._answers_handshake = False
        self._filters: list[LoadingFilter] = []
        self._connections: list[ClientConnection] = []
        self._are_served = threading.Event()
        self._are_served.set()

    def start(self, *, answers_handshake: bool) -> None:
        """Keep everything from now on, except for the handshake if this *answers_handshake*."""
        self.is_loading = True
        self._answers_handshake = answers_handshake
        self._are_served.clear()

    def keep_messages(self, session: Session) -> None:
        """Let the messages for *session* wait."""
        kept = LoadingFilter(
            session, answers_handshake=self._answers_handshake, max_bytes=self._max_bytes
        )
        self._filters.append(kept)
        self._timers.after(_HANDSHAKE_SECONDS, kept.answer_late)

    def add(self, connection: ClientConnection) -> None:
        """Let *connection* wait for its session."""
        self._connections.append(connection)

    def forget(self, session: Session) -> None:
        """Keep no messages for *session* any more, which has ended."""
        self._filters = [each for each in self._filters if each.session is not session]

    def take(self) -> Waiting:
        """Return all that waits, and keep nothing from now on: loading has ended."""
        taken = Waiting(self._filters, self._connections)
        self.is_loading = False
        self._filters, self._connections = [], []
        return taken

    def note_served(self) -> None:
        """Note that the messages that have waited are served."""
        self._are_served.set()

    def wait_until_served(self, seconds: float) -> None:
        """Return when no messages wait any more, or after *seconds*."""
        self._are_served.wait(seconds)
