"""Which calls can cases make with this server's tools? Those that may be called are, once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from . import arguments
from .asking import open_session, walk
from .conversation import messages
from .sessions import completed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .facts import Settings
    from .talk import Talk

    _Tool = tuple[str, dict[str, Any], dict[str, Any]]
    """Its name, its input schema and some arguments."""

_MAX_TRIED = 24
_TRY_SECONDS = 3.0
_SLOW_SECONDS = 0.25
"""From here on a call takes long enough for something to happen meanwhile."""


def try_out(talk: Talk, revision: str, settings: Settings, patience: float) -> tuple[list[Any], dict[str, Any]]:
    """Return the tools, and the values that cases need; where one is missing, a sentence that says why."""
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


def _callable(tools: Sequence[Any], settings: Settings) -> Iterator[_Tool]:
    """The name, input schema and some arguments of every tool that may be called, the named ones first."""
    whole = [tool for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)]
    for tool in sorted(whole, key=lambda tool: tool["name"] not in settings.calls):
        name, schema, hints = tool["name"], tool.get("inputSchema"), tool.get("annotations")
        told = isinstance(hints, dict) and hints.get("readOnlyHint") is True
        if told or settings.any_tool or name in settings.calls:
            given = settings.calls.get(name, arguments.plain(schema))
            if given is not None and isinstance(schema, dict):
                yield name, schema, given


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
