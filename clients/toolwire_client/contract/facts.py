"""What is this server? What it speaks and what it has, found out before anything is judged."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.codes import LATEST_LEGACY, MODERN_VERSIONS

from . import arguments
from .conversation import messages
from .sessions import INITIALIZED, completed, initialize, is_modern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from toolwire_schemas.cases import Framing

    from .talk import Talk

    Start = Callable[[Framing], Talk]

_MODERN = MODERN_VERSIONS[-1]
_MAX_PAGES = 1000
_MAX_TRIED = 24
_TRY_SECONDS = 3.0
_SLOW_SECONDS = 0.25
"""From here on a call takes long enough for something to happen meanwhile."""


class Facts(msgspec.Struct, frozen=True):
    """What is known of a server. *values* are what cases may put into messages; *lacks* says why some are missing."""

    revisions: dict[str, str]
    """The newest revision of each era (`legacy`, `modern`) that the server speaks."""
    framings: list[Framing]
    capabilities: dict[str, Any]
    tools: list[Any]
    values: dict[str, Any]
    lacks: dict[str, str]
    name: str = ""
    trouble: str = ""
    """Why nothing more is known: the server cannot be talked to at all."""


class Settings(msgspec.Struct, frozen=True):
    """How a server is asked. *calls* are arguments for tools that may be called whatever they say of themselves."""

    start_seconds: float = 20.0
    calls: Mapping[str, dict[str, Any]] = {}
    any_tool: bool = False
    eras: Sequence[str] = ("legacy", "modern")
    framings: Sequence[Framing] = ("lines", "headers")


def find_out(start: Start, settings: Settings) -> Facts:
    """Ask the server that *start* starts what it is."""
    first = settings.framings[0]
    patience = settings.start_seconds
    revisions: dict[str, str] = {}
    opening: dict[str, Any] = {}
    trouble = ""
    for era in settings.eras:
        began = time.monotonic()
        revision, result, problem = _open(start, first, era, patience)
        if revision:
            revisions[era] = revision
            opening = result
            patience = max(3.0, 3 * (time.monotonic() - began))
        trouble = trouble or problem
    if not revisions:
        return Facts({}, [], {}, [], {}, {}, trouble=trouble or "it answers neither initialize nor server/discover")
    newest = revisions.get("modern") or revisions["legacy"]
    framings = [first] + [
        other
        for other in settings.framings[1:]
        if _open(start, other, "modern" if is_modern(newest) else "legacy", patience)[0]
    ]
    capabilities = opening.get("capabilities")
    with start(first) as talk:
        tools, tried = _try(talk, newest, settings, patience)
    tried["legacy-only"] = "modern" not in revisions or "it speaks 2026-07-28, so nobody falls back"
    return Facts(
        revisions,
        framings,
        capabilities if isinstance(capabilities, dict) else {},
        tools,
        {name: value for name, value in tried.items() if not isinstance(value, str)},
        {name: value for name, value in tried.items() if isinstance(value, str)},
        name=_name(opening),
    )


def _name(opening: dict[str, Any]) -> str:
    told = opening.get("serverInfo") or opening.get("_meta", {}).get("io.modelcontextprotocol/serverInfo")
    return f"{told.get('name')} {told.get('version')}" if isinstance(told, dict) else ""


def _open(start: Start, framing: Framing, era: str, patience: float) -> tuple[str, dict[str, Any], str]:
    """The revision of this *era* that the server speaks and how it introduces itself, or no revision and a problem."""
    with start(framing) as talk:
        if era == "legacy":
            answer = talk.request(initialize("facts", LATEST_LEGACY), patience)
            result = (answer or {}).get("result")
            version = result.get("protocolVersion") if isinstance(result, dict) else None
        else:
            answer = talk.request(completed({"id": "facts", "method": "server/discover"}, _MODERN), patience)
            result = (answer or {}).get("result")
            offered = result.get("supportedVersions") if isinstance(result, dict) else None
            version = _MODERN if isinstance(offered, list) and _MODERN in offered else None
        if isinstance(version, str) and isinstance(result, dict):
            return version, result, ""
        return "", {}, _trouble(talk)


def _trouble(talk: Talk) -> str:
    ended, flooded = talk.conversation.ended, talk.conversation.flooded
    if flooded:
        return flooded
    if ended:
        return f"it {ended}"
    return ""


def open_session(talk: Talk, revision: str, patience: float) -> str:
    """Do what comes before everything else in this *revision*. Return what stands against it, empty if nothing."""
    if is_modern(revision):
        return ""
    answer = talk.request(initialize("open", revision), patience)
    if answer is None:
        return f"initialize was not answered: {_trouble(talk) or f'nothing came in {patience:g} s'}"
    result = answer.get("result")
    if not isinstance(result, dict):
        return f"initialize was answered with {answer.get('error')}"
    talk.send(INITIALIZED)
    spoken = result.get("protocolVersion")
    return "" if spoken == revision else f"offered {revision}, the server speaks {spoken}"


def walk(talk: Talk, revision: str, patience: float, label: str) -> tuple[list[Any], str]:
    """Return the entries on all pages of `tools/list`, and why there are no more if that is no good reason."""
    entries: list[Any] = []
    seen: list[str] = []
    while True:
        params = {"cursor": seen[-1]} if seen else {}
        identity = f"{label}-{len(talk.conversation.events)}"  # which no other request of this conversation has
        request = {"id": identity, "method": "tools/list", "params": params}
        answer = talk.request(completed(request, revision), patience)
        result = (answer or {}).get("result")
        if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
            return entries, "tools/list was not answered with a list of tools"
        entries += result["tools"]
        cursor = result.get("nextCursor")
        if not isinstance(cursor, str):
            return entries, ""
        if cursor in seen:
            return entries, f"the cursor {cursor!r} leads in a circle"
        if len(seen) >= _MAX_PAGES:
            return entries, f"there are more than {_MAX_PAGES} pages"
        seen.append(cursor)


def _try(talk: Talk, revision: str, settings: Settings, patience: float) -> tuple[list[Any], dict[str, Any]]:
    """The tools, and the values that cases need; where one is missing, a sentence that says why."""
    found: dict[str, Any] = dict.fromkeys(
        ("call", "slow", "progress", "wrong", "missing", "extra"),
        "no tool says that it is read-only (annotations.readOnlyHint), and none was named",
    )
    found["tools"] = "it has no tools"
    if open_session(talk, revision, patience):
        return [], found
    tools, _ = walk(talk, revision, patience, "facts")
    if tools:
        found["tools"] = tools
    callable_ = list(_callable(tools, settings))
    if not callable_:
        return tools, found
    found |= {
        "call": "no tool that may be called succeeds with the plainest arguments",
        "slow": f"no call that was tried takes {_SLOW_SECONDS:g} s",
        "progress": "no call that was tried reports progress",
        "wrong": "no tool that may be called has parameters with types",
        "missing": "no tool that may be called has required parameters",
        "extra": "no tool that may be called refuses unknown arguments (additionalProperties)",
    }
    found |= _bad_arguments(callable_)
    found |= _calls(talk, revision, callable_)
    return tools, found


def _callable(tools: Sequence[Any], settings: Settings) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The name, input schema and some arguments of every tool that may be called, the named ones first."""
    named = [tool for tool in tools if isinstance(tool, dict) and tool.get("name") in settings.calls]
    for tool in [*named, *(tool for tool in tools if tool not in named)]:
        if not isinstance(tool, dict) or not isinstance(schema := tool.get("inputSchema"), dict):
            continue
        hints, name = tool.get("annotations"), tool.get("name")
        told = isinstance(hints, dict) and hints.get("readOnlyHint") is True
        given = settings.calls.get(str(name), arguments.plain(schema))
        if isinstance(name, str) and given is not None and (told or settings.any_tool or name in settings.calls):
            yield name, schema, given


def _bad_arguments(tools: list[tuple[str, dict[str, Any], dict[str, Any]]]) -> dict[str, Any]:
    makers: dict[str, Callable[[Any], dict[str, Any] | None]] = {
        "wrong": lambda schema: next(arguments.of_wrong_type(schema), None),
        "missing": arguments.incomplete,
        "extra": arguments.with_more,
    }
    found: dict[str, Any] = {}
    for need, make in makers.items():
        for name, schema, _ in tools:
            if (made := make(schema)) is not None:
                found[need] = {"name": name, "arguments": made}
                break
    return found


def _calls(
    talk: Talk, revision: str, tools: list[tuple[str, dict[str, Any], dict[str, Any]]]
) -> dict[str, dict[str, Any]]:
    """Call each once, and see what it takes and whether it tells how far it is."""
    found: dict[str, dict[str, Any]] = {}
    for number, (name, _, given) in enumerate(tools[:_MAX_TRIED]):
        call, token = {"name": name, "arguments": given}, f"facts-try-{number}"
        request = {"id": token, "method": "tools/call", "params": {**call, "_meta": {"progressToken": token}}}
        began = time.monotonic()
        answer = talk.request(completed(request, revision), _TRY_SECONDS)
        took = time.monotonic() - began
        result = (answer or {}).get("result")
        if answer is not None and not isinstance(result, dict):
            continue
        if answer is not None and took >= _SLOW_SECONDS:
            found.setdefault("slow", call)
        if isinstance(result, dict) and not result.get("isError"):
            found.setdefault("call", call)
        if answer is not None and _told_progress(talk, token):
            found.setdefault("progress", call)
        if talk.conversation.ended or {"slow", "call", "progress"} <= set(found):
            break
    return found


def _told_progress(talk: Talk, token: str) -> bool:
    told = (message.get("params") for message in messages(talk.conversation.events) if "method" in message)
    return any(isinstance(params, dict) and params.get("progressToken") == token for params in told)
