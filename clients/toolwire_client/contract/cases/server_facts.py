"""What is this server? What it speaks and what it has, found out before anything is judged."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire.codes import LATEST_LEGACY, LEGACY_VERSIONS, META_SERVER_INFO, MODERN_VERSIONS

from ..sdks import Sdk, identified
from .conversation import answers
from .expectations import shown
from .handshake import completed, initialize, is_modern, trouble
from .probe_calls import try_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from toolwire_schemas.cases import Framing

    from .conversation import Event
    from .server_process import Talk

    Start = Callable[[Framing], Talk]

_MODERN = MODERN_VERSIONS[-1]
_OPENINGS = {
    "legacy": initialize("facts", LATEST_LEGACY),
    "modern": completed({"id": "facts", "method": "server/discover"}, _MODERN),
}
_SILENCE = "it answers neither initialize nor server/discover in {:g} s (--start-timeout)"

_LEAST_SECONDS = 3.0
"""How long to wait for the first answer at least, once it is known how long a server takes for that."""


class UnknownTool(ValueError):
    """A call was given for a tool of this *name*, which the server does not have; it has the *known* ones."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"the server has no tool {name!r} to call; it has {', '.join(known)}")
        self.name = name
        self.known = known


class Facts(msgspec.Struct, frozen=True):
    """What is known of a server. *values* are what cases may put into messages; *lacks* says why some are missing."""

    revisions: dict[str, str]
    """The newest revision of each era (`legacy`, `modern`) that the server speaks."""
    framings: list[Framing]
    tools: list[Any]
    values: dict[str, Any]
    lacks: dict[str, str]
    name: str = ""
    sdk: Sdk | None = None
    """What it is made with, if that is known."""
    start_seconds: float = 0.0
    """How long it may take to start, judged by how long it did."""
    trouble: str = ""
    """Why nothing more is known: the server cannot be talked to at all."""
    events: Sequence[Event] = ()
    """What was said until that was clear."""


class Settings(msgspec.Struct, frozen=True):
    """How a server is asked.

    *calls* are arguments for tools that may be called whatever they say of themselves; `None`: the plainest they take.
    """

    start_seconds: float = 20.0
    calls: Mapping[str, dict[str, Any] | None] = {}
    any_tool: bool = False
    eras: Sequence[str] = ("legacy", "modern")
    framings: Sequence[Framing] = ("lines", "headers")


def find_out(start: Start, settings: Settings) -> Facts:
    """Ask the server that *start* starts what it is.

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
        with start(first) as talk:
            opening = _opening(talk, era, patience)
            if opening is None and not problem:
                problem, events = trouble(talk) or _misanswer(talk, era), list(talk.conversation.events)
                last_words = talk.last_words()
            if opening is not None:
                revisions[era] = _revision(opening, era)
                openings[era] = opening
                patience = max(_LEAST_SECONDS, 3 * (time.monotonic() - began))
                sdk = sdk or identified(talk, revisions[era])
    if not revisions:
        return Facts({}, [], [], {}, {}, trouble=problem or _SILENCE.format(patience) + last_words, events=events)
    newest = revisions.get("modern") or revisions["legacy"]
    framings = [first, *(other for other in settings.framings[1:] if _speaks(start, other, newest, patience))]
    with start(first) as talk:  # it does answer, so it may take its time
        tools, tried = try_out(talk, newest, settings, settings.start_seconds)
    _need_tools(settings.calls, tools)
    if not tools and any(_of_tools(opening) is not None for opening in openings.values()):
        tried["tools"] = tools  # it says that it has some: that it does not list them is for cases to tell
    tried["legacy-only"] = "modern" not in revisions or "it speaks 2026-07-28, so nobody falls back"
    changes = "modern" not in openings or _tells_changes(openings["modern"])  # if not, the era says why
    tried["list-changes"] = changes or "it does not say that its list of tools may change (tools.listChanged)"
    values = {key: value for key, value in tried.items() if not isinstance(value, str)}
    lacks = {key: value for key, value in tried.items() if isinstance(value, str)}
    name = _name(list(openings.values())[-1])
    return Facts(revisions, framings, tools, values, lacks, name, sdk, patience)


def _need_tools(names: Iterable[str], tools: Sequence[Any]) -> None:
    known = [str(tool["name"]) for tool in tools if isinstance(tool, dict) and "name" in tool]
    for name in names:
        if known and name not in known:  # that there are none at all is for cases to tell
            raise UnknownTool(name, known)


def _opening(talk: Talk, era: str, patience: float) -> dict[str, Any] | None:
    """How the server introduces itself in this *era*, `None` if it does not speak it."""
    answer = talk.request(_OPENINGS[era], patience)
    result = None if answer is None else answer.get("result")
    if not isinstance(result, dict):
        return None
    offered = result.get("supportedVersions")
    if era == "modern" and isinstance(offered, list) and _MODERN not in offered:
        return None
    return result


def _misanswer(talk: Talk, era: str) -> str:
    """What the server said instead of introducing itself in this *era*, empty if nothing."""
    method, identity = _OPENINGS[era]["method"], _OPENINGS[era]["id"]
    found = [*answers(talk.conversation.events, identity), *answers(talk.conversation.events, None)]
    return f"it answers {method} with {shown(found[0])}" if found else ""


def _revision(opening: dict[str, Any], era: str) -> str:
    # If it says none that there is, cases will tell.
    spoken = opening.get("protocolVersion")
    return _MODERN if era == "modern" else spoken if spoken in LEGACY_VERSIONS else LATEST_LEGACY


def _tells_changes(opening: dict[str, Any]) -> bool:
    """Whether it declares that its list of tools changes, and so that there is something to subscribe to."""
    of_tools = _of_tools(opening)
    return isinstance(of_tools, dict) and of_tools.get("listChanged") is True


def _of_tools(opening: dict[str, Any]) -> Any:
    """What it declares about tools, `None` if nothing."""
    capabilities = opening.get("capabilities")
    return capabilities.get("tools") if isinstance(capabilities, dict) else None


def _speaks(start: Start, framing: Framing, revision: str, patience: float) -> bool:
    with start(framing) as talk:
        return _opening(talk, "modern" if is_modern(revision) else "legacy", patience) is not None


def _name(opening: dict[str, Any]) -> str:
    about = opening.get("_meta")
    told = opening.get("serverInfo") or (about.get(META_SERVER_INFO) if isinstance(about, dict) else None)
    return f"{told.get('name')} {told.get('version', '')}".strip() if isinstance(told, dict) else ""
