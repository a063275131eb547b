"""The server as a value: tools, identity and settings, for stdio or for calls within the
process.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from toolwire_tools import find_tools

from .protocol.catalog import ALL_CAPABILITIES, Catalog
from .protocol.lifecycle import Identity
from .runtime.session import Session
from .settings import make_settings
from .transport import stdio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from toolwire_tools import Tool
    from toolwire_tools.handler import Gate

    from .mounting.mounts import MountArguments, Mounts
    from .protocol.call import Call
    from .runtime.lifespans import Lifespan
    from .runtime.loading_filter import LoadingFilter
    from .runtime.local_client import LocalClient, OnProgress
    from .runtime.writer import Write
    from .showing.tool_search import ToolSearch


class Server:
    """Serves *tools*: functions, toolkits (classes or instances), or `Tool`s; resources and prompts
    likewise.

    *options* are the fields of `Settings`. *lifespan* returns a context manager, synchronous or
    not; its value is the `context.state` of the tools whose module has no `__lifespan__`. It takes
    nothing, or the `Server`. *shape* returns the tools as clients get them, of those with the names
    that they would have, mounted ones included. *name* and *version* are shown to clients; by
    default they are those of the modules of the tools, or of their distribution.

    Raises:
        RegistrationError: if something in *tools* cannot be a tool.
        TypeError: if *tools* is one thing and no list, or for an option that does not exist.
        ValueError: for two tools of one name, or a setting out of its range.
    """

    make_session: Callable[..., Session] = Session
    """Makes a session from the arguments of `Session`."""

    def __init__(
        self,
        tools: Iterable[Any] = (),
        *,
        name: str | None = None,
        version: str | None = None,
        title: str | None = None,
        instructions: str | None = None,
        lifespan: Lifespan | None = None,
        shape: Callable[[Sequence[Tool]], list[Tool]] | None = None,
        **options: Any,
    ) -> None:
        self.settings = make_settings(options)
        self._shape = shape
        self._lifespan = lifespan
        self._given = self._find_tools(tools)
        self._mounts: Mounts | None = None
        self._search: ToolSearch | None = None
        self.identity = Identity(name, version, title, instructions, self._find_identity)
        """For this package, as `catalog` and `settings`; `identify` changes it."""
        self.catalog = self._make_catalog(self._given)
        self._sessions: list[Session] = []
        self._changing = threading.RLock()
        self._local: LocalClient | None = None

    @property
    def tools(self) -> list[Tool]:
        """The tools of the server, under the names shown to clients."""
        return self.catalog.tools

    def serve(
        self,
        streams: stdio.Streams | None = None,
        *,
        load: Callable[[LoadingFilter], None] | None = None,
        declares: Literal["tools", "everything", "unknown"] = "unknown",
    ) -> NoReturn:
        """Serve standard input and output until the host hangs up, then exit.

        *streams* are the result of `stdio.claim`, if it was called before. *load* gives the server
        its tools, while a handshake is answered already, if it is known what it *declares*: tools
        alone, or everything that there may be.
        """
        if streams is None:
            if "ipykernel" in sys.modules:
                from .transport.notebook_kernel import refuse_kernel

                refuse_kernel()
            streams = stdio.claim(keep_children=self.settings.keep_children)
        if load is None:
            stdio.serve(self.open_session, self.settings, streams)

        def begin(write: Write) -> Session:
            session = self.open_session(write)
            if declares == "everything":
                session.declare(ALL_CAPABILITIES)
            return session

        def keep_messages(session: Session) -> LoadingFilter:
            from .runtime.loading_filter import LoadingFilter

            return LoadingFilter(
                session,
                answers_handshake=declares != "unknown",
                max_bytes=self.settings.max_pending_bytes,
            )

        stdio.serve(begin, self.settings, streams, stdio.Loading(keep_messages, load))

    def identify(self, **identity: str | None) -> None:
        """Set the `name`, `version`, `title` or `instructions` that clients get from now on."""
        for name, value in identity.items():
            setattr(self.identity, name, value)
        self.identity.forget()

    def add(self, *things: Any) -> None:
        """Add tools, resources or prompts, as to `Server`, and notify clients. Thread-safe.

        Raises:
            RegistrationError: if one of *things* cannot be a tool.
            ValueError: if there is a tool of that name already.
        """
        with self._changing:
            self.replace([*self._given, *things])

    def remove(self, name: str) -> None:
        """Remove the tool called *name*, or else the prompt, or the resource by its URI; calls in
        flight finish.

        Thread-safe.

        Raises:
            KeyError: if nothing has that name.
        """
        from .protocol.tools_by_name import list_others

        with self._changing:
            self.replace(
                list_others(name, self.catalog.find(name), self._given, self.settings.separator)
            )

    def replace(self, tools: Iterable[Any]) -> None:
        """Replace all tools, from the next call on. Thread-safe; raises what `add` raises."""
        isolated = self._find_tools(tools)
        catalog = self._make_catalog(isolated)
        with self._changing:
            for session in self._sessions:
                self.enter_lifespans(session, isolated)
            unused = _collect_gates(self._given) - _collect_gates(isolated)
            self._given, self.catalog = isolated, catalog
            for session in self._sessions:
                session.replace(catalog)
        for gate in unused:
            gate.retire()

    def resource_changed(self, uri: str) -> None:
        """Notify the clients that watch the resource at *uri* that it has changed. Thread-safe.

        Tools call `context.resource_changed`.
        """
        for session in self._sessions:
            session.announce(uri)

    def mount(self, command: Sequence[str], prefix: str | None = None, **options: Any) -> None:
        """Serve the tools, resources and prompts of the MCP server that *command* (a list of words)
        starts, too.

        Names of tools and prompts become `prefix_name`; one server may lack a *prefix*. *options*
        are those of `Mounts.add`: `env`, `inherit_env`, `cwd`, `eager`, `keep`, `lock` and
        `idle_seconds`. Raises what that raises.
        """
        self.mount_all([(command, prefix, options)])

    def mount_all(self, servers: Iterable[MountArguments]) -> None:
        """Mount several servers, each with the arguments of `mount`, and list them all at once."""
        from .mounting.mounts import Mounts

        with self._changing:
            catalog, sessions = lambda: self.catalog, lambda: self._sessions
            self._mounts = self._mounts or Mounts(
                self.settings, catalog, self._list_again, sessions
            )
            self._mounts.add_all(servers)
            self._list_again()

    def _list_again(self) -> None:
        with self._changing:
            self.replace(self._given)

    def _find_tools(self, things: Iterable[Any]) -> list[Tool]:
        if isinstance(things, str) or not hasattr(things, "__iter__"):
            raise TypeError(
                f"tools must be a list such as [add, Library()], not {things!r}; for files, run"
                " `toolwire serve`"
            )
        found = [
            (tool.with_lifespan(self._lifespan), thing)
            for thing in things
            for tool in find_tools(thing)
        ]
        if any(self.settings.isolate or tool.entry.options.runs_in for tool, _ in found):
            from .workers.isolated_tool import isolate_found

            return isolate_found(found, self.settings, self._lifespan)
        return [tool for tool, _ in found]

    def _make_catalog(self, tools: list[Tool]) -> Catalog:
        if self._mounts is not None:
            tools = [*tools, *self._mounts.iterate_tools(tools)]
        if not self.settings.structured:
            tools = [tool.without_structured() for tool in tools]
        if self._shape is not None:
            tools = self._shape([tool.with_separator(self.settings.separator) for tool in tools])
        if self.settings.show != "all":
            from .showing.tool_search import ToolSearch  # which most servers do not need

            self._search = self._search or ToolSearch(self.settings)
            return self._search.make_catalog(tools, self._mounts)
        return Catalog(
            tools,
            separator=self.settings.separator,
            page_size=self.settings.page_size,
            late=self._mounts,
        )

    def _find_identity(self) -> tuple[str, str]:
        from .identity import (
            identify,
        )  # for a client that asks, and expensive for installed packages

        return identify(self._given)

    def enter_lifespans(self, session: Session, tools: list[Tool]) -> None:
        """Enter in *session* the lifespans of *tools*, if there are any.

        Raises:
            LifespanFailed: if one cannot be entered.
        """
        if (
            session.lifespans is not None
            or any(tool.entry.lifespan is not None for tool in tools)
            or self._lifespan is not None
        ):
            from .runtime.lifespans import enter  # few modules have one

            enter(session, tools, self._lifespan, self)

    def open_session(self, write: Write) -> Session:
        """Return a session with one client in this process: `feed` it the client's bytes, and `end`
        it.

        It calls *write* with whole messages for the client, from any thread, one at a time. The
        lifespans of the tools are entered first, and left when the session ends.

        Raises:
            LifespanFailed: if a lifespan cannot be entered.
        """
        with self._changing:
            session = self.make_session(self.catalog, self.identity, self.settings, write)
            session.resource_changed = self.resource_changed
            self.enter_lifespans(session, self._given)
            self._sessions = [*(other for other in self._sessions if not other.is_ending), session]
        return session

    def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
    ) -> Any:
        """Return the result of a request, by the same path but without a process: for tests.

        *on_progress* is called with the params of each progress notification.

        Raises:
            RequestError: if the answer is a JSON-RPC error.
        """
        if self._local is None:
            from .runtime.local_client import LocalClient  # which `serve` does not need

            self._local = LocalClient(self.open_session)
        return self._local.request(method, params, on_progress)

    def _repr_html_(self) -> str:
        from toolwire_schemas.tool_table import format_tool_table

        name = self.identity.describe_server()["name"]
        return format_tool_table(name, [tool.describe() for tool in self.tools])

    def close(self) -> None:
        """End the session of `request` and `call`, and mounted servers.
        `with Server(...) as server:` does it, too.
        """
        local, self._local = self._local, None
        if local is not None:
            local.end()
        if self._mounts is not None:
            self._mounts.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
    ) -> Any:
        """Return the result of `tools/call`: a dict with `content`, `isError`, and
        `structuredContent` if there is any.

        Raises:
            RequestError: if there is no such tool.
        """
        return self.request(
            "tools/call", {"name": name, "arguments": arguments or {}}, on_progress=on_progress
        )


def _collect_gates(tools: list[Tool]) -> set[Gate[Call]]:
    gates: set[Gate[Call]] = set()
    for tool in tools:
        if tool.handler.gate is not None:
            gates.add(tool.handler.gate)
    return gates


def serve(tools: Iterable[Any], **options: Any) -> NoReturn:
    """Serve *tools* over standard input and output until the host hangs up, then exit.

    *options* are those of `Server`. From here on, the output of the process goes to stderr.

    Raises:
        RegistrationError: if something in *tools* cannot be a tool.
        ValueError: for two tools of one name, or a setting out of its range.
    """
    server = Server(tools, **options)
    server.serve()
