"""A server that wraps another one: its tools, resources and prompts, and everything else byte for byte.

Strategy. The wrapped server is a mount without a prefix that starts with the first message of the host, whose identity
and capabilities it gets. What this server and its client understand takes the way of any mounted server. All other
requests, notifications and responses pass through as they came, in both directions; their ids cannot be mistaken for
ours, which begin at 2**40 towards the wrapped server.
"""

from __future__ import annotations

import itertools
import os
import signal
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeGuard

import msgspec
from toolwire_client.async_client import ClientSettings
from toolwire_client.errors import BrokenRules, ClientError, RequestFailed, ServerGone
from toolwire_client.protocol.client_protocol import ClientProtocol
from toolwire_client.protocol.events import LogEntry
from toolwire_client.transport.child_process import ServerProcess
from toolwire_schemas.output import printable
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import DecodingError, decode
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
from .host_rules import mended, well_formed
from .recording import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from toolwire_client.async_client import Running
    from toolwire_client.protocol.events import Event
    from toolwire_client.session.handshake import Era
    from toolwire_client.transport.base import OnData, OnEnd, Transport
    from toolwire_schemas.wire.messages import Frame, Id
    from toolwire_tools import Tool

    from ..runtime.writer import Write
    from ..upstream.locking import LockedTools
    from .recording import Recording

MENDINGS = {
    "noise": "lines on its output that were no messages moved to stderr",
    "names": "tools renamed",
    "schemas": "descriptions of tools rewritten",
    "arguments": "calls whose arguments were read",
    "heartbeat": "heartbeats sent",
    "results": "results that were too large",
    "orphans": "servers that left no process behind",
    "restart": "restarts",
    "eras": "conversations between two eras of MCP",
    "framing": "hosts with Content-Length framing",
}
"""What wrapping does, by the name that switches it off, and what the summary counts."""

_FIRST_ID = 1 << 40
_MAX_OPEN = 10_000
"""How many requests of one side, that only the other understands, may be open."""

_MAX_EARLY = 100
"""How many messages wait until the host is ready; the rest is dropped."""

_OURS = ("ping", "notifications/message", "notifications/subscriptions/acknowledged")


class _Head(msgspec.Struct):
    """What decides where a message goes."""

    method: str | msgspec.UnsetType = msgspec.UNSET
    id: str | int | msgspec.UnsetType | None = msgspec.UNSET


_head_of = msgspec.json.Decoder(_Head).decode


class WrappingServer(Server):
    """Serves one host the server that *command* starts; *without* names the `MENDINGS` that are switched off.

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
        self.mended: Counter[str] = Counter()
        self.mount_ = _Mount(self, command)
        self._command, self._host, self._lock, self._recording = list(command), host, lock, recording
        super().__init__(name="", version="", **options)

    def open_session(self, write: Write) -> Session:
        """Return the session with the host."""
        session = _Session(self._catalog, self._identity, self._settings, write, self)
        self._sessions = [session]
        return session

    def tools_changed(self) -> None:
        """Serve what the wrapped server lists from now on."""
        running = self.mount_.running
        if running is not None:
            welcome = running.handshake
            self._identity.instructions = welcome.instructions
            self._identity._info = {"name": self._command[0], "version": "", **welcome.server_info}
        self.replace(())

    def _catalog_of(self, tools: list[Tool]) -> Catalog:
        mounted: Sequence[Tool] = self.mount_.tools
        refused: Sequence[Tool] = ()
        if self._lock is not None:
            mounted, refused = self._lock.checked(mounted)
        changed = mended(mounted, self._host, self.without, self.mended)
        running = self.mount_.running
        catalog = _Catalog(changed, {} if running is None else running.handshake.capabilities)
        for tool in refused:
            catalog.by_name.setdefault(tool.name, tool)
        return catalog

    def launch(self) -> Transport:
        """Start a process of the wrapped server."""
        start = ServerProcess if "orphans" in self.without else guarded
        transport: Transport = start(self._command, env=dict(os.environ), show_stderr=True)
        self.mended["orphans"] += start is guarded
        if self._recording is not None:
            transport = Recorder(transport, self._recording, self._command)
        return _Watched(transport, self._ended)

    @property
    def session(self) -> _Session | None:
        """The session with the host, until it ends."""
        return next((each for each in self._sessions if isinstance(each, _Session) and not each.is_ending), None)

    def _ended(self, gone: ServerGone) -> None:
        if (session := self.session) is not None and self.mount_.running is not None:
            session.fail_open(gone.reason)
            if "restart" in self.without:
                log.error(printable(f"{self.mount_.name}: {gone.reason}"))
                os.kill(os.getpid(), signal.SIGTERM)

    def summary(self) -> str:
        """Return a line that counts what was done."""
        told = [f"{count} {MENDINGS[name]}" for name, count in self.mended.items() if count and name != "orphans"]
        return f"{self.mount_.name}: {', '.join(told) or 'nothing had to be done'}"


class _Watched:
    """The transport *inner*, whose end is reported to *on_end*, too."""

    def __init__(self, inner: Transport, on_end: OnEnd) -> None:
        self._inner, self._on_end = inner, on_end
        self.send, self.close, self.stderr_tail = inner.send, inner.close, inner.stderr_tail

    @property
    def pid(self) -> int | None:
        return self._inner.pid

    def start(self, on_data: OnData, on_end: OnEnd) -> None:
        def end(gone: ServerGone) -> None:
            on_end(gone)
            self._on_end(gone)

        self._inner.start(on_data, end)


class _Catalog(Catalog):
    """The catalog of a server that wraps one with these capabilities, of which some are unknown here."""

    def __init__(self, tools: Sequence[Tool], there: dict[str, Any]) -> None:
        self._there = there
        super().__init__(tools)

    def capabilities(self, keeps_results: bool) -> dict[str, Any]:
        own = super().capabilities(keeps_results)
        more = {name: value for name, value in self._there.items() if isinstance(value, dict)}
        return {**more, **{name: {**more.get(name, {}), **members} for name, members in own.items()}}


class _Mount(Mount):
    """The wrapped server, as a mount."""

    reports_names = False

    def __init__(self, server: WrappingServer, command: Sequence[str]) -> None:
        self._server = server
        self.host: dict[str, Any] = {}
        """The parameters of the host's `initialize`, or the members of `_meta` since 2026-07-28."""
        settings = ClientSettings(launch=server.launch, log_level=None, protocol=self._protocol)
        super().__init__(" ".join(command)[:60], "", settings, server.tools_changed, self._log)

    @property
    def is_legacy(self) -> bool:
        """Whether the host takes requests."""
        return "protocolVersion" in self.host

    def connect(self) -> None:
        """Wait until the server runs. Raises a `ClientError` if it cannot be started."""
        is_modern = META_VERSION in self.host
        own: Era = "modern" if is_modern else "legacy"
        try:
            self._connect(own if "eras" in self._server.without or not is_modern else "auto")
        except (RequestFailed, BrokenRules):
            if "eras" in self._server.without or is_modern:
                raise
            self._connect("modern")
        assert self.running is not None
        self._server.mended["eras"] = int(self.running.connection.protocol.is_modern != is_modern)
        self._server.tools_changed()

    def _connect(self, era: Era) -> None:
        if self.running is None:
            self._settings = msgspec.structs.replace(self._settings, era=era)
        self.start(can_elicit(self.host.get("capabilities"))).result()

    def mend(self, kind: str, page: list[Any]) -> list[Any]:
        return page if kind != "tools" or "schemas" in self._server.without else list(map(well_formed, page))

    def _start(self, can_ask: bool) -> Running:
        self._server.mended["restart"] += self.running is not None
        return super()._start(can_ask)

    def _protocol(self, name: str, version: str, *, can_ask: bool) -> ClientProtocol:
        return _Protocol(self.host, self._server, can_ask=can_ask)

    def _log(self, entry: LogEntry) -> None:
        if entry.source == "output":
            self._server.mended["noise"] += 1
            log.write("info", printable(entry.text), {})
        else:
            super()._log(entry)


class _Protocol(ClientProtocol):
    """The client's side of the conversation with the wrapped server, on behalf of *host*."""

    def __init__(self, host: dict[str, Any], server: WrappingServer, *, can_ask: bool) -> None:
        info = host.get("clientInfo")
        info = info if isinstance(info, dict) else {}
        super().__init__(str(info.get("name", "toolwire")), str(info.get("version", "")), can_ask=can_ask)
        if isinstance(host.get("capabilities"), dict):
            self._capabilities |= host["capabilities"]
        self._ids = itertools.count(_FIRST_ID)
        self._server = server

    def receive(self, frame: Frame) -> list[Event]:
        session = self._server.session
        if type(frame) is not bytes or session is None:
            return super().receive(frame)
        if session.takes(frame, can_ask=self._can_ask):
            return []
        events = super().receive(frame)
        is_noise = any(isinstance(event, LogEntry) and event.source == "output" for event in events)
        if is_noise and "noise" in self._server.without:
            session.pass_on(frame)
            return []
        return events


class _Session(Session):
    """The session with the host of a wrapped server."""

    def __init__(self, catalog: Catalog, identity: Any, settings: Any, write: Write, server: WrappingServer) -> None:
        super().__init__(catalog, identity, settings, write)
        self._server = server
        self._requests: dict[Id, None] = {}
        """Of the host, that went to the wrapped server as they came."""
        self._questions: dict[Id, None] = {}
        """Of the wrapped server, that went to the host as they came."""
        self._early: list[bytes] | None = []
        """Messages of the wrapped server from before the host was ready."""
        if "framing" in server.without:
            self._framing = Lines(settings.max_message_bytes)  # type: ignore[assignment]

    # From the host

    def _decide(self, frames: list[Frame]) -> Any:
        mount = self._server.mount_
        own, answers = list[Any](), list[bytes]()
        for frame in frames:
            head = _head(frame)
            is_foreign = isinstance(frame, bytes) and self._is_for_the_other(head, frame)
            is_needed = mount.running is None or (is_foreign and mount.running.connection.end is not None)
            problem = self._start(head, frame) if is_needed else None
            if head.method == "notifications/initialized":
                self._open()
            if problem is not None:
                if _is_id(head.id) and head.method is not msgspec.UNSET:
                    answers.append(messages.error(head.id, messages.INTERNAL_ERROR, problem))
            elif isinstance(frame, bytes) and is_foreign and mount.running is not None:
                if head.method is not msgspec.UNSET and _is_id(head.id):
                    self._requests[head.id] = None
                mount.running.connection.send(frame)
            else:
                own.append(frame)
        return [*answers, *super()._decide(own)]

    def _start(self, head: _Head, frame: Frame) -> str | None:
        """Start the wrapped server; return why that was not possible. The host's next message waits for it."""
        mount = self._server.mount_
        if mount.running is None:
            mount.host = _host(head, frame)
        try:
            mount.connect()
        except ClientError as error:
            return printable(f"The wrapped server does not run: {error}")
        return None

    def _is_for_the_other(self, head: _Head, frame: bytes) -> bool:
        method = head.method
        if method is msgspec.UNSET:
            return _is_id(head.id) and self._questions.pop(head.id, _MISSING) is None
        if method == "notifications/cancelled":
            return _is_id(id := _params(frame).get("requestId")) and self._requests.pop(id, _MISSING) is None
        if method == "tools/call":
            return b'"task"' in frame and "task" in _params(frame)
        is_full = _is_id(head.id) and len(self._requests) >= _MAX_OPEN
        return bool(method) and method not in self._protocol._all_handlers and not is_full

    # From the wrapped server

    def takes(self, frame: bytes, *, can_ask: bool) -> bool:
        """Pass *frame* of the wrapped server on, unless this server's client understands it; return whether it did."""
        head = _head(frame)
        if head.method == "":
            return False
        if head.method is msgspec.UNSET:
            if not _is_id(head.id) or self._requests.pop(head.id, _MISSING) is not None:
                return False
        elif _is_id(head.id):
            is_form = can_ask and head.method == "elicitation/create" and _params(frame).get("mode", "form") == "form"
            is_legacy = self._server.mount_.is_legacy
            if is_form or head.method == "ping" or not is_legacy or len(self._questions) >= _MAX_OPEN:
                return False
            self._questions[head.id] = None
        elif not self._is_foreign_notification(str(head.method), frame):
            return False
        self.pass_on(frame)
        return True

    def pass_on(self, frame: bytes) -> None:
        """Send *frame* of the wrapped server to the host, as soon as a host with a handshake is ready."""
        with self._in_flight.lock:
            is_early = self._early is not None and self._server.mount_.is_legacy
            if is_early and self._early is not None and len(self._early) < _MAX_EARLY:
                self._early.append(frame)
        if not is_early:
            self.notify(frame)

    def _open(self) -> None:
        with self._in_flight.lock:
            early, self._early = self._early, None
        for frame in early or ():
            self.notify(frame)

    def _is_foreign_notification(self, method: str, frame: bytes) -> bool:
        if method == "notifications/progress":
            token = _params(frame).get("progressToken")
            return not (type(token) is int and token >= _FIRST_ID)
        if method == "notifications/cancelled":
            return _is_id(id := _params(frame).get("requestId")) and self._questions.pop(id, _MISSING) is None
        return method not in _OURS and not method.endswith("/list_changed")

    def fail_open(self, reason: str) -> None:
        """Answer the requests that only the wrapped server understands: it has ended."""
        while self._requests:
            id, _ = self._requests.popitem()
            self._writer.enqueue(messages.error(id, messages.INTERNAL_ERROR, f"The wrapped server has ended: {reason}"))
        self._questions.clear()

    def enqueue_notification(self, make: Callable[[], bytes | None], size: int) -> None:
        self._server.mended["heartbeat"] += getattr(make, "func", None) is heartbeat
        super().enqueue_notification(make, size)

    def notify(self, message: bytes) -> None:
        super().enqueue_notification(lambda: message, len(message))

    def end(self) -> None:
        super().end()
        large, mended = self._in_flight._large, self._server.mended
        mended["framing"] = int(self._framing.wrap is not wrap_line)
        mended["results"] = 0 if large is None else large.made
        log.info(printable(self._server.summary()))
        self._server.mount_.close()


_MISSING = object()


def _is_id(value: Any) -> TypeGuard[str | int]:
    return type(value) is str or type(value) is int


def _head(frame: Frame) -> _Head:
    """Return what decides about *frame*; an empty method for a batch, and for what is no message."""
    try:
        return _head_of(frame) if isinstance(frame, bytes) else _Head("")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _Head("")


def _params(frame: bytes) -> dict[str, Any]:
    try:
        params = decode(frame).get("params")
    except DecodingError:  # which a `_Head` does not show
        return {}
    return params if isinstance(params, dict) else {}


def _host(head: _Head, frame: Frame) -> dict[str, Any]:
    """Return what the first message of a host says of it."""
    if not head.method or not isinstance(frame, bytes):
        return {}
    params = _params(frame)
    meta = params.get("_meta")
    if isinstance(meta, dict) and META_VERSION in meta:
        return {**meta, "capabilities": meta.get(META_CLIENT_CAPABILITIES), "clientInfo": meta.get(META_CLIENT_INFO)}
    return params
