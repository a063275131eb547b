"""Judge a conversation by the expectations of a case. No I/O and no clock.

Strategy. A step of a case that expects something has one key that names the kind of expectation,
and `_JUDGES` has a function for each kind. It reads the events since the start of the case and
returns a `Breach`, or `None` if they are as expected. `player.py` judges again after each event as
long as a breach `may_come`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.error_text import write_faults
from toolwire_schemas.json_schema.subschemas import get_reference
from toolwire_schemas.published import load_validator
from toolwire_schemas.wire import codec

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

    from .conversation import Message

Step = dict[str, Any]
"""A step of a case; the README of the cases describes all kinds."""

_MAX_JSON_CHARS = 600
_MAX_FAULTS = 3
_MAX_LISTED = 3
_MAX_NOISE_LINES = 3
_MAX_NOISE_BYTES = 200


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


def judge(step: Step, scene: Scene) -> Breach | None:
    """Return the unmet expectation of *step*; `None` if it is met."""
    for kind, find_breach in _JUDGES.items():
        if kind in step:
            return find_breach(step, scene)
    raise ValueError(f"no expectation: {step!r}")


def _judge_answer(step: Step, scene: Scene) -> Breach | None:
    expected = _describe_answer(step)
    answers = find_answers(scene.events, step["answer"])
    if not answers:
        return Breach(expected, "no answer", may_come=True)
    # A second answer breaks a rule of its own, `answered-once`.
    fault = _find_fault(step, answers[0])
    if fault is None:
        return None
    return Breach(expected, shorten_json(answers[0]) + fault)


def _describe_answer(step: Step) -> str:
    """Return the answer that *step* expects, in words."""
    ways = []
    if "result" in step:
        result = step["result"]
        if result is True:
            ways.append("a result")
        else:
            ways.append(f"a result: {_describe_schema(result)}")
    if step.get("tool_error"):
        ways.append("a result with isError, and text that says why")
    if "error" in step:
        error = _describe_error(step["error"])
        if "data" in step:
            error += f" with data: {_describe_schema(step['data'])}"
        ways.append(error)
    in_words = ", or ".join(ways) or "a result or an error"
    return f"as the answer to {shorten_json(step['answer'])} {in_words}"


def _describe_error(codes: Any) -> str:
    if codes is True:
        return "a JSON-RPC error"
    return f"a JSON-RPC error {' or '.join(map(str, codes))}"


def _find_fault(step: Step, answer: Message) -> str | None:
    """Return why *step* does not accept *answer*, `""` if that is evident; `None` if it does."""
    if "result" not in answer and "error" not in answer:
        return " (neither a result nor an error)"
    if not {"result", "error", "tool_error"} & set(step):
        return None
    result, error = answer.get("result"), answer.get("error")
    if "error" in step and isinstance(error, dict):
        return _find_fault_of_error(step, error)
    if step.get("tool_error") and isinstance(result, dict) and result.get("isError") is True:
        return None if result.get("content") else " (without content that says why)"
    if "result" in step and "result" in answer:
        return _find_misfit(step["result"], result, "result")
    return ""


def _find_fault_of_error(step: Step, error: dict[str, Any]) -> str | None:
    codes = step["error"]
    if codes is not True and error.get("code") not in codes:
        return ""
    if "data" not in step:
        return None
    return _find_misfit(step["data"], error.get("data"), "error.data")


def _find_misfit(schema: Any, value: Any, root: str) -> str | None:
    """Return why *value* does not fit *schema*, in parentheses; `None` if it does."""
    try:
        faults = write_faults(make_validator(schema).iter_errors(value), root)
    except RecursionError:
        return " (nested too deeply to be checked)"
    if not faults:
        return None
    sentences = [f"{place} {fault}" for place, fault in faults[:_MAX_FAULTS]]
    return f" ({'; '.join(sentences)})"


def _judge_refusal(step: Step, scene: Scene) -> Breach | None:
    """Expect an error with any id, since a server may be unable to read the id of a malformed
    request.
    """
    codes = step["refused"]
    errors = []
    for message in iter_messages(scene.events):
        error = message.get("error")
        if not isinstance(error, dict):
            continue
        if codes is True or error.get("code") in codes:
            return None
        errors.append(error)
    return Breach(_describe_error(codes), _list_last(errors) or "none", may_come=True)


def _judge_silence(step: Step, scene: Scene) -> Breach | None:
    answers = find_answers(scene.events, step["unanswered"])
    if not answers:
        return None
    return Breach(f"no answer to {shorten_json(step['unanswered'])}", shorten_json(answers[0]))


def _judge_order(step: Step, scene: Scene) -> Breach | None:
    expected = step["order"]
    came = []
    for message in iter_messages(scene.events):
        identity = message.get("id")
        if is_answer(message) and any(is_same_id(identity, one) for one in expected):
            came.append(identity)
    if len(came) == len(expected) and all(map(is_same_id, came, expected)):
        return None
    return Breach(f"answers to {_list_in_order(expected)}", _list_in_order(came) or "none")


def _judge_some(step: Step, scene: Scene) -> Breach | None:
    schema = step["some"]
    messages: list[Any] = list(iter_messages(scene.events))
    messages += _find_batches(scene.events)  # a case may expect one array
    if any(map(make_validator(schema).is_valid, messages)):
        return None
    if "method" not in schema.get("required", ()):
        # A response is expected: a notification that was due at this moment is not what came
        # instead.
        messages = [one for one in messages if isinstance(one, list) or is_answer(one)]
    expected = f"a message: {_describe_schema(schema)}"
    return Breach(expected, _list_last(messages) or "nothing", may_come=True)


def _find_batches(events: Sequence[Event]) -> Iterator[list[Any]]:
    for event in events:
        if isinstance(event, Received) and isinstance(event.value, list):
            yield event.value


def _judge_none(step: Step, scene: Scene) -> Breach | None:
    is_forbidden = make_validator(step["none"]).is_valid
    for message in iter_messages(scene.events):
        if is_forbidden(message):
            expected = f"no message: {_describe_schema(step['none'])}"
            return Breach(expected, shorten_json(message))
    return None


def _judge_every(step: Step, scene: Scene) -> Breach | None:
    is_concerned = make_validator(step.get("among", True)).is_valid
    for message in iter_messages(scene.events):
        if not is_concerned(message):
            continue
        fault = _find_misfit(step["every"], message, "message")
        if fault is not None:
            expected = f"of every message: {_describe_schema(step['every'])}"
            return Breach(expected, shorten_json(message) + fault)
    return None


def _judge_noise(_: Step, scene: Scene) -> Breach | None:
    noise = [event for event in scene.events if isinstance(event, Noise)]
    if not noise:
        return None
    lines = []
    for event in noise[:_MAX_NOISE_LINES]:
        text = event.data[:_MAX_NOISE_BYTES].decode(errors="backslashreplace")
        lines.append(f"{text!r} ({event.why})")
    came = f"noise on stdout: {', '.join(lines)}"
    if len(noise) > _MAX_NOISE_LINES:
        came += f", and {len(noise) - _MAX_NOISE_LINES} more"
    return Breach("nothing on standard output but messages", came)


def _judge_rule(step: Step, scene: Scene) -> Breach | None:
    rule = RULES[step["rule"]]
    lists = []
    for name in step.get("lists", ()):
        lists.append(scene.lists.get(name, []))
    came = rule.find_breach(scene.events, lists)
    if came is None:
        return None
    return Breach(rule.expected, came)


_JUDGES: dict[str, Callable[[Step, Scene], Breach | None]] = {
    "answer": _judge_answer,
    "refused": _judge_refusal,
    "unanswered": _judge_silence,
    "order": _judge_order,
    "some": _judge_some,
    "none": _judge_none,
    "every": _judge_every,
    "quiet": _judge_noise,
    "rule": _judge_rule,
}


def _list_last(values: Sequence[Any]) -> str:
    return ", ".join(map(shorten_json, values[-_MAX_LISTED:]))


def _list_in_order(values: Sequence[Any]) -> str:
    return ", then ".join(map(shorten_json, values))


def _describe_schema(schema: Any) -> str:
    """Return the demands of *schema* in words: its description, if it has one."""
    if isinstance(schema, dict):
        if "description" in schema:
            return str(schema["description"])
        reference = get_reference(schema)
        if reference is not None and len(schema) == 1:
            return f"as {reference} has it"
    return f"fitting {shorten_json(schema)}"


def shorten_json(value: Any) -> str:
    """Return *value* as JSON, cut to a readable length."""
    text = to_text(value)
    if len(text) <= _MAX_JSON_CHARS:
        return text
    return text[:_MAX_JSON_CHARS] + "…"


def make_validator(schema: Any) -> Draft202012Validator:
    """Return the validator for *schema*, which a case or this package wrote."""
    return _make_validator(codec.encode(schema))  # a `dict` is no key of a cache


@cache
def _make_validator(text: bytes) -> Draft202012Validator:
    # Every published validator resolves all published schemas, and so does one evolved from it.
    return load_validator("tool").evolve(schema=codec.decode(text))
