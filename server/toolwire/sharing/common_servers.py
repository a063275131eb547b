"""The servers of others that the sessions of a shared process have in common.

Strategy. Sessions whose handshake is the same, which are those of one host, have one server. It
learns of the host from the first handshake (`common_conversation.py`), so sessions of another host
get another server. The modern era has no handshake, and so one server for all. Once a server turns
out to tell its connections apart, the first session keeps it, and each other one gets its own:
as soon as it has no request open.

The thread that reads from a server serves all of its sessions. Nothing that it calls may block.
"""

from __future__ import annotations

import threading
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client.errors import ServerGone
from toolwire_client.waiting.base import run_in_daemon_thread
from toolwire_schemas.wire.framing import Lines
from toolwire_schemas.wire.messages import DEFAULT_MAX_MESSAGE_BYTES

from .. import log
from ..idle_end import IdleEnd
from .common_conversation import CommonConversation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from toolwire_client.transport.base import OnData, OnEnd, Transport
    from toolwire_schemas.wire.messages import Frame

    from ..timers import Timers
    from .common_conversation import Delivery

    Start = Callable[[], Transport]
    Say = Callable[[str], None]

_HOLD_SECONDS = 10.0
"""How long a request of the server waits until it is clear to which session it belongs."""


class MovedAway(ServerGone):
    """The session gets a server of its own with its next request."""

    @property
    def reason(self) -> str:
        """A sentence for the log."""
        return "the session gets a server of its own"


class CommonServers:
    """The servers that *start* starts. One that no session has used for *idle_seconds* ends."""

    def __init__(self, start: Start, timers: Timers, idle_seconds: float) -> None:
        self.timers = timers
        self.idle_seconds = idle_seconds
        self._start = start
        self._lock = threading.Lock()
        self._by_handshake: dict[bytes, CommonServer] = {}
        self._modern: CommonServer | None = None
        """The server that gets `server/discover`; in the legacy era, it may also be one of those
        above.
        """
        self._servers: list[CommonServer] = []
        self._unshareable = ""

    def open(self, say: Say) -> SessionTransport:
        """Return a transport to a server, whose first message decides to which; *say* gets a
        sentence for the user if it cannot be shared.
        """
        return SessionTransport(self, say)

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes that run."""
        pids = [server.pid for server in self._servers]
        return [pid for pid in pids if pid is not None]

    def find(self, session: SessionTransport, line: bytes) -> CommonServer:
        """Return the server for *session*, whose first message, or handshake, is *line*.

        Raises:
            NotStarted: if it cannot be started.
        """
        head = _read_opening(line)
        with self._lock:
            if self._unshareable:
                session.report_once(self._unshareable)
                return self._begin(is_private=True)
            if head.method == "initialize":
                return self._find_for_handshake(session, bytes(head.params))
            if self._modern is None or not self._modern.is_open:
                self._modern = self._begin()
            return self._modern

    def _find_for_handshake(self, session: SessionTransport, handshake: bytes) -> CommonServer:
        server = self._by_handshake.get(handshake)
        if server is not None and server.is_open:
            return server
        server = session.server  # the one that has refused the modern era
        if server is None or not server.is_open or server in self._by_handshake.values():
            server = self._begin()
        self._by_handshake[handshake] = server
        return server

    def _begin(self, *, is_private: bool = False) -> CommonServer:
        server = CommonServer(self, self._start(), is_private=is_private)
        self._servers.append(server)
        return server

    def stop_sharing(self, reason: str) -> None:
        """Give each session that comes from now on its own server, for this *reason*."""
        with self._lock:
            if not self._unshareable:
                log.info(reason)
            self._unshareable = reason
            self._by_handshake.clear()
            self._modern = None

    def forget(self, server: CommonServer) -> None:
        """Forget *server*, which has ended."""
        with self._lock:
            self._servers = [other for other in self._servers if other is not server]

    def close(self) -> None:
        """End all servers."""
        for server in list(self._servers):
            run_in_daemon_thread(server.close)


class CommonServer:
    """One running server, reached through *transport*, and its sessions: one if it *is_private*."""

    def __init__(self, servers: CommonServers, transport: Transport, *, is_private: bool) -> None:
        self._servers = servers
        self._is_private = is_private
        self._idle_end = IdleEnd(servers.timers, self._close_if_unused)
        self._transport = transport
        self._lock = threading.RLock()
        self._conversation = CommonConversation(self._refuse_later)
        self._lines = Lines(DEFAULT_MAX_MESSAGE_BYTES)
        self._sessions: list[SessionTransport] = []
        self._has_ended = False
        transport.start(self._read, self._end)

    @property
    def is_open(self) -> bool:
        """Whether other sessions may join."""
        if self._has_ended or self._is_private:
            return False
        return not (self._conversation.has_failed or self._conversation.unshareable)

    @property
    def pid(self) -> int | None:
        """The number of its process."""
        return self._transport.pid

    @property
    def is_full(self) -> bool:
        """Whether the server leaves so much unread that no request may be sent."""
        return getattr(self._transport, "is_full", False)

    def get_stderr_tail(self) -> str:
        """Return the last lines that it has written to stderr."""
        return self._transport.get_stderr_tail()

    def join(self, session: SessionTransport) -> bool:
        """Let *session* use it; return false if it has ended."""
        with self._lock:
            if self._has_ended:
                return False
            self._idle_end.cancel()
            self._sessions.append(session)
            self._conversation.join(session)
            return True

    def leave(self, session: SessionTransport) -> bool:
        """Forget *session*; return whether the server has no further use."""
        with self._lock:
            if session not in self._sessions:
                return False
            self._sessions.remove(session)
            receivers = self._sort(self._conversation.leave(session))
            is_unused = not self._sessions
        _deliver(receivers)
        if not is_unused or self._has_ended:
            return False
        if self.is_open:
            self._idle_end.schedule(self._servers.idle_seconds)
            return False
        return True

    def send(self, session: SessionTransport, line: bytes, *, more_follows: bool) -> None:
        """Pass *line* on. Never blocks."""
        with self._lock:
            if session not in self._sessions:  # it is about to notice the end
                return
            deliveries = self._conversation.send(session, line)
            receivers = self._sort(deliveries, more_follows=more_follows)
        _deliver(receivers)

    def flush(self) -> None:
        """As `Transport.flush`."""
        self._transport.flush()

    def _close_if_unused(self) -> None:
        """End it, unless a session has joined. Never blocks."""
        with self._lock:
            if self._sessions:
                return
            self._has_ended = True
        run_in_daemon_thread(self.close)

    def close(self) -> None:
        """End it, and wait for that."""
        self._has_ended = True
        self._servers.forget(self)
        self._transport.close()

    # From the server

    def _read(self, data: bytes) -> None:
        with self._lock:
            deliveries: list[Delivery] = []
            for frame in self._lines.feed(data):
                deliveries += self._receive(frame)
            receivers = self._sort(deliveries)
        _deliver(receivers)
        if self._conversation.unshareable:
            self._move_idle_sessions()

    def _receive(self, frame: Frame) -> list[Delivery]:
        if isinstance(frame, bytes):
            return self._conversation.receive(frame)
        # Its id, if it has one, cannot be trusted to be at one of its ends.
        log.error(f"the server is ended: it sent {frame.message}")
        run_in_daemon_thread(self.close)
        return []

    def _sort(
        self, deliveries: Iterable[Delivery], *, more_follows: bool = False
    ) -> list[SessionTransport]:
        """Send what is for the server, and queue the rest in order; return who gets something."""
        receivers: dict[SessionTransport, None] = {}
        for delivery in deliveries:
            session: Any = delivery.session
            if session is None:
                self._transport.send(delivery.line + b"\n", more_follows=more_follows)
            else:
                session.queue(delivery.line)
                receivers[session] = None
        return list(receivers)

    def _refuse_later(self, id: bytes) -> None:
        self._servers.timers.after(_HOLD_SECONDS, lambda: self._refuse_held(id))

    def _refuse_held(self, id: bytes) -> None:
        with self._lock:
            self._sort(self._conversation.refuse_held(id))

    def _move_idle_sessions(self) -> None:
        """Let sessions without open requests find another server: this one cannot be shared."""
        reason = self._conversation.unshareable
        self._servers.stop_sharing(reason)
        with self._lock:
            moving: list[Any] = self._conversation.find_idle()
            for session in moving:
                self._sessions.remove(session)
                self._sort(self._conversation.leave(session))
        for session in moving:
            session.report_once(reason)
            session.end(MovedAway(None, ""))

    def _end(self, gone: ServerGone) -> None:
        """Tell the sessions that the server has ended."""
        self._read(b"\n")  # the last line may lack its newline
        with self._lock:
            self._has_ended = True
            sessions, self._sessions = self._sessions, []
        self._servers.forget(self)
        for session in sessions:
            session.end(gone)
        run_in_daemon_thread(self._transport.close)


class SessionTransport:
    """The transport of one session to a server of *servers*; see `Transport`."""

    def __init__(self, servers: CommonServers, say: Say) -> None:
        self.server: CommonServer | None = None
        self._servers = servers
        self._say = say
        self._queue: deque[bytes] = deque()
        self._delivering = threading.Lock()
        self._ended: ServerGone | None = None
        self._is_closed = False

    @property
    def pid(self) -> int | None:
        """The number of the process of the server."""
        return None if self.server is None else self.server.pid

    @property
    def is_full(self) -> bool:
        """As of the server."""
        return self.server is not None and self.server.is_full

    def start(self, on_data: OnData, on_end: OnEnd) -> None:
        """As `Transport.start`."""
        self._on_data, self._on_end = on_data, on_end

    def send(self, data: bytes, *, more_follows: bool = False) -> None:
        """As `Transport.send`.

        Raises:
            NotStarted: if it is the first message, and the server cannot be started.
        """
        line = data.rstrip(b"\n")
        if self.server is None or _may_be_handshake(line):
            self._find_server(line)
        if self.server is not None:
            self.server.send(self, line, more_follows=more_follows)

    def flush(self) -> None:
        """As `Transport.flush`."""
        if self.server is not None:
            self.server.flush()

    def _find_server(self, line: bytes) -> None:
        if self._is_closed or self._ended is not None:
            return
        server = self._servers.find(self, line)
        if server is self.server:
            return
        self._leave()
        if not server.join(self):  # it has ended just now
            self.end(ServerGone(None, server.get_stderr_tail(), has_read=False))
            return
        self.server = server

    def report_once(self, reason: str) -> None:
        """Tell the user why the session has a server of its own. Never blocks."""
        say, self._say = self._say, lambda reason: None
        run_in_daemon_thread(partial(say, reason))

    def get_stderr_tail(self) -> str:
        """As `Transport.get_stderr_tail`."""
        return "" if self.server is None else self.server.get_stderr_tail()

    def close(self) -> None:
        """Leave the server, which ends if no other session can use it."""
        self._is_closed = True
        self._leave()

    def _leave(self) -> None:
        server = self.server
        if server is not None and server.leave(self):
            server.close()

    # For the server

    def queue(self, line: bytes) -> None:
        """Add a message for the session, which `deliver` delivers."""
        self._queue.append(line)

    def end(self, gone: ServerGone) -> None:
        """Deliver what is queued, and then that the server has *gone*."""
        self._ended = gone
        self.deliver()

    def deliver(self) -> None:
        """Deliver the messages in the queue: one thread does so at a time. Never blocks."""
        while self._has_news() and self._delivering.acquire(blocking=False):
            try:
                self._deliver_queue()
            finally:
                self._delivering.release()

    def _has_news(self) -> bool:
        return bool(self._queue) or self._ended is not None

    def _deliver_queue(self) -> None:
        while self._queue:
            lines = []
            while self._queue:
                lines.append(self._queue.popleft())
            self._on_data(b"\n".join(lines) + b"\n")
        gone, self._ended = self._ended, None
        if gone is not None:
            self._is_closed = True
            self._on_end(gone)


class _Opening(msgspec.Struct):
    """What of a first message decides about the server."""

    method: str = ""
    params: msgspec.Raw = msgspec.Raw(b"")


_decode_opening = msgspec.json.Decoder(_Opening).decode


def _read_opening(line: bytes) -> _Opening:
    try:
        return _decode_opening(line)
    except msgspec.MsgspecError:
        return _Opening()


def _may_be_handshake(line: bytes) -> bool:
    return b'"method":"initialize"' in line[:_HEAD_BYTES]


_HEAD_BYTES = 100
"""Messages of our client begin with their id and their method."""


def _deliver(sessions: Iterable[SessionTransport]) -> None:
    for session in sessions:
        session.deliver()
