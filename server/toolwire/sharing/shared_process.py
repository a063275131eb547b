"""The process that serves all sessions of one place.

Strategy. It listens on a Unix socket, and opens a session for each connection of this user
(`open_sessions.py`). Each session has its own protocol state and its own threads that read and run
calls, so that one that floods delays no other; tools, lifespans and the event loop are common
(`common_parts.py`).
The main thread waits for the end: some time after the last session, or a signal. The watchdog looks
at a named pipe that every session holds open, so a process that is stuck ends as well.
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    raise ImportError("shared processes need Unix sockets, which Windows lacks")

import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.threads import start_thread

from .. import log
from ..errors import LifespanFailed, LoadError, UsageError
from ..transport.stdio import ProcessEnd, end_on_signals, leave, leave_copy, leave_within
from ..watchdog.loading_watch import watch_loading
from .connection import ClientConnection
from .log_file import keep_small, remove_old_logs
from .open_place import Admission, LoadedFiles, OpenPlace, remove_leftovers
from .open_sessions import OpenSessions

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket
    from typing import NoReturn

    from ..runtime.session import Session
    from ..settings import Settings
    from ..transport.stdio import Streams
    from ..watchdog.watchdog import Watchdog
    from .common_parts import CommonParts
    from .open_sessions import OpenSession
    from .place import Place

_GREETING_SECONDS = 5.0
_FIRST_SESSION_SECONDS = 30.0
"""How long a process waits for its first session, whatever `--idle` is."""

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
        self._settings = settings
        self._streams = streams
        self._sharing = sharing
        self._began = time.time()
        self._ended = ProcessEnd()
        self._watchdog: Watchdog | None = None
        self._place = OpenPlace(sharing.place)
        self._admission = Admission(self._place, LoadedFiles(sharing.files), self._note_change)
        self._sessions = OpenSessions(
            partial(self._open_watched, open_session),
            common,
            self._admission,
            settings,
            sharing.idle_seconds,
            self._ended.come,
        )
        common.keeps_tasks = not sharing.is_alone  # no other session comes
        common.absent.on_change = self._note_absent

    def serve(
        self, load: Callable[[], None] | None = None, *, answers_handshake: bool = False
    ) -> NoReturn:
        """Take sessions, and *load* their tools, if there are any; return when the process is to
        end.

        *answers_handshake* is whether a handshake can be answered before the tools are loaded.
        """
        if load is not None:
            self._sessions.waiting.start(answers_handshake=answers_handshake)
        end_on_signals(self._ended)
        os.register_at_fork(after_in_child=self._detach)
        os.write(REPORT, b"listening\n")
        os.close(REPORT)
        start_thread(self._accept, "toolwire-accept")
        if load is None:
            self._admission.note_files()
        else:
            self._load(load)
        remove_old_logs(self._sharing.place.folder)
        remove_leftovers(self._sharing.place.folder)
        self._trim_log()
        self._sessions.schedule_end(_FIRST_SESSION_SECONDS)
        self._ended.wait()
        self._end()

    def _load(self, load: Callable[[], None]) -> None:
        watch = watch_loading(
            self._place.pipe,
            self._ended.pipe,
            self._sessions.idle_seconds + self._settings.grace_seconds,
            ends_children=self._streams.ends_children,
        )
        try:
            load()
        except (LoadError, LifespanFailed, UsageError, TypeError, ValueError) as error:
            log.error(str(error))
            self._sessions.fail(error)
            leave(2)
        if watch is not None:
            watch.stop()
        self._admission.note_files()
        reason = _find_unshared()
        if reason and not self._sharing.is_alone:
            self._sessions.become_private(reason)
        self._sessions.serve_waiting()

    # Connections

    def _accept(self) -> None:
        while True:
            try:
                stream, _ = self._place.listener.accept()
            except OSError as error:
                if self._admission.is_ending:
                    return
                log.warn_rarely("accept", f"a session could not be accepted: {error.strerror}")
                self._sessions.wait_for_one(_RETRY_SECONDS)  # whose end frees a descriptor
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
            self._sessions.answer(connection, text)
            return
        if verb == "info":
            connection.send_line(msgspec.json.encode(self._describe()).decode())
        if verb == "stop":
            connection.send_line("ok")
            self._ended.come()
        connection.close()

    def _describe(self) -> dict[str, Any]:
        servers = self._common.servers
        clients = self._sessions.describe()
        return {
            "key": self._sharing.place.key,
            "pid": os.getpid(),
            "words": self._sharing.words,
            "folder": os.getcwd(),
            "sessions": len(clients),
            "is_old": self._admission.is_old,
            "calls": sum(len(each.in_flight.list_running()) for each in self._common.sessions),
            "since": self._began,
            "log": self._sharing.place.log,
            "clients": clients,
            "absent": self._common.absent.count,
            "servers": [] if servers is None else servers.pids,
        }

    # What keeps the process

    def _note_change(self) -> None:
        """Leave the tasks of absent sessions to this process: new sessions get another one."""
        self._common.absent.is_reachable = False

    def _note_absent(self) -> None:
        """Keep the process while there are tasks of sessions that have ended."""
        with self._sessions.lock:
            if self._common.absent.count:
                self._place.hold_pipe()
            else:
                self._place.release_pipe()
        self._sessions.schedule_end()

    # The end

    def _end(self) -> NoReturn:
        """End all sessions within the grace, and the process."""
        grace_seconds = self._settings.grace_seconds
        leave_within(grace_seconds + _EXIT_SECONDS)
        deadline = time.monotonic() + grace_seconds
        if self._watchdog is not None:
            self._watchdog.notify_exit()
        self._sessions.finish_input()
        left = deadline + _CLEAN_UP_SECONDS - time.monotonic()
        self._sessions.wait_for_all(max(left, 0.0))
        self._common.absent.end_all()
        self._common.finish(time.monotonic() + _CLEAN_UP_SECONDS, _CLEAN_UP_SECONDS)
        if self._watchdog is not None:
            self._watchdog.stop()
        leave()

    def _detach(self) -> None:
        """Take the connections from a process that a tool has forked."""
        null = os.open(os.devnull, os.O_RDWR)
        self._place.detach_after_fork(null)
        self._sessions.detach_after_fork(null)
        os.close(null)
        if self._watchdog is not None:
            self._watchdog.detach_after_fork()
        for session in self._common.sessions:
            session.detach_after_fork(leave_copy)

    # Watching

    def _open_watched(self, open_session: OpenSession, connection: ClientConnection) -> Session:
        session = open_session(connection)
        session.watch_calls = lambda: self._watch(session)
        return session

    def _watch(self, session: Session) -> None:
        """Have the watchdog watch the call of *session* that is about to run."""
        session.are_calls_watched = True
        with self._sessions.lock:
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
            self._sessions.idle_seconds + self._settings.grace_seconds + _EXIT_SECONDS,
            ends_children=self._streams.ends_children,
        )

    def _trim_log(self) -> None:
        keep_small(self._sharing.place.log)
        self._common.timers.after(_LOG_SECONDS, self._trim_log)


REPORT = 3
"""The descriptor on which the process that has started this one waits."""


def _find_unshared() -> str:
    """Return why the loaded modules must not be shared: one of them says so. Empty if they may."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__dict__", {}).get("__shared__") is False:
            return f"the module {name} is not shared (__shared__ = False); this session has its own"
    return ""
