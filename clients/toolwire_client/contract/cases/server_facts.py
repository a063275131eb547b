"""Find the facts about a server: revisions, framings, tools, and which calls the cases can make."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire.messages import LATEST_LEGACY, LEGACY_VERSIONS, META_SERVER_INFO, MODERN_VERSIONS

from .conversation import answers, messages
from .expectations import shown
from .handshake import completed, initialize, is_modern, open_session, trouble, walk
from .sample_arguments import Samples
from .sdks import Sdk, identified

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from toolwire_schemas.cases import Framing

    from .conversation import Event
    from .server_process import ServerUnderTest

    Start = Callable[[Framing], ServerUnderTest]
    _Tool = tuple[str, Samples, dict[str, Any]]
    """Its name, sample arguments, and those to call it with."""

_MODERN = MODERN_VERSIONS[-1]
_OPENINGS = {
    "legacy": initialize("facts", LATEST_LEGACY),
    "modern": completed({"id": "facts", "method": "server/discover"}, _MODERN),
}
_SILENCE = "it answers neither initialize nor server/discover in {:g} s (--start-timeout)"

_LEAST_SECONDS = 3.0  # the shortest wait for a first response, once the start time of the server is known

_MAX_TRIED = 24
_TRY_SECONDS = 3.0
_SLOW_SECONDS = 0.25  # the shortest duration of a call during which a case can act

_NEEDS = ("call", "slow", "progress", "wrong", "missing", "extra")


class UnknownTool(ValueError):
    """The settings have a call of the tool *name*, but the server only has the *known* ones."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"the server has no tool {name!r} to call; it has {', '.join(known)}")
        self.name = name
        self.known = known


class Facts(msgspec.Struct, frozen=True):
    """The facts about a server. *values* are what cases put into messages; *lacks* says why some are missing."""

    revisions: dict[str, str]
    """The newest revision of each era (`legacy`, `modern`) that the server speaks."""
    framings: list[Framing]
    tools: list[Any]
    values: dict[str, Any]
    lacks: dict[str, str]
    name: str = ""
    sdk: Sdk | None = None
    """The SDK it is made with, if recognized."""
    start_seconds: float = 0.0
    """How long it may take to start, derived from its first start."""
    trouble: str = ""
    """Why nothing more is known: the server does not answer."""
    events: Sequence[Event] = ()
    """The conversation that showed this."""


class CheckSettings(msgspec.Struct, frozen=True):
    """How to probe a server.

    *calls* are arguments for tools that may be called whatever their annotations; `None` generates simple ones.
    """

    start_seconds: float = 20.0
    calls: Mapping[str, dict[str, Any] | None] = {}
    any_tool: bool = False
    eras: Sequence[str] = ("legacy", "modern")
    framings: Sequence[Framing] = ("lines", "headers")


def find_out(start: Start, settings: CheckSettings) -> Facts:
    """Return the facts about the server that *start* starts.

    Raises:
        UnknownTool: if the *settings* have a call of a tool that it does not have.
    """
    first = settings.framings[0]
    patience = settings.start_seconds
    revisions: dict[str, str] = {}
    openings: dict[str, dict[str, Any]] = {}
    problem = last_words = ""
    events: Sequence[Event] = ()
    sdk: Sdk | None = None
    for era in settings.eras:
        began = time.monotonic()
        with closing(start(first)) as server:
            opening = _opening(server, era, patience)
            if opening is None and not problem:
                problem, events = trouble(server) or _misanswer(server, era), list(server.conversation.events)
                last_words = server.last_words()
            if opening is not None:
                revisions[era] = _revision(opening, era)
                openings[era] = opening
                patience = max(_LEAST_SECONDS, 3 * (time.monotonic() - began))
                sdk = sdk or identified(server, revisions[era])
    if not revisions:
        return Facts({}, [], [], {}, {}, trouble=problem or _SILENCE.format(patience) + last_words, events=events)
    newest = revisions.get("modern") or revisions["legacy"]
    framings = [first]
    for other in settings.framings[1:]:
        with closing(start(other)) as server:
            if _opening(server, "modern" if is_modern(newest) else "legacy", patience) is not None:
                framings.append(other)
    with closing(start(first)) as server:  # it answers, so it gets the full time
        tools, tried = try_out(server, newest, settings, settings.start_seconds)
    _need_tools(settings.calls, tools)
    if not tools and any(_of_tools(opening) is not None for opening in openings.values()):
        tried["tools"] = tools  # it declares tools, so cases judge that it lists none
    tried["legacy-only"] = "modern" not in revisions or "it speaks 2026-07-28, so clients do not fall back"
    of_tools = _of_tools(openings["modern"]) if "modern" in openings else {"listChanged": True}  # else the era is why
    changes = isinstance(of_tools, dict) and of_tools.get("listChanged") is True
    tried["list-changes"] = changes or "it does not say that its list of tools may change (tools.listChanged)"
    values = {key: value for key, value in tried.items() if not isinstance(value, str)}
    lacks = {key: value for key, value in tried.items() if isinstance(value, str)}
    name = _name(list(openings.values())[-1])
    return Facts(revisions, framings, tools, values, lacks, name, sdk, patience)


def _need_tools(names: Iterable[str], tools: Sequence[Any]) -> None:
    known = [str(tool["name"]) for tool in tools if isinstance(tool, dict) and "name" in tool]
    for name in names:
        if known and name not in known:  # cases judge an empty list
            raise UnknownTool(name, known)


def _opening(server: ServerUnderTest, era: str, patience: float) -> dict[str, Any] | None:
    """The server's result of the handshake of this *era*; `None` if it does not speak it."""
    answer = server.request(_OPENINGS[era], patience)
    result = None if answer is None else answer.get("result")
    if not isinstance(result, dict):
        return None
    offered = result.get("supportedVersions")
    if era == "modern" and isinstance(offered, list) and _MODERN not in offered:
        return None
    return result


def _misanswer(server: ServerUnderTest, era: str) -> str:
    """The response of the server instead of a handshake of this *era*; empty if there was no response."""
    method, identity = _OPENINGS[era]["method"], _OPENINGS[era]["id"]
    found = [*answers(server.conversation.events, identity), *answers(server.conversation.events, None)]
    return f"it answers {method} with {shown(found[0])}" if found else ""


def _revision(opening: dict[str, Any], era: str) -> str:
    # Cases judge an unknown revision.
    spoken = opening.get("protocolVersion")
    return _MODERN if era == "modern" else spoken if spoken in LEGACY_VERSIONS else LATEST_LEGACY


def _of_tools(opening: dict[str, Any]) -> Any:
    """Its declared capability `tools`; `None` if it declares none."""
    capabilities = opening.get("capabilities")
    return capabilities.get("tools") if isinstance(capabilities, dict) else None


def _name(opening: dict[str, Any]) -> str:
    about = opening.get("_meta")
    info = opening.get("serverInfo") or (about.get(META_SERVER_INFO) if isinstance(about, dict) else None)
    return f"{info.get('name')} {info.get('version', '')}".strip() if isinstance(info, dict) else ""


def try_out(
    server: ServerUnderTest, revision: str, settings: CheckSettings, patience: float
) -> tuple[list[Any], dict[str, Any]]:
    """Return the tools, and the values that cases need; a missing value is a string that says why."""
    found: dict[str, Any] = {"tools": "it has no tools"}
    tools = [] if open_session(server, revision, patience) else walk(server, revision, patience, "facts")[0]
    if tools:
        found["tools"] = tools
    allowed = _allowed(tools, settings)
    callable_ = list(_with_arguments(allowed, settings))
    if not callable_:
        return tools, found | dict.fromkeys(_NEEDS, _nothing_to_call([tool["name"] for tool in allowed]))
    found |= {
        "call": "no call that was tried succeeds; name arguments that do with --call",
        "slow": f"no call that was tried takes {_SLOW_SECONDS:g} s",
        "progress": "no call that was tried reports progress",
        "wrong": "no tool that may be called has parameters with types",
        "missing": "no tool that may be called has required parameters",
        "extra": "no tool that may be called refuses unknown arguments (additionalProperties)",
    }
    found |= _bad_arguments(callable_)
    found |= _calls(server, revision, callable_)
    return tools, found


def may_be_called(tool: dict[str, Any], settings: CheckSettings) -> bool:
    """Whether a check may call *tool*: it is read-only, or the settings allow it."""
    hints = tool.get("annotations")
    only_reads = isinstance(hints, dict) and hints.get("readOnlyHint") is True
    return only_reads or settings.any_tool or tool["name"] in settings.calls


def _allowed(tools: Sequence[Any], settings: CheckSettings) -> list[dict[str, Any]]:
    """The tools that may be called, the named ones first."""
    whole = [tool for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)]
    allowed = [tool for tool in whole if may_be_called(tool, settings)]
    return sorted(allowed, key=lambda tool: tool["name"] not in settings.calls)


def _with_arguments(tools: Sequence[dict[str, Any]], settings: CheckSettings) -> Iterator[_Tool]:
    for tool in tools:
        samples = Samples(tool.get("inputSchema"))
        given = settings.calls.get(tool["name"])
        given = samples.plain if given is None else given
        if given is not None and isinstance(tool.get("inputSchema"), dict):
            yield tool["name"], samples, given


def _nothing_to_call(names: Sequence[str]) -> str:
    if not names:
        return "no tool says that it is read-only (annotations.readOnlyHint), and none was named with --call"
    return f"no arguments were found that {' or '.join(names[:3])} would take; name some with --call"


def _bad_arguments(tools: list[_Tool]) -> dict[str, Any]:
    makers = {"wrong": Samples.of_wrong_type, "missing": Samples.incomplete, "extra": Samples.with_more}
    found: dict[str, Any] = {}
    for need, make in makers.items():
        made = ({"name": name, "arguments": make(samples)} for name, samples, _ in tools)
        if call := next((call for call in made if call["arguments"] is not None), None):
            found[need] = call
    return found


def _calls(server: ServerUnderTest, revision: str, tools: list[_Tool]) -> dict[str, dict[str, Any]]:
    """Call each tool once, and note success, duration and progress notifications."""
    found: dict[str, dict[str, Any]] = {}
    for number, (name, _, given) in enumerate(tools[:_MAX_TRIED]):
        call, token = {"name": name, "arguments": given}, f"facts-try-{number}"
        request = {"id": token, "method": "tools/call", "params": {**call, "_meta": {"progressToken": token}}}
        began = time.monotonic()
        answer = server.request(completed(request, revision), _TRY_SECONDS)
        took = time.monotonic() - began
        result = (answer or {}).get("result")
        if isinstance(result, dict):
            if took >= _SLOW_SECONDS:
                found.setdefault("slow", call)
            if not result.get("isError"):
                found.setdefault("call", call)
            if _reported_progress(server, token):
                found.setdefault("progress", call)
        if server.conversation.ended or {"slow", "call", "progress"} <= set(found):
            break
    return found


def _reported_progress(server: ServerUnderTest, token: str) -> bool:
    notified = (message.get("params") for message in messages(server.conversation.events) if "method" in message)
    return any(isinstance(params, dict) and params.get("progressToken") == token for params in notified)
