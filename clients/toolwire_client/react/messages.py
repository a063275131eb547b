"""The seven messages of the structured exchange, and their JSON.

Four go to the model: a question, what an action came to, what the user answered, an error. Three come from it: ask the
user, act, answer. Every message from the model begins with its `thought`, so that it thinks before it decides.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec

ResultKey = Literal["success", "ok", "both"]
"""How `ACTION_RESULT` calls its flag: the prompt says `success`, some programs written for the exchange read `ok`."""


class Question(msgspec.Struct, frozen=True, tag="QUESTION"):
    """The user wants something."""

    content: str


class ActionResult(msgspec.Struct, frozen=True, tag="ACTION_RESULT", omit_defaults=True):
    """What the action came to. `note` is what the assistant has to say about it; without one the member is left out."""

    success: bool
    result: Any
    note: str = ""


class UserResponse(msgspec.Struct, frozen=True, tag="USER_RESPONSE"):
    """What the user answered to an `Ask`."""

    content: str


class Error(msgspec.Struct, frozen=True, tag="ERROR"):
    """Something went wrong in the exchange itself, and the model has to reply again."""

    msg: str


class Ask(msgspec.Struct, frozen=True, tag="ASK"):
    """The model wants to know something from the user, who sees `content` and never `thought`."""

    thought: str
    content: str


class Action(msgspec.Struct, frozen=True, tag="ACTION"):
    """The model wants one tool to be called."""

    thought: str
    tool: str
    params: dict[str, Any]


class FinalAnswer(msgspec.Struct, frozen=True, tag="FINAL_ANSWER"):
    """The model is done. Without `ok` it found no answer, and `result` says why."""

    thought: str
    ok: bool
    result: str


ToModel = Question | ActionResult | UserResponse | Error
FromModel = Ask | Action | FinalAnswer
FROM_MODEL = ("ASK", "ACTION", "FINAL_ANSWER")


def to_json(message: ToModel | FromModel, result_key: ResultKey = "success") -> str:
    """Return the message as JSON, with non-ASCII letters as they are; *result_key* matters to `ActionResult` alone."""
    members = msgspec.structs.asdict(message)
    head = {"type": message.__struct_config__.tag}
    match message:
        case ActionResult(success=success, note=note):
            keys = ("success", "ok") if result_key == "both" else (result_key,)
            head |= dict.fromkeys(keys, success)
            members = {"result": message.result, **({"note": note} if note else {})}
        case Ask() | Action() | FinalAnswer():
            head = {"thought": members.pop("thought"), **head}
    return whole(json.dumps({**head, **members}, ensure_ascii=False))


def from_json(text: str) -> ToModel | FromModel:
    """Return the message that `to_json` wrote, whichever key it used.

    This is for what reads the model's side: a model that is a program, a test, a transcript. What a model wrote is
    read with more care, by `StructuredProtocol.read`.

    Raises:
        ValueError: if it is no such message.
    """
    members = json.loads(text)
    if isinstance(members, dict) and members.get("type") == "ACTION_RESULT" and "ok" in members:
        members = {"success": members.pop("ok"), **members}
    try:
        message: ToModel | FromModel = msgspec.convert(members, ToModel | FromModel)
    except msgspec.ValidationError as error:
        raise ValueError(f"this is no message of the exchange: {error}") from None
    return message


def whole(text: str) -> str:
    """*text* with halves of surrogate pairs, which UTF-8 has no form for, joined or replaced by U+FFFD."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


HIDDEN = "[hidden]"
"""What is written down in place of a secret."""


def stands_for(recorded: Any, value: Any) -> bool:
    """Return whether *recorded* may be what was written down of *value*: `HIDDEN` stands for any text."""
    match recorded:
        case str() if HIDDEN in recorded:
            first, *_, last = recorded.split(HIDDEN)
            return isinstance(value, str) and value.startswith(first) and value.endswith(last)
        case list():
            return isinstance(value, list) and len(recorded) == len(value) and all(map(stands_for, recorded, value))
        case dict() if isinstance(value, dict) and len(recorded) == len(value):
            plain = {name: item for name, item in recorded.items() if HIDDEN not in name}
            return all(name in value and stands_for(item, value[name]) for name, item in plain.items())
    return bool(recorded == value)
