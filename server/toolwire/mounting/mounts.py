"""All mounted servers of a server, and the calls that wait for their lists."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from toolwire_client.async_client import ClientSettings
from toolwire_client.transport.child_process import server_environment
from toolwire_client.waiting.base import in_daemon_thread
from toolwire_schemas.output import printable
from toolwire_schemas.wire.messages import INTERNAL_ERROR, INVALID_PARAMS
from toolwire_tools import Entry

from .. import log
from ..errors import RequestError, UpstreamError
from ..protocol import lookup
from ..protocol.catalog import LIST_METHODS
from ..protocol.connection_handler import ConnectionHandler
from ..protocol.lifecycle import UNCACHED, can_elicit
from .mount import Mount, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from toolwire_tools import Tool

    from ..protocol.call import Call, Host
    from ..protocol.catalog import Catalog
    from ..runtime.session import Session
    from ..settings import Settings
    from .locking import LockedEntries

LIST_PATIENCE_SECONDS = 20.0
"""How long a list waits for servers that start: a third of the time after which hosts give up.
Those that are late are announced as a change of the list."""

CHANGE_PATIENCE_SECONDS = 1.0
"""How long a list, or an unknown name, waits for lists that have just changed."""

META_WHOLE = "toolwire/whole"
"""Under `_meta` of a request for a list: it waits for all servers, and fails if one does not start,
or refuses a list."""

_DEPTH, _MAX_DEPTH = "TOOLWIRE_MOUNT_DEPTH", 3
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")


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
        self._mounts: dict[Mount, Callable[[Tool], bool]] = {}
        self._listed: WeakKeyDictionary[Host, set[str]] = WeakKeyDictionary()

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
    ) -> None:
        """Mount the server that *command* starts, when it is first needed, or now if *eager*.

        *env* is added to our environment, or unless *inherit_env* to the few variables that every
        server gets. *keep* and *lock* choose among its tools.

        Raises:
            TypeError: if *command* is a text.
            ValueError: if names of two servers could be the same.
        """
        from ..guarded_process import start_guarded
        from .foreign_stderr import ForeignStderr

        if isinstance(command, str):
            import shlex

            raise TypeError(f"the command must be a list of words: {shlex.split(command)}")
        prefix = "" if name is None else make_prefix(name)
        if name is not None and not prefix:
            raise ValueError(f"the name {name!r} of a mounted server has no letter or digit")
        self._check_prefix(prefix)
        if (depth := int(os.environ.get(_DEPTH, 0))) >= _MAX_DEPTH:
            raise ValueError(
                f"mounted servers mount servers, {depth} levels deep: does a config file mount"
                " itself?"
            )
        environment = {**os.environ, **(env or {})} if inherit_env else server_environment(env)
        environment[_DEPTH] = str(depth + 1)
        title = name or " ".join(command)[:60]
        stderr = ForeignStderr(
            title
        )  # one for all starts: a server that ends again and again has one limit, too
        settings = ClientSettings(
            launch=partial(
                start_guarded, list(command), env=environment, cwd=cwd, show_stderr=stderr
            ),
            max_message_bytes=self._max_message_bytes,
        )
        mount = Mount(title, prefix, settings, self._changed, self._sessions, lock)
        self._mounts = {**self._mounts, mount: keep}  # others may be reading it
        if eager:
            mount.start()

    def tools(self, own: list[Tool]) -> Iterator[Tool]:
        """Yield what the servers list, without names that are taken: by *own*, by servers before,
        by another prefix.
        """
        taken = {(tool.kind, tool.entry.name_with(self._separator)) for tool in own}
        for mount, keep in self._mounts.items():
            hidden = []
            for tool in mount.tools:
                key = tool.kind, tool.entry.name_with(self._separator)
                is_foreign = (
                    not mount.prefix
                    and tool.kind in ("tools", "prompts")
                    and self._by_prefix(key[1])
                )
                if key in taken or is_foreign:
                    hidden.append(key[1])
                elif tool.kind != "tools" or keep(tool):
                    taken.add(key)
                    yield tool
            if hidden:
                what = (
                    f"{', '.join(hidden)[:500]} of the mounted server {mount.name} hidden: the"
                    " names are taken"
                )
                log.rarely(f"taken {mount.name}", printable(what))

    def complete(self, call: Call) -> None:
        """Wait for *call* until all servers have listed what they have, as long as a list waits."""
        self._complete(call, list(self._mounts), LIST_PATIENCE_SECONDS)

    @property
    def names(self) -> list[str]:
        """The prefixes of the servers that have one."""
        return [mount.prefix for mount in self._mounts if mount.prefix]

    def close(self) -> None:
        """End all servers, for good."""
        for end in [in_daemon_thread(mount.close) for mount in self._mounts]:
            end.result()

    def _complete(self, call: Call, mounts: list[Mount], seconds: float | None) -> None:
        """Wait until *mounts* are listed, for at most *seconds*."""
        can_ask = can_elicit(call.capabilities)
        missing = [mount for mount in mounts if not (mount.listed is not None or mount.is_resting)]
        wait_for([mount.start(can_ask) for mount in missing], call, seconds)
        wait_for(
            [mount.reading for mount in mounts if mount.reading is not None],
            call,
            CHANGE_PATIENCE_SECONDS,
        )

    def _by_prefix(self, name: str) -> list[Mount]:
        joints = {self._separator, "_", "."}
        return [
            mount
            for mount in self._mounts
            if mount.prefix and name.startswith(tuple(mount.prefix + joint for joint in joints))
        ]

    def _check_prefix(self, prefix: str) -> None:
        for mount in self._mounts:
            shorter, longer = sorted((prefix, mount.prefix), key=len)
            if shorter == longer or (shorter and longer.startswith(shorter + self._separator)):
                both = (
                    f"{mount.prefix!r} and {prefix!r}"
                    if prefix
                    else "two mounted servers without a name"
                )
                raise ValueError(
                    f"{both}: tools of both could have the same name; give one another name"
                )

    def select_news(self, host: Host, changed: list[str]) -> list[str]:
        """Return those of the *changed* lists that the client of *host* has seen: others are no
        news.
        """
        return [name for name in changed if name in self._listed.get(host, ())]

    def _answer(self, request: dict[str, Any], call: Call) -> dict[str, Any]:
        """Return the result of the *request*, a `method` and its `params`, when the lists are
        complete.

        Raises:
            RequestError: if nothing has the name.
        """
        method, params = request["method"], request["params"]
        if method in LIST_METHODS:
            return self._list(method, params, call)
        name = _name_in(params)
        mounts = self._mounts_for(name)
        self._complete(call, mounts, None)
        try:
            tool, arguments = self._find(method, params, modern=call.origin.modern)
        except RequestError as unknown:
            for mount in mounts:
                if name is not None and mount.listed is None:
                    reason = f"{name}: {mount.title} does not run: {mount.client.end}"
                    raise RequestError(INTERNAL_ERROR, reason) from None
            uri = params.get("uri")
            if not isinstance(uri, str):
                raise
            return self._read_unlisted(uri, call, unknown)
        return _continue(call, tool, arguments)

    def _list(self, method: str, params: dict[str, Any], call: Call) -> dict[str, Any]:
        mounts = list(self._mounts)
        if META_WHOLE in (call.meta or ()):
            self._complete(call, mounts, None)
            _check_whole(mounts)
        elif not (method == "tools/list" and self._catalog().is_fixed):
            self._complete(call, mounts, LIST_PATIENCE_SECONDS)
        self._listed.setdefault(call.host, set()).add(method.partition("/")[0])
        page = self._catalog().page(LIST_METHODS[method], params.get("cursor"))
        return {**page, **UNCACHED} if call.origin.modern else page

    def _mounts_for(self, name: Any) -> list[Mount]:
        """Return the servers that may have something called *name*; all if there is no name."""
        if name is None:
            return list(self._mounts)
        by_prefix = self._by_prefix(str(name))
        return by_prefix or [mount for mount in self._mounts if not mount.prefix]

    def _find(self, method: str, params: dict[str, Any], *, modern: bool) -> tuple[Tool, Any]:
        catalog = self._catalog()
        self._check_not_refused(method, params)
        if method != "tools/call":
            return lookup.find(method, params, catalog, {}, modern=modern)
        if params["name"] not in catalog.by_name:
            raise lookup.unknown_tool(params["name"], catalog.callable)
        return catalog.by_name[params["name"]], params.get("arguments") or {}

    def _check_not_refused(self, method: str, params: dict[str, Any]) -> None:
        kind = method.partition("/")[0]
        name = params.get("uri" if kind == "resources" else "name")
        for mount in self._mounts:
            for refusal in mount.refused:
                if (refusal.kind, refusal.name) == (kind, name):
                    raise RequestError(INVALID_PARAMS, refusal.why)

    def _read_unlisted(self, uri: str, call: Call, unknown: RequestError) -> dict[str, Any]:
        """Read *uri*, which no list has, from the only server with resources, or those with others
        of its scheme.
        """
        able = [mount for mount in self._mounts if "resources" in mount.client.capabilities]
        if len(able) > 1:  # one server has no business with the URIs of another
            start = uri.partition(":")[0] + ":"
            able = [
                mount for mount in able if any(tool.name.startswith(start) for tool in mount.tools)
            ]
        for mount in able:
            with suppress(UpstreamError):
                return _continue(call, mount.tool("resources", {"uri": uri}), {"uri": uri})
        raise unknown


def make_prefix(name: str) -> str:
    """Return what stands before the names of tools of the server called *name*; "" if that has no
    letter or digit.
    """
    return _NOT_IN_A_NAME.sub("_", name).strip("_")


def _check_whole(mounts: list[Mount]) -> None:
    """Raise a `RequestError` that says which of *mounts* do not run, or have a list that cannot be
    read.
    """
    missing = [mount.title for mount in mounts if mount.listed is None]
    if missing:
        raise RequestError(INTERNAL_ERROR, f"the list lacks the tools of {', '.join(missing)}")
    unread = [problem for mount in mounts for problem in mount.unread.values()]
    if unread:
        raise RequestError(INTERNAL_ERROR, "; ".join(unread))


def _name_in(params: dict[str, Any]) -> Any:
    """Return the name of the tool or prompt that a request with *params* means; `None` for a
    resource.
    """
    if "name" in params:
        return params["name"]
    ref = params.get("ref")
    return ref.get("name") if isinstance(ref, dict) else None


def _continue(call: Call, tool: Tool, arguments: Any) -> dict[str, Any]:
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
    return handler.call(arguments, call, call.strict_arguments)
