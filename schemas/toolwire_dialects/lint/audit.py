"""Checks any server's `tools/list` for everything known to be refused by clients, hosts and models.

Strategy. The list is JSON that anybody may have written, so nothing is taken for granted: first the
members of each entry, then names and schemas by the rules of `lint.py` (clients) and `vendors.py`
(models), last the list as a whole. What one entry is refused for does not keep the others from
being looked at.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from toolwire_schemas.json_schema.subschemas import target, walk
from toolwire_schemas.portability import (
    ALL_CLIENTS,
    COMBINATORS,
    SOME_HOSTS,
    TYPESCRIPT,
    Finding,
    Found,
    about_schema,
)
from toolwire_schemas.wire import codec

from . import vendors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SEVERITIES = ("error", "warning", "note")

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
META_CONFIRM = "toolwire/confirm"
"""The member of a tool's `_meta` that says how it asks before each call: the template of the
question, or true.
"""
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def audit(entries: Sequence[Any]) -> list[Finding]:
    """Return what is wrong with the *entries* of a `tools/list`, errors first, each tool's in the
    order of the list.
    """
    found: list[Finding] = []
    size = 0
    for place, entry in enumerate(entries):
        name = shown_name(entry, place)
        try:
            size += _size(entry)
            found += [Finding(name, *finding) for finding in _about(entry)]
        except (RecursionError, codec.EncodingError):
            found.append(
                Finding(
                    name, "", "it is nested too deeply to be read", _SMALLER, "error", ALL_CLIENTS
                )
            )
    found += _about_all(entries, size)
    return sorted(found, key=lambda finding: _SEVERITIES.index(finding.severity))


def shown_name(entry: Any, place: int) -> str:
    """Return the name of the *entry* at *place* of a `tools/list` in findings: `#1` for the first,
    if it has none.
    """
    name = entry.get("name") if isinstance(entry, dict) else None
    return name if isinstance(name, str) and name else f"#{place + 1}"


def _about(entry: Any) -> Iterator[Found]:
    if not isinstance(entry, dict):
        yield "", "it is not a JSON object", "describe each tool by an object", "error", ALL_CLIENTS
        return
    name, description = entry.get("name"), entry.get("description", "")
    if not isinstance(name, str) or not name:
        yield "name", "it has none", "give the tool a name", "error", ALL_CLIENTS
    else:
        yield from vendors.about_name(name)
    yield from about_members(entry)
    if never_asks(entry):
        problem = (
            "it may delete or overwrite, and does not ask the user first; a host may run it without"
            " asking"
        )
        remedy = 'let it ask: tool_api(confirm="Really ...?")'
        yield (
            "annotations.destructiveHint",
            problem,
            remedy,
            "note",
            "hosts that approve calls by themselves",
        )
    if isinstance(description, str):
        yield from vendors.about_description(description)
    if "inputSchema" not in entry:
        remedy = 'use {"type": "object", "additionalProperties": false} if there are no parameters'
        yield "inputSchema", "it has none", remedy, "error", ALL_CLIENTS
    else:
        yield from _input(entry["inputSchema"])
    if isinstance(entry.get("outputSchema"), dict):
        yield from _schema(entry["outputSchema"], "outputSchema")
    if _size(entry) > _LARGE_TOOL:
        problem = f"its description takes {_size(entry):,} bytes, in every request to a model"
        yield (
            "",
            problem,
            "split the tool, or shorten descriptions and enums",
            "warning",
            "every model",
        )


def never_asks(entry: Any) -> bool:
    """Return whether *entry* says that it is destructive, and not that it asks the user before each
    call.
    """
    if not isinstance(entry, dict):
        return False
    annotations, meta = entry.get("annotations"), entry.get("_meta")
    is_destructive = isinstance(annotations, dict) and annotations.get("destructiveHint") is True
    asks = isinstance(meta, dict) and bool(meta.get(META_CONFIRM))
    return is_destructive and not asks


def about_members(entry: dict[str, Any]) -> Iterator[Found]:
    """Yield what is wrong with members of *entry* other than its name and input schema."""
    for member, (kind, what) in _MEMBERS.items():
        if member in entry and not isinstance(entry[member], kind):
            problem = f"it is {_shown(entry[member])} instead of {what}"
            yield member, problem, f"leave it out, or give {what}", "error", TYPESCRIPT
    annotations, icons = entry.get("annotations"), entry.get("icons")
    if isinstance(annotations, dict):
        for hint in _HINTS:
            if not isinstance(annotations.get(hint, True), bool):
                yield (
                    f"annotations.{hint}",
                    "it is not true or false",
                    "make it so",
                    "error",
                    TYPESCRIPT,
                )
        if not isinstance(annotations.get("title", ""), str):
            yield (
                "annotations.title",
                "it is not a string",
                "make it a string, or leave it out",
                "error",
                TYPESCRIPT,
            )
    for place, icon in enumerate(icons if isinstance(icons, list) else ()):
        if not isinstance(icon, dict) or not isinstance(icon.get("src"), str):
            yield (
                f"icons[{place}]",
                "it has no src",
                "give its https: or data: address",
                "error",
                ALL_CLIENTS,
            )
        elif not isinstance(icon.get("sizes", []), list):
            yield (
                f"icons[{place}].sizes",
                "it is not a list",
                'write ["48x48"]',
                "error",
                ALL_CLIENTS,
            )


def _input(schema: Any) -> Iterator[Found]:
    of_vendors = {f"inputSchema.{word}" for word in COMBINATORS}
    yield from (
        finding for finding in _schema(schema, "inputSchema") if finding[0] not in of_vendors
    )
    if isinstance(schema, dict):
        yield from vendors.about_input(schema)


def _schema(schema: Any, where: str) -> Iterator[Found]:
    yield from about_schema(schema, where)
    if not isinstance(schema, dict):
        return
    yield from _meta(schema, where)
    local = [
        (path, inner["$ref"])
        for path, inner in walk(schema, where)
        if isinstance(inner.get("$ref"), str)
    ]
    for path, reference in local:
        try:
            if reference.startswith("#/"):  # anchors are rare, and not checked
                target(schema, reference)
        except LookupError:
            problem = f"{reference} refers to nothing; some clients then drop all tools"
            yield path, problem, "put the definition under $defs", "error", ALL_CLIENTS
    if local:
        problem = f"some hosts do not follow references such as {local[0][1]}"
        yield (
            where,
            problem,
            "write definitions out where they are used, if they do not recur",
            "note",
            SOME_HOSTS,
        )


def _meta(schema: dict[str, Any], where: str) -> Iterator[Found]:
    from toolwire_schemas.json_schema.bounded_validator import CannotJudge, faults_of_schema

    try:
        faults = faults_of_schema(schema)
    except CannotJudge as error:
        yield where, f"it is too expensive to check: {error}", _SMALLER, "error", ALL_CLIENTS
        return
    for fault in faults:
        path = "".join(
            f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault.absolute_path
        )
        problem = f"it is not a valid JSON Schema: {_shortened(fault.message)}"
        yield where + path, problem, "see the reference of this keyword", "error", TYPESCRIPT


def _about_all(entries: Sequence[Any], size: int) -> Iterator[Finding]:
    names = [
        entry["name"]
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("name"), str)
    ]
    for name, count in Counter(names).items():
        if count > 1:
            # "tools: Tool names must be unique", anthropics/claude-code 10687
            problem = f"{count} tools have this name, for which the API refuses the whole request"
            yield Finding(
                name, "name", problem, "rename all but one", "error", "Anthropic, all MCP clients"
            )
    alike: dict[str, str] = {}
    for name in dict.fromkeys(names):
        plain = "".join(
            letter if letter.isascii() and letter.isalnum() else "_" for letter in name
        ).lower()
        if (other := alike.setdefault(plain, name)) != name:
            problem = (
                f"some hosts cannot tell it from {other!r}: they replace characters, or ignore case"
            )
            yield Finding(name, "name", problem, "rename one of them", "warning", SOME_HOSTS)
    if len(entries) > vendors.MAX_TOOLS:
        problem = (
            f"{len(entries)} tools are more than the {vendors.MAX_TOOLS} that a request may have"
        )
        remedy = "serve fewer: --include, --exclude, several servers"
        yield Finding("", "", problem, remedy, "warning", "OpenAI, VS Code")
    if size > _LARGE_LIST:
        problem = f"the descriptions take {size:,} bytes together, in every request to a model"
        yield Finding(
            "", "", problem, "serve fewer tools, or shorten descriptions", "warning", "every model"
        )


def _size(entry: Any) -> int:
    return len(codec.encode(entry))


def _shown(value: Any) -> str:
    return _shortened(codec.encode(value).decode())


def _shortened(text: str) -> str:
    return text if len(text) <= 100 else text[:99] + "…"
