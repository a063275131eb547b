"""Named rules for expectations that JSON Schema cannot express; the README of the cases lists
them.

A rule is a function of the events of a conversation and of the tool lists that the case has read.
It returns the first breach as the end of a sentence, or `None`. A server may send anything, so a
rule checks the type of each member that it reads.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from toolwire_client.transport.parameter_headers import find_names
from toolwire_client.validation import join_errors
from toolwire_dialects.lint.audit import audit, is_destructive_without_asking, name_entry
from toolwire_schemas.json_schema.bounded_validator import (
    CannotJudge,
    SchemaValidator,
    TooExpensive,
)
from toolwire_schemas.json_schema.error_text import write_faults
from toolwire_schemas.wire import codec

from .conversation import Sent, find_answers, is_answer, iter_messages, to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .conversation import Event, Message

    ToolLists = Sequence[Sequence[Any]]
    FindBreach = Callable[[Sequence[Event], ToolLists], str | None]

_MAX_FINDINGS = 5
_MAX_FAULTS = 3
_MAX_LOG_CHARS = 200


class NamedRule(NamedTuple):
    """A rule: its expectation in words, and the function that finds the first breach."""

    expected: str
    find_breach: FindBreach


# --- responses and progress ---


def _find_second_answer(events: Sequence[Event], _: ToolLists) -> str | None:
    seen = set()
    for message in iter_messages(events):
        identity = message.get("id")
        if not is_answer(message) or identity is None:
            continue
        key = to_text(identity)  # an id may be a list; and `1` is not `"1"`
        if key in seen:
            return f"a second answer to {key}"
        seen.add(key)
    return None


def _find_unasked_answer(events: Sequence[Event], _: ToolLists) -> str | None:
    # Malformed requests have ids too, so the id is searched as text in all that was sent.
    sent = _join_input(events)
    for message in iter_messages(events):
        identity = message.get("id")
        if not is_answer(message) or identity is None:
            continue
        text = to_text(identity)
        if text.encode() not in sent:
            return f"an answer to {text}, and no message had that id"
    return None


def _find_unasked_progress(events: Sequence[Event], _: ToolLists) -> str | None:
    sent = _join_input(events)
    for progress in _find_progress(events):
        member = f'"progressToken":{to_text(progress.token)}'
        if member.encode() not in sent:
            return f"progress for {progress.token!r}, which no request has as its progressToken"
    return None


def _find_decrease_of_progress(events: Sequence[Event], _: ToolLists) -> str | None:
    last: dict[str, float] = {}
    for progress in _find_progress(events):
        key, number = to_text(progress.token), progress.number
        if not isinstance(number, int | float):
            return f"for {key} progress that is not a number: {to_text(number)}"
        if key in last and not number > last[key]:
            return f"for {key} progress {number!r} came after {last[key]!r}"
        last[key] = number
    return None


def _find_late_progress(events: Sequence[Event], _: ToolLists) -> str | None:
    for progress in _find_progress(events):
        # The cases give each call its own id as its token.
        if find_answers(events[: progress.place], progress.token):
            return f"progress {progress.number!r} for {progress.token!r} came after its answer"
    return None


class _Progress(NamedTuple):
    """A notification of progress, and its place among the events."""

    place: int
    token: Any
    number: Any


def _find_progress(events: Sequence[Event]) -> Iterator[_Progress]:
    for place, event in enumerate(events):
        for message in iter_messages([event]):
            params = message.get("params")
            if message.get("method") == "notifications/progress" and isinstance(params, dict):
                yield _Progress(place, params.get("progressToken"), params.get("progress", 0))


def _join_input(events: Sequence[Event]) -> bytes:
    return b"".join(event.data for event in events if isinstance(event, Sent))


def _find_undeclared_log(events: Sequence[Event], _: ToolLists) -> str | None:
    is_declared = False
    for message in iter_messages(events):
        result = message.get("result")
        if isinstance(result, dict) and "protocolVersion" in result:
            capabilities = result.get("capabilities")
            is_declared = isinstance(capabilities, dict) and "logging" in capabilities
        if message.get("method") == "notifications/message" and not is_declared:
            return f"a log message: {to_text(message)[:_MAX_LOG_CHARS]}"
    return None


# --- lists of tools ---


def _find_repeated_name(_: Sequence[Event], lists: ToolLists) -> str | None:
    names: list[Any] = []  # no set: a name may be a list
    for tool in lists[0]:
        if not isinstance(tool, dict) or "name" not in tool:
            continue
        name = tool["name"]
        if name in names:
            return f"more than one tool is called {name!r}"
        names.append(name)
    return None


def _compare_lists(_: Sequence[Event], lists: ToolLists) -> str | None:
    first, second = lists
    first_names, second_names = _list_names(first), _list_names(second)
    if first_names != second_names:
        return f"first {_join_names(first_names)}; then {_join_names(second_names)}"
    if first != second:
        return "the same names, but other descriptions"
    return None


def _list_names(tools: Sequence[Any]) -> list[Any]:
    return [tool.get("name") for tool in tools if isinstance(tool, dict)]


def _join_names(names: Sequence[Any]) -> str:
    return ", ".join(map(str, names))


def _make_audit_rule(severity: str) -> FindBreach:
    """Return the rule that no finding of the audit has this *severity*."""

    def find_breach(_: Sequence[Event], lists: ToolLists) -> str | None:
        lines = []
        for finding in audit(lists[0]):
            if finding.severity == severity:
                lines.append(f"{finding} (for {finding.concerns})")
        if not lines:
            return None
        more = len(lines) - _MAX_FINDINGS
        if more > 0:
            lines[_MAX_FINDINGS:] = [f"and {more} more"]
        return "; ".join(lines)

    return find_breach


def _find_silent_destructive_tools(_: Sequence[Event], lists: ToolLists) -> str | None:
    names = [
        name_entry(tool, place)
        for place, tool in enumerate(lists[0])
        if is_destructive_without_asking(tool)
    ]
    if not names:
        return None
    return f"destructive without a question: {', '.join(names)}"


def _find_invalid_header_annotations(_: Sequence[Event], lists: ToolLists) -> str | None:
    names = []
    for place, tool in enumerate(lists[0]):
        if isinstance(tool, dict) and find_names(tool.get("inputSchema")) is None:
            names.append(name_entry(tool, place))
    if not names:
        return None
    return f"invalid annotations: {', '.join(names)}"


# --- results ---


def _find_misfit_result(events: Sequence[Event], lists: ToolLists) -> str | None:
    schemas: dict[str, Any] = {}
    for tool in lists[0]:
        if isinstance(tool, dict):
            schemas[to_text(tool.get("name"))] = tool.get("outputSchema")
    for call in _find_calls(events):
        name = to_text(call["params"].get("name"))
        for answer in find_answers(events, call.get("id")):
            fault = None
            with suppress(TooExpensive):
                fault = find_structure_fault(schemas.get(name), answer.get("result"))
            if fault is not None:
                return f"from {name} {fault}"
    return None


def find_structure_fault(schema: Any, result: Any) -> str | None:
    """Return why the *result* of a call does not fit *schema*, the `outputSchema` of its tool;
    `None` if it does.

    Raises:
        TooExpensive: if the result or its schema is too large to be checked.
    """
    if not isinstance(schema, dict) or result is None:
        return None
    if not isinstance(result, dict):
        return "a result that is not an object"
    if result.get("isError"):
        return None
    if "structuredContent" not in result:
        return "a result without structuredContent" if "content" in result else None
    content = result["structuredContent"]
    try:
        faults = write_faults(SchemaValidator(schema).find_errors(content), "structuredContent")
    except TooExpensive:
        raise
    except CannotJudge as error:
        return f"structuredContent that its schema cannot judge: {error}"
    if not faults:
        return None
    return f"a result that does not fit: {join_errors(faults[:_MAX_FAULTS])}"


def _find_calls(events: Sequence[Event]) -> Iterator[Message]:
    for event in events:
        if not isinstance(event, Sent) or b"tools/call" not in event.data:
            continue
        # Only both ends of long data are kept, and cases send malformed calls.
        with suppress(codec.DecodingError, ValueError):
            message = codec.decode(event.data[event.data.index(b"{") :])
            if isinstance(message, dict) and isinstance(message.get("params"), dict):
                yield message


RULES = {
    "answered-once": NamedRule("one answer to each request, no second one", _find_second_answer),
    "answers-asked": NamedRule(
        "answers to requests that were made, with their ids", _find_unasked_answer
    ),
    "progress-asked": NamedRule(
        "progress only for the progressToken of a request", _find_unasked_progress
    ),
    "progress-increases": NamedRule(
        "progress that increases with each notification", _find_decrease_of_progress
    ),
    "progress-before-answer": NamedRule(
        "no progress of a request after its answer", _find_late_progress
    ),
    "output-schema": NamedRule(
        "structuredContent that fits the outputSchema of its tool", _find_misfit_result
    ),
    "logging-declared": NamedRule(
        "no notifications/message without the capability `logging`", _find_undeclared_log
    ),
    "unique-names": NamedRule("a name of its own for each tool", _find_repeated_name),
    "same-list": NamedRule("the same tools in the same order again", _compare_lists),
    "portable": NamedRule(
        "names and schemas that every client and model's API takes", _make_audit_rule("error")
    ),
    "portable-everywhere": NamedRule(
        "names and schemas that all known hosts read as they are meant", _make_audit_rule("warning")
    ),
    "destructive-asks": NamedRule(
        "destructive tools that ask the user before each call", _find_silent_destructive_tools
    ),
    "parameter-headers": NamedRule(
        "x-mcp-header only with a distinct name of a header, on a text, a whole number or a boolean"
        " among the properties",
        _find_invalid_header_annotations,
    ),
}
