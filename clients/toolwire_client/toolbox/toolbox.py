"""The tools of several servers, and of this process, as one list."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire import codes

from ..errors import ClientError, RequestFailed
from ..waiting.blocking import Blocking, run
from ..waiting.deadline import Limit
from .sources import sources_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..protocol.results import CallResult, ToolDescription
    from ..session.elicitation import OnAsk
    from ..session.request import OnProgress
    from ..waiting.base import Waiting
    from .sources import Source


_UNUSUAL = re.compile(r"[^A-Za-z0-9_-]+")


def offered(lists: Sequence[tuple[str, Sequence[str]]]) -> dict[str, tuple[int, str]]:
    """Return, by the name it is offered as, the list that a name is from and what it is called there; in their order.

    *lists* are the names of sources, each with the names to be found there. A name that only one list has stays. One
    that several have gets its source in front, as in `files_read`, and a number behind if there is such a name already.
    """
    found = list(dict.fromkeys((place, name) for place, (_, names) in enumerate(lists) for name in names))
    times = Counter(name for _, name in found)
    taken = {name for name in times if times[name] == 1}
    made: dict[str, tuple[int, str]] = {}
    for place, name in found:
        if times[name] == 1:
            made[name] = (place, name)
        else:
            free = next(wanted for wanted in _prefixed(lists[place][0], name) if wanted not in taken)
            taken.add(free)
            made[free] = (place, name)
    return made


def _prefixed(source: str, name: str) -> Iterator[str]:
    prefixed = f"{_UNUSUAL.sub('_', source)}_{name}"
    yield prefixed
    for number in count(2):
        yield f"{prefixed}_{number}"


class Origin(msgspec.Struct, frozen=True):
    """Where a tool comes from: the name of its source, and what it is called there."""

    source: str
    name: str


class AsyncToolbox:
    """Tools of *sources*, which can be listed and called as those of an `AsyncClient`.

    *sources* is a list, or a mapping whose keys are the sources' names: of clients of both kinds, other toolboxes,
    functions, `Tool`s and toolkits, actions and their executors, and agents. A name that several of them have is
    offered with the name of its source in front, as in `files_read`; `origin` tells what stands behind a name. Sources
    of one name are told apart by a number, as in `files_2_read`. *on_ask* is asked by tools in this process; questions
    of servers go to the `on_ask` of their own clients.

    `errors` tells, by source, which could not be asked for their tools when these were last listed.

    Raises:
        TypeError: for what is none of these.
        ValueError: for two tools of one name in one source.
    """

    def __init__(
        self,
        sources: Mapping[str, Any] | Sequence[Any],
        *,
        on_ask: OnAsk | None = None,
        waiting: Waiting | None = None,
    ) -> None:
        if waiting is None:
            from ..waiting.event_loop import OnLoop

            waiting = OnLoop()
        self.errors: dict[str, ClientError] = {}
        self._waiting = waiting
        self._sources = sources_of(sources, waiting, on_ask)
        self._offered: dict[str, tuple[Source, str]] = {}

    async def list_tools(self, *, timeout_seconds: float | None = None) -> list[ToolDescription]:
        """Return every tool under the name it is offered by."""
        limit = Limit(timeout_seconds)
        lists: list[dict[str, ToolDescription]] = [{} for _ in self._sources]
        errors: dict[int, ClientError] = {}

        async def ask(place: int, source: Source) -> None:
            try:
                lists[place] = {tool.name: tool for tool in await source.list(limit)}
            except ClientError as error:
                errors[place] = error

        await self._waiting.together([partial(ask, place, source) for place, source in enumerate(self._sources)])
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
        """Call a tool by the name it is offered by. What a tool in this process raises is a result that says so.

        Raises:
            RequestFailed: if there is no such tool.
            ClientError: what else its client raises.
        """
        limit = Limit(timeout_seconds)
        if name not in self._offered:
            await self.list_tools(timeout_seconds=timeout_seconds)
        source, inner = self._find(name)
        return await source.call(inner, dict(arguments or {}), on_progress, limit)

    def origin(self, name: str) -> Origin:
        """Return what stands behind a name that is offered.

        Raises:
            RequestFailed: if there is no such tool, or the tools have never been listed.
        """
        source, inner = self._find(name)
        return Origin(source.name, inner)

    def is_local(self, name: str) -> bool:
        """Return whether a tool is in this process, and not a server's.

        Raises:
            RequestFailed: as `origin`.
        """
        source, inner = self._find(name)
        return source.is_local(inner)

    def _find(self, name: str) -> tuple[Source, str]:
        if name not in self._offered:
            import difflib  # only a mistake needs it

            close = difflib.get_close_matches(name, self._offered, n=1)
            question = f", did you mean {close[0]!r}?" if close else "."
            known = ", ".join(self._offered) or "there are none"
            raise RequestFailed(codes.INVALID_PARAMS, f"no tool {name!r}{question} Known: {known}")
        return self._offered[name]


class Toolbox:
    """As `AsyncToolbox`, for code without an event loop: its clients are `Client`s."""

    def __init__(self, sources: Mapping[str, Any] | Sequence[Any], *, on_ask: OnAsk | None = None) -> None:
        self._toolbox = AsyncToolbox(sources, on_ask=on_ask, waiting=Blocking())

    @property
    def errors(self) -> dict[str, ClientError]:
        """As of `AsyncToolbox`."""
        return self._toolbox.errors

    def list_tools(self, *, timeout_seconds: float | None = None) -> list[ToolDescription]:
        """As `AsyncToolbox.list_tools`."""
        return run(self._toolbox.list_tools(timeout_seconds=timeout_seconds))

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> CallResult:
        """As `AsyncToolbox.call_tool`."""
        call = self._toolbox.call_tool(name, arguments, on_progress=on_progress, timeout_seconds=timeout_seconds)
        return run(call)

    def origin(self, name: str) -> Origin:
        """As `AsyncToolbox.origin`."""
        return self._toolbox.origin(name)

    def is_local(self, name: str) -> bool:
        """As `AsyncToolbox.is_local`."""
        return self._toolbox.is_local(name)


def _renamed(tool: ToolDescription, name: str) -> ToolDescription:
    if tool.name == name:
        return tool
    return msgspec.structs.replace(tool, name=name, raw={**tool.raw, "name": name})
