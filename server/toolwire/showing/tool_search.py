"""Replaces the list of many tools by a search and a tool that calls the others by name.

Theory of operation. A catalog that hides tools still has them by their names. `search_tools` finds
them; a call of `call_tool` becomes, before it starts, the call of the tool that it names (see
`Door` and `ServerProtocol`), so that its arguments, threads, limits, progress, elicitations and
errors are those of that tool.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec.structs import replace
from toolwire_schemas.tokens import estimate_list_tokens
from toolwire_tools import Options, Tool, ToolError, make_tool
from toolwire_tools.tool import function_handler

from ..protocol.catalog import Catalog
from ..tool_patterns import matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from toolwire_dialects.search.search_index import SearchableTool, SearchIndex

    from ..mounting.mounts import Mounts
    from ..settings import Settings

MAX_HITS = 50
"""The most tools of one search: their stubs take some 10,000 tokens."""

_MAX_GROUP_CHARS = 300
"""Characters of the names of servers and toolkits in the description of the search."""

META_TOOLS = "toolwire/tools"
"""Under `_meta` of the text of a search: its tools, with the hints of each for approvals."""


class ToolSearch:
    """The search over the tools of one server; *settings* say when it replaces their list."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._mounts: Mounts | None = None
        self._index: SearchIndex | None = None

    def make_catalog(self, given: Iterable[Tool], mounts: Mounts | None) -> Catalog:
        """Return a catalog of the things *given*, some from *mounts*, which may hide tools."""
        settings = self._settings
        self._mounts = mounts
        everything = [tool.with_separator(settings.separator) for tool in given]
        tools = [tool for tool in everything if tool.kind == "tools"]
        new_catalog = partial(
            Catalog, separator=settings.separator, page_size=settings.page_size, late=mounts
        )
        if self._shows_all(tools):
            return new_catalog(everything)
        others = [tool for tool in everything if tool.kind != "tools"]
        pinned, hidden = list[Tool](), list[Tool]()
        for tool in tools:
            is_pinned = matches(tool, settings.pin)
            (pinned if is_pinned else hidden).append(tool)
        self._index = _index_of(tools)
        search, door = self._make_tools(tools)
        is_fixed = settings.show == "search" and not settings.pin
        shown = [search, door.tool, *pinned, *others]
        return new_catalog(shown, hidden=hidden, door=door, is_fixed=is_fixed)

    def _shows_all(self, tools: Sequence[Tool]) -> bool:
        if self._settings.show == "search":
            return False
        tokens = estimate_list_tokens(tool.describe() for tool in tools)
        return tokens <= self._settings.show_tokens

    def _make_tools(self, tools: Sequence[Tool]) -> tuple[Tool, Door]:
        """Return `search_tools` and `call_tool`, under names that no other tool has."""
        taken = {spelling for tool in tools for spelling in tool.entry.spellings}
        search_name = _find_free_name("search_tools", taken)
        call_name = _find_free_name("call_tool", taken)
        servers = [] if self._mounts is None else self._mounts.names
        about = _describe_search(_group_names(tools, servers), call_name)
        options = Options(description=about, read_only=True, structured=False)
        search = make_tool(self._search, name=search_name, options=options)
        handler = function_handler(search)
        waiting = replace(handler, bind=partial(self._bind_when_listed, handler.bind))
        only_reads = all(_hints(tool).get("readOnlyHint") is True for tool in tools)
        call = make_tool(
            _call_tool,
            name=call_name,
            options=Options(
                description=f"Call a tool that {search_name} has found, as it is described there.",
                read_only=only_reads or None,
                structured=False,
            ),
        )
        return Tool(search.entry, waiting), Door(call, self._settings.strict_arguments)

    def _bind_when_listed(
        self, bind: Any, arguments: Any, strict: bool = False, caller: Any = None
    ) -> Any:
        """Bind the *arguments* of a search as soon as mounted servers have listed their tools."""
        bound = bind(arguments, strict, caller)
        if caller is not None and self._mounts is not None:
            self._mounts.complete(caller)
        return bound

    def _search(
        self,
        query: Annotated[str, "what the tool should do, in a few words, or its name"],
        limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_HITS), "how many tools to find"] = 5,
        schemas: Annotated[bool, "whether to return whole descriptions and JSON schemas"] = False,
    ) -> Any:
        assert self._index is not None
        from toolwire_dialects.search.found_tools import write_entries, write_stubs
        from toolwire_dialects.search.search_index import NoSearch

        try:
            hits = self._index.search(query, limit)
        except NoSearch as error:
            raise ToolError(f"{error}; serve the tools with --show all") from None
        if not hits:
            return _describe_miss(self._index.tools)
        write = write_entries if schemas else write_stubs
        hints = [_hints_of_hit(hit) for hit in hits]
        text = write([hit.entry for hit in hits])
        return {"type": "text", "text": text, "_meta": {META_TOOLS: hints}}


class Door:
    """Lets calls of `call_tool` through to the tools that they name."""

    def __init__(self, tool: Tool, strict_arguments: bool) -> None:
        self.tool = tool
        self._is_strict = strict_arguments

    @property
    def name(self) -> str:
        """What its calls name: that of `call_tool`."""
        return self.tool.name

    def open(self, arguments: Any) -> dict[str, Any] | None:
        """Return the `name` and `arguments` of the call that is meant; `None` if *arguments* are
        not those of `call_tool`, which then says so.
        """
        if type(arguments) is str:  # only if that is allowed
            arguments = _decode(arguments)
        if type(arguments) is not dict or not arguments.keys() <= {"name", "arguments"}:
            return None
        name, inner = arguments.get("name"), arguments.get("arguments")
        if type(name) is not str or name == self.name:
            return None
        kinds: tuple[type, ...] = (dict,) if self._is_strict else (dict, str)
        if inner is not None and type(inner) not in kinds:
            return None
        return {"name": name, "arguments": inner}


def _decode(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def _call_tool(
    name: Annotated[str, "the name of the tool"],
    arguments: Annotated[dict[str, Any], "its arguments by name"] = {},  # noqa: B006
) -> str:
    # The door lets all calls of other tools through.
    raise ToolError(f"{name} cannot be called by itself: name a tool that the search has found")


def _index_of(tools: Iterable[Tool]) -> SearchIndex:
    from toolwire_dialects.search.search_index import SearchableTool, SearchIndex

    return SearchIndex(
        SearchableTool(tool.describe(), tool.entry.spellings, tool.entry.parts[:-1])
        for tool in tools
    )


def _hints(tool: Tool) -> dict[str, Any]:
    hints = tool.describe().get("annotations")
    return hints if isinstance(hints, dict) else {}


def _hints_of_hit(hit: SearchableTool) -> dict[str, Any]:
    hints = hit.entry.get("annotations")
    named = {"name": hit.name}
    return {**named, "annotations": hints} if hints else named


def _find_free_name(name: str, taken: set[str]) -> str:
    """Return *name*, with a number after it if a tool has it."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def _group_names(tools: Iterable[Tool], servers: Sequence[str]) -> list[str]:
    """Return the names of toolkits and mounted servers."""
    names = [tool.entry.parts[0] for tool in tools if len(tool.entry.parts) > 1]
    return list(dict.fromkeys([*names, *servers]))


def _describe_search(groups: Sequence[str], call_name: str) -> str:
    """Return the description of the search, for a model that has to know of it what is there."""
    about = (
        "Find tools by what they do: this server has more than its list shows. Each is"
        f" returned as a Python stub; call it with {call_name}."
    )
    if not groups:
        return about
    named = ", ".join(groups)
    if len(named) > _MAX_GROUP_CHARS:
        named = named[:_MAX_GROUP_CHARS].rpartition(", ")[0] + " and others"
    return f"{about} There are tools of {named}."


def _describe_miss(tools: Sequence[SearchableTool]) -> str:
    names = ", ".join(tool.name for tool in tools[:MAX_HITS])
    more = f" and {len(tools) - MAX_HITS} more" if len(tools) > MAX_HITS else ""
    return f"No tool has these words; use others, in the language of the tools: {names}{more}"
