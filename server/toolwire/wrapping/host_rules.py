"""Rewrites the tools of another server to what a host, or the vendor of its model, takes; calls
find the way back.

Strategy. What `toolwire list --lint` finds wrong is fixed here where that loses nothing that the
host could use: a schema may become wider, since the wrapped server checks all arguments itself.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from toolwire_dialects import anthropic
from toolwire_dialects.lint.audit import about_members
from toolwire_dialects.lint.vendors import FORMATS_OF_GEMINI, OF_GEMINI
from toolwire_dialects.name_mapping import Names
from toolwire_schemas.json_schema.bounded_validator import CannotJudge, faults_of_schema
from toolwire_schemas.json_schema.portable_regex import problem
from toolwire_schemas.json_schema.subschemas import children, target
from toolwire_schemas.portability import COMBINATORS, DIALECTS
from toolwire_schemas.wire.codec import EncodingError, encode
from toolwire_tools import Tool

from ..mounting.mounted_tool import MountedTool
from . import CLAUDE_CODE, DIALECTS_OF, GEMINI, object_in
from .host_results import is_repeated, shows_both

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from toolwire_tools import Caller

Schema = dict[str, Any]

_MAX_DEPTH, _MAX_REFERENCES = 5, 1000
"""How deep, and how many, references are written out for Gemini; what others refer to may be
anything.
"""


RESULT_SIZE_KEY = "anthropic/maxResultSizeChars"
MAX_RESULT_CHARS = 500_000
"""The largest value of that key, as Claude Code's documentation of MCP says
(code.claude.com/docs/en/mcp).
"""


def well_formed(entry: Any) -> Any:
    """Return an *entry* of `tools/list` without members that make clients refuse the whole list."""
    if not isinstance(entry, dict):
        return entry
    made = {member: value for member, value in entry.items() if value is not None}
    for where, *_ in list(about_members(made)):
        made.pop(where.partition(".")[0].partition("[")[0], None)
    schema = made.get("inputSchema")
    return {
        **made,
        "inputSchema": {"type": "object", **schema}
        if isinstance(schema, dict)
        else {"type": "object"},
    }


def fixed(
    tools: Sequence[Tool], host: str, without: Collection[str], counts: Counter[str]
) -> Iterator[Tool]:
    """Yield *tools* as *host*, one of `DIALECTS_OF`, takes them; *counts* gets the numbers of
    changed ones.
    """
    named = [tool.name for tool in tools if tool.kind == "tools"]
    theirs = {} if "names" in without else Names(named, DIALECTS_OF[host]).theirs
    counts["names"] = counts["schemas"] = 0
    taken: set[str] = set()
    for tool in tools:
        if tool.kind != "tools":
            yield tool
            continue
        given: Any = tool.describe()
        entry = given if "schemas" in without else _accepted(given, host)
        counts["schemas"] += entry != given
        name = theirs.get(tool.name, tool.name)
        if isinstance(entry, dict) and entry.get("name") not in (None, name):
            counts["names"] += 1
            entry = {**entry, "name": name}
        while name in taken:  # of two with one name, calls get the first
            name += "\0"
        taken.add(name)
        is_single = shows_both(host)
        if is_single and isinstance(entry, dict):
            entry = {member: value for member, value in entry.items() if member != "outputSchema"}
        if isinstance(tool, MountedTool):
            yield HostTool(tool, name, entry, counts, is_single=is_single)
        else:
            own = tool.without_structured() if is_single else tool
            yield OwnHostTool(own, name, entry)


def shape_own(tools: Sequence[Tool], host: str) -> list[Tool]:
    """Return a server's *tools*, mounted ones included, as *host* takes them; others than tools
    stay as they are.
    """
    shaped = list(fixed(tools, host, (), Counter()))
    if host not in CLAUDE_CODE:
        return shaped
    return [_declare_size(tool) for tool in shaped]


def _declare_size(tool: Tool) -> Tool:
    """Return *tool* with its own limit of results in its entry, so that Claude Code shows as much
    as the author allows.

    Without the entry, Claude Code writes texts of more than 25,000 tokens to a file, and shows the
    beginning.
    """
    if tool.kind != "tools" or tool.max_result_bytes is None or not isinstance(tool, OwnHostTool):
        return tool
    entry = tool.describe()
    size = min(tool.max_result_bytes, MAX_RESULT_CHARS)
    meta = {RESULT_SIZE_KEY: size, **entry.get("_meta", {})}
    tool._description = {**entry, "_meta": meta}
    return tool


class OwnHostTool(Tool):
    """A tool of this server called *name* in the catalog, whose entry in the list is *entry*."""

    def __init__(self, tool: Tool, name: str, entry: dict[str, Any]) -> None:
        self._become(tool)
        self._tool = tool
        if name != tool.name:
            self.name = name
            self._parts = (name,)
        self._description = entry
        parameters = object_in(tool.describe().get("inputSchema"), "properties")
        self._ours = Names(parameters, "anthropic parameters").ours

    def call(
        self, arguments: Any, caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """As `Tool.call`."""
        return self._tool.call(self._read(arguments), caller, strict_arguments)

    async def call_async(
        self, arguments: Any, caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """As `Tool.call_async`."""
        return await self._tool.call_async(self._read(arguments), caller, strict_arguments)

    def check(self, arguments: Any) -> None:
        """As `Tool.check`."""
        self._tool.check(self._read(arguments))

    def _read(self, arguments: Any) -> Any:
        if type(arguments) is not dict:
            return arguments
        return {self._ours.get(name, name): value for name, value in arguments.items()}


class HostTool(MountedTool):
    """A mounted *tool* called *name* in the catalog, whose entry in the list is *entry*.

    *counts* gets the calls whose arguments were read again. If it *is_single*, results have no
    structured content that their text repeats.
    """

    def __init__(
        self,
        tool: MountedTool,
        name: str,
        entry: Any,
        counts: Counter[str],
        *,
        is_single: bool = False,
    ) -> None:
        vars(self).update(vars(tool))
        self.name, self._parts, self._description, self._counts = name, (name,), entry, counts
        self._ours = Names(object_in(self._schema, "properties"), "anthropic parameters").ours

        self._is_single = is_single

    def describe(self) -> Any:
        """Return the entry."""
        return self._description

    def call(
        self, arguments: Any, caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """As `MountedTool.call`."""
        result = super().call(arguments, caller, strict_arguments)
        if self._is_single and is_repeated(result):
            del result["structuredContent"]
        return result

    def _read(self, arguments: Any, strict: bool) -> Any:
        if type(arguments) is dict:
            arguments = {self._ours.get(name, name): value for name, value in arguments.items()}
        read = super()._read(arguments, strict)
        self._counts["arguments"] += read is not arguments
        return read


def _accepted(entry: dict[str, Any], host: str) -> dict[str, Any]:
    schema = _checked(
        entry["inputSchema"], {"type": "object"}
    )  # what follows reads only valid ones
    made = {**entry, "inputSchema": _checked(_root(schema, host), {"type": "object"})}
    if _checked(made.get("outputSchema", True), None) is None:
        del made["outputSchema"]
    return made


def _checked(schema: Any, default: Any) -> Any:
    """Return *schema* if it is one that clients can read, else *default*."""
    try:
        encode(schema)
        return default if any(True for _ in faults_of_schema(schema)) else schema
    except (CannotJudge, EncodingError, RecursionError):
        return default


def _root(schema: Schema, host: str) -> Schema:
    try:
        made = _Rewriter(schema, host).rewritten(schema)
    except RecursionError:
        return {"type": "object"}
    # Branches at the root become members that may be left out: which of them go together, the
    # server says.
    branches = [
        branch for word in ("allOf", "oneOf", "anyOf") for branch in reversed(made.get(word, ()))
    ]
    members: Schema = {}
    for branch in [*branches, made]:
        members |= branch.get("properties", {})
    made = {word: value for word, value in made.items() if word not in COMBINATORS}
    if not str(made.get("$schema", DIALECTS[0])).startswith(DIALECTS):
        del made["$schema"]
    made |= {"type": "object", "properties": members} if members else {"type": "object"}
    accepted: Schema = anthropic.from_entry({"inputSchema": made})["input_schema"]
    return accepted


class _Rewriter:
    """Rewrites the schemas within *root*, a valid one, for *host*."""

    def __init__(self, root: Schema, host: str) -> None:
        self._root = root
        self._is_gemini = host in GEMINI
        self._left = _MAX_REFERENCES

    def rewritten(self, schema: Any, depth: int = 0) -> Schema:
        """Return *schema*, *depth* references below the root, as the host takes it."""
        if not isinstance(schema, dict):
            return {}  # `true`; `false` stays only where `children` leaves it
        made = dict(schema)
        if "$ref" in made and (
            (found := self._referenced(str(made["$ref"]))) is None or self._is_gemini
        ):
            del made["$ref"]
            self._left -= 1
            is_kept = found is not None and depth < _MAX_DEPTH and self._left > 0
            return self.rewritten({**found, **made} if is_kept else made, depth + 1)
        if "properties" in made:
            made["properties"] = {
                name: inner for name, inner in made["properties"].items() if inner is not False
            }
        made = children(made, lambda inner: self.rewritten(inner, depth))
        if problem(made.get("pattern", "")):
            del made["pattern"]
        if made.get("enum") == []:
            del made["enum"]
        if isinstance(kinds := made.get("type"), list) and "anyOf" not in made:
            del made["type"]
            made["anyOf"] = [{"type": kind} for kind in kinds]
        if "items" not in made and (
            made.get("type") == "array" or {"type": "array"} in made.get("anyOf", ())
        ):
            made["items"] = {}
        return _for_gemini(made) if self._is_gemini else made

    def _referenced(self, reference: str) -> Any:
        try:
            found = _checked(target(self._root, reference), None)
        except LookupError:
            return None
        return found if isinstance(found, dict) else None


def _for_gemini(schema: Schema) -> Schema:
    made = {word: value for word, value in schema.items() if word in OF_GEMINI}
    if "const" in schema:
        made.setdefault("enum", [schema["const"]])
    if "oneOf" in schema:
        made.setdefault("anyOf", schema["oneOf"])
    if not all(isinstance(value, str) for value in made.get("enum", ())):
        del made["enum"]
    if made.get("format", "enum") not in FORMATS_OF_GEMINI:
        del made["format"]
    if "required" in made:
        made["required"] = [name for name in made["required"] if name in made.get("properties", {})]
    return made
