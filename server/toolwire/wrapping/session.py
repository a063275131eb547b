"""The session with the host of a wrapped server: its tools, resources and prompts, and everything
else byte for byte.

Strategy. The wrapped server is a mount without a prefix that starts with the first message of the
host, whose identity and capabilities it gets. What this server and its client understand takes the
way of any mounted server. All other requests, notifications and responses pass through as they
came, in both directions; their ids cannot be mistaken for ours, which begin at 2**40 towards the
wrapped server. While that starts, the host's messages wait in their order.
"""

from __future__ import annotations

import itertools
import os
import shlex
import signal
import textwrap
import threading
from collections import Counter
from concurrent.futures import wait
from functools import partial
from shutil import which
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client.async_client import ClientSettings
from toolwire_client.errors import BrokenRules, RequestFailed
from toolwire_client.protocol.client_protocol import ClientProtocol
from toolwire_client.protocol.events import LogEntry
from toolwire_client.transport.child_process import ServerProcess
from toolwire_client.waiting.base import in_daemon_thread
from toolwire_dialects.tool_entry import text
from toolwire_schemas.output import printable
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import encode
from toolwire_schemas.wire.framing import Lines, wrap_line
from toolwire_schemas.wire.messages import META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_VERSION

from .. import log
from ..guarded_process import guarded
from ..mounting.foreign_stderr import ForeignStderr
from ..mounting.mount import Mount
from ..protocol.catalog import Catalog
from ..protocol.lifecycle import Identity, can_elicit
from ..runtime.heartbeat import heartbeat
from ..runtime.session import Session
from ..transport.stdio import leave
from . import COUNTED, object_in
from .host_rules import adapt, count_readings, fixed, well_formed
from .recording import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from concurrent.futures import Future

    from toolwire_client.async_client import Running
    from toolwire_client.errors import ServerGone
    from toolwire_client.protocol.events import Event
    from toolwire_client.session.handshake import Era
    from toolwire_client.transport.base import Transport
    from toolwire_schemas.wire.messages import Frame, Id
    from toolwire_tools import Tool

    from ..mounting.locking import LockedEntries
    from ..runtime.writer import Write
    from ..settings import Settings
    from .recording import Recording

_FIRST_ID = 1 << 40
_MAX_OPEN = 10_000
"""How many requests of one side, that only the other understands, may be open; how many messages
wait for a start.
"""

_MAX_EARLY = 100
"""How many messages wait until the host is ready; the rest is dropped."""

_CLOSE_SECONDS = 0.3
"""How long the summary waits for the end of the wrapped server, whose last processes it counts."""

_OURS = ("", "notifications/subscriptions/acknowledged")


class WrappingSession(Session):
    """Serves one host the server that *command* starts; *without* names the `FIXES` that are
    switched off.

    *host* is one of `DIALECTS_OF`. *lock* refuses tools, and *recording* gets the traffic with the
    server.
    """

    def __init__(
        self,
        write: Write,
        command: Sequence[str],
        settings: Settings,
        *,
        host: str,
        without: Collection[str] = (),
        lock: LockedEntries | None = None,
        recording: Recording | None = None,
    ) -> None:
        self._identity = Identity("", "")
        super().__init__(Catalog(()), self._identity, settings, write)
        self.without = without
        self.fix_counts: Counter[str] = Counter()
        self.host: dict[str, Any] = {}
        """The parameters of the host's `initialize`, or the members of `_meta` since 2026-07-28."""
        self._command, self._host_name, self._recording = list(command), host, recording
        self._process: Any = None
        title = textwrap.shorten(shlex.join(command), 80, placeholder=" …")
        self._stderr = ForeignStderr(title)
        self._wrapped = _Mount(self, title, lock)
        self.from_host, self.from_server = _Passage(), _Passage()
        self._deciding = threading.RLock()
        self._starting: Future[None] | None = None
        self._waiting: list[Frame] | None = None
        """Messages of the host, while the wrapped server starts; `_left` is how many more bytes
        they may take.
        """
        self._left = 0
        self._early: list[bytes] | None = []
        """Messages of the wrapped server from before the host was ready."""
        if "framing" in without:
            self._framing = Lines(settings.max_message_bytes)

    # The wrapped server

    def launch(self) -> Transport:
        """Start a process of the wrapped server."""
        self._count_orphans()
        self.fix_counts["restart"] += self._wrapped.running is not None
        start = ServerProcess if "orphans" in self.without else guarded
        self._process = start(self._command, env=dict(os.environ), show_stderr=self._stderr)
        return Recorder(self._process, self._recording, self._command, self._ended)

    def tools_changed(self) -> None:
        """Serve what the wrapped server lists from now on."""
        if (running := self._wrapped.running) is None:  # it is starting, and this is called again
            return
        handshake, tools, refused = running.handshake, self._wrapped.tools, self._wrapped.refused
        self._identity.instructions = self._wrapped.check_instructions(handshake.instructions)
        self._identity._info = {"name": self._command[0], "version": "", **handshake.server_info}
        self.fix_counts["lock"] = max(self.fix_counts["lock"], len(refused))
        catalog = _Catalog(
            fixed(tools, self._host_name, self.without, self.fix_counts), handshake.capabilities
        )
        for refusal in refused:
            catalog.add_unlisted(refusal.as_tool())
        self.replace(catalog)

    def _start(self) -> None:
        answers, problem = list[bytes](), ""
        try:
            self._connect()
        except (
            Exception
        ) as error:  # the outer edge of a thread: whatever a foreign server causes is its failure
            if self.is_ending:  # by `end`, after the host has gone
                return
            problem = printable(f"The wrapped server does not run: {error}")
        with self._deciding:
            waiting, self._waiting = self._waiting or [], None
            for frame in waiting:
                answers += (
                    _error(_head(frame), messages.INTERNAL_ERROR, problem)
                    if problem
                    else self._answers(frame)
                )
            self._writer.enqueue_all(answers)
        self._workers.serve_backlog()

    def _connect(self) -> None:
        """Wait until the wrapped server runs, in the era of the host if possible. Raises a
        `ClientError`.
        """
        wrapped, is_modern = self._wrapped, META_VERSION in self.host
        level = "debug" if is_modern else wrapped.client.settings.log_level
        eras: tuple[Era, ...] = ("auto",) if is_modern else ("legacy", "modern")
        if "eras" in self.without:
            eras = ("modern" if is_modern else "legacy",)
        if wrapped.running is not None:
            eras = (wrapped.client.settings.era,)
        for era in eras:
            wrapped.client.settings = msgspec.structs.replace(
                wrapped.client.settings, era=era, log_level=level
            )
            try:
                running = wrapped.start(can_elicit(self.host.get("capabilities"))).result()
                break
            except (RequestFailed, BrokenRules):
                if era == eras[-1]:
                    raise
        self.fix_counts["eras"] = int(running.connection.protocol.is_modern != is_modern)
        self.tools_changed()

    def _ended(self, gone: ServerGone) -> None:
        if self._wrapped.running is not None and not self.is_ending:
            self._fail_open(gone.reason)
            if "restart" in self.without:
                log.error(printable(f"{self._wrapped.name}: {gone.reason}"))
                os.kill(os.getpid(), signal.SIGTERM)

    def _fail_open(self, reason: str) -> None:
        """Answer the requests that only the wrapped server understands: it has ended."""
        while self.from_host.open:
            id, _ = self.from_host.open.popitem()
            problem = f"The wrapped server has ended: {reason}"
            self._writer.enqueue(messages.error(id, messages.INTERNAL_ERROR, problem))
        self.from_server.open.clear()

    def _count_orphans(self) -> None:
        """Count what the process that was closed last has left behind."""
        process, self._process = self._process, None
        self.fix_counts["orphans"] += getattr(process, "orphans", 0)

    # From the host

    def _decide(self, frames: list[Frame]) -> list[bytes]:
        with self._deciding:
            return [answer for frame in frames for answer in self._answers(frame)]

    def _answers(self, frame: Frame) -> list[bytes]:
        head, running = _head(frame), self._wrapped.running
        if self._waiting is not None and head.method != "ping":
            return self._keep_waiting(self._waiting, frame, head)
        is_foreign = self._is_for_the_server(head)
        needs_start = running is None or (is_foreign and running.connection.end)
        if self._waiting is None and head.method and needs_start:
            self.host = _host(head.members) if running is None else self.host
            self._waiting, self._left = [frame], self._settings.max_pending_bytes
            self._starting = in_daemon_thread(self._start)
            return []
        is_foreign_request = is_foreign and head.request_id is not None
        if is_foreign_request and (self.from_host.is_full or self._writer.is_full):
            problem = "too many requests are open, or too many responses unread"
            return _error(head, messages.OVERLOADED, problem)
        if running is not None and self.from_host.takes(
            head, self.from_server, is_foreign=is_foreign
        ):
            assert isinstance(frame, bytes)
            self._pass_on(frame, head, running)
            return []
        return self._answer_here(frame, head)

    def _keep_waiting(self, waiting: list[Frame], frame: Frame, head: _Head) -> list[bytes]:
        """Keep *frame* until the wrapped server has started."""
        self._left -= len(frame) if isinstance(frame, bytes) else 0
        if self._left < 0 or len(waiting) >= _MAX_OPEN:
            problem = "too many messages wait for the wrapped server to start"
            return _error(head, messages.OVERLOADED, problem)
        waiting.append(frame)
        return []

    def _pass_on(self, frame: bytes, head: _Head, running: Running) -> None:
        """Send *frame* to the wrapped server as it is."""
        if head.method == "logging/setLevel":
            client, level = self._wrapped.client, head.members.get("level")
            # for after a restart
            client.settings = msgspec.structs.replace(client.settings, log_level=level)
        running.connection.send(frame)
        end = running.connection.end
        if end is not None:  # just now, so that nothing else answers it
            self._fail_open(str(getattr(end, "reason", end)))

    def _answer_here(self, frame: Frame, head: _Head) -> list[bytes]:
        answers = super()._decide([frame])
        if head.method == "initialize":
            # Its response comes before all that the wrapped server sends.
            for answer in answers:
                self._writer.write(answer)
            return []
        if head.method == "notifications/initialized":
            self._pass_early()
        return answers

    def _is_for_the_server(self, head: _Head) -> bool:
        if head.method == "tools/call":
            return "task" in head.members
        if head.method == "logging/setLevel" and (running := self._wrapped.running) is not None:
            return self.is_legacy and not running.connection.protocol.is_modern
        return bool(head.method) and head.method not in self._protocol._routes_by_method

    # From the wrapped server

    @property
    def is_legacy(self) -> bool:
        """Whether the host takes requests."""
        return "protocolVersion" in self.host

    def pass_on(self, frame: bytes, *, may_drop: bool) -> None:
        """Send *frame* of the wrapped server to the host, as soon as a host with a handshake is
        ready.

        One that *may_drop* does not go to a host that leaves too much unread.
        """
        with self.in_flight.lock:
            if self._early is not None and self.is_legacy:
                self._early += [frame] if len(self._early) < _MAX_EARLY else []
            elif may_drop:
                super().enqueue_notification(lambda: frame, len(frame))
            else:
                self._writer.enqueue(frame)

    def _pass_early(self) -> None:
        with self.in_flight.lock:
            early, self._early = self._early or [], None
            self._writer.enqueue_all(early)

    def enqueue_notification(self, make: Callable[[], bytes | None], size: int) -> None:
        self.fix_counts["heartbeat"] += getattr(make, "func", None) is heartbeat
        super().enqueue_notification(make, size)

    # The end

    def end(self) -> None:
        if self._starting is not None:
            wait([self._starting], timeout=self._settings.grace_seconds)
        super().end()
        has_run = self._wrapped.running is not None
        if not has_run:  # said first, since closing a start may take all the time that is left
            is_missing = which(self._command[0]) is None
            why = ", since there is no such program, or it may not be run" if is_missing else ""
            log.info(printable(f"{self._wrapped.name}: it did not run{why}"))
            if is_missing:
                leave(1)
        wait([in_daemon_thread(self._wrapped.close)], timeout=_CLOSE_SECONDS)
        if not has_run:
            return
        self._count_orphans()
        self.fix_counts["framing"] = int(self._framing.wrap is not wrap_line)
        self.fix_counts["results"] = getattr(self.in_flight._large, "made", 0)
        done = [
            f"{count} {texts[count > 1]}"
            for name, texts in COUNTED.items()
            if (count := self.fix_counts[name])
        ]
        name = self._identity.server_info()["name"]
        if not done:
            done = (
                ["nothing had to be changed; see the warnings above"]
                if log.has_warned()
                else ["nothing had to be done"]
            )
        log.info(printable(f"{name}: {', '.join(done)}"))


class _Catalog(Catalog):
    """The catalog of a server that wraps one with the capabilities *there*, of which some are
    unknown here.
    """

    def __init__(self, tools: Iterable[Tool], there: dict[str, Any]) -> None:
        self._there = {name: value for name, value in there.items() if isinstance(value, dict)}
        super().__init__(tools)

    def capabilities(self, keeps_results: bool) -> dict[str, Any]:
        own = super().capabilities(keeps_results)
        return self._there | {
            name: {**self._there.get(name, {}), **members} for name, members in own.items()
        }


class _Mount(Mount):
    """The wrapped server, as a mount."""

    kind = "wrapped"

    def __init__(self, session: WrappingSession, name: str, lock: LockedEntries | None) -> None:
        self._session = session
        settings = ClientSettings(
            launch=session.launch, protocol=partial(_Protocol, session), log_level=None
        )
        super().__init__(name, "", settings, session.tools_changed, list, lock)

    def tool(self, kind: str, entry: Any) -> Tool:
        """Return what it lists in *entry*, which may be anything if it is to stay as it is."""
        if not self._keeps(kind):
            return super().tool(kind, entry)
        name = text(entry.get("name") if isinstance(entry, dict) else None)
        known = {"name": name, "inputSchema": object_in(entry, "inputSchema")}
        mounted = count_readings(super().tool(kind, known), self._session.fix_counts)
        return adapt(mounted, name, entry)

    def _read_page(self, kept: Any, kind: str, page: list[Any]) -> list[Any]:
        if not self._keeps(kind):
            return super()._read_page(
                kept, kind, list(map(well_formed, page)) if kind == "tools" else page
            )
        kept.left -= len(encode([page]))
        return page if kept.left >= 0 else []

    def _keeps(self, kind: str) -> bool:
        return kind == "tools" and "schemas" in self._session.without

    def _log(self, entry: LogEntry) -> None:
        if entry.source == "output":
            self._session.fix_counts["noise"] += 1
            log.write("info", printable(entry.text), {})
        else:
            super()._log(entry)


class _Protocol(ClientProtocol):
    """The client's side of the conversation with the wrapped server, on behalf of the host of
    *session*.
    """

    def __init__(self, session: WrappingSession, name: str, version: str, *, can_ask: bool) -> None:
        info = {"name": name, "version": "", **object_in(session.host, "clientInfo")}
        super().__init__(str(info["name"]), str(info["version"]), can_ask=can_ask)
        self._capabilities |= object_in(session.host, "capabilities")
        self._ids = itertools.count(_FIRST_ID)
        self._session = session

    def receive(self, frame: Frame) -> list[Event]:
        session, head = self._session, _head(frame)
        if not isinstance(frame, bytes) or session.is_ending:
            return super().receive(frame)
        if session.from_server.takes(
            head, session.from_host, is_foreign=self._is_for_the_host(head)
        ):
            session.pass_on(frame, may_drop=bool(head.method) and head.request_id is None)
            return []
        events = super().receive(frame)
        is_noise = any(isinstance(event, LogEntry) and event.source == "output" for event in events)
        if is_noise and "noise" in session.without:
            session.pass_on(frame, may_drop=True)
            return []
        return events

    def _is_for_the_host(self, head: _Head) -> bool:
        method, is_legacy = str(head.method), self._session.is_legacy
        if head.request_id is not None:
            is_form = method == "elicitation/create" and head.members.get("mode", "form") == "form"
            return is_legacy and method != "ping" and not (is_form and self._can_ask)
        if method == "notifications/progress":
            token = head.members.get("progressToken")
            return not (type(token) is int and token >= _FIRST_ID)
        if method == "notifications/message":
            return is_legacy and not self.is_modern
        return method not in _OURS and not method.endswith("/list_changed")


class _Head(msgspec.Struct):
    """What decides where a message goes. The method of a batch, and of what is no message, is
    empty.
    """

    method: str | msgspec.UnsetType = msgspec.UNSET
    id: str | int | msgspec.UnsetType = msgspec.UNSET
    params: Any = None

    @property
    def request_id(self) -> Id | None:
        """The id, if it is a request."""
        return self.id if self.method and isinstance(self.id, (str, int)) else None

    @property
    def members(self) -> dict[str, Any]:
        """The parameters, if they are an object."""
        return self.params if isinstance(self.params, dict) else {}


_decode_head = msgspec.json.Decoder(_Head).decode


def _head(frame: Frame) -> _Head:
    try:
        return _decode_head(frame) if isinstance(frame, bytes) else _Head("")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _Head("")


class _Passage:
    """The messages of one side that pass as they came, since only the other side understands
    them.
    """

    def __init__(self) -> None:
        self.open: dict[Id, None] = {}
        """The ids of requests among them."""

    @property
    def is_full(self) -> bool:
        return len(self.open) >= _MAX_OPEN

    def takes(self, head: _Head, back: _Passage, *, is_foreign: bool) -> bool:
        """Return whether a message passes, which the side that gets it alone understands if it
        *is_foreign*.

        Responses and cancellations pass if their requests did; *back* is the other direction.
        """
        if head.method is msgspec.UNSET:
            return isinstance(head.id, (str, int)) and back.open.pop(head.id, self) is None
        if head.method == "notifications/cancelled":
            id = head.members.get("requestId")
            return isinstance(id, (str, int)) and self.open.pop(id, self) is None
        if not is_foreign or (head.request_id is not None and self.is_full):
            return False
        if (id := head.request_id) is not None:
            self.open[id] = None
        return True


def _error(head: _Head, code: int, problem: str) -> list[bytes]:
    return [] if (id := head.request_id) is None else [messages.error(id, code, problem)]


def _host(params: dict[str, Any]) -> dict[str, Any]:
    """Return what the *params* of the first message of a host say of it."""
    meta = object_in(params, "_meta")
    declared = {
        "capabilities": meta.get(META_CLIENT_CAPABILITIES),
        "clientInfo": meta.get(META_CLIENT_INFO),
    }
    return {**meta, **declared} if META_VERSION in meta else params
