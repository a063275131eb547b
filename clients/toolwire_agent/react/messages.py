"""The seven messages of the structured protocol, and their JSON.

Four go to the model: a question, the result of an action, the user's answer, an error. Three come
from it: ask the user, act, answer. Each of these starts with its `thought`, so that the model
thinks before it decides.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec
from toolwire_client.redaction.hidden import repair_surrogates

ResultKey = Literal["success", "ok", "both"]
"""The name of the flag in `ACTION_RESULT`: the prompt says `success`, some existing programs read
`ok`.
"""


class Question(msgspec.Struct, frozen=True, tag="QUESTION"):
    """The user asks a question."""

    content: str


class ActionResult(msgspec.Struct, frozen=True, tag="ACTION_RESULT", omit_defaults=True):
    """The result of an action. `note` is the assistant's comment; an empty one is left out."""

    success: bool
    result: Any
    note: str = ""


class UserResponse(msgspec.Struct, frozen=True, tag="USER_RESPONSE"):
    """The user's answer to an `Ask`."""

    content: str


class Error(msgspec.Struct, frozen=True, tag="ERROR"):
    """A reply cannot be used, and the model must reply again."""

    msg: str


class Ask(msgspec.Struct, frozen=True, tag="ASK"):
    """The model asks the user, who sees `content` and never `thought`."""

    thought: str
    content: str


class Action(msgspec.Struct, frozen=True, tag="ACTION"):
    """The model requests one tool call."""

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


def to_json(
    message: ToModel | FromModel, result_key: ResultKey = "success", *, empty_thought: bool = True
) -> str:
    """Return the message as JSON with non-ASCII letters; *result_key* matters to `ActionResult`
    alone.

    Without *empty_thought* a thought that is empty is left out.
    """
    members = msgspec.structs.asdict(message)
    json_object: dict[str, Any] = {}
    # The order counts: a model thinks before it decides, and sees first what a message is.
    if isinstance(message, FromModel):
        thought = members.pop("thought")
        if thought or empty_thought:
            json_object["thought"] = thought
    json_object["type"] = message.__struct_config__.tag
    if isinstance(message, ActionResult):
        success = members.pop("success")
        if result_key in ("success", "both"):
            json_object["success"] = success
        if result_key in ("ok", "both"):
            json_object["ok"] = success
        if not message.note:
            del members["note"]
    json_object.update(members)
    return repair_surrogates(json.dumps(json_object, ensure_ascii=False))


def from_json(text: str) -> ToModel | FromModel:
    """Return the message that `to_json` wrote, with any result key.

    It is for the model's side: a model that is a program, a test, a transcript.
    `StructuredProtocol.read` reads replies of models, with more care.

    Raises:
        ValueError: if it is not such a message.
    """
    members = json.loads(text)
    if isinstance(members, dict) and members.get("type") == "ACTION_RESULT" and "ok" in members:
        members = {"success": members.pop("ok"), **members}
    if isinstance(members, dict):
        members = {"thought": "", **members}  # `to_json` may leave out an empty one
    try:
        message: ToModel | FromModel = msgspec.convert(members, ToModel | FromModel)
    except msgspec.ValidationError as error:
        raise ValueError(f"not a message of the structured protocol: {error}") from None
    return message


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """One native tool call: OpenAI's `tool_calls`, Anthropic's `tool_use`.

    `arguments` stay as received: text where the wire has text, which may be invalid JSON, or an
    object.
    """

    id: str
    name: str
    arguments: str | dict[str, Any]


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one request, or the sum of several.

    `input_tokens` include `cached_tokens`, `output_tokens` include `reasoning_tokens`.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            **{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__}
        )


class ModelReply(msgspec.Struct, frozen=True, kw_only=True):
    """One reply of a model.

    `finish_reason` uses OpenAI's words for all vendors: `stop`, `length` (cut off by a token
    limit), `tool_calls`, `content_filter` (also a refusal); another reason as the vendor wrote it,
    or `None`. `reasoning` holds thoughts from a separate field, which are never part of `text`.
    `usage` is `None` if not reported. `echo` must be sent back unchanged in the assistant's message
    of the next request: signed thoughts, for instance.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    reasoning: str = ""
    echo: dict[str, Any] = {}
