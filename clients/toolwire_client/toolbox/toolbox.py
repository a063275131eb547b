"""One list of the tools of several servers and of this process."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.did_you_mean import closest
from toolwire_schemas.wire import messages

from ..errors import ClientError, RequestFailed
from ..waiting.blocking import Blocking, blocking
from ..waiting.deadline import Deadline
from .sources import free_name, sources_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..protocol.results import CallResult, ToolDescription
    from ..session.elicitation import OnAsk
    from ..session.request import OnProgress
    from ..waiting.base import Waiting
    from .sources import ToolSource


_UNUSUAL = re.compile(r"[^A-Za-z0-9_-]+")


def offered(lists: Sequence[tuple[str, Sequence[str]]]) -> dict[str, tuple[int, str]]:
    """Return the index of the source, and the tool's name there, by the name under which the tool is offered.

    *lists* holds the names of the sources, each with its tool names. A name that only one source has stays; others get
    the source's name as prefix, as in `files_read`, and a number at the end if that name is taken.
    """
    found = list(dict.fromkeys((place, name) for place, (_, names) in enumerate(lists) for name in names))
    times = Counter(name for _, name in found)
    taken = {name for name in times if times[name] == 1}
    made: dict[str, tuple[int, str]] = {}
    for place, name in found:
        if times[name] == 1:
            made[name] = (place, name)
        else:
            free = free_name(f"{_UNUSUAL.sub('_', lists[place][0])}_{name}", taken)
            taken.add(free)
            made[free] = (place, name)
    return made


class ToolOrigin(msgspec.Struct, frozen=True):
    """The origin of a tool: the name of its source, and its own name there."""

    source: str
    name: str


class AsyncToolbox:
    """Lists and calls the tools of *sources*, like an `AsyncClient`.

    *sources* is a list, or a mapping whose keys name the sources: clients of both kinds, other toolboxes, functions,
    `Tool`s and toolkits, actions and their executors, and agents. A tool name that several sources have gets the
    source's name as prefix, as in `files_read`; `origin` returns a tool's source and its name there. Sources of one
    name are numbered, as in `files_2_read`. *on_ask* answers tools in this process; servers ask their own clients.

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
            from ..waiting.event_loop import OnEventLoop

            waiting = OnEventLoop()
        self.errors: dict[str, ClientError] = {}
        self._waiting = waiting
        self._sources = sources_of(sources, waiting, on_ask)
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

        await self._waiting.gather([partial(ask, place, source) for place, source in enumerate(self._sources)])
        found = offered([(source.name, list(tools)) for source, tools in zip(self._sources, lists, strict=True)])
        self.errors = {self._sources[place].name: errors[place] for place in sorted(errors)}
        self._offered = {name: (self._sources[place], inner) for name, (place, inner) in found.items()}
        return [_renamed(lists[place][inner], name) for name, (place, inner) in found.items()]

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

    def origin(self, name: str) -> ToolOrigin:
        """Return the origin of a tool.

        Raises:
            RequestFailed: if there is no such tool, or the tools have never been listed.
        """
        source, inner = self._find(name)
        return ToolOrigin(source.name, inner)

    def is_local(self, name: str) -> bool:
        """Return whether a tool runs in this process.

        Raises:
            RequestFailed: as `origin`.
        """
        source, inner = self._find(name)
        return source.is_local(inner)

    def _find(self, name: str) -> tuple[ToolSource, str]:
        if name not in self._offered:
            close = closest(name, self._offered)
            question = f", did you mean {close[0]!r}?" if close else "."
            known = ", ".join(self._offered) or "(no tools)"
            raise RequestFailed(messages.INVALID_PARAMS, f"no tool {name!r}{question} Known: {known}")
        return self._offered[name]


class Toolbox:
    """As `AsyncToolbox`, for code without an event loop: its clients are `Client`s."""

    def __init__(self, sources: Mapping[str, Any] | Sequence[Any], *, on_ask: OnAsk | None = None) -> None:
        self._async = AsyncToolbox(sources, on_ask=on_ask, waiting=Blocking())
        self.origin = self._async.origin
        self.is_local = self._async.is_local

    @property
    def errors(self) -> dict[str, ClientError]:
        """As `AsyncToolbox.errors`."""
        return self._async.errors

    list_tools = blocking(AsyncToolbox.list_tools)
    call_tool = blocking(AsyncToolbox.call_tool)


def _renamed(tool: ToolDescription, name: str) -> ToolDescription:
    if tool.name == name:
        return tool
    return msgspec.structs.replace(tool, name=name, raw={**tool.raw, "name": name})
