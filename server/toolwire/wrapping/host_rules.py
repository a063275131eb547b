"""Rewrites the tools of another server to what a host, or the vendor of its model, takes; calls find the way back.

Strategy. What `toolwire list --lint` finds wrong is fixed here where that loses nothing that the host could use: a
schema may become wider, since the wrapped server checks all arguments itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.dialects.name_mapping import Names
from toolwire_schemas.json_schema.bounded_validator import CannotJudge, faults_of_schema
from toolwire_schemas.json_schema.portable_regex import problem
from toolwire_schemas.json_schema.subschemas import children, target
from toolwire_schemas.lint.audit import about_members
from toolwire_schemas.lint.portability import COMBINATORS, DIALECTS
from toolwire_schemas.lint.vendors import FORMATS_OF_GEMINI, OF_GEMINI
from toolwire_schemas.wire.codec import EncodingError, encode

from ..upstream.mounted_tool import MountedTool

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection, Sequence

    from toolwire_tools import Tool

Schema = dict[str, Any]

DIALECTS_OF = {
    **dict.fromkeys(("any", "gemini", "gemini-cli", "vertex"), "gemini"),
    **dict.fromkeys(("anthropic", "claude", "claude-code", "claude-desktop"), "anthropic"),
    **dict.fromkeys(("openai", "bedrock", "codex", "cursor", "vscode", "windsurf", "zed", "goose"), "openai"),
}
"""The dialect of tool names that each host or vendor takes; `any` is all of them."""

_MAX_DEPTH = 12
"""How deep references are written out for Gemini; what is deeper, or refers to itself, may be anything."""


def well_formed(entry: Any) -> Any:
    """Return an *entry* of `tools/list` without members that make clients refuse the whole list."""
    if not isinstance(entry, dict):
        return entry
    made = {member: value for member, value in entry.items() if value is not None}
    for where, *_ in list(about_members(made)):
        made.pop(where.partition(".")[0].partition("[")[0], None)
    schema = made.get("inputSchema")
    return {**made, "inputSchema": {"type": "object", **schema} if isinstance(schema, dict) else {"type": "object"}}


def mended(tools: Sequence[Tool], host: str, without: Collection[str], counts: Counter[str]) -> list[Tool]:
    """Return *tools* as *host*, one of `DIALECTS_OF`, takes them; *counts* gets the numbers of changed ones."""
    named = [tool.name for tool in tools if tool.kind == "tools"]
    theirs = {} if "names" in without else Names(named, DIALECTS_OF[host]).theirs
    made: list[Tool] = []
    counts["names"] = counts["schemas"] = 0
    for tool in tools:
        if isinstance(tool, MountedTool) and tool.kind == "tools":
            entry = tool.describe()
            accepted = entry if "schemas" in without else _accepted(entry, host)
            counts["schemas"] += accepted != entry
            counts["names"] += theirs.get(tool.name, tool.name) != tool.name
            made.append(HostTool(tool, {**accepted, "name": theirs.get(tool.name, tool.name)}, counts))
        else:
            made.append(tool)
    return made


class HostTool(MountedTool):
    """A mounted *tool* that describes itself by *entry*; *counts* gets the calls whose arguments were read again."""

    def __init__(self, tool: MountedTool, entry: dict[str, Any], counts: Counter[str]) -> None:
        vars(self).update(vars(tool))
        self.name = entry["name"]
        self._parts = (self.name,)
        self._description = entry
        self._counts = counts
        self._ours = Names(_properties(self._schema), "anthropic parameters").ours

    def _read(self, arguments: Any, strict: bool) -> Any:
        if type(arguments) is dict:
            arguments = {self._ours.get(name, name): value for name, value in arguments.items()}
        read = super()._read(arguments, strict)
        self._counts["arguments"] += read is not arguments
        return read


def _accepted(entry: dict[str, Any], host: str) -> dict[str, Any]:
    schema = _checked(entry["inputSchema"], {"type": "object"})  # what follows reads only valid ones
    made = {**entry, "inputSchema": _checked(_root(schema, host), {"type": "object"})}
    if "outputSchema" in made and _checked(made["outputSchema"], None) is None:
        del made["outputSchema"]
    return made


def _checked(schema: Schema, default: Any) -> Any:
    """Return *schema* if it is one that clients can read, else *default*."""
    try:
        encode(schema)
        return default if any(True for _ in faults_of_schema(schema)) else schema
    except (CannotJudge, EncodingError, RecursionError):
        return default


def _root(schema: Schema, host: str) -> Schema:
    try:
        made = _mended(schema, schema, host, 0)
    except RecursionError:
        return {"type": "object"}
    # Branches at the root become members that may be left out: which of them go together, the server says.
    branches = [branch for word in ("anyOf", "oneOf", "allOf") for branch in made.get(word, ())]
    members: Schema = {}
    for branch in reversed([*branches, made]):
        members |= _properties(branch) if isinstance(branch, dict) else {}
    made = {word: value for word, value in made.items() if word not in COMBINATORS}
    if not str(made.get("$schema", DIALECTS[0])).startswith(DIALECTS):
        del made["$schema"]
    theirs = Names(members, "anthropic parameters").theirs
    required = made.get("required")
    wanted = [theirs[name] for name in required if name in theirs] if isinstance(required, list) else []
    made |= {"required": wanted} if "required" in made else {}
    named = {theirs[name]: member for name, member in members.items()}
    return {**made, "type": "object", **({"properties": named} if named or "properties" in made else {})}


def _mended(schema: Any, root: Schema, host: str, depth: int) -> Any:
    if not isinstance(schema, dict):
        return {}  # `true`; `false` stays only where `children` leaves it
    made = dict(schema)
    if "$ref" in made:
        try:
            found = target(root, str(made["$ref"]))
        except LookupError:
            del made["$ref"]
        else:
            if host in _WITHOUT_REFERENCES:
                del made["$ref"]
                made = {**(found if isinstance(found, dict) and depth < _MAX_DEPTH else {}), **made}
                return _mended(made, root, host, depth + 1)
    if isinstance(made.get("properties"), dict):
        made["properties"] = {name: inner for name, inner in made["properties"].items() if inner is not False}
    made = children(made, lambda inner: _mended(inner, root, host, depth + 1))
    if isinstance(made.get("pattern"), str) and problem(made["pattern"]):
        del made["pattern"]
    if made.get("enum") == []:
        del made["enum"]
    if isinstance(kinds := made.get("type"), list) and "anyOf" not in made:
        del made["type"]
        made["anyOf"] = [{"type": kind} for kind in kinds]
    is_list = made.get("type") == "array" or {"type": "array"} in made.get("anyOf", ())
    if is_list and "items" not in made:
        made["items"] = {}
    return _for_gemini(made) if host in _WITHOUT_REFERENCES else made


_WITHOUT_REFERENCES = ("gemini", "gemini-cli", "vertex")


def _for_gemini(schema: Schema) -> Schema:
    made = {word: value for word, value in schema.items() if word in OF_GEMINI}
    if "const" in schema and "enum" not in made:
        made["enum"] = [schema["const"]]
    if "enum" in made and not all(isinstance(value, str) for value in made["enum"]):
        del made["enum"]
    if "oneOf" in schema and "anyOf" not in made:
        made["anyOf"] = schema["oneOf"]
    if made.get("format", "enum") not in FORMATS_OF_GEMINI:
        del made["format"]
    if isinstance(made.get("required"), list):
        made["required"] = [name for name in made["required"] if name in _properties(made)]
    return made


def _properties(schema: Schema) -> Schema:
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}
