"""The sources of a toolbox: clients of servers, and tools in this process."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from .local_tools import Local

if TYPE_CHECKING:
    from collections.abc import Container

    from ..protocol.results import CallResult, ToolDescription
    from ..session.elicitation import OnAsk
    from ..session.request import OnProgress
    from ..waiting.base import Waiting
    from ..waiting.deadline import Deadline


@runtime_checkable
class ClientLike(Protocol):
    """The interface of `Client`, `AsyncClient` and the toolboxes; the methods may return awaitables."""

    def list_tools(self, *, timeout_seconds: float | None = None) -> Any: ...

    def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> Any: ...


class ToolSource(Protocol):
    """Tools under their own names. `is_local` says whether a listed one runs in this process."""

    name: str

    def is_local(self, name: str) -> bool: ...

    async def list(self, deadline: Deadline) -> list[ToolDescription]: ...

    async def call(
        self, name: str, arguments: dict[str, Any], on_progress: OnProgress | None, deadline: Deadline
    ) -> CallResult: ...


class Remote:
    """A `ToolSource`: the tools of a client."""

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
        return callable(self._is_local) and bool(self._is_local(name))

    async def list(self, deadline: Deadline) -> list[ToolDescription]:
        tools = self._client.list_tools(timeout_seconds=deadline.left())
        return await self._waiting.maybe_await(tools)

    async def call(
        self, name: str, arguments: dict[str, Any], on_progress: OnProgress | None, deadline: Deadline
    ) -> CallResult:
        result = self._client.call_tool(name, arguments, on_progress=on_progress, timeout_seconds=deadline.left())
        return await self._waiting.maybe_await(result)


def sources_of(things: Any, waiting: Waiting, on_ask: OnAsk | None) -> list[ToolSource]:
    """Return a source for each client among *things*, and one for all tools in this process, under different names.

    *things* may be a mapping of names to sources; a value may be a list.
    """
    named = things if isinstance(things, Mapping) else {None: things}
    made = [source for name, thing in named.items() for source in _sources(thing, waiting, on_ask, name)]
    taken = {source.name for source in made}
    seen: set[str] = set()
    for source in made:  # several servers may be the same program
        if source.name in seen:
            source.name = free_name(source.name, taken)
        seen.add(source.name)
        taken.add(source.name)
    return made


def free_name(name: str, taken: Container[str]) -> str:
    """Return *name*, with a number after it if it is *taken*."""
    names = (f"{name}_{number}" if number > 1 else name for number in count(1))
    return next(name for name in names if name not in taken)


def _sources(things: Any, waiting: Waiting, on_ask: OnAsk | None, name: str | None) -> Iterable[ToolSource]:
    listed = list(things) if isinstance(things, list | tuple) else [things]
    yield from (Remote(thing, waiting, name) for thing in listed if isinstance(thing, ClientLike))
    if others := [thing for thing in listed if not isinstance(thing, ClientLike)]:
        yield Local(others, waiting, on_ask, name)
