"""The process that serves all sessions of one place.

Strategy. It listens on a Unix socket, and opens a session for each connection of this user. Each
session has its own protocol state and its own threads that read and run calls, so that one that
floods delays no other; tools, lifespans and the event loop are common (`common_parts.py`).
The main thread waits for the end: some time after the last session, or a signal. The watchdog looks
at a named pipe that every session holds open, so a process that is stuck ends as well.
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    raise ImportError("shared processes need Unix sockets, which Windows lacks")

import os
import threading
import time
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.threads import start_thread

from .. import log
from ..errors import LifespanFailed, LoadError, UsageError
from ..idle_end import IdleEnd
from ..transport.stdio import ProcessEnd, end_on_signals, leave, leave_copy, leave_within
from ..watchdog.loading_watch import watch_loading
from .connection import ClientConnection
from .loaded_files import LoadedFiles
from .log_file import keep_small, remove_old_logs
from .open_place import Admission, OpenPlace

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket
    from typing import NoReturn

    from ..runtime.loading_filter import LoadingFilter
    from ..runtime.session import Session
    from ..settings import Settings
    from ..transport.stdio import Streams
    from ..watchdog.watchdog import Watchdog
    from .common_parts import CommonParts
    from .place import Place

    OpenSession = Callable[[ClientConnection], Session]

_GREETING_SECONDS = 5.0
_FIRST_SESSION_SECONDS = 30.0
"""How long a process waits for its first session, whatever `--idle` is."""

_HANDSHAKE_SECONDS = 1.0
_CLEAN_UP_SECONDS = 0.2
_EXIT_SECONDS = 2.0
_RETRY_SECONDS = 0.1
"""How long to wait for a descriptor to become free."""

_LOG_SECONDS = 2.0
"""How often the size of the log is looked at."""


class Sharing(msgspec.Struct, frozen=True):
    """The task of a shared process: its place, its words, the files that count in addition to
    modules, and how long it stays without a session. One that *is_alone* has one session.
    """

    place: Place
    words: list[str]
    files: list[str]
    idle_seconds: float
    is_alone: bool


class SharedProcess:
    """Serves the sessions of a place: *open_session* opens them, and they have *common* parts."""

    def __init__(
        self,
        common: CommonParts,
        open_session: OpenSession,
        settings: Settings,
        streams: Streams,
        sharing: Sharing,
    ) -> None:
        self._common = common
        self._make_session = open_session
        self._settings = settings
        self._streams = streams
        self._sharing = sharing
        self._idle_seconds = sharing.idle_seconds
        self._is_alone = sharing.is_alone
        self._began = time.time()
        self._files = LoadedFiles(sharing.files)
        self._ended = ProcessEnd()
        self._are_kept_served = threading.Event()
        self._lock = threading.Lock()  # for the sessions, and what new ones find
        self._has_left = threading.Condition(self._lock)
        """Notified when a session has ended."""
        self._connections: dict[ClientConnection, Session] = {}
        self._kept: list[LoadingFilter] = []
        self._waiting: list[ClientConnection] = []
        self._answers_handshake = False
        self._watchdog: Watchdog | None = None
        self._idle_end = IdleEnd(common.timers, self._end_if_idle)
        common.keeps_tasks = not self._is_alone  # no other session comes
        common.absent.on_change = self._note_absent
        self._place = OpenPlace(sharing.place)
        self._admission = Admission(self._place, self._files, self._note_change)

    def serve(
        self, load: Callable[[], None] | None = None, *, answers_handshake: bool = False
    ) -> NoReturn:
        """Take sessions, and *load* their tools, if there are any; return when the process is to
        end.

        *answers_handshake* is whether a handshake can be answered before the tools are loaded.
        """
        self._answers_handshake = answers_handshake
        self._common.is_loading = load is not None
        end_on_signals(self._ended)
        os.register_at_fork(after_in_child=self._detach)
        os.write(REPORT, b"listening\n")
        os.close(REPORT)
        start_thread(self._accept, "toolwire-accept")
        if load is None:
            self._files.note()
            self._are_kept_served.set()
        else:
            self._load(load)
        remove_old_logs(self._sharing.place.folder)
        self._trim_log()
        with self._lock:
            if not self._connections:
                self._idle_end.schedule(max(self._idle_seconds, _FIRST_SESSION_SECONDS))
        self._ended.wait()
        self._end()

    # Loading

    def _load(self, load: Callable[[], None]) -> None:
        watch = watch_loading(
            self._place.pipe,
            self._ended.pipe,
            self._idle_seconds + self._settings.grace_seconds,
            ends_children=self._streams.ends_children,
        )
        try:
            load()
        except (LoadError, LifespanFailed, UsageError, TypeError, ValueError) as error:
            self._fail(error)
        if watch is not None:
            watch.stop()
        self._files.note()
        reason = _find_unshared()
        with self._lock:
            self._common.is_loading = False
            if reason and not self._is_alone:
                self._become_private(reason)
            kept, self._kept = self._kept, []
            waiting, self._waiting = self._waiting, []
        for each in kept:
            each.serve()
        self._are_kept_served.set()
        for connection in waiting:
            self._answer(connection)

    def _fail(self, error: Exception) -> NoReturn:
        """End the process and its sessions: the tools cannot be loaded."""
        from ..loading.failed_start import answer_failure

        log.error(str(error))
        sentence = " ".join(str(error).split())
        with self._lock:
            self._common.is_loading = False
            kept, connections, waiting = self._kept, self._connections, self._waiting
            self._admission.close(f"failed {sentence}")
        for each in kept:
            answer_failure(each, error)
        for connection in connections:
            connection.control(f"end 2 {sentence}")
        for connection in waiting:
            self._answer(connection)
        leave(2)

    def _become_private(self, reason: str) -> None:
        """Keep the first session alone: a module must not be shared."""
        self._is_alone = True
        self._common.keeps_tasks = False
        self._idle_seconds = 0.0
        self._admission.close(f"alone {reason}")
        for connection in self._connections:
            connection.note(reason)

    # Sessions

    def _accept(self) -> None:
        while True:
            try:
                stream, _ = self._place.listener.accept()
            except OSError as error:
                if self._admission.is_ending:
                    return
                log.rarely("accept", f"a session could not be accepted: {error.strerror}")
                with self._has_left:  # which frees a descriptor
                    self._has_left.wait(_RETRY_SECONDS)
                continue
            try:
                start_thread(self._greet, "toolwire-greeting", stream)
            except RuntimeError:  # the system allows no more threads
                stream.close()

    def _greet(self, stream: socket) -> None:
        connection = ClientConnection(stream)
        connection.stream.settimeout(_GREETING_SECONDS)
        verb, _, text = connection.read_greeting().partition(" ")
        connection.stream.settimeout(None)
        if verb == "serve":
            self._answer(connection, text)
            return
        if verb == "info":
            connection.send_line(msgspec.json.encode(self._describe()).decode())
        if verb == "stop":
            connection.send_line("ok")
            self._ended.come()
        connection.close()

    def _answer(self, connection: ClientConnection, alive: str = "") -> None:
        """Open a session for *connection*, which holds the pipe with the number *alive* open, or
        refuse it.
        """
        with self._lock:
            answer = self._admission.choose_answer(
                alive, len(self._connections), is_loading=self._common.is_loading
            )
            if answer == "wait":
                self._waiting.append(connection)
            if answer == "ok":
                self._open_session(connection)
                return
        connection.send_line(answer)
        if answer != "wait":
            connection.close()

    def _note_change(self) -> None:
        """Leave the tasks of absent sessions to this process: new sessions get another one."""
        self._common.absent.is_reachable = False

    def _open_session(self, connection: ClientConnection) -> None:
        self._idle_end.cancel()
        session = self._make_session(connection)
        self._connections[connection] = session
        self._common.add(session)
        session.watch_calls = lambda: self._watch(session)
        if self._common.is_loading:
            self._kept.append(self._keep_messages(session))
        connection.send_line(f"ok {self._settings.grace_seconds}")
        try:
            session.start_reading(
                connection.read, lambda: self._end_session_later(session, connection)
            )
        except RuntimeError:  # the system allows no more threads
            self._end_session(session, connection)

    def _keep_messages(self, session: Session) -> LoadingFilter:
        from ..runtime.loading_filter import LoadingFilter

        kept = LoadingFilter(
            session,
            answers_handshake=self._answers_handshake,
            max_bytes=self._settings.max_pending_bytes,
        )
        self._common.timers.after(_HANDSHAKE_SECONDS, kept.answer_late)
        return kept

    def _end_session_later(self, session: Session, connection: ClientConnection) -> None:
        """End *session* on another thread: this one is its own."""
        start_thread(self._end_session, "toolwire-session-end", session, connection)

    def _end_session(self, session: Session, connection: ClientConnection) -> None:
        # A host may hang up as soon as it has asked, while its messages wait for the tools.
        self._are_kept_served.wait(self._settings.grace_seconds)
        try:
            session.end()
        except Exception as bug:  # the outer edge: the other sessions go on
            log.traceback("a session could not be ended; please report this", bug)
        connection.close()
        if not self._common.absent.has(session):
            self._common.remove(session)
        with self._lock:
            self._kept = [each for each in self._kept if each.session is not session]
            self._connections.pop(connection, None)
            is_last = not self._connections
            self._has_left.notify_all()
        if is_last:
            self._idle_end.schedule(self._idle_seconds)

    # The end

    def _note_absent(self) -> None:
        """Keep the process while there are tasks of sessions that have ended."""
        with self._lock:
            has_some = bool(self._common.absent.count)
            is_unused = not has_some and not self._connections
            if has_some:
                self._place.hold_pipe()
            else:
                self._place.release_pipe()
        if is_unused:
            self._idle_end.schedule(self._idle_seconds)

    def _end_if_idle(self) -> None:
        with self._lock:
            if self._connections or self._common.is_loading or self._common.absent.count:
                return
            self._admission.end()
        self._ended.come()

    def _end(self) -> NoReturn:
        """End all sessions within the grace, and the process."""
        grace_seconds = self._settings.grace_seconds
        leave_within(grace_seconds + _EXIT_SECONDS)
        deadline = time.monotonic() + grace_seconds
        self._common.keeps_tasks = False
        with self._lock:
            self._admission.end()
            connections = list(self._connections)
        if self._watchdog is not None:
            self._watchdog.notify_exit()
        for connection in connections:
            connection.finish_input()  # and its session ends as if its host had hung up
        with self._has_left:
            left = deadline + _CLEAN_UP_SECONDS - time.monotonic()
            self._has_left.wait_for(lambda: not self._connections, max(left, 0.0))
        self._common.absent.end_all()
        self._common.finish(time.monotonic() + _CLEAN_UP_SECONDS, _CLEAN_UP_SECONDS)
        if self._watchdog is not None:
            self._watchdog.stop()
        leave()

    def _detach(self) -> None:
        """Take the connections from a process that a tool has forked."""
        null = os.open(os.devnull, os.O_RDWR)
        self._place.detach_after_fork(null)
        for connection in self._connections:
            if connection.stream.fileno() >= 0:
                os.dup2(null, connection.stream.fileno(), inheritable=False)
        os.close(null)
        if self._watchdog is not None:
            self._watchdog.detach_after_fork()
        for session in self._common.sessions:
            session.detach_after_fork(leave_copy)

    # Watching

    def _watch(self, session: Session) -> None:
        """Have the watchdog watch the call of *session* that is about to run."""
        session.are_calls_watched = True
        with self._lock:
            if self._watchdog is None:
                self._watchdog = self._make_watchdog()
        self._watchdog.wake()

    def _make_watchdog(self) -> Watchdog:
        from ..version import guard_imports
        from ..watchdog.watchdog import Watchdog

        guard_imports()
        all_sessions: Any = self._common
        return Watchdog(
            self._place.pipe,
            self._ended.pipe,
            self._ended.poll_from_now_on,
            all_sessions,
            self._idle_seconds + self._settings.grace_seconds + _EXIT_SECONDS,
            ends_children=self._streams.ends_children,
        )

    def _trim_log(self) -> None:
        keep_small(self._sharing.place.log)
        self._common.timers.after(_LOG_SECONDS, self._trim_log)

    def _describe(self) -> dict[str, Any]:
        servers = self._common.servers
        clients = [_describe_session(*each) for each in list(self._connections.items())]
        return {
            "key": self._sharing.place.key,
            "pid": os.getpid(),
            "words": self._sharing.words,
            "folder": os.getcwd(),
            "sessions": len(self._connections),
            "calls": sum(len(each.in_flight.running()) for each in self._common.sessions),
            "since": self._began,
            "log": self._sharing.place.log,
            "clients": clients,
            "absent": self._common.absent.count,
            "servers": [] if servers is None else servers.pids,
        }


REPORT = 3

_MAX_LISTED_CALLS = 20
"""How many calls of a session are listed by the names of their tools."""


def _describe_session(connection: ClientConnection, session: Session) -> dict[str, Any]:
    running = session.in_flight.running()
    names = [call.entry.name for call in running[:_MAX_LISTED_CALLS]]
    return {
        "pid": connection.pid,
        "since": connection.since,
        "calls": len(running),
        "tools": names,
    }


def _find_unshared() -> str:
    """Return why the loaded modules must not be shared: one of them says so. Empty if they may."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__dict__", {}).get("__shared__") is False:
            return f"the module {name} is not shared (__shared__ = False); this session has its own"
    return ""
