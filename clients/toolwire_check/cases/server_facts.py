"""Find the facts about a server: revisions, framings, tools, and which calls the cases can make."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire.messages import (
    LATEST_LEGACY,
    LEGACY_VERSIONS,
    META_SERVER_INFO,
    MODERN_VERSIONS,
)

from .conversation import find_answers, iter_messages
from .expectations import shorten_json
from .handshake import (
    complete_message,
    find_trouble,
    list_all_tools,
    make_initialize,
    make_probe,
    open_session,
)
from .sample_arguments import SampleArguments
from .sdks import Sdk, identify_sdk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from toolwire_schemas.cases import Framing

    from .conversation import Event
    from .server_process import ServerUnderTest

    Start = Callable[[Framing], ServerUnderTest]
    _Tool = tuple[str, SampleArguments, dict[str, Any]]
    """Its name, sample arguments, and those to call it with."""

_MODERN = MODERN_VERSIONS[-1]
_OPENINGS = {
    "legacy": make_initialize("facts", LATEST_LEGACY),
    "modern": complete_message({"id": "facts", "method": "server/discover"}, _MODERN),
}
_SILENCE = "it answers neither initialize nor server/discover in {:g} s (--start-timeout)"

_LEAST_SECONDS = (
    3.0  # the shortest wait for a first response, once the start time of the server is known
)

_MAX_TRIED = 24
_TRY_SECONDS = 3.0
_SLOW_SECONDS = 0.25  # the shortest duration of a call during which a case can act

_KINDS_OF_CALLS = {"call", "slow", "progress", "child"}

_LACKS = {
    "call": "no call that was tried succeeds; name arguments that do with --call",
    "slow": f"no call that was tried takes {_SLOW_SECONDS:g} s",
    "progress": "no call that was tried reports progress",
    "child": "no call that was tried leaves a process running; name one that does with --call",
    "wrong": "no tool that may be called has parameters with types",
    "missing": "no tool that may be called has required parameters",
    "extra": "no tool that may be called refuses unknown arguments (additionalProperties)",
}


class UnknownTool(ValueError):
    """The settings have a call of the tool *name*, but the server only has the *known* ones."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"the server has no tool {name!r} to call; it has {', '.join(known)}")
        self.name = name
        self.known = known


class Facts(msgspec.Struct, frozen=True):
    """The facts about a server. *values* are what cases put into messages; *lacks* says why some
    are missing.
    """

    revisions: list[str]
    """The newest revision of each era that the server speaks, the modern one first."""
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

    *calls* are arguments for tools that may be called whatever their annotations; `None` generates
    simple ones.
    """

    start_seconds: float = 20.0
    calls: Mapping[str, dict[str, Any] | None] = {}
    any_tool: bool = False
    eras: Sequence[str] = ("legacy", "modern")
    framings: Sequence[Framing] = ("lines", "headers")


def find_facts(start: Start, settings: CheckSettings) -> Facts:
    """Return the facts about the server that *start* starts.

    Raises:
        UnknownTool: if the *settings* have a call of a tool that it does not have.
    """
    first = settings.framings[0]
    handshakes = _shake_hands(start, settings)
    openings = handshakes.openings
    if not openings:
        silence = _SILENCE.format(settings.start_seconds) + handshakes.last_words
        problem = handshakes.problem or silence
        return Facts([], [], [], {}, {}, trouble=problem, events=handshakes.events)
    revisions = [_revision(openings[era], era) for era in ("modern", "legacy") if era in openings]
    framings = [first]
    for other in settings.framings[1:]:
        era = "modern" if "modern" in openings else "legacy"
        with closing(start(other)) as server:
            if _opening(server, era, handshakes.patience) is not None:
                framings.append(other)
    with closing(start(first)) as server:  # it answers, so it gets the full time
        tools, tried = try_tools(server, revisions[0], settings, settings.start_seconds)
    _refuse_unknown_tools(settings, tools)
    tried |= _declared_features(openings, tools)
    values = {key: value for key, value in tried.items() if not isinstance(value, str)}
    lacks = {key: value for key, value in tried.items() if isinstance(value, str)}
    name = _name(list(openings.values())[-1])
    sdk, patience = handshakes.sdk, handshakes.patience
    return Facts(revisions, framings, tools, values, lacks, name, sdk, patience)


class _Handshakes(msgspec.Struct):
    """The result of the first handshakes, one in each era."""

    patience: float
    """How long to wait for the next handshake, by the time that the last one took."""
    openings: dict[str, dict[str, Any]] = {}
    """The response to the handshake of each era."""
    problem: str = ""
    """What went wrong first."""
    last_words: str = ""
    events: Sequence[Event] = ()
    sdk: Sdk | None = None


def _shake_hands(start: Start, settings: CheckSettings) -> _Handshakes:
    found = _Handshakes(settings.start_seconds)
    for era in settings.eras:
        began = time.monotonic()
        with closing(start(settings.framings[0])) as server:
            opening = _opening(server, era, found.patience)
            if opening is not None:
                found.openings[era] = opening
                found.patience = max(_LEAST_SECONDS, 3 * (time.monotonic() - began))
                found.sdk = found.sdk or identify_sdk(server, _revision(opening, era))
            elif not found.problem:
                found.problem = find_trouble(server) or _misanswer(server, era)
                found.events = list(server.conversation.events)
                found.last_words = server.last_words()
    return found


def _refuse_unknown_tools(settings: CheckSettings, tools: Sequence[Any]) -> None:
    known = [str(tool["name"]) for tool in tools if isinstance(tool, dict) and "name" in tool]
    if not known:  # cases judge an empty list
        return
    for name in settings.calls:
        if name not in known:
            raise UnknownTool(name, known)


def _declared_features(openings: dict[str, dict[str, Any]], tools: Sequence[Any]) -> dict[str, Any]:
    """Return what the server declares: a text says why a feature is missing."""
    features: dict[str, Any] = {}
    of_tools = {era: _capability(opening, "tools") for era, opening in openings.items()}
    if any(declared is not None for declared in of_tools.values()):
        features["tools"] = tools  # cases judge an empty list
    is_legacy_only = "modern" not in openings
    features["legacy-only"] = is_legacy_only or "it speaks 2026-07-28, so clients do not fall back"
    declared = of_tools.get("modern", {"listChanged": True})  # otherwise the era is the reason
    changes = isinstance(declared, dict) and declared.get("listChanged") is True
    features["list-changes"] = (
        changes or "it does not say that its list of tools may change (tools.listChanged)"
    )
    for name in ("logging", "completions", "resources", "prompts"):
        is_declared = any(_capability(opening, name) is not None for opening in openings.values())
        features[name] = is_declared or f"it does not declare the capability {name}"
    return features


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


def _revision(opening: dict[str, Any], era: str) -> str:
    spoken = opening.get("protocolVersion")
    # Cases judge an unknown revision.
    return _MODERN if era == "modern" else spoken if spoken in LEGACY_VERSIONS else LATEST_LEGACY


def _misanswer(server: ServerUnderTest, era: str) -> str:
    """The response of the server instead of a handshake of this *era*; empty if there was no
    response.
    """
    method, identity = _OPENINGS[era]["method"], _OPENINGS[era]["id"]
    found = [
        *find_answers(server.conversation.events, identity),
        *find_answers(server.conversation.events, None),
    ]
    return f"it answers {method} with {shorten_json(found[0])}" if found else ""


def _capability(opening: dict[str, Any], name: str) -> Any:
    """Its declared capability of this *name*; `None` if it does not declare it."""
    capabilities = opening.get("capabilities")
    return capabilities.get(name) if isinstance(capabilities, dict) else None


def _name(opening: dict[str, Any]) -> str:
    about = opening.get("_meta")
    info = opening.get("serverInfo") or (
        about.get(META_SERVER_INFO) if isinstance(about, dict) else None
    )
    return f"{info.get('name')} {info.get('version', '')}".strip() if isinstance(info, dict) else ""


def try_tools(
    server: ServerUnderTest, revision: str, settings: CheckSettings, patience: float
) -> tuple[list[Any], dict[str, Any]]:
    """Return the tools, and the values that cases need; a missing value is a string that says
    why.
    """
    tools = (
        []
        if open_session(server, revision, patience)
        else list_all_tools(server, revision, patience, "facts")[0]
    )
    found: dict[str, Any] = {"tools": tools or "it has no tools"}
    allowed = _allowed(tools, settings)
    callable_ = list(_with_arguments(allowed, settings))
    if callable_:
        return tools, found | _LACKS | _bad_arguments(callable_) | _calls(
            server, revision, callable_
        )
    names = " or ".join(tool["name"] for tool in allowed[:3])
    reason = (
        "no tool says that it is read-only (annotations.readOnlyHint), and none was named with"
        " --call"
    )
    if allowed:
        reason = f"no arguments were found that {names} would take; name some with --call"
    return tools, found | dict.fromkeys(_LACKS, reason)


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
        samples = SampleArguments(tool.get("inputSchema"))
        given = settings.calls.get(tool["name"])
        given = samples.valid if given is None else given
        if given is not None and isinstance(tool.get("inputSchema"), dict):
            yield tool["name"], samples, given


def _bad_arguments(tools: list[_Tool]) -> dict[str, Any]:
    makers = {
        "wrong": SampleArguments.make_wrong_type,
        "missing": SampleArguments.make_incomplete,
        "extra": SampleArguments.make_unknown,
    }
    found: dict[str, Any] = {}
    for need, make in makers.items():
        made = ({"name": name, "arguments": make(samples)} for name, samples, _ in tools)
        if call := next((call for call in made if call["arguments"] is not None), None):
            found[need] = call
    return found


def _calls(server: ServerUnderTest, revision: str, tools: list[_Tool]) -> dict[str, dict[str, Any]]:
    """Try each tool; return the first call of each kind that cases need."""
    trials = _Trials(server, revision)
    for name, _, given in tools[:_MAX_TRIED]:
        trials.add({"name": name, "arguments": given})
        if server.conversation.ended or set(trials.found) >= _KINDS_OF_CALLS:
            break
    return trials.found


class _Trials:
    """Makes calls and notes their success, duration, progress notifications and child processes."""

    def __init__(self, server: ServerUnderTest, revision: str) -> None:
        self._server = server
        self._revision = revision
        self._count = 0
        self.found: dict[str, dict[str, Any]] = {}
        """The first call of each kind."""

    def add(self, call: dict[str, Any]) -> None:
        """Make *call*, and repeat it where one result proves too little."""
        processes = self._server.descendants()
        is_first = self._count == 0
        result, seconds, token = self._make(call)
        if not isinstance(result, dict):
            return
        # The first call may have loaded what further ones need, or the machine was busy just then.
        is_slow = "slow" not in self.found and seconds >= _SLOW_SECONDS
        if is_slow and self._make(call)[1] >= _SLOW_SECONDS:
            self.found["slow"] = call
        if not result.get("isError"):
            self.found.setdefault("call", call)
        if self._has_reported(token):
            self.found.setdefault("progress", call)
        if "child" not in self.found and self._leaves_child(call, processes, is_first=is_first):
            self.found["child"] = call

    def _make(self, call: dict[str, Any]) -> tuple[Any, float, str]:
        """Return the result of *call*, its duration, and its progress token."""
        token = f"facts-try-{self._count}"
        self._count += 1
        params = {**call, "_meta": {"progressToken": token}}
        request = {"id": token, "method": "tools/call", "params": params}
        began = time.monotonic()
        answer = self._server.request(complete_message(request, self._revision), _TRY_SECONDS)
        seconds = time.monotonic() - began
        if seconds >= _SLOW_SECONDS:  # on a busy machine a probe takes long too
            seconds -= self._probe()
        return (answer or {}).get("result"), seconds, token

    def _probe(self) -> float:
        """Return how long the server takes to answer the cheapest request."""
        identity = f"facts-probe-{self._count}"
        self._count += 1
        began = time.monotonic()
        self._server.request(make_probe(identity, self._revision), _TRY_SECONDS)
        return time.monotonic() - began

    def _has_reported(self, token: str) -> bool:
        for message in iter_messages(self._server.conversation.events):
            params = message.get("params")
            if isinstance(params, dict) and params.get("progressToken") == token:
                return True
        return False

    def _leaves_child(self, call: dict[str, Any], before: set[int], *, is_first: bool) -> bool:
        """Whether a process that *call* started still runs, after a call with *before* running."""
        if self._server.descendants() <= before:
            return False
        if is_first:  # a server may start helpers of its own for its first call
            before = self._server.descendants()
            self._make(call)
        self._probe()  # a process that ends with its call has this time to do so
        return not self._server.descendants() <= before
