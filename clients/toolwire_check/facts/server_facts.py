"""Find the facts about a server: its revisions, framings and tools, and the calls that cases can
make.

Strategy. One process for each era shows whether the server speaks it, another whether it speaks the
second framing, and a last one tries its tools (`trial_calls.py`). The first start shows how long
the server takes to start, so that only the first handshake has to wait for a server that may never
answer.
"""

from __future__ import annotations

import shutil
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire.messages import (
    LATEST_LEGACY,
    LEGACY_VERSIONS,
    META_SERVER_INFO,
    MODERN_VERSIONS,
)
from toolwire_schemas.wire.tasks import TASKS_REVISION, declares_tasks

from ..judging.conversation import find_answers
from ..judging.expectations import shorten_json
from .handshake import (
    complete_message,
    find_trouble,
    list_all_tools,
    make_initialize,
    open_session,
)
from .sdks import Sdk, ask_for_signs, identify_sdk
from .tool_doors import add_doors
from .trial_calls import find_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from toolwire_schemas.cases import Framing

    from ..judging.conversation import Event
    from .check_settings import CheckSettings
    from .server_process import ServerUnderTest
    from .trial_calls import Needs

    Start = Callable[[Framing], ServerUnderTest]

_MODERN = MODERN_VERSIONS[-1]
_HANDSHAKES = {
    "legacy": make_initialize("facts", LATEST_LEGACY),
    "modern": complete_message({"id": "facts", "method": "server/discover"}, _MODERN),
}
_SILENCE = "it answers neither initialize nor server/discover in {:g} s (--start-timeout)"

# A library in C that the SDKs for Python import.
_LIBRARY_OF_SDKS = "pydantic_core"

# Of a handshake, once the time of the first one is known.
_MIN_SECONDS = 3.0
_TIMES_THE_FIRST = 3

_SUPPORTS = ("optional", "required")
_CAPABILITIES = ("logging", "completions", "resources", "prompts")


class UnknownTool(ValueError):
    """The settings have a call of the tool *name*, but the server only has the *known* ones."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"the server has no tool {name!r} to call; it has {', '.join(known)}")
        self.name = name
        self.known = known


class Signs(msgspec.Struct, frozen=True):
    """What shows which SDK a server is made with: its *answers* to the requests of `sdks.py` in an
    *era*, and the *interpreter* that runs it, if that is known.
    """

    era: str
    answers: dict[str, Any]
    interpreter: str | None


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
    signs: Signs | None = None
    answer_seconds: float = 0.0
    """How long its answer to a request takes that never reaches its code: the calibration of
    limits, since it also depends on the machine.
    """
    start_seconds: float = 0.0
    """How long it may take to start, derived from its first start."""
    trouble: str = ""
    """Why nothing more is known: the server does not answer."""
    events: Sequence[Event] = ()
    """The conversation that showed this."""


def find_facts(start: Start, settings: CheckSettings) -> Facts:
    """Return the facts about the server that *start* starts.

    Raises:
        UnknownTool: if the *settings* have a call of a tool that it does not have.
    """
    handshakes = _shake_hands(start, settings)
    openings = handshakes.openings
    if not openings:
        silence = _SILENCE.format(settings.start_seconds) + handshakes.last_words
        trouble = handshakes.problem or silence
        return Facts([], [], [], {}, {}, trouble=trouble, events=handshakes.events)
    eras = [era for era in ("modern", "legacy") if era in openings]
    revisions = [find_revision(openings[era], era) for era in eras]
    framings = _find_framings(start, settings, eras[0], handshakes.patience)
    with closing(start(settings.framings[0])) as server:
        # The server has answered before, so it gets the full time.
        patience = settings.start_seconds
        tools: list[Any] = []
        if open_session(server, revisions[0], patience) is None:
            tools, _ = list_all_tools(server, revisions[0], patience, "facts")
        needs = find_calls(server, revisions[0], tools, settings)
    _refuse_unknown_tools(settings, tools)
    _add_features(needs, openings, tools)
    described = tools
    if len(revisions) > 1 and _has_legacy_tasks(openings):
        # Only lists of 2025-11-25 say which tools may be tasks.
        described = _list_tools(start, settings, revisions[-1])
    _add_tasks(needs, openings, described)
    add_doors(needs, tools, settings)
    *_, opening = openings.values()
    return Facts(
        revisions=revisions,
        framings=framings,
        tools=tools,
        values=needs.values,
        lacks=needs.lacks,
        name=find_server_name(opening),
        sdk=handshakes.sdk,
        signs=handshakes.signs,
        answer_seconds=handshakes.answer_seconds,
        start_seconds=handshakes.patience,
    )


def _list_tools(start: Start, settings: CheckSettings, revision: str) -> list[Any]:
    """Return the tools that a new server lists in *revision*."""
    tools: list[Any] = []
    with closing(start(settings.framings[0])) as server:
        if open_session(server, revision, settings.start_seconds) is None:
            tools, _ = list_all_tools(server, revision, settings.start_seconds, "facts")
    return tools


class _Handshakes(msgspec.Struct):
    """The result of the first handshakes, one in each era."""

    patience: float
    """How long to wait for the next handshake, by the time that the last one took."""
    openings: dict[str, dict[str, Any]] = {}
    """The response to the handshake of each era."""
    problem: str = ""
    """The trouble with the first handshake that failed."""
    last_words: str = ""
    events: Sequence[Event] = ()
    sdk: Sdk | None = None
    signs: Signs | None = None
    answer_seconds: float = 0.0


def _shake_hands(start: Start, settings: CheckSettings) -> _Handshakes:
    found = _Handshakes(settings.start_seconds)
    for era in settings.eras:
        start_time = time.monotonic()
        with closing(start(settings.framings[0])) as server:
            opening = try_handshake(server, era, found.patience)
            if opening is not None:
                found.openings[era] = opening
                seconds = time.monotonic() - start_time
                found.patience = max(_MIN_SECONDS, _TIMES_THE_FIRST * seconds)
                start_time = time.monotonic()
                answers = ask_for_signs(server, find_revision(opening, era))
                if answers:
                    mean = (time.monotonic() - start_time) / len(answers)
                    found.answer_seconds = max(found.answer_seconds, mean)
                if found.sdk is None:
                    found.sdk = identify_sdk(answers)
                    found.signs = Signs(era, answers, find_interpreter(server))
            elif not found.problem:
                found.problem = find_trouble(server) or _describe_refusal(server, era)
                found.events = list(server.conversation.events)
                found.last_words = server.quote_end_of_stderr()
    return found


def try_handshake(server: ServerUnderTest, era: str, patience: float) -> dict[str, Any] | None:
    """Return the server's result of the handshake of this *era*; `None` if it does not speak it."""
    answer = server.request(_HANDSHAKES[era], patience) or {}
    result = answer.get("result")
    if not isinstance(result, dict):
        return None
    supported = result.get("supportedVersions")
    if era == "modern" and isinstance(supported, list) and _MODERN not in supported:
        return None
    return result


def _find_framings(
    start: Start, settings: CheckSettings, era: str, patience: float
) -> list[Framing]:
    """Return the framings in which the server answers the handshake of *era*, which it does in the
    first.
    """
    first, *others = settings.framings
    framings = [first]
    for framing in others:
        with closing(start(framing)) as server:
            if try_handshake(server, era, patience) is not None:
                framings.append(framing)
    return framings


def find_revision(opening: dict[str, Any], era: str) -> str:
    if era == "modern":
        return _MODERN
    revision = opening.get("protocolVersion")
    if isinstance(revision, str) and revision in LEGACY_VERSIONS:
        return revision
    return LATEST_LEGACY  # cases judge an unknown revision


def _describe_refusal(server: ServerUnderTest, era: str) -> str:
    """Return the response of the server instead of a handshake of this *era*, in words; empty if
    there was no response.
    """
    request = _HANDSHAKES[era]
    events = server.conversation.events
    answers = find_answers(events, request["id"]) or find_answers(events, None)
    if not answers:
        return ""
    return f"it answers {request['method']} with {shorten_json(answers[0])}"


def _refuse_unknown_tools(settings: CheckSettings, tools: Sequence[Any]) -> None:
    names = [str(tool["name"]) for tool in tools if isinstance(tool, dict) and "name" in tool]
    if not names:  # cases judge an empty list
        return
    for name in settings.calls:
        if name not in names:
            raise UnknownTool(name, names)


def _add_features(
    needs: Needs, openings: Mapping[str, dict[str, Any]], tools: Sequence[Any]
) -> None:
    """Add the features that the server declares in the *openings* of its eras."""
    if any(_find_capability(opening, "tools") is not None for opening in openings.values()):
        needs.values["tools"] = tools  # cases judge an empty list
    else:
        needs.set("tools", tools, reason="it has no tools")
    needs.set(
        "legacy-only",
        "modern" not in openings,
        reason="it speaks 2026-07-28, so clients do not fall back",
    )
    needs.set(
        "list-changes",
        _declares_list_changes(openings),
        reason="it does not say that its list of tools may change (tools.listChanged)",
    )
    for name in _CAPABILITIES:
        is_declared = any(
            _find_capability(opening, name) is not None for opening in openings.values()
        )
        needs.set(name, is_declared, reason=f"it does not declare the capability {name}")


def _add_tasks(needs: Needs, openings: Mapping[str, dict[str, Any]], tools: Sequence[Any]) -> None:
    """Add whether the server has tasks, in each form, and a call that may be one.

    Only a tool that may be called is called: its call has been tried, and is a kind of *needs*.
    """
    capabilities = openings.get("modern", {}).get("capabilities")
    has_extension = isinstance(capabilities, dict) and declares_tasks(capabilities)
    needs.set(
        "tasks", has_extension, reason="it does not declare the extension for tasks of 2026-07-28"
    )
    lasting = _find_lasting_call(needs) if has_extension else None
    needs.set("lasting", lasting, reason="no call that was tried may become a task")
    has_legacy_tasks = _has_legacy_tasks(openings)
    needs.set("legacy-tasks", has_legacy_tasks, reason="it has no tasks in 2025-11-25")
    call = _find_task_call(needs, tools) if has_legacy_tasks else None
    needs.set("task", call, reason="no call that was tried is of a tool that supports tasks")


def _has_legacy_tasks(openings: Mapping[str, dict[str, Any]]) -> bool:
    legacy = openings.get("legacy", {})
    tasks = _find_capability(legacy, "tasks")
    return isinstance(tasks, dict) and legacy.get("protocolVersion") == TASKS_REVISION


def _find_lasting_call(needs: Needs) -> Any:
    """Return the call among those of *needs* that takes longest; since 2026-07-28, the server alone
    decides which calls become tasks.
    """
    for kind in ("slow", "progress", "call"):
        call = needs.values.get(kind)
        if call is not None:
            return call
    return None


def _find_task_call(needs: Needs, tools: Sequence[Any]) -> Any:
    """Return a call among those of *needs* whose tool supports tasks."""
    supporting = set()
    for tool in tools:
        execution = tool.get("execution") if isinstance(tool, dict) else None
        if isinstance(execution, dict) and execution.get("taskSupport") in _SUPPORTS:
            supporting.add(tool.get("name"))
    for kind in ("call", "slow", "progress"):
        call = needs.values.get(kind)
        if call is not None and call["name"] in supporting:
            return call
    return None


def _declares_list_changes(openings: Mapping[str, dict[str, Any]]) -> bool:
    if "modern" not in openings:
        return True  # only modern cases need it, and these are not played for another reason
    tools = _find_capability(openings["modern"], "tools")
    return isinstance(tools, dict) and tools.get("listChanged") is True


def _find_capability(opening: dict[str, Any], name: str) -> Any:
    """Return its capability of this *name*; `None` if it does not declare it."""
    capabilities = opening.get("capabilities")
    return capabilities.get(name) if isinstance(capabilities, dict) else None


def find_interpreter(server: ServerUnderTest) -> str | None:
    """Return the Python that runs *server*; `None` if it is not made with an SDK for Python, or the
    system does not show it.
    """
    command = server.find_command_with(_LIBRARY_OF_SDKS)
    if command and Path(command[0]).name.startswith("python"):
        return shutil.which(command[0])
    return None


def find_server_name(opening: dict[str, Any]) -> str:
    """Return the name and the version of the server; empty if it does not say them."""
    info = opening.get("serverInfo")
    meta = opening.get("_meta")
    if not info and isinstance(meta, dict):
        info = meta.get(META_SERVER_INFO)
    if not isinstance(info, dict):
        return ""
    return f"{info.get('name')} {info.get('version', '')}".strip()
