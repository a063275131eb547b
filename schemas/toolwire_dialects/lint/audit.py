"""Checks any server's `tools/list` for everything known to be refused by clients, hosts and models.

Strategy. The list is JSON that anybody may have written, so nothing is taken for granted: first the
members of each entry, then names and schemas by the rules of `lint.py` (clients) and `vendors.py`
(models), last the list as a whole. What one entry is refused for does not keep the others from
being looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from toolwire_schemas.json_schema.graph import SchemaGraph
from toolwire_schemas.json_schema.subschemas import walk
from toolwire_schemas.meta_tools import META_CONFIRM
from toolwire_schemas.portability import (
    ALL_CLIENTS,
    COMBINATORS,
    SEVERITIES,
    SOME_HOSTS,
    TYPESCRIPT,
    Finding,
    Problem,
    check_schema,
)
from toolwire_schemas.wire import codec

from . import vendors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# The cost of a tool in every request to a model, in characters of JSON; four of them are about one
# token. No client refuses anything here: these are the points from which it is worth a thought.
_LARGE_TOOL = 10_000
_LARGE_LIST = 100_000

# `null` for any of these, or a value of another type, costs clients on the TypeScript SDK the whole
# list.
_MEMBERS: dict[str, tuple[type, str]] = {
    "title": (str, "text"),
    "description": (str, "text"),
    "annotations": (dict, "an object"),
    "outputSchema": (dict, "an object"),
    "icons": (list, "a list"),
    "execution": (dict, "an object"),
    "_meta": (dict, "an object"),
}
_SMALLER = "define recurring parts once, under $defs"
"""The member of a tool's `_meta` that says how it asks before each call: the template of the
question, or true.
"""
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def audit(entries: Sequence[Any]) -> list[Finding]:
    """Return what is wrong with the *entries* of a `tools/list`, errors first, each tool's in the
    order of the list.
    """
    findings: list[Finding] = []
    size = 0
    for place, entry in enumerate(entries):
        name = name_entry(entry, place)
        try:
            size += _measure_entry(entry)
            findings += [problem.make_finding(name) for problem in _check_entry(entry)]
        except (RecursionError, codec.EncodingError):
            text = "it is nested too deeply to be read"
            findings.append(Finding(name, "", text, _SMALLER, "error", ALL_CLIENTS))
    findings += _check_list(entries, size)
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def name_entry(entry: Any, place: int) -> str:
    """Return the name of the *entry* at *place* of a `tools/list` in findings: `#1` for the first,
    if it has none.
    """
    name = None
    if isinstance(entry, dict):
        name = entry.get("name")
    return name if isinstance(name, str) and name else f"#{place + 1}"


def _check_entry(entry: Any) -> Iterator[Problem]:
    if not isinstance(entry, dict):
        remedy = "describe each tool by an object"
        yield Problem("", "it is not a JSON object", remedy, "error", ALL_CLIENTS)
        return
    name, description = entry.get("name"), entry.get("description", "")
    if not isinstance(name, str) or not name:
        yield Problem("name", "it has none", "give the tool a name", "error", ALL_CLIENTS)
    else:
        yield from vendors.check_name(name)
    yield from check_members(entry)
    if is_destructive_without_asking(entry):
        text = (
            "it may delete or overwrite, and does not ask the user first; a host may run it without"
            " asking"
        )
        remedy = 'let it ask: tool_api(confirm="Really ...?")'
        concerns = "hosts that approve calls by themselves"
        yield Problem("annotations.destructiveHint", text, remedy, "note", concerns)
    if isinstance(description, str):
        yield from vendors.check_description(description)
    yield from _check_schemas(entry)
    if _measure_entry(entry) > _LARGE_TOOL:
        text = f"its description takes {_measure_entry(entry):,} bytes, in every request to a model"
        remedy = "split the tool, or shorten descriptions and enums"
        yield Problem("", text, remedy, "warning", "every model")


def is_destructive_without_asking(entry: Any) -> bool:
    """Return whether *entry* says that it is destructive, and not that it asks the user before each
    call.
    """
    if not isinstance(entry, dict):
        return False
    annotations, meta = entry.get("annotations"), entry.get("_meta")
    is_destructive = isinstance(annotations, dict) and annotations.get("destructiveHint") is True
    asks = isinstance(meta, dict) and bool(meta.get(META_CONFIRM))
    return is_destructive and not asks


def check_members(entry: dict[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with members of *entry* other than its name and input schema."""
    for member, (kind, what) in _MEMBERS.items():
        if member in entry and not isinstance(entry[member], kind):
            text = f"it is {_format_value(entry[member])} instead of {what}"
            yield Problem(member, text, f"leave it out, or give {what}", "error", TYPESCRIPT)
    annotations, icons = entry.get("annotations"), entry.get("icons")
    if isinstance(annotations, dict):
        yield from _check_annotations(annotations)
    if isinstance(icons, list):
        yield from _check_icons(icons)


def _check_annotations(annotations: dict[str, Any]) -> Iterator[Problem]:
    for hint in _HINTS:
        if not isinstance(annotations.get(hint, True), bool):
            text = "it is not true or false"
            yield Problem(f"annotations.{hint}", text, "make it so", "error", TYPESCRIPT)
    if not isinstance(annotations.get("title", ""), str):
        remedy = "make it a string, or leave it out"
        yield Problem("annotations.title", "it is not a string", remedy, "error", TYPESCRIPT)


def _check_icons(icons: list[Any]) -> Iterator[Problem]:
    for place, icon in enumerate(icons):
        where = f"icons[{place}]"
        if not isinstance(icon, dict) or not isinstance(icon.get("src"), str):
            remedy = "give its https: or data: address"
            yield Problem(where, "it has no src", remedy, "error", ALL_CLIENTS)
        elif not isinstance(icon.get("sizes", []), list):
            remedy = 'write ["48x48"]'
            yield Problem(f"{where}.sizes", "it is not a list", remedy, "error", ALL_CLIENTS)


def _check_schemas(entry: dict[str, Any]) -> Iterator[Problem]:
    if "inputSchema" in entry:
        yield from _check_input(entry["inputSchema"])
    else:
        remedy = 'use {"type": "object", "additionalProperties": false} if there are no parameters'
        yield Problem("inputSchema", "it has none", remedy, "error", ALL_CLIENTS)
    if isinstance(entry.get("outputSchema"), dict):
        yield from _check_schema(entry["outputSchema"], "outputSchema")


def _check_input(schema: Any) -> Iterator[Problem]:
    of_vendors = {f"inputSchema.{word}" for word in COMBINATORS}
    for problem in _check_schema(schema, "inputSchema"):
        if problem.where not in of_vendors:
            yield problem
    if isinstance(schema, dict):
        yield from vendors.check_input(schema)


def _check_schema(schema: Any, where: str) -> Iterator[Problem]:
    yield from check_schema(schema, where)
    if isinstance(schema, dict):
        yield from _check_validity(schema, where)
        yield from _check_references(schema, where)


def _check_references(schema: dict[str, Any], where: str) -> Iterator[Problem]:
    graph = SchemaGraph(schema)
    pointers = []
    for path, inner in walk(schema, where):
        node = graph.get_node(inner)
        if not node.pointer:
            continue
        pointers.append(node.pointer)
        if node.pointer.startswith("#/") and node.reference is None:  # anchors are rare
            text = f"{node.pointer} refers to nothing; some clients then drop all tools"
            yield Problem(path, text, "put the definition under $defs", "error", ALL_CLIENTS)
    if pointers:
        text = f"some hosts do not follow references such as {pointers[0]}"
        remedy = "write definitions out where they are used, if they do not recur"
        yield Problem(where, text, remedy, "note", SOME_HOSTS)


def _check_validity(schema: dict[str, Any], where: str) -> Iterator[Problem]:
    from toolwire_schemas.json_schema.bounded_validator import CannotJudge, find_faults_of_schema

    try:
        faults = find_faults_of_schema(schema)
    except CannotJudge as error:
        text = f"it is too expensive to check: {error}"
        yield Problem(where, text, _SMALLER, "error", ALL_CLIENTS)
        return
    for fault in faults:
        path = where
        for part in fault.absolute_path:
            path += f"[{part}]" if isinstance(part, int) else f".{part}"
        text = f"it is not a valid JSON Schema: {_shorten(fault.message)}"
        yield Problem(path, text, "see the reference of this keyword", "error", TYPESCRIPT)


def _check_list(entries: Sequence[Any], size: int) -> Iterator[Finding]:
    names = []
    for entry in entries:
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            names.append(entry["name"])
    for name, count in Counter(names).items():
        if count > 1:
            # "tools: Tool names must be unique", anthropics/claude-code 10687
            text = f"{count} tools have this name, for which the API refuses the whole request"
            concerns = "Anthropic, all MCP clients"
            yield Finding(name, "name", text, "rename all but one", "error", concerns)
    yield from _check_similar_names(dict.fromkeys(names))
    if len(entries) > vendors.MAX_TOOLS:
        text = f"{len(entries)} tools are more than the {vendors.MAX_TOOLS} that a request may have"
        remedy = "serve fewer: --include, --exclude, several servers"
        yield Finding("", "", text, remedy, "warning", "OpenAI, VS Code")
    if size > _LARGE_LIST:
        text = f"the descriptions take {size:,} bytes together, in every request to a model"
        remedy = "serve fewer tools, or shorten descriptions"
        yield Finding("", "", text, remedy, "warning", "every model")


def _check_similar_names(names: Iterable[str]) -> Iterator[Finding]:
    by_plain_name: dict[str, str] = {}
    for name in names:
        other = by_plain_name.setdefault(_simplify_name(name), name)
        if other != name:
            text = (
                f"some hosts cannot tell it from {other!r}: they replace characters, or ignore case"
            )
            yield Finding(name, "name", text, "rename one of them", "warning", SOME_HOSTS)


def _simplify_name(name: str) -> str:
    return re.sub("[^a-zA-Z0-9]", "_", name).lower()


def _measure_entry(entry: Any) -> int:
    return len(codec.encode(entry))


def _format_value(value: Any) -> str:
    return _shorten(codec.encode(value).decode())


def _shorten(text: str) -> str:
    if len(text) <= 100:
        return text
    return text[:99] + "…"
