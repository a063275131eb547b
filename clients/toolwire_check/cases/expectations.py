"""Judge a conversation by the expectations of a case. No I/O and no clock."""

from __future__ import annotations

from bisect import bisect_left
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.error_text import word_errors
from toolwire_schemas.published import validator
from toolwire_schemas.wire import codec

from ..report import Verdict, is_bad
from .conversation import (
    Event,
    Noise,
    Received,
    find_answers,
    is_answer,
    is_same_id,
    iter_messages,
    to_text,
)
from .named_rules import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from jsonschema import Draft202012Validator


_SHOWN = 600
_MAX_NOISE = 3


class Breach(msgspec.Struct, frozen=True):
    """An unmet expectation: what was expected and what came. *may_come* if later events could meet
    it.
    """

    expected: str
    came: str
    may_come: bool = False
    severity: str = ""
    """Its severity, if it differs from that of the case."""
    depends_on_time: bool = False
    """Whether a server that is slow, or was at this moment, does not meet it either."""


class Scene(msgspec.Struct, frozen=True):
    """The basis of a judgement: the events since the start of a case, and the tool lists it
    read.
    """

    events: Sequence[Event]
    lists: Mapping[str, list[Any]] = {}


def judge(step: dict[str, Any], scene: Scene) -> Breach | None:
    """Return the unmet expectation of *step*; `None` if it is met."""
    return next(judging(step, scene) for kind, judging in _JUDGES.items() if kind in step)


def _answer(step: dict[str, Any], scene: Scene) -> Breach | None:
    found = find_answers(scene.events, step["answer"])
    expected = _expected(step)
    if not found:
        return Breach(expected, "no answer", may_come=True)
    faults = _faults_of(step, found[0])
    return None if faults is None else Breach(expected, shorten_json(found[0]) + faults)


def _expected(step: dict[str, Any]) -> str:
    ways = []
    if "result" in step:
        ways.append("a result" if step["result"] is True else f"a result: {_words(step['result'])}")
    if step.get("tool_error"):
        ways.append("a result with isError, and text that says why")
    if "error" in step:
        about = f" with data: {_words(step['data'])}" if "data" in step else ""
        ways.append(_error(step["error"]) + about)
    return f"as the answer to {shorten_json(step['answer'])} " + (
        ", or ".join(ways) or "a result or an error"
    )


def _error(codes: Any) -> str:
    return (
        "a JSON-RPC error" if codes is True else f"a JSON-RPC error {' or '.join(map(str, codes))}"
    )


def _faults_of(step: dict[str, Any], answer: dict[str, Any]) -> str | None:
    """The fault of *answer*; `None` if *step* accepts it."""
    result, error = answer.get("result"), answer.get("error")
    if "result" not in answer and "error" not in answer:
        return " (neither a result nor an error)"
    if not {"result", "error", "tool_error"} & set(step):
        return None
    if "error" in step and isinstance(error, dict):
        codes = step["error"]
        if codes is not True and error.get("code") not in codes:
            return ""
        return _misfit(step["data"], error.get("data"), "error.data") if "data" in step else None
    if step.get("tool_error") and isinstance(result, dict) and result.get("isError") is True:
        return None if result.get("content") else " (without content that says why)"
    if "result" in step and "result" in answer:
        return _misfit(step["result"], result, "result")
    return ""


def _misfit(schema: Any, value: Any, root: str) -> str | None:
    try:
        faults = word_errors(make_validator(schema).iter_errors(value), root)
    except RecursionError:
        return " (nested too deeply to be checked)"
    return f" ({'; '.join(f'{place} {fault}' for place, fault in faults[:3])})" if faults else None


def _refused(step: dict[str, Any], scene: Scene) -> Breach | None:
    """Expect an error with any id, since a server may be unable to read the id of a malformed
    request.
    """
    codes = step["refused"]
    errors = [
        message["error"]
        for message in iter_messages(scene.events)
        if isinstance(message.get("error"), dict)
    ]
    if any(codes is True or error.get("code") in codes for error in errors):
        return None
    return Breach(_error(codes), _listed(errors) or "none", may_come=True)


def _unanswered(step: dict[str, Any], scene: Scene) -> Breach | None:
    found = find_answers(scene.events, step["unanswered"])
    return (
        Breach(f"no answer to {shorten_json(step['unanswered'])}", shorten_json(found[0]))
        if found
        else None
    )


def _order(step: dict[str, Any], scene: Scene) -> Breach | None:
    came = [message.get("id") for message in iter_messages(scene.events) if is_answer(message)]
    wanted = [
        identity for identity in came if any(is_same_id(identity, other) for other in step["order"])
    ]
    if len(wanted) == len(step["order"]) and all(map(is_same_id, wanted, step["order"])):
        return None
    in_words = ", then ".join(map(shorten_json, step["order"]))
    return Breach(f"answers to {in_words}", ", then ".join(map(shorten_json, wanted)) or "none")


def _some(step: dict[str, Any], scene: Scene) -> Breach | None:
    fits = make_validator(step["some"]).is_valid
    batches = [
        event.value
        for event in scene.events
        if isinstance(event, Received) and isinstance(event.value, list)
    ]
    things: list[Any] = [*iter_messages(scene.events), *batches]
    if any(map(fits, things)):
        return None
    if "method" not in step["some"].get("required", ()):
        # A response is expected: a notification that was due at this moment is not what came
        # instead.
        things = [thing for thing in things if isinstance(thing, list) or is_answer(thing)]
    return Breach(f"a message: {_words(step['some'])}", _listed(things) or "nothing", may_come=True)


def _none(step: dict[str, Any], scene: Scene) -> Breach | None:
    fits = make_validator(step["none"]).is_valid
    found = next(filter(fits, iter_messages(scene.events)), None)
    return (
        None
        if found is None
        else Breach(f"no message: {_words(step['none'])}", shorten_json(found))
    )


def _every(step: dict[str, Any], scene: Scene) -> Breach | None:
    among = make_validator(step.get("among", True))
    for message in iter_messages(scene.events):
        if (
            among.is_valid(message)
            and (faults := _misfit(step["every"], message, "message")) is not None
        ):
            return Breach(
                f"of every message: {_words(step['every'])}", shorten_json(message) + faults
            )
    return None


def _quiet(_: dict[str, Any], scene: Scene) -> Breach | None:
    noise = [event for event in scene.events if isinstance(event, Noise)]
    if not noise:
        return None
    lines = [
        f"{event.data[:200].decode(errors='backslashreplace')!r} ({event.why})"
        for event in noise[:_MAX_NOISE]
    ]
    more = f", and {len(noise) - _MAX_NOISE} more" if len(noise) > _MAX_NOISE else ""
    return Breach(
        "nothing on standard output but messages", "noise on stdout: " + ", ".join(lines) + more
    )


def _rule(step: dict[str, Any], scene: Scene) -> Breach | None:
    expected, check = RULES[step["rule"]]
    broken = check(scene.events, [scene.lists.get(name, []) for name in step.get("lists", ())])
    return None if broken is None else Breach(expected, broken)


_JUDGES: dict[str, Callable[[dict[str, Any], Scene], Breach | None]] = {
    "answer": _answer,
    "refused": _refused,
    "unanswered": _unanswered,
    "order": _order,
    "some": _some,
    "none": _none,
    "every": _every,
    "quiet": _quiet,
    "rule": _rule,
}


def _listed(things: Sequence[Any]) -> str:
    return ", ".join(map(shorten_json, things[-3:]))


def _words(schema: Any) -> str:
    """What *schema* demands: its description, if it has one."""
    if isinstance(schema, dict):
        if "description" in schema:
            return str(schema["description"])
        if set(schema) == {"$ref"}:
            return f"as {schema['$ref']} has it"
    return f"fitting {shorten_json(schema)}"


def shorten_json(value: Any) -> str:
    """Return *value* as JSON, cut to a readable length."""
    text = to_text(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def make_validator(schema: Any) -> Draft202012Validator:
    """Return the validator for *schema*, which a case or this package wrote."""
    return _made(codec.encode(schema))


@cache
def _made(text: bytes) -> Draft202012Validator:
    # Every published validator resolves all published schemas, and so does one evolved from it.
    return validator("tool").evolve(schema=codec.decode(text))


# Expectations on the whole run. Each case judges what it provokes: parts of the conversation in
# which a `should` case failed are left out, and a breach that only `should` cases provoke is no
# `must`. So each fault is reported once.

_NAMED_BY_CASES = ("answers-asked",)
"""Rules whose breach fails a case as well: a case that waits for an answer does not get it if its
id is another.
"""


class Part(msgspec.Struct, frozen=True):
    """The events from *start* up to *end*, in which a case was played, and the *verdict* on it."""

    start: int
    end: int
    verdict: Verdict


def find_breach_of_run(
    steps: Sequence[dict[str, Any]],
    events: Sequence[Event],
    parts: Sequence[Part],
    lists: Mapping[str, list[Any]],
) -> tuple[Breach, Sequence[Event]] | None:
    """Return the first expectation in *steps* that the *events* of a conversation with these
    *parts* do not meet.

    With it come the events up to the breach.
    """
    for step in steps:
        for severity, left_out in _readings(step, parts):
            scene = Scene(_without(events, left_out), lists)
            if (unmet := judge(step, scene)) is not None:
                milder = msgspec.structs.replace(
                    unmet, severity=severity or step.get("severity", "")
                )
                return milder, _shortest(step, scene)
    return None


def _readings(step: dict[str, Any], parts: Sequence[Part]) -> Iterator[tuple[str, list[Part]]]:
    """The severities to judge by, gravest first, each with what is left out of the conversation."""
    mild = [part for part in parts if part.verdict.severity != "must"]
    named = step.get("rule") in _NAMED_BY_CASES
    failed = [part for part in (parts if named else mild) if is_bad(part.verdict)]
    yield "", [*mild, *failed]
    if any(part not in failed for part in mild):
        yield "should", failed


def _without(events: Sequence[Event], parts: Sequence[Part]) -> Sequence[Event]:
    """*events* without the server's output in these *parts*; its input stays, as late answers may
    come.
    """
    if not parts:
        return events
    gone = {place for part in parts for place in range(part.start, part.end)}
    return [
        event
        for place, event in enumerate(events)
        if place not in gone or not isinstance(event, Received | Noise)
    ]


def _shortest(step: dict[str, Any], scene: Scene) -> Sequence[Event]:
    """The first part of what happened that does not meet what *step* expects of all of it."""

    def is_unmet(size: int) -> bool:
        return judge(step, Scene(scene.events[:size], scene.lists)) is not None

    return scene.events[: bisect_left(range(len(scene.events)), True, key=is_unmet)]
