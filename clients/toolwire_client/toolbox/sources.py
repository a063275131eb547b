"""The sources of a toolbox: clients of servers, and tools in this process."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..protocol.results import CallResult, ToolDescription, describe
from .local_tools import ToolLike, call, tools_of

if TYPE_CHECKING:
    from ..session.elicitation import OnAsk
    from ..session.request import OnProgress
    from ..waiting.base import Waiting
    from ..waiting.deadline import Deadline


@runtime_checkable
class ClientLike(Protocol):
    """The interface of `Client`, `AsyncClient` and the toolboxes."""

    def list_tools(self, *, timeout_seconds: float | None = None) -> Any:
        """Return a list of `ToolDescription`s, or an awaitable of it."""

    def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> Any:
        """Return a `CallResult`, or an awaitable of it."""


class Source(Protocol):
    """Tools under their own names."""

    name: str

    def is_local(self, name: str) -> bool:
        """Return whether a listed tool runs in this process."""

    async def list(self, deadline: Deadline) -> list[ToolDescription]:
        """Return all of them."""

    async def call(
        self, name: str, arguments: dict[str, Any], on_progress: OnProgress | None, deadline: Deadline
    ) -> CallResult:
        """Call one of them."""


class Remote:
    """The tools of a client."""

    def __init__(self, client: ClientLike, waiting: Waiting, name: str | None) -> None:
        blocks = not inspect.iscoroutinefunction(client.call_tool)
        self._is_local = getattr(client, "is_local", None)  # of another toolbox
        if not waiting.suspends and not blocks:
            name_of = type(client).__name__
            raise TypeError(
                f"a Toolbox takes clients of `with`, and {name_of} is one of `async with`: use AsyncToolbox"
            )
        if waiting.suspends and blocks:
            from .threaded_client import ThreadedClient  # which needs an event loop's modules

            client = ThreadedClient(client)
        self._client = client
        self._waiting = waiting
        info = getattr(client, "server_info", None)
        server_name = info.get("name") if isinstance(info, dict) else None
        self.name = name or (server_name if isinstance(server_name, str) and server_name else "server")

    def is_local(self, name: str) -> bool:
        """As `Source.is_local`."""
        return callable(self._is_local) and bool(self._is_local(name))

    async def list(self, deadline: Deadline) -> list[ToolDescription]:
        """As `Source.list`."""
        tools: list[ToolDescription] = await self._waiting.maybe_await(
            self._client.list_tools(timeout_seconds=deadline.left())
        )
        return tools

    async def call(
        self, name: str, arguments: dict[str, Any], on_progress: OnProgress | None, deadline: Deadline
    ) -> CallResult:
        """As `Source.call`."""
        result: CallResult = await self._waiting.maybe_await(
            self._client.call_tool(name, arguments, on_progress=on_progress, timeout_seconds=deadline.left())
        )
        return result


class Local:
    """Tools in this process."""

    def __init__(self, things: Iterable[Any], waiting: Waiting, on_ask: OnAsk | None, name: str | None) -> None:
        self.name = name or "local"
        self._tools: dict[str, ToolLike] = {}
        self._waiting = waiting
        self._on_ask = on_ask
        for tool in (tool for thing in things for tool in tools_of(thing)):
            if tool.name in self._tools:
                raise ValueError(f"two tools in {self.name!r} are called {tool.name!r}: give Toolbox a dict of sources")
            self._tools[tool.name] = tool

    def is_local(self, name: str) -> bool:
        """As `Source.is_local`: always true."""
        return True

    async def list(self, deadline: Deadline) -> list[ToolDescription]:
        """As `Source.list`."""
        return [describe(tool.describe()) for tool in self._tools.values()]

    async def call(
        self, name: str, arguments: dict[str, Any], on_progress: OnProgress | None, deadline: Deadline
    ) -> CallResult:
        """As `Source.call`."""
        tool = self._tools[name]
        return await call(
            tool, arguments, self._waiting, on_progress=on_progress, on_ask=self._on_ask, deadline=deadline
        )


def sources_of(things: Any, waiting: Waiting, on_ask: OnAsk | None) -> list[Source]:
    """Return a source for each client among *things*, and one for all tools in this process, under different names.

    *things* may be a mapping of names to sources; a value may be a list.

    Raises:
        TypeError: if a thing has no tools.
        ValueError: if one source has two tools of one name.
    """
    named = things if isinstance(things, Mapping) else {None: things}
    made = [source for name, thing in named.items() for source in _sources(_listed(thing), waiting, on_ask, name)]
    return _numbered(made)


def _numbered(sources: list[Source]) -> list[Source]:
    """The sources, with numbers after equal names: several servers may be the same program."""
    taken = {source.name for source in sources}
    seen: set[str] = set()
    for source in sources:
        if source.name in seen:
            numbered = (f"{source.name}_{number}" for number in count(2))
            source.name = next(name for name in numbered if name not in taken)
        seen.add(source.name)
        taken.add(source.name)
    return sources


def _sources(things: list[Any], waiting: Waiting, on_ask: OnAsk | None, name: str | None) -> list[Source]:
    clients = [thing for thing in things if isinstance(thing, ClientLike)]
    others = [thing for thing in things if not isinstance(thing, ClientLike)]
    sources: list[Source] = [Remote(client, waiting, name) for client in clients]
    return [*sources, Local(others, waiting, on_ask, name)] if others else sources


def _listed(things: Any) -> list[Any]:
    return list(things) if isinstance(things, list | tuple) else [things]
