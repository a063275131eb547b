"""Rewrites the tools of another server to what a host, or the vendor of its model, takes; calls
find the way back.

Strategy. What `toolwire list --lint` finds wrong is fixed here where that loses nothing that the
host could use: a schema may become wider, since the wrapped server checks all arguments itself.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from toolwire_dialects.lint.audit import check_members
from toolwire_dialects.name_mapping import Names
from toolwire_tools import Tool

from ..protocol.connection_handler import ConnectionHandler
from . import CLAUDE_CODE, DIALECTS_OF, get_object
from .host_results import drop_repeated, shows_both
from .host_schemas import is_readable, rewrite_arguments

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

RESULT_SIZE_KEY = "anthropic/maxResultSizeChars"
MAX_RESULT_CHARS = 500_000
"""The largest value of that key, as Claude Code's documentation of MCP says
(code.claude.com/docs/en/mcp).
"""


def repair_entry(entry: Any) -> Any:
    """Return an *entry* of `tools/list` without members that make clients refuse the whole list."""
    if not isinstance(entry, dict):
        return entry
    repaired = {member: value for member, value in entry.items() if value is not None}
    for problem in list(check_members(repaired)):
        place, _, _ = problem.where.partition(".")
        member, _, _ = place.partition("[")
        repaired.pop(member, None)
    repaired["inputSchema"] = {"type": "object", **get_object(repaired, "inputSchema")}
    return repaired


def fix_tools(
    tools: Sequence[Tool], host: str, without: Collection[str], counts: Counter[str]
) -> Iterator[Tool]:
    """Yield *tools* as *host*, one of `DIALECTS_OF`, takes them; *counts* gets the numbers of
    changed ones.
    """
    names = {} if "names" in without else _choose_names(host, tools)
    counts["names"] = counts["schemas"] = 0
    taken: set[str] = set()
    for tool in tools:
        if tool.kind != "tools":
            yield tool
            continue
        entry: Any = tool.describe()
        if "schemas" not in without:
            listed = entry
            entry = _fix_schemas(listed, host)
            counts["schemas"] += entry != listed
        name = names.get(tool.name, tool.name)
        if isinstance(entry, dict) and entry.get("name") not in (None, name):
            counts["names"] += 1
            entry = {**entry, "name": name}
        while name in taken:  # of two with one name, calls get the first
            name += "\0"
        taken.add(name)
        yield _adapt_to_host(tool, name, entry, host, counts)


def _fix_schemas(entry: dict[str, Any], host: str) -> dict[str, Any]:
    """Return an *entry* whose schemas *host* takes."""
    fixed = {**entry, "inputSchema": rewrite_arguments(entry["inputSchema"], host)}
    if "outputSchema" in entry and not is_readable(entry["outputSchema"]):
        del fixed["outputSchema"]
    return fixed


def _choose_names(host: str, tools: Sequence[Tool]) -> dict[str, str]:
    """Return the names that *host* takes, by those of *tools*."""
    own = [tool.name for tool in tools if tool.kind == "tools"]
    return Names(own, DIALECTS_OF[host]).theirs


def _adapt_to_host(tool: Tool, name: str, entry: Any, host: str, counts: Counter[str]) -> Tool:
    """As `adapt`, with the results and the counts that *host* needs."""
    is_single = shows_both(host)
    shown = entry
    if is_single and isinstance(entry, dict):
        shown = {member: value for member, value in entry.items() if member != "outputSchema"}
    if isinstance(tool.handler, ConnectionHandler) and tool.handler.is_mounted:
        return adapt(count_readings(tool, counts), name, shown, is_single=is_single)
    if is_single:  # our own tools need not make it
        tool = tool.without_structured()
    return adapt(tool, name, shown)


def shape_own(tools: Sequence[Tool], host: str) -> list[Tool]:
    """Return a server's *tools*, mounted ones included, as *host* takes them; others than tools
    stay as they are.
    """
    shaped = list(fix_tools(tools, host, (), Counter()))
    if host not in CLAUDE_CODE:
        return shaped
    return [_declare_size(tool) for tool in shaped]


def _declare_size(tool: Tool) -> Tool:
    """Return *tool* with its own limit of results in its entry, so that Claude Code shows as much
    as the author allows.

    Without the entry, Claude Code writes texts of more than 25,000 tokens to a file, and shows the
    beginning.
    """
    max_bytes = tool.entry.options.max_result_bytes
    if tool.kind != "tools" or max_bytes is None:
        return tool
    listed = tool.describe()
    size = min(max_bytes, MAX_RESULT_CHARS)
    meta = {RESULT_SIZE_KEY: size, **listed.get("_meta", {})}
    entry = replace(tool.entry, shown={**listed, "_meta": meta})
    return Tool(entry, tool.handler)


def offer_tasks(tool: Tool) -> Tool:
    """Return *tool* so that a host of MCP 2025-11-25 may ask this server for tasks of its calls."""
    listed: Any = tool.describe()
    if tool.kind != "tools" or not isinstance(listed, dict):
        return tool
    execution = {**get_object(listed, "execution"), "taskSupport": "optional"}
    entry = replace(
        tool.entry,
        options=replace(tool.entry.options, task="auto"),
        shown={**listed, "execution": execution},
    )
    return Tool(entry, tool.handler)


def adapt(tool: Tool, name: str, shown: Any, *, is_single: bool = False) -> Tool:
    """Return *tool*, called *name* in the catalog, whose list shows *shown*.

    Its arguments have the names that the host gives them. If it *is_single*, results have no
    structured content that their text repeats.
    """
    parameters = get_object(tool.entry.input_schema, "properties")
    names = Names(parameters, "anthropic parameters").ours
    entry = replace(tool.entry, name=name, shown=shown)
    if name != tool.name:
        entry = replace(entry, parts=(name,))
    handler = tool.tool_handler.with_arguments(partial(_rename_arguments, names))
    if is_single:
        handler = handler.with_results(drop_repeated)
    return Tool(entry, handler)


def _rename_arguments(names: dict[str, str], arguments: Any) -> Any:
    """Return *arguments* with the tool's own *names* in place of the host's."""
    if type(arguments) is not dict:
        return arguments
    return {names.get(name, name): value for name, value in arguments.items()}


def count_readings(tool: Tool, counts: Counter[str]) -> Tool:
    """Return a mounted *tool* that counts the calls whose arguments were read again."""
    handler = tool.handler
    assert isinstance(handler, ConnectionHandler)
    read = handler.read

    def read_and_count(arguments: Any, strict: bool) -> Any:
        sent = read(arguments, strict)
        counts["arguments"] += sent is not arguments
        return sent

    return Tool(tool.entry, replace(handler, read=read_and_count))
