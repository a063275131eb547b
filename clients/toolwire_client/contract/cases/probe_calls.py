"""Which calls can cases make with this server's tools? Those that may be called are, once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from . import sample_arguments as arguments
from .conversation import messages
from .handshake import completed, open_session, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .server_facts import Settings
    from .server_process import Talk

    _Tool = tuple[str, dict[str, Any], dict[str, Any]]
    """Its name, its input schema and some arguments that it takes."""

_MAX_TRIED = 24
_TRY_SECONDS = 3.0
_SLOW_SECONDS = 0.25
"""From here on a call takes long enough for something to happen meanwhile."""

_NEEDS = ("call", "slow", "progress", "wrong", "missing", "extra")


def try_out(talk: Talk, revision: str, settings: Settings, patience: float) -> tuple[list[Any], dict[str, Any]]:
    """Return the tools, and the values that cases need; where one is missing, a sentence that says why."""
    found: dict[str, Any] = {"tools": "it has no tools"}
    tools = [] if open_session(talk, revision, patience) else walk(talk, revision, patience, "facts")[0]
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
    found |= _calls(talk, revision, callable_)
    return tools, found


def may_be_called(tool: dict[str, Any], settings: Settings) -> bool:
    """Whether a check may call this *tool*, an entry with a name: it only reads, or somebody said so."""
    hints = tool.get("annotations")
    only_reads = isinstance(hints, dict) and hints.get("readOnlyHint") is True
    return only_reads or settings.any_tool or tool["name"] in settings.calls


def _allowed(tools: Sequence[Any], settings: Settings) -> list[dict[str, Any]]:
    """The tools that may be called, the named ones first."""
    whole = [tool for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)]
    allowed = [tool for tool in whole if may_be_called(tool, settings)]
    return sorted(allowed, key=lambda tool: tool["name"] not in settings.calls)


def _with_arguments(tools: Sequence[dict[str, Any]], settings: Settings) -> Iterator[_Tool]:
    for tool in tools:
        name, schema = tool["name"], tool.get("inputSchema")
        given = settings.calls.get(name)
        if given is None:
            given = arguments.plain(schema)
        if given is not None and isinstance(schema, dict):
            yield name, schema, given


def _nothing_to_call(names: Sequence[str]) -> str:
    if not names:
        return "no tool says that it is read-only (annotations.readOnlyHint), and none was named with --call"
    return f"no arguments were found that {' or '.join(names[:3])} would take; name some with --call"


def _bad_arguments(tools: list[_Tool]) -> dict[str, Any]:
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


def _calls(talk: Talk, revision: str, tools: list[_Tool]) -> dict[str, dict[str, Any]]:
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
