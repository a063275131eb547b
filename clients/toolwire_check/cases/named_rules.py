"""Named rules for expectations that JSON Schema cannot express; the README of the cases lists
them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from toolwire_client.validation import LenientValidator, join_errors
from toolwire_dialects.lint.audit import audit, never_asks, shown_name
from toolwire_schemas.wire import codec

from .conversation import Sent, find_answers, is_answer, iter_messages, to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .conversation import Event

    Rule = Callable[[Sequence[Event], list[list[Any]]], str | None]


def _answered_once(events: Sequence[Event], _: list[list[Any]]) -> str | None:
    seen = set()
    for message in iter_messages(events):
        identity = message.get("id")
        if is_answer(message) and identity is not None:
            if (key := to_text(identity)) in seen:
                return f"a second answer to {key}"
            seen.add(key)
    return None


def _answers_asked(events: Sequence[Event], _: list[list[Any]]) -> str | None:
    sent = _sent_data(events)
    for message in iter_messages(events):
        identity = message.get("id")
        if (
            is_answer(message)
            and identity is not None
            and (text := to_text(identity)).encode() not in sent
        ):
            return f"an answer to {text}, and no message had that id"
    return None


def _progress_asked(events: Sequence[Event], lists: list[list[Any]]) -> str | None:
    sent = _sent_data(events)
    for _, token, _ in _progress(events):
        if f'"progressToken":{to_text(token)}'.encode() not in sent:
            return f"progress for {token!r}, which no request has as its progressToken"
    return None


def _progress_increases(events: Sequence[Event], lists: list[list[Any]]) -> str | None:
    last: dict[str, float] = {}
    for _, token, progress in _progress(events):
        key = to_text(token)
        if not isinstance(progress, int | float):
            return f"for {key} progress that is not a number: {to_text(progress)}"
        if key in last and not progress > last[key]:
            return f"for {key} progress {progress!r} came after {last[key]!r}"
        last[key] = progress
    return None


def _progress_before_answer(events: Sequence[Event], _: list[list[Any]]) -> str | None:
    # The cases give each call its own id as its token.
    for place, token, progress in _progress(events):
        if find_answers(events[:place], token):
            return f"progress {progress!r} for {token!r} came after its answer"
    return None


def _progress(events: Sequence[Event]) -> Iterator[tuple[int, Any, Any]]:
    """The place of every notification of progress, its token and its number."""
    for place, event in enumerate(events):
        for message in iter_messages([event]):
            params = message.get("params")
            if message.get("method") == "notifications/progress" and isinstance(params, dict):
                yield place, params.get("progressToken"), params.get("progress", 0)


def _sent_data(events: Sequence[Event]) -> bytes:
    return b"".join(event.data for event in events if isinstance(event, Sent))


def _logging_declared(events: Sequence[Event], _: list[list[Any]]) -> str | None:
    is_declared = False
    for message in iter_messages(events):
        result = message.get("result")
        if isinstance(result, dict) and "protocolVersion" in result:
            capabilities = result.get("capabilities")
            is_declared = isinstance(capabilities, dict) and "logging" in capabilities
        if message.get("method") == "notifications/message" and not is_declared:
            return f"a log message: {to_text(message)[:200]}"
    return None


def _unique_names(_: Sequence[Event], lists: list[list[Any]]) -> str | None:
    names = [tool["name"] for tool in lists[0] if isinstance(tool, dict) and "name" in tool]
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    return f"more than one tool is called {twice[0]!r}" if twice else None


def _same_list(_: Sequence[Event], lists: list[list[Any]]) -> str | None:
    first, second = (
        [tool.get("name") for tool in tools if isinstance(tool, dict)] for tools in lists
    )
    if first != second:
        return f"first {', '.join(map(str, first))}; then {', '.join(map(str, second))}"
    return None if lists[0] == lists[1] else "the same names, but other descriptions"


def _fits_output_schema(events: Sequence[Event], lists: list[list[Any]]) -> str | None:
    schemas = {
        to_text(tool.get("name")): tool.get("outputSchema")
        for tool in lists[0]
        if isinstance(tool, dict)
    }
    for call in _calls(events):
        name = to_text(call["params"].get("name"))
        for answer in find_answers(events, call.get("id")):
            if fault := find_structure_fault(schemas.get(name), answer.get("result")):
                return f"from {name} {fault}"
    return None


def find_structure_fault(schema: Any, result: Any) -> str | None:
    """Return why the *result* of a call is not as the `outputSchema` of its tool, *schema*, has it,
    if it is not.
    """
    if not isinstance(schema, dict) or result is None:
        return None
    if not isinstance(result, dict):
        return "a result that is not an object"
    if result.get("isError"):
        return None
    if "structuredContent" not in result:
        return "a result without structuredContent" if "content" in result else None
    judge = LenientValidator(schema)
    faults = judge.faults(result["structuredContent"], "structuredContent")
    if judge.trouble:
        return f"structuredContent that its schema cannot judge: {judge.trouble}"
    return f"a result that does not fit: {join_errors(faults[:3])}" if faults else None


def _calls(events: Sequence[Event]) -> Iterator[dict[str, Any]]:
    for event in events:
        if isinstance(event, Sent) and b"tools/call" in event.data:
            with suppress(codec.DecodingError, ValueError):
                message = codec.decode(event.data[event.data.index(b"{") :])
                if isinstance(message, dict) and isinstance(message.get("params"), dict):
                    yield message


def _portable(severity: str) -> Rule:
    def check(_: Sequence[Event], lists: list[list[Any]]) -> str | None:
        found = [finding for finding in audit(lists[0]) if finding.severity == severity]
        lines = [f"{finding} (for {finding.concerns})" for finding in found[:5]]
        more = [f"and {len(found) - 5} more"] if len(found) > 5 else []
        return "; ".join(lines + more) or None

    return check


def _destructive_asks(_: Sequence[Event], lists: list[list[Any]]) -> str | None:
    silent = [shown_name(tool, place) for place, tool in enumerate(lists[0]) if never_asks(tool)]
    return f"destructive without a question: {', '.join(silent)}" if silent else None


RULES: dict[str, tuple[str, Rule]] = {
    "answered-once": ("one answer to each request, no second one", _answered_once),
    "answers-asked": ("answers to requests that were made, with their ids", _answers_asked),
    "progress-asked": ("progress only for the progressToken of a request", _progress_asked),
    "progress-increases": ("progress that increases with each notification", _progress_increases),
    "progress-before-answer": (
        "no progress of a request after its answer",
        _progress_before_answer,
    ),
    "output-schema": (
        "structuredContent that fits the outputSchema of its tool",
        _fits_output_schema,
    ),
    "logging-declared": (
        "no notifications/message without the capability `logging`",
        _logging_declared,
    ),
    "unique-names": ("a name of its own for each tool", _unique_names),
    "same-list": ("the same tools in the same order again", _same_list),
    "portable": ("names and schemas that every client and model's API takes", _portable("error")),
    "portable-everywhere": (
        "names and schemas that all known hosts read as they are meant",
        _portable("warning"),
    ),
    "destructive-asks": ("destructive tools that ask the user before each call", _destructive_asks),
}
"""The expectation of each rule in words, and the function that finds the first breach."""
