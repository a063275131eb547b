"""One list of the tools of several servers and of this process."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import msgspec
from toolwire_client.errors import ClientError, NoTasks, RequestFailed
from toolwire_client.waiting.base import Waiting, make_blocking
from toolwire_schemas.deadline import Deadline
from toolwire_schemas.did_you_mean import find_closest
from toolwire_schemas.wire import messages

from .local_tools import LocalTools

if TYPE_CHECKING:
    from collections.abc import Container

    from toolwire_client.protocol.results import CallResult, ToolDescription
    from toolwire_client.session.elicitation import OnAsk
    from toolwire_client.session.request import OnProgress


@runtime_checkable
class ClientLike(Protocol):
    """The interface of `Client`, `AsyncClient` and the toolboxes; the methods may return
    awaitables.
    """

    def list_tools(self, *, timeout_seconds: float | None = None) -> Any: ...

    def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> Any: ...


class RemoteTools:
    """The tools of a client, as a source."""

    def __init__(self, client: ClientLike, waiting: Waiting, name: str | None) -> None:
        blocks = not inspect.iscoroutinefunction(client.call_tool)
        self._is_local = getattr(client, "is_local", None)  # of another toolbox
        if not waiting.suspends and not blocks:
            name_of = type(client).__name__
            raise TypeError(
                f"a Toolbox takes clients of `with`, and {name_of} is one of `async with`: use"
                " AsyncToolbox"
            )
        if waiting.suspends and blocks:
            from .threaded_client import ThreadedClient  # which needs an event loop's modules

            client = ThreadedClient(client)
        self._client = client
        self._waiting = waiting
        self.name = name or _find_server_name(client) or "server"

    def is_local(self, name: str) -> bool:
        return callable(self._is_local) and bool(self._is_local(name))

    async def list(self, deadline: Deadline) -> list[ToolDescription]:
        tools = self._client.list_tools(timeout_seconds=deadline.seconds_left)
        return await self._waiting.await_if_awaitable(tools)

    async def call(
        self,
        name: str,
        arguments: dict[str, Any],
        on_progress: OnProgress | None,
        deadline: Deadline,
    ) -> CallResult:
        result = self._client.call_tool(
            name, arguments, on_progress=on_progress, timeout_seconds=deadline.seconds_left
        )
        return await self._waiting.await_if_awaitable(result)

    async def wait_for_task(
        self, name: str, task_id: str, on_progress: OnProgress | None, deadline: Deadline
    ) -> CallResult:
        find_task = getattr(self._client, "wait_for_task", None)
        if find_task is None:
            raise NoTasks(f"{self.name} has no tasks")
        result = find_task(
            name, task_id, on_progress=on_progress, timeout_seconds=deadline.seconds_left
        )
        return await self._waiting.await_if_awaitable(result)


def _find_server_name(client: object) -> str:
    """Return the name that the server of *client* gives itself; empty without one."""
    info = getattr(client, "server_info", None)
    if not isinstance(info, dict):
        return ""
    name = info.get("name")
    if isinstance(name, str):
        return name
    return ""


ToolSource = RemoteTools | LocalTools
"""Tools under their own names. `is_local` says whether a listed one runs in this process."""


def list_sources(things: Any, waiting: Waiting, on_ask: OnAsk | None) -> list[ToolSource]:
    """Return a source for each client among *things*, and one for all tools in this process, under
    different names.

    *things* may be a mapping of names to sources; a value may be a list.
    """
    named = things if isinstance(things, Mapping) else {None: things}
    sources: list[ToolSource] = []
    for name, thing in named.items():
        sources += _make_sources(thing, waiting, on_ask, name)
    taken = {source.name for source in sources}
    seen: set[str] = set()
    for source in sources:  # several servers may be the same program
        if source.name in seen:
            source.name = find_free_name(source.name, taken)
        seen.add(source.name)
        taken.add(source.name)
    return sources


def find_free_name(name: str, taken: Container[str]) -> str:
    """Return *name*, with a number after it if it is *taken*."""
    if name not in taken:
        return name
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def _make_sources(
    things: Any, waiting: Waiting, on_ask: OnAsk | None, name: str | None
) -> list[ToolSource]:
    if not isinstance(things, list | tuple):
        things = [things]
    sources: list[ToolSource] = []
    local = []
    for thing in things:
        if isinstance(thing, ClientLike):
            sources.append(RemoteTools(thing, waiting, name))
        else:
            local.append(thing)
    if local:
        sources.append(LocalTools(local, waiting, on_ask, name))
    return sources


_UNUSUAL = re.compile(r"[^A-Za-z0-9_-]+")


def index_names(lists: Sequence[tuple[str, Sequence[str]]]) -> dict[str, tuple[int, str]]:
    """Return the index of the source, and the tool's name there, by the name under which the tool
    is offered.

    *lists* holds the names of the sources, each with its tool names. A name that only one source
    has stays; others get the source's name as prefix, as in `files_read`, and a number at the end
    if that name is taken.
    """
    sources_with: Counter[str] = Counter()
    for _, names in lists:
        sources_with.update(set(names))
    taken = {name for name, count in sources_with.items() if count == 1}
    places: dict[str, tuple[int, str]] = {}
    for place, (source, names) in enumerate(lists):
        prefix = _UNUSUAL.sub("_", source)
        for name in dict.fromkeys(names):
            offered = name
            if sources_with[name] > 1:
                offered = find_free_name(f"{prefix}_{name}", taken)
                taken.add(offered)
            places[offered] = (place, name)
    return places


class ToolOrigin(msgspec.Struct, frozen=True):
    """The origin of a tool: the name of its source, and its own name there."""

    source: str
    name: str


class AsyncToolbox:
    """Lists and calls the tools of *sources*, like an `AsyncClient`.

    *sources* is a list, or a mapping whose keys name the sources: clients of both kinds, other
    toolboxes, functions, `Tool`s and toolkits, actions and their executors, and agents. A tool name
    that several sources have gets the source's name as prefix, as in `files_read`; `find_origin`
    returns a tool's source and its name there. Sources of one name are numbered, as in
    `files_2_read`.
    *on_ask* answers tools in this process; servers ask their own clients.

    `errors` holds the errors of the last listing by source.

    Raises:
        TypeError: if a source is of another kind.
        ValueError: if one source has two tools of one name.
    """

    def __init__(
        self,
        sources: Mapping[str, Any] | Sequence[Any],
        *,
        on_ask: OnAsk | None = None,
        waiting: Waiting | None = None,
    ) -> None:
        if waiting is None:
            from toolwire_client.waiting.event_loop import OnEventLoop

            waiting = OnEventLoop()
        self.errors: dict[str, ClientError] = {}
        self._waiting = waiting
        self._sources = list_sources(sources, waiting, on_ask)
        self._offered: dict[str, tuple[ToolSource, str]] = {}

    async def list_tools(self, *, timeout_seconds: float | None = None) -> list[ToolDescription]:
        """Return all tools under the names by which they are called."""
        deadline = Deadline(timeout_seconds)
        lists: list[dict[str, ToolDescription]] = [{} for _ in self._sources]
        errors: dict[int, ClientError] = {}

        async def ask(place: int, source: ToolSource) -> None:
            try:
                lists[place] = {tool.name: tool for tool in await source.list(deadline)}
            except ClientError as error:
                errors[place] = error

        asks = [partial(ask, place, source) for place, source in enumerate(self._sources)]
        await self._waiting.gather(asks)
        self.errors.clear()
        for place in sorted(errors):
            self.errors[self._sources[place].name] = errors[place]
        names = [source.name for source in self._sources]
        offered = index_names(list(zip(names, map(list, lists), strict=True)))
        self._offered = {}
        tools = []
        for name, (place, own_name) in offered.items():
            self._offered[name] = (self._sources[place], own_name)
            tools.append(_rename(lists[place][own_name], name))
        return tools

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> CallResult:
        """Call a tool. An exception of a tool in this process becomes an error result.

        Raises:
            RequestFailed: if there is no such tool.
            ClientError: as its client.
        """
        deadline = Deadline(timeout_seconds)
        if name not in self._offered:
            await self.list_tools(timeout_seconds=timeout_seconds)
        source, inner = self._find(name)
        return await source.call(inner, dict(arguments or {}), on_progress, deadline)

    async def wait_for_task(
        self,
        name: str,
        task_id: str,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> CallResult:
        """Wait for the task that an earlier call of the tool *name* has become.

        Raises:
            RequestFailed: if there is no such tool, or its server does not know the task.
            ClientError: as its client.
        """
        deadline = Deadline(timeout_seconds)
        if name not in self._offered:
            await self.list_tools(timeout_seconds=timeout_seconds)
        source, inner = self._find(name)
        if isinstance(source, LocalTools):
            raise NoTasks("tools of this process have no tasks")
        return await source.wait_for_task(inner, task_id, on_progress, deadline)

    def find_origin(self, name: str) -> ToolOrigin:
        """Return the origin of a tool.

        Raises:
            RequestFailed: if there is no such tool, or the tools have never been listed.
        """
        source, inner = self._find(name)
        return ToolOrigin(source.name, inner)

    def is_local(self, name: str) -> bool:
        """Return whether a tool runs in this process.

        Raises:
            RequestFailed: as `find_origin`.
        """
        source, inner = self._find(name)
        return source.is_local(inner)

    def _find(self, name: str) -> tuple[ToolSource, str]:
        if name not in self._offered:
            close = find_closest(name, self._offered)
            question = f", did you mean {close[0]!r}?" if close else "."
            known = ", ".join(self._offered) or "(no tools)"
            raise RequestFailed(
                messages.INVALID_PARAMS, f"no tool {name!r}{question} Known: {known}"
            )
        return self._offered[name]


class Toolbox:
    """As `AsyncToolbox`, for code without an event loop: its clients are `Client`s."""

    def __init__(
        self, sources: Mapping[str, Any] | Sequence[Any], *, on_ask: OnAsk | None = None
    ) -> None:
        self._async = AsyncToolbox(sources, on_ask=on_ask, waiting=Waiting())
        self.errors = self._async.errors
        self.find_origin = self._async.find_origin
        self.is_local = self._async.is_local

    list_tools = make_blocking(AsyncToolbox.list_tools)
    call_tool = make_blocking(AsyncToolbox.call_tool)
    wait_for_task = make_blocking(AsyncToolbox.wait_for_task)


def _rename(tool: ToolDescription, name: str) -> ToolDescription:
    if tool.name == name:
        return tool
    return msgspec.structs.replace(tool, name=name, raw={**tool.raw, "name": name})
