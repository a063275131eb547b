"""Replaces the list of many tools by a search and a tool that calls the others.

Theory of operation. A catalog that hides tools still has them by their names. `search_tools` finds
them; a call of `call_tool` becomes, before it starts, the call of the tool that it names (see
`SearchDoor` and `ServerProtocol`), so that its arguments, threads, limits, progress, elicitations
and errors are those of that tool. With `--show code`, programs call the tools: see
tool_programs.py.

The entries of both are written by hand, and their signatures are read at the first call: a list
that starts no server is to take no longer than that of a small file.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec
from msgspec.structs import replace
from toolwire_schemas import meta_tools
from toolwire_schemas.meta_tools import DEFAULT_HITS, MAX_HITS
from toolwire_schemas.tokens import estimate_list_tokens
from toolwire_schemas.wire.messages import INVALID_PARAMS
from toolwire_tools import Entry, Options, Tool, ToolError, make_tool
from toolwire_tools.entry import show
from toolwire_tools.handler import FunctionHandler
from toolwire_tools.tool import make_function_handler

from ..errors import UpstreamError
from ..protocol.catalog import Catalog
from ..tool_patterns import matches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from toolwire_dialects.search.search_index import SearchableTool, SearchIndex

    from ..mounting.mounts import Mounts
    from ..protocol.call import Call
    from ..protocol.unlisted_tools import CallableTools
    from ..settings import Settings
    from .tool_programs import ToolPrograms

META_TOOLS = "toolwire/tools"
"""Under `_meta` of the text of a search: its tools, with the hints of each for approvals."""


SEARCH_SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": meta_tools.ABOUT_QUERY},
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_HITS,
            "description": meta_tools.ABOUT_LIMIT,
            "default": DEFAULT_HITS,
        },
        "schemas": {
            "type": "boolean",
            "description": meta_tools.ABOUT_SCHEMAS,
            "default": False,
        },
    },
    "required": ["query"],
    "additionalProperties": False,
}
CALL_SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": meta_tools.ABOUT_NAME},
        "arguments": {"type": "object", "description": meta_tools.ABOUT_ARGUMENTS, "default": {}},
    },
    "required": ["name"],
    "additionalProperties": False,
}


class ChosenTools(NamedTuple):
    """The tools that a list shows, and those that it hides; `door` calls these by name."""

    shown: Sequence[Tool]
    hidden: Sequence[Tool] = ()
    door: SearchDoor | None = None


class _LateFunction:
    """A function whose signature is read for the first call of its tool."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def _handler(self) -> FunctionHandler:
        return make_function_handler(make_tool(self._function, options=Options(structured=False)))

    def as_tool(self, name: str, options: Options, schema: dict[str, Any]) -> Tool:
        """Return the tool called *name*, with this input *schema*."""
        annotations = {}
        if options.read_only is not None:
            annotations["readOnlyHint"] = options.read_only
        own = {"inputSchema": schema, "annotations": annotations}
        entry = Entry(
            kind="tools",
            name=name,
            parts=(name,),
            shown=show({"name": name}, options, options.description or "", own),
            options=options,
            input_schema=schema,
            function=self._function,
        )
        handler = FunctionHandler(
            name=name,
            function=self._function,
            bind=self._bind,
            present=self._present,
            is_async=False,
        )
        return Tool(entry, handler)

    def _bind(self, *given: Any) -> Any:
        return self._handler.bind(*given)

    def _present(self, value: Any) -> dict[str, Any]:
        return self._handler.present(value)


class _SearchedTools:
    """The tools of one catalog, and their index, which is made for the first search."""

    def __init__(self, tools: Sequence[Tool] = ()) -> None:
        self.by_name = {tool.name: tool for tool in tools}
        self._tools = tools

    @cached_property
    def index(self) -> SearchIndex:
        from toolwire_dialects.search.search_index import SearchableTool, SearchIndex

        return SearchIndex(
            SearchableTool(tool.describe(), tool.entry.spellings, tool.entry.parts[:-1])
            for tool in self._tools
        )


class ToolSearch:
    """The search over the tools of one server; *settings* say when it replaces their list."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._mounts: Mounts | None = None
        self._searched = _SearchedTools()
        self._programs: ToolPrograms | None = None

    def make_catalog(self, given: Iterable[Tool], mounts: Mounts | None) -> Catalog:
        """Return a catalog of the things *given*, some from *mounts*, which may hide tools.

        Raises:
            ValueError: if programs are to call them, and nothing here can confine programs.
        """
        settings = self._settings
        self._mounts = mounts
        chosen = self.choose([tool.with_separator(settings.separator) for tool in given])
        return Catalog(
            chosen.shown,
            separator=settings.separator,
            page_size=settings.page_size,
            late=mounts,
            hidden=chosen.hidden,
            door=chosen.door,
            is_fixed=settings.show in ("search", "code") and not settings.pin,
        )

    def choose(self, given: Sequence[Tool]) -> ChosenTools:
        """Return which of the things *given* a list shows; resources and prompts stay in theirs."""
        tools = [tool for tool in given if tool.kind == "tools"]
        if self._shows_all(tools):
            return ChosenTools(given)
        others = [tool for tool in given if tool.kind != "tools"]
        pinned, hidden = list[Tool](), list[Tool]()
        for tool in tools:
            is_pinned = matches(tool, self._settings.pin)
            (pinned if is_pinned else hidden).append(tool)
        self._searched = _SearchedTools(tools)
        if self._settings.show == "code":
            search, program = self._make_program_tools(tools)
            return ChosenTools([search, program, *pinned, *others], hidden)
        search, door = self._make_tools(tools)
        return ChosenTools([search, door.tool, *pinned, *others], hidden, door)

    def _shows_all(self, tools: Sequence[Tool]) -> bool:
        if self._settings.show == "search":
            return False
        if self._settings.show == "code":
            # A server without tools has not loaded them yet, and answers the handshake first.
            return not tools and self._mounts is None
        tokens = estimate_list_tokens(tool.describe() for tool in tools)
        return tokens <= self._settings.show_tokens

    def _make_tools(self, tools: Sequence[Tool]) -> tuple[Tool, SearchDoor]:
        """Return `search_tools` and `call_tool`, under names that no other tool has."""
        search_name, call_name = _find_names(tools, "search_tools", "call_tool")
        search = self._make_search(tools, search_name, f"call them with {call_name}")
        only_reads = meta_tools.are_read_only([tool.describe() for tool in tools])
        about = meta_tools.describe_call(search_name)
        options = Options(description=about, read_only=only_reads or None, structured=False)
        is_strict = self._settings.strict_arguments
        return search, SearchDoor(call_name, options, self._searched, is_strict=is_strict)

    def _make_program_tools(self, tools: Sequence[Tool]) -> tuple[Tool, Tool]:
        """Return `search_tools` and `run_program`, under names that no other tool has."""
        from .tool_programs import ToolPrograms

        programs = self._programs = self._programs or ToolPrograms(self._settings)
        programs.set_tools(tools)
        search_name, run_name = _find_names(tools, "search_tools", "run_program")
        search = self._make_search(tools, search_name, f"call them in {run_name}")
        return search, programs.make_tool(run_name, search_name, self._complete_or_list)

    def _make_search(self, tools: Sequence[Tool], name: str, use: str) -> Tool:
        """Return the search, called *name*, whose description says how to *use* what it finds."""
        servers = [] if self._mounts is None else self._mounts.names
        about = meta_tools.describe_search(_group_names(tools, servers), use)
        options = Options(description=about, read_only=True, structured=False)
        search = _LateFunction(self._search).as_tool(name, options, SEARCH_SCHEMA)
        handler = make_function_handler(search)
        waiting = replace(handler, bind=partial(self._bind_when_listed, handler.bind))
        return Tool(search.entry, waiting)

    def _complete_or_list(self, call: Call) -> list[str]:
        """Wait as `_complete`, and return which mounted servers have not listed their tools."""
        if self._mounts is None:
            return []
        self._mounts.complete(call)
        return self._mounts.list_unlisted()

    def _complete(self, call: Call) -> None:
        """Wait for *call* until mounted servers have listed their tools."""
        if self._mounts is not None:
            self._mounts.complete(call)

    def _bind_when_listed(
        self, bind: Any, arguments: Any, strict: bool = False, caller: Any = None
    ) -> Any:
        """Bind the *arguments* of a search as soon as mounted servers have listed their tools."""
        bound = bind(arguments, strict, caller)
        if caller is not None:
            self._complete(caller)
        return bound

    def _search(
        self,
        query: Annotated[str, meta_tools.ABOUT_QUERY],
        limit: Annotated[
            int, msgspec.Meta(ge=1, le=MAX_HITS), meta_tools.ABOUT_LIMIT
        ] = DEFAULT_HITS,
        schemas: Annotated[bool, meta_tools.ABOUT_SCHEMAS] = False,
    ) -> Any:
        from toolwire_dialects.search.found_tools import write_entries, write_stubs
        from toolwire_dialects.search.search_index import NoSearch

        searched = self._searched
        try:
            hits = searched.index.search(query, limit)
        except NoSearch as error:
            raise ToolError(f"{error}; serve the tools with --show all") from None
        if not hits:
            return meta_tools.describe_miss(list(searched.by_name))
        write = write_stubs if self._programs is None else self._programs.write_stubs
        if schemas:
            write = write_entries
        hints = [_hints_of_hit(hit) for hit in hits]
        text = write([hit.entry for hit in hits])
        return {"type": "text", "text": text, "_meta": {META_TOOLS: hints}}


def _find_names(tools: Sequence[Tool], *wanted: str) -> list[str]:
    """Return the names *wanted*, or others where a tool has them."""
    taken = {spelling for tool in tools for spelling in tool.entry.spellings}
    return [meta_tools.find_free_name(name, taken) for name in wanted]


class SearchDoor:
    """The tool called *name*: it lets calls through to the *searched* tools that they name, and
    fails itself if there is no such tool.
    """

    def __init__(
        self, name: str, options: Options, searched: _SearchedTools, *, is_strict: bool
    ) -> None:
        self.name = name
        self.tool = _LateFunction(self._fail).as_tool(name, options, CALL_SCHEMA)
        self._searched = searched
        self._is_strict = is_strict

    def explain_unknown(self, name: str) -> str:
        """Return the error of a call of *name*, which no tool has, with those that may be meant.

        For a worker thread: the first search makes the index, which takes a moment.
        """
        from toolwire_dialects.search.near_tools import write_near_tools

        from ..protocol.lookup import make_tool_error

        if not self._searched.by_name:  # mounted servers, none of which was needed so far
            return f"Unknown tool: {name[:200]}; search for it first"
        problem = make_tool_error(name, self._searched.by_name).message
        near = write_near_tools(name, self._searched.index)
        return f"{problem}\n\n{near}" if near else problem

    def _fail(
        self,
        name: Annotated[str, meta_tools.ABOUT_NAME],
        arguments: Annotated[dict[str, Any], meta_tools.ABOUT_ARGUMENTS] = {},  # noqa: B006
    ) -> str:
        if name == self.name:
            advice = "name a tool that the search has found"
            raise ToolError(f"{name} cannot be called by itself: {advice}")
        raise UpstreamError(INVALID_PARAMS, self.explain_unknown(name))  # as a call of that name

    def open(self, arguments: Any, catalog: CallableTools) -> dict[str, Any] | None:
        """Return the `name` and `arguments` of the call that is meant; `None` if *arguments* are
        not those of `call_tool`, or *catalog* has no such tool: a call of `call_tool` says so.
        """
        if type(arguments) is str:  # only if that is allowed
            arguments = _decode(arguments)
        if type(arguments) is not dict or not arguments.keys() <= {"name", "arguments"}:
            return None
        name, inner = arguments.get("name"), arguments.get("arguments")
        if type(name) is not str or name == self.name or not _may_have(catalog, name):
            return None
        kinds: tuple[type, ...] = (dict,) if self._is_strict else (dict, str)
        if inner is not None and type(inner) not in kinds:
            return None
        return {"name": name, "arguments": inner}


def _may_have(catalog: CallableTools, name: str) -> bool:
    """Return whether *catalog*, or a mounted server, may have a tool called *name*."""
    is_known = name in catalog.by_name or name in catalog.only_tasks
    return is_known or catalog.late is not None


def _decode(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def _hints_of_hit(hit: SearchableTool) -> dict[str, Any]:
    hints = hit.entry.get("annotations")
    named = {"name": hit.name}
    return {**named, "annotations": hints} if hints else named


def _group_names(tools: Iterable[Tool], servers: Sequence[str]) -> list[str]:
    """Return the names of toolkits and mounted servers."""
    names = [tool.entry.parts[0] for tool in tools if len(tool.entry.parts) > 1]
    return list(dict.fromkeys([*names, *servers]))
