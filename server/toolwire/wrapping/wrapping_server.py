"""A server that wraps another one: its tools, resources and prompts, and everything else byte for byte.

Strategy. The wrapped server is a mount without a prefix that starts with the first message of the host, whose identity
and capabilities it gets. What this server and its client understand takes the way of any mounted server. All other
requests, notifications and responses pass through as they came, in both directions; their ids cannot be mistaken for
ours, which begin at 2**40 towards the wrapped server. While that starts, the host's messages wait in their order.
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
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client.async_client import ClientSettings
from toolwire_client.errors import BrokenRules, RequestFailed
from toolwire_client.protocol.client_protocol import ClientProtocol
from toolwire_client.protocol.events import LogEntry
from toolwire_client.transport.child_process import ServerProcess
from toolwire_client.waiting.base import in_daemon_thread
from toolwire_schemas.dialects.tool_entry import text
from toolwire_schemas.output import printable
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import DecodingError, decode, encode
from toolwire_schemas.wire.framing import Lines, wrap_line
from toolwire_schemas.wire.messages import META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_VERSION

from .. import log
from ..protocol.lifecycle import can_elicit
from ..protocol.server_protocol import Catalog
from ..runtime.heartbeat import heartbeat
from ..runtime.session import Session
from ..server import Server
from ..upstream.guarded_process import guarded
from ..upstream.mount import Mount
from . import FIXES, object_in
from .host_rules import HostTool, fixed, well_formed
from .recording import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from concurrent.futures import Future

    from toolwire_client.errors import ServerGone
    from toolwire_client.protocol.events import Event
    from toolwire_client.session.handshake import Era
    from toolwire_client.transport.base import Transport
    from toolwire_schemas.wire.messages import Frame, Id
    from toolwire_tools import Tool

    from ..runtime.writer import Write
    from ..upstream.locking import LockedTools
    from ..upstream.mounted_tool import MountedTool
    from .recording import Recording

_FIRST_ID = 1 << 40
_MAX_OPEN = 10_000
"""How many requests of one side, that only the other understands, may be open; how many messages wait for a start."""

_MAX_EARLY = 100
"""How many messages wait until the host is ready; the rest is dropped."""

_CLOSE_SECONDS = 0.3
"""How long the summary waits for the end of the wrapped server, whose last processes it counts."""

_ERAS: dict[tuple[bool, bool], tuple[Era, ...]] = {
    (False, False): ("legacy", "modern"),
    (False, True): ("legacy",),
    (True, False): ("auto",),
    (True, True): ("modern",),
}
"""The eras in which the wrapped server is started in turn: for a modern host or not, for its own era alone or not."""

_OURS = ("", "notifications/subscriptions/acknowledged")


class WrappingServer(Server):
    """Serves one host the server that *command* starts; *without* names the `FIXES` that are switched off.

    *host* is one of `host_rules.DIALECTS_OF`. *options* are the fields of `Settings`.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        host: str,
        without: Collection[str] = (),
        lock: LockedTools | None = None,
        recording: Recording | None = None,
        **options: Any,
    ) -> None:
        self.without = without
        self.fix_counts: Counter[str] = Counter()
        self.session: _Session | None = None
        self._command, self._host, self._lock, self._recording = list(command), host, lock, recording
        self._process: Any = None
        self.wrapped = _Mount(self, textwrap.shorten(shlex.join(command), 80, placeholder=" …"))
        super().__init__(name="", version="", **options)

    def open_session(self, write: Write) -> Session:
        """Return the session with the host."""
        self.session = session = _Session(self, self._catalog, self._identity, self._settings, write)
        self._sessions = [session]
        return session

    def tools_changed(self) -> None:
        """Serve what the wrapped server lists from now on."""
        if (running := self.wrapped.running) is not None:
            self._identity.instructions = running.handshake.instructions
            self._identity._info = {"name": self._command[0], "version": "", **running.handshake.server_info}
        self.replace(())

    def _catalog_of(self, tools: list[Tool]) -> Catalog:
        listed: Sequence[Tool] = self.wrapped.tools
        allowed, refused = (listed, []) if self._lock is None else self._lock.checked(listed)
        running = self.wrapped.running
        there = {} if running is None else running.handshake.capabilities
        catalog = _Catalog(fixed(allowed, self._host, self.without, self.fix_counts), there)
        for tool in refused:
            catalog.by_name.setdefault(tool.name, tool)
        return catalog

    def launch(self) -> Transport:
        """Start a process of the wrapped server."""
        self.count_orphans()
        self.fix_counts["restart"] += self.wrapped.running is not None
        start = ServerProcess if "orphans" in self.without else guarded
        self._process = start(self._command, env=dict(os.environ), show_stderr=True)
        return Recorder(self._process, self._recording, self._command, self._ended)

    def _ended(self, gone: ServerGone) -> None:
        if self.session is not None and not self.session.is_ending and self.wrapped.running is not None:
            self.session.fail_open()
            if "restart" in self.without:
                log.error(printable(f"{self.wrapped.name}: {gone.reason}"))
                os.kill(os.getpid(), signal.SIGTERM)

    def count_orphans(self) -> None:
        """Count what the process that was closed last has left behind."""
        process, self._process = self._process, None
        self.fix_counts["orphans"] += getattr(process, "orphans", 0)

    def summary(self) -> str:
        """Return a line that counts what was done."""
        if self.wrapped.running is None:
            return f"{self.wrapped.name}: it did not run"
        done = [f"{count} {texts[count > 1]}" for name, texts in FIXES.items() if (count := self.fix_counts[name])]
        return f"{self._identity.server_info()['name']}: {', '.join(done) or 'nothing had to be done'}"


class _Catalog(Catalog):
    """The catalog of a server that wraps one with the capabilities *there*, of which some are unknown here."""

    def __init__(self, tools: Iterable[Tool], there: dict[str, Any]) -> None:
        self._there = {name: value for name, value in there.items() if isinstance(value, dict)}
        super().__init__(tools)

    def capabilities(self, keeps_results: bool) -> dict[str, Any]:
        own = super().capabilities(keeps_results)
        return self._there | {name: {**self._there.get(name, {}), **members} for name, members in own.items()}


class _Mount(Mount):
    """The wrapped server, as a mount."""

    reports_names = False
    kind = "wrapped"

    def __init__(self, server: WrappingServer, name: str) -> None:
        self._server = server
        self.host: dict[str, Any] = {}
        """The parameters of the host's `initialize`, or the members of `_meta` since 2026-07-28."""
        settings = ClientSettings(launch=server.launch, protocol=partial(_Protocol, server))
        super().__init__(name, "", settings, server.tools_changed, sessions=list)

    def connect(self) -> None:
        """Wait until the server runs. Raises a `ClientError` if it cannot be started."""
        is_modern = META_VERSION in self.host
        eras = _ERAS[is_modern, "eras" in self._server.without]
        for era in eras if self.running is None else (self.client.settings.era,):
            self.client.settings = msgspec.structs.replace(self.client.settings, era=era)
            try:
                self.start(can_elicit(self.host.get("capabilities"))).result()
                break
            except (RequestFailed, BrokenRules):
                if era == eras[-1]:
                    raise
        assert self.running is not None
        self._server.fix_counts["eras"] = int(self.running.connection.protocol.is_modern != is_modern)
        self._server.tools_changed()

    def tool(self, kind: str, entry: Any) -> MountedTool:
        """Return what it lists in *entry*, which may be anything if it is to stay as it is."""
        if not self._keeps(kind):
            return super().tool(kind, entry)
        name = text(entry.get("name") if isinstance(entry, dict) else None)
        known = {"name": name, "inputSchema": object_in(entry, "inputSchema")}
        return HostTool(super().tool(kind, known), name, entry, self._server.fix_counts)

    def fixed(self, kind: str, page: list[Any]) -> list[Any]:
        return list(map(well_formed, page)) if kind == "tools" else page

    def _read_page(self, kept: Any, kind: str, page: list[Any]) -> list[Any]:
        if not self._keeps(kind):
            return super()._read_page(kept, kind, page)
        kept.left -= len(encode([page]))
        return page if kept.left >= 0 else []

    def _keeps(self, kind: str) -> bool:
        return kind == "tools" and "schemas" in self._server.without

    def _log(self, entry: LogEntry) -> None:
        if entry.source == "output":
            self._server.fix_counts["noise"] += 1
            log.write("info", printable(entry.text), {})
        else:
            super()._log(entry)


class _Protocol(ClientProtocol):
    """The client's side of the conversation with the wrapped server, on behalf of the host."""

    def __init__(self, server: WrappingServer, name: str, version: str, *, can_ask: bool) -> None:
        host = server.wrapped.host
        info = {"name": name, "version": "", **object_in(host, "clientInfo")}
        super().__init__(str(info["name"]), str(info["version"]), can_ask=can_ask)
        self._capabilities |= object_in(host, "capabilities")
        self._ids = itertools.count(_FIRST_ID)
        self._server = server
        self.can_ask = can_ask

    def receive(self, frame: Frame) -> list[Event]:
        session = self._server.session
        if type(frame) is not bytes or session is None or session.is_ending:
            return super().receive(frame)
        if session.takes(frame, self):
            return []
        events = super().receive(frame)
        is_noise = any(isinstance(event, LogEntry) and event.source == "output" for event in events)
        if is_noise and "noise" in self._server.without:
            session.pass_on(frame, may_drop=True)
            return []
        return events


class _Head(msgspec.Struct):
    """What decides where a message goes. The method of a batch, and of what is no message, is empty."""

    method: str | msgspec.UnsetType = msgspec.UNSET
    id: str | int | msgspec.UnsetType = msgspec.UNSET

    @property
    def request_id(self) -> Id | None:
        """The id, if it is a request."""
        return self.id if self.method and isinstance(self.id, (str, int)) else None

    @property
    def is_request(self) -> bool:
        return self.request_id is not None


_decode_head = msgspec.json.Decoder(_Head).decode


class _Passage:
    """The messages of one side that pass as they came, since only the other side understands them."""

    def __init__(self) -> None:
        self.open: dict[Id, None] = {}
        """The ids of requests among them."""

    def takes(self, head: _Head, frame: Frame, back: _Passage, *, is_foreign: bool) -> bool:
        """Return whether a message passes, which the side that gets it alone understands if it *is_foreign*.

        Responses and cancellations pass if their requests did; *back* is the other direction.
        """
        if head.method is msgspec.UNSET:
            return isinstance(head.id, (str, int)) and back.open.pop(head.id, self) is None
        if head.method == "notifications/cancelled":
            id = _params(frame).get("requestId")
            return isinstance(id, (str, int)) and self.open.pop(id, self) is None
        if not is_foreign or (head.is_request and len(self.open) >= _MAX_OPEN):
            return False
        if (id := head.request_id) is not None:
            self.open[id] = None
        return True


class _Session(Session):
    """The session with the host of a wrapped server."""

    def __init__(self, server: WrappingServer, catalog: Catalog, identity: Any, settings: Any, write: Write) -> None:
        super().__init__(catalog, identity, settings, write)
        self._server = server
        self._wrapped = server.wrapped
        self._from_host, self._from_server = _Passage(), _Passage()
        self._deciding = threading.RLock()
        self._starting: Future[None] | None = None
        self._waiting: list[Frame] | None = None
        """Messages of the host, while the wrapped server starts; `_left` is how many more bytes they may take."""
        self._left = 0
        self._early: list[bytes] | None = []
        """Messages of the wrapped server from before the host was ready."""
        if "framing" in server.without:
            self._framing = Lines(settings.max_message_bytes)

    # From the host

    def _decide(self, frames: list[Frame], problem: str = "") -> list[bytes]:
        with self._deciding:
            return [answer for frame in frames for answer in self._answers(frame, problem)]

    def _answers(self, frame: Frame, problem: str) -> list[bytes]:
        """Return the answers to *frame*, an error if the wrapped server is needed and does not start: the *problem*."""
        head, running = _head(frame), self._wrapped.running
        if self._waiting is not None:
            if head.method == "ping":
                return super()._decide([frame])
            self._left -= len(frame) if isinstance(frame, bytes) else 0
            if self._left < 0 or len(self._waiting) >= _MAX_OPEN:
                return _error(head, messages.OVERLOADED, "too many messages wait for the wrapped server to start")
            self._waiting.append(frame)
            return []
        is_foreign = self._is_for_the_server(head, frame)
        if head.method and (running is None or (is_foreign and running.connection.end is not None)):
            if problem:
                return _error(head, messages.INTERNAL_ERROR, problem)
            self._wrapped.host = _host(frame) if running is None else self._wrapped.host
            self._waiting, self._left = [frame], self._settings.max_pending_bytes
            self._starting = in_daemon_thread(self._start)
            return []
        if is_foreign and head.is_request and (len(self._from_host.open) >= _MAX_OPEN or self._writer.is_full):
            return _error(head, messages.OVERLOADED, "too many requests are open, or too many responses unread")
        if self._from_host.takes(head, frame, self._from_server, is_foreign=is_foreign):
            assert isinstance(frame, bytes)
            assert running is not None
            if head.method == "logging/setLevel":
                super()._decide([frame])  # it is repeated after a restart
            running.connection.send(frame)
            if running.connection.end is not None:  # just now, so that nothing else answers it
                self.fail_open()
            return []
        answers = super()._decide([frame])
        if head.method == "initialize":  # its response comes before all that the wrapped server sends
            for answer in answers:
                self._writer.write(answer)
            return []
        if head.method == "notifications/initialized":
            self._open()
        return answers

    def _is_for_the_server(self, head: _Head, frame: Frame) -> bool:
        if head.method == "tools/call":
            return isinstance(frame, bytes) and b'"task"' in frame and "task" in _params(frame)
        if head.method == "logging/setLevel" and (running := self._wrapped.running) is not None:
            return self._is_legacy and not running.connection.protocol.is_modern
        return bool(head.method) and head.method not in self._protocol._all_handlers

    def _start(self) -> None:
        problem = ""
        try:
            self._wrapped.connect()
        except Exception as error:  # the outer edge of a thread: whatever a foreign server causes is its failure
            problem = printable(f"The wrapped server does not run: {error}")
        with self._deciding:
            waiting, self._waiting = self._waiting or [], None
            self._writer.enqueue_all(self._decide(waiting, problem))
        self._workers.serve_backlog()

    # From the wrapped server

    def takes(self, frame: bytes, protocol: _Protocol) -> bool:
        """Pass *frame* of the wrapped server on, unless this server's client understands it; return whether it did."""
        head = _head(frame)
        is_foreign = self._is_for_the_host(head, frame, protocol)
        passes = self._from_server.takes(head, frame, self._from_host, is_foreign=is_foreign)
        if passes:
            self.pass_on(frame, may_drop=bool(head.method) and not head.is_request)
        return passes

    def _is_for_the_host(self, head: _Head, frame: bytes, protocol: _Protocol) -> bool:
        method = str(head.method)
        if head.is_request:
            is_form = method == "elicitation/create" and _params(frame).get("mode", "form") == "form"
            return self._is_legacy and method != "ping" and not (is_form and protocol.can_ask)
        if method == "notifications/progress":
            token = _params(frame).get("progressToken")
            return not (type(token) is int and token >= _FIRST_ID)
        if method == "notifications/message":
            return self._is_legacy and not protocol.is_modern
        return method not in _OURS and not method.endswith("/list_changed")

    @property
    def _is_legacy(self) -> bool:
        """Whether the host takes requests."""
        return "protocolVersion" in self._wrapped.host

    def pass_on(self, frame: bytes, *, may_drop: bool) -> None:
        """Send *frame* of the wrapped server to the host, as soon as a host with a handshake is ready.

        One that *may_drop* does not go to a host that leaves too much unread.
        """
        with self.in_flight.lock:
            if self._early is not None and self._is_legacy:
                self._early += [frame] if len(self._early) < _MAX_EARLY else []
            elif may_drop:
                super().enqueue_notification(lambda: frame, len(frame))
            else:
                self._writer.enqueue(frame)

    def _open(self) -> None:
        with self.in_flight.lock:
            early, self._early = self._early or [], None
            for frame in early:
                self._writer.enqueue(frame)

    def enqueue_notification(self, make: Callable[[], bytes | None], size: int) -> None:
        self._server.fix_counts["heartbeat"] += getattr(make, "func", None) is heartbeat
        super().enqueue_notification(make, size)

    # The end

    def fail_open(self) -> None:
        """Answer the requests that only the wrapped server understands: it has ended."""
        end = self._wrapped.running and self._wrapped.running.connection.end
        problem = f"The wrapped server has ended: {getattr(end, 'reason', end)}"
        while self._from_host.open:
            id, _ = self._from_host.open.popitem()
            self._writer.enqueue(messages.error(id, messages.INTERNAL_ERROR, problem))
        self._from_server.open.clear()

    def end(self) -> None:
        if self._starting is not None:
            wait([self._starting], timeout=self._settings.grace_seconds)
        super().end()
        wait([in_daemon_thread(self._wrapped.close)], timeout=_CLOSE_SECONDS)
        server, large = self._server, self.in_flight._large
        server.count_orphans()
        server.fix_counts["framing"] = int(self._framing.wrap is not wrap_line)
        server.fix_counts["results"] = 0 if large is None else large.made
        log.info(printable(server.summary()))


def _head(frame: Frame) -> _Head:
    try:
        return _decode_head(frame) if isinstance(frame, bytes) else _Head("")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _Head("")


def _params(frame: Frame) -> dict[str, Any]:
    try:
        return object_in(decode(frame), "params") if isinstance(frame, bytes) else {}
    except DecodingError:  # which a `_Head` does not show
        return {}


def _error(head: _Head, code: int, problem: str) -> list[bytes]:
    return [] if (id := head.request_id) is None else [messages.error(id, code, problem)]


def _host(frame: Frame) -> dict[str, Any]:
    """Return what the first message of a host says of it."""
    params = _params(frame)
    meta = object_in(params, "_meta")
    declared = {"capabilities": meta.get(META_CLIENT_CAPABILITIES), "clientInfo": meta.get(META_CLIENT_INFO)}
    return {**meta, **declared} if META_VERSION in meta else params
