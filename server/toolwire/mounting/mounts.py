"""All mounted servers of a server, and the calls that wait for their lists."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, cast
from weakref import WeakKeyDictionary

import msgspec
from toolwire_schemas.output import make_printable
from toolwire_schemas.wire.messages import INTERNAL_ERROR, INVALID_PARAMS
from toolwire_tools import Entry, Tool

from .. import log
from ..errors import RequestError, UpstreamError
from ..idle_end import NEVER
from ..protocol.catalog import LIST_METHODS
from ..protocol.connection_handler import ConnectionHandler
from ..timers import Timers
from .foreign_stderr import ForeignStderr
from .mounted_command import MountedCommand, check_depth
from .mounted_entry import has_name, mount_entry
from .mounted_server import MountedServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from toolwire_tools import Caller, Handler

    from ..protocol.call import Call
    from ..protocol.catalog import Catalog
    from ..protocol.running import CallServices
    from ..runtime.session import Session
    from ..settings import Settings
    from .locking import LockedEntries

    MountArguments = tuple[Sequence[str], str | None, dict[str, Any]]
    """The command, the name and the options of `Mounts.add`."""

LIST_PATIENCE_SECONDS = 20.0
"""How long a list waits for servers that start: a third of the time after which hosts give up.
Those that are late are announced as a change of the list."""

CACHE_PATIENCE_SECONDS = 1.0
"""How long a list waits for a server of which it is known what it listed last time."""

CHANGE_PATIENCE_SECONDS = 1.0
"""How long a list, or an unknown name, waits for lists that have just changed."""

META_REPORT = "toolwire/mounted"
"""Under `_meta` of a request for a list. If it is true, the request waits for all servers, and
`_meta` of the result has a `ServerReport` of each; a number is the most seconds that it waits. Else
it waits for none.
"""

MAX_STARTS = 8
"""How many servers such a request starts at once: each may be a package that is downloaded."""

ROOTS_CHANGED = "notifications/roots/list_changed"

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")


class ServerReport(msgspec.Struct, frozen=True):
    """A mounted server in the answer to `META_REPORT`: why its lists are not complete, "" if they
    are or it is starting, and the keys of its resources and templates.
    """

    name: str
    prefix: str
    problem: str = ""
    is_starting: bool = False
    resources: list[str] = []


class NoticeHandler(msgspec.Struct, frozen=True, eq=False):
    """Runs *act* for each notification of a method, whatever its parameters."""

    act: Callable[[], None]
    gate: None = None
    is_async: bool = False
    is_generator: bool = False
    notices_cancellation: bool = False

    def call(
        self, arguments: Any, caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """Return the result of a request, which clients do not send."""
        self.act()
        return {"result": None}

    def with_name(self, name: str) -> NoticeHandler:
        return self

    def as_tool(self, method: str) -> Tool:
        """Return this as the plain method *method*."""
        entry = Entry(kind="methods", name=method, parts=(method,), shown={"name": method})
        return Tool(entry, cast("Handler", self))


class Mounts:
    """The mounted servers of one server, whose *catalog* they complete (`Late`).

    *changed* has the server make a new catalog; *sessions* are its clients.
    """

    def __init__(
        self,
        settings: Settings,
        catalog: Callable[[], Catalog],
        changed: Callable[[], None],
        sessions: Callable[[], list[Session]],
    ) -> None:
        self.entry = Entry(kind="late", name="list", parts=("list",), shown={})
        self.handler = ConnectionHandler(send=self._answer, complete=self._answer)
        self._catalog = catalog
        self._separator = settings.separator
        self._max_message_bytes = settings.max_message_bytes
        self._changed = changed
        self._sessions = sessions
        self._servers: dict[MountedServer, Callable[[Tool], bool]] = {}
        self._timers = Timers()
        self._listed: WeakKeyDictionary[CallServices, set[str]] = WeakKeyDictionary()

    def add_all(self, servers: Iterable[MountArguments]) -> None:
        """Mount each of *servers*; raises what `add` raises."""
        for command, name, options in servers:
            self.add(command, name, **options)

    def add(
        self,
        command: Sequence[str],
        name: str | None,
        *,
        env: Mapping[str, str] | None = None,
        inherit_env: bool = True,
        cwd: str | None = None,
        eager: bool = False,
        keep: Callable[[Tool], bool] = lambda tool: True,
        lock: LockedEntries | None = None,
        idle_seconds: float | None = None,
        list_cache: Literal["late", "always", "never"] = "never",
    ) -> None:
        """Mount the server that *command* starts, when it is first needed, or now if *eager*. A
        *command* that begins with an address is a remote server, as in `connect`.

        *env* is added to our environment, or unless *inherit_env* to the few variables that every
        server gets. *keep* and *lock* choose among its tools. With a *lock*, lists have what it
        keeps, and the first call needs the server. It ends when no call has used it for
        *idle_seconds*. *list_cache* is when lists have what the server listed last time: if it
        takes a second, at once, or never.

        Raises:
            TypeError: if *command* is a text.
            ValueError: if names of two servers could be the same, or *idle_seconds* is no time.
        """
        if isinstance(command, str):
            import shlex

            raise TypeError(f"the command must be a list of words: {shlex.split(command)}")
        prefix = "" if name is None else make_prefix(name)
        if name is not None and not prefix:
            raise ValueError(f"the name {name!r} of a mounted server has no letter or digit")
        self._check_prefix(prefix)
        check_depth()
        if idle_seconds is None:
            idle_seconds = NEVER
        if not idle_seconds > 0:
            raise ValueError(f"idle_seconds must be more than 0, not {idle_seconds}")
        title = name or " ".join(command)[:60]
        starter = MountedCommand(
            words=list(command),
            env=env or {},
            inherit_env=inherit_env,
            cwd=cwd,
            stderr=ForeignStderr(title),
            max_message_bytes=self._max_message_bytes,
            sessions=self._sessions,
        )
        remembered = None
        if lock is None and list_cache != "never":
            patience_seconds = 0.0 if list_cache == "always" else CACHE_PATIENCE_SECONDS
            remembered = starter.find_remembered(patience_seconds)
        mounted = MountedServer(
            title,
            prefix,
            starter.open_mount,
            self._changed,
            self._timers,
            idle_seconds=idle_seconds,
            lock=lock,
            remembered=remembered,
        )
        mounted.show_remembered()
        self._servers = {**self._servers, mounted: keep}  # others may be reading it
        if eager:
            mounted.process.start()

    def iterate_tools(self, own: list[Tool]) -> Iterator[Tool]:
        """Yield what the servers list, without names that are taken: by *own*, by servers before,
        by another prefix.
        """
        self._show_locked()
        yield NoticeHandler(self.notify_roots_changed).as_tool(ROOTS_CHANGED)
        taken = {(tool.kind, tool.entry.name_with(self._separator)) for tool in own}
        for server, keep in self._servers.items():
            hidden = []
            for tool in server.shown.tools:
                name = tool.entry.name_with(self._separator)
                place = tool.kind, name
                if place in taken or self._belongs_to_other(server, tool, name):
                    hidden.append(name)
                elif tool.kind != "tools" or keep(tool):
                    taken.add(place)
                    yield tool
            if hidden:
                _log_hidden(server, hidden)

    def _belongs_to_other(self, server: MountedServer, tool: Tool, name: str) -> bool:
        """Return whether *name* of *tool* of a *server* without a prefix has that of another."""
        if server.prefix or not has_name(tool.kind):
            return False
        return bool(self._find_by_prefix(name))

    def notify_roots_changed(self) -> None:
        """Tell the servers that run that the folders of a client have changed."""
        for server in self._servers:
            server.process.notify(ROOTS_CHANGED)

    def complete(self, call: Call) -> None:
        """Wait for *call* until all servers have listed what they have, as long as a list waits."""
        self._complete(call, list(self._servers), LIST_PATIENCE_SECONDS)

    @property
    def names(self) -> list[str]:
        """The prefixes of the servers that have one."""
        return [server.prefix for server in self._servers if server.prefix]

    def list_unlisted(self) -> list[str]:
        """Return the prefixes of the servers whose tools are not known: they start slowly, or
        do not start.
        """
        return [server.prefix for server in self._servers if server.prefix and not server.is_listed]

    def close(self) -> None:
        """End all servers, for good."""
        from toolwire_client.waiting.base import run_in_daemon_thread

        self._timers.stop()
        for end in [run_in_daemon_thread(server.process.close) for server in self._servers]:
            end.result()

    def _show_locked(self) -> None:
        """Let servers with a lock offer what it keeps, until they are started."""
        prefixes = [server.prefix for server in self._servers]
        lists = {}
        for server in self._servers:
            if server.lock is None or server.is_listed:
                continue
            if server.lock not in lists:
                lists[server.lock] = server.lock.split(prefixes)
            server.show("lock", lists[server.lock][server.prefix])

    def _complete(
        self,
        call: Call,
        servers: list[MountedServer],
        seconds: float | None,
        *,
        is_known: Callable[[MountedServer], bool] = lambda server: server.is_listed,
    ) -> None:
        """Start those of *servers* whose lists are not known, and wait for their lists, for at most
        *seconds*.
        """
        missing, unsure = [], []
        for server in servers:
            if server.process.is_resting:
                continue
            if not is_known(server):
                missing.append(server)
            elif server.is_remembered:
                unsure.append(server)
        if not missing and not unsure and not _list_readings(servers):
            return
        from .mount import wait_for  # what starts servers

        starts = [server.process.start(call.capabilities) for server in missing]
        late = [server.process.start(call.capabilities) for server in unsure]
        patience = min((server.patience_seconds for server in unsure), default=0.0)
        wait_for(late, call, patience)
        wait_for(starts, call, seconds)
        wait_for(_list_readings(servers), call, CHANGE_PATIENCE_SECONDS)

    def _find_by_prefix(self, name: str) -> list[MountedServer]:
        found = []
        for server in self._servers:
            beginnings = tuple(server.prefix + joint for joint in (self._separator, "_", "."))
            if server.prefix and name.startswith(beginnings):
                found.append(server)
        return found

    def _check_prefix(self, prefix: str) -> None:
        beginning = prefix + self._separator
        for server in self._servers:
            other = server.prefix
            is_longer = prefix != "" and other.startswith(beginning)
            is_shorter = other != "" and prefix.startswith(other + self._separator)
            if other == prefix or is_longer or is_shorter:
                both = "two mounted servers without a name"
                if prefix:
                    both = f"{server.prefix!r} and {prefix!r}"
                raise ValueError(
                    f"{both}: tools of both could have the same name; give one another name"
                )

    def has_listed(self, method: str, params: dict[str, Any], host: CallServices) -> bool:
        """Return whether the list of *method* waits for no server: all have listed what they have,
        or have it in a lock.
        """
        meta = params.get("_meta")
        if isinstance(meta, dict) and META_REPORT in meta:
            return False
        is_fixed = method == "tools/list" and self._catalog().is_fixed
        if not is_fixed and not all(server.is_up_to_date for server in self._servers):
            return False
        self._note_listed(method, host)
        return True

    def _note_listed(self, method: str, host: CallServices) -> None:
        self._listed.setdefault(host, set()).add(method.partition("/")[0])

    def select_news(self, host: CallServices, changed: list[str]) -> list[str]:
        """Return those of the *changed* lists that the client of *host* has seen: others are no
        news.
        """
        return [name for name in changed if name in self._listed.get(host, ())]

    async def _answer(self, request: dict[str, Any], call: Call) -> dict[str, Any]:
        """Return the result of the *request*, a `method` and its `params`, when the lists are
        complete.

        Raises:
            RequestError: if nothing has the name.
        """
        method, params = request["method"], request["params"]
        if method in LIST_METHODS:
            return self._list(method, params, call)
        name = _read_name(params)
        servers = self._find_servers(name)
        self._complete(call, servers, None)
        try:
            tool, arguments = self._find(method, params, modern=call.origin.modern)
        except RequestError as unknown:
            for server in servers:
                if name is not None and not server.is_listed:
                    reason = f"{name}: {server.title} does not run: {server.process.end}"
                    raise RequestError(INTERNAL_ERROR, reason) from None
            uri = params.get("uri")
            if not isinstance(uri, str):
                raise
            return await self._read_unlisted(uri, call, unknown)
        return await _continue(call, tool, arguments)

    def _list(self, method: str, params: dict[str, Any], call: Call) -> dict[str, Any]:
        servers = list(self._servers)
        reports = None
        wants_report = (call.meta or {}).get(META_REPORT)
        if wants_report:
            is_limited = wants_report is not True and isinstance(wants_report, int | float)
            seconds = min(wants_report, LIST_PATIENCE_SECONDS) if is_limited else None
            reports = self._report(call, servers, seconds)
        elif wants_report is None:
            self._complete(call, servers, LIST_PATIENCE_SECONDS)
        self._note_listed(method, call.host)
        kind, cursor = LIST_METHODS[method], params.get("cursor")
        page = self._catalog().make_page(kind, cursor, is_modern=call.origin.modern)
        if reports is not None:
            page = {**page, "_meta": {META_REPORT: reports}}
        return page

    def _report(
        self, call: Call, servers: list[MountedServer], seconds: float | None
    ) -> list[dict[str, Any]]:
        """Start all of *servers*, and return a `ServerReport` of each, after *seconds* at most for
        each group that starts.
        """
        for start in range(0, len(servers), MAX_STARTS):
            group = servers[start : start + MAX_STARTS]
            self._complete(call, group, seconds, is_known=lambda server: server.is_read)
        may_start = seconds is not None
        return [msgspec.to_builtins(_report_server(server, may_start)) for server in servers]

    def _find_servers(self, name: Any) -> list[MountedServer]:
        """Return the servers that may have something called *name*; all if there is no name."""
        if name is None:
            return list(self._servers)
        by_prefix = self._find_by_prefix(str(name))
        return by_prefix or [server for server in self._servers if not server.prefix]

    def _find(self, method: str, params: dict[str, Any], *, modern: bool) -> tuple[Tool, Any]:
        from ..protocol import lookup  # which a list does not need

        catalog = self._catalog()
        self._check_not_refused(method, params)
        if method != "tools/call":
            return lookup.find(method, params, catalog, {}, modern=modern)
        if params["name"] not in catalog.by_name:
            if catalog.door is not None:
                raise RequestError(INVALID_PARAMS, catalog.door.explain_unknown(params["name"]))
            raise lookup.make_tool_error(params["name"], catalog.callable)
        return catalog.by_name[params["name"]], params.get("arguments") or {}

    def _check_not_refused(self, method: str, params: dict[str, Any]) -> None:
        kind = method.partition("/")[0]
        name = params.get("uri" if kind == "resources" else "name")
        for server in self._servers:
            for refusal in server.shown.refused:
                if (refusal.kind, refusal.name) == (kind, name):
                    raise RequestError(INVALID_PARAMS, refusal.why)

    async def _read_unlisted(self, uri: str, call: Call, unknown: RequestError) -> dict[str, Any]:
        """Read *uri*, which no list has, from the only server with resources, or those with others
        of its scheme.
        """
        able = [server for server in self._servers if "resources" in server.shown.capabilities]
        if len(able) > 1:  # one server has no business with the URIs of another
            start = uri.partition(":")[0] + ":"
            able = [server for server in able if _has_names_with(server, start)]
        for server in able:
            with suppress(UpstreamError):
                tool = mount_entry("", server.call, "resources", {"uri": uri})
                return await _continue(call, tool, {"uri": uri})
        raise unknown


def make_prefix(name: str) -> str:
    """Return what stands before the names of tools of the server called *name*; "" if that has no
    letter or digit.
    """
    return _NOT_IN_A_NAME.sub("_", name).strip("_")


def _log_hidden(server: MountedServer, names: list[str]) -> None:
    listed = ", ".join(names)[:500]
    text = f"{listed} of the mounted server {server.name} hidden: the names are taken"
    log.warn_rarely(f"taken {server.name}", make_printable(text))


def _list_readings(servers: list[MountedServer]) -> list[Future[None]]:
    """Return the latest reading of each of *servers* that has read its lists again."""
    return [server.reading for server in servers if server.reading is not None]


def _report_server(server: MountedServer, may_start: bool) -> ServerReport:
    """Return the report of *server*; one without an end is starting, if it *may_start* still."""
    if not server.is_read:
        reason = server.process.end
        if reason is None and may_start:
            return ServerReport(server.name, server.prefix, is_starting=True)
        problem = f"{server.title} does not run"
        if reason is not None:
            problem += f": {reason.reason}"
        return ServerReport(server.name, server.prefix, make_printable(problem))
    resources = [tool.name for tool in server.shown.tools if not has_name(tool.kind)]
    problem = "; ".join(server.unread)
    return ServerReport(server.name, server.prefix, problem, resources=resources)


def _has_names_with(server: MountedServer, beginning: str) -> bool:
    return any(tool.name.startswith(beginning) for tool in server.shown.tools)


def _read_name(params: dict[str, Any]) -> Any:
    """Return the name of the tool or prompt that a request with *params* means; `None` for a
    resource.
    """
    if "name" in params:
        return params["name"]
    ref = params.get("ref")
    return ref.get("name") if isinstance(ref, dict) else None


async def _continue(call: Call, tool: Tool, arguments: Any) -> dict[str, Any]:
    """Run *tool* as if the request had meant it from the start."""
    from toolwire_schemas.wire.codec import encode_plain

    handler = tool.handler
    if not (isinstance(handler, ConnectionHandler) and handler.is_mounted):
        # Added in the meantime: its thread, gate and time limit are others
        raise RequestError(
            INVALID_PARAMS, f"{tool.name} was added just now: send the request again"
        )
    call.entry, call.handler, call.arguments = tool.entry, handler, arguments
    call.sent = encode_plain(arguments) if call.sent else b""
    return await handler.respond(call)
