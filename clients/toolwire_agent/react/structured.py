"""The structured protocol: every message, in both directions, is one JSON object with a `type`."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from toolwire_dialects import python_stub as python
from toolwire_schemas.did_you_mean import sort_closest_first
from toolwire_schemas.json_schema.error_text import format_value

from .messages import Action, Ask, FinalAnswer, ResultKey, ToModel, to_json
from .prompt_protocol import InvalidReply, Message, Protocol, ValidReply, refuse_incomplete
from .prompts import Remark, Unreadable, remark
from .replies.answer_reader import JsonAnswerReader
from .replies.reply_parser import find_only_object
from .replies.reply_schema import Thought, build_reply_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from .messages import FromModel, ModelReply
    from .tool_lookup import Entry, Schema, Tools


class StructuredProtocol(Protocol):
    """Messages of seven types: QUESTION, ACTION_RESULT, USER_RESPONSE, ERROR; ASK, ACTION and
    FINAL_ANSWER.

    *thought* says whether a reply starts with a thought. *result_key* names the flag of
    `ACTION_RESULT`. *describe* writes the tools into the prompt, by default as Python stubs. The
    slots of *prompt* are `{{tools}}` (required), `{{tool_names}}`, `{{result_key}}`,
    `{{think_first}}` and `{{instructions}}`.
    """

    required_slots = ("tools",)
    optional_slots = ("tool_names", "result_key", "think_first", "instructions")

    def __init__(
        self,
        language: str | None = None,
        *,
        thought: Thought = "required",
        result_key: ResultKey = "success",
        prompt: str | None = None,
        instructions: str = "",
        describe: Callable[[list[Entry]], str] = python.from_entries,
    ) -> None:
        self.thought: Thought = thought
        super().__init__(language, prompt=prompt, instructions=instructions)
        self.result_key = result_key
        self.describe = describe

    @property
    def default_prompt(self) -> str:
        text = self.language.structured
        match self.thought:
            case "required":
                return text
            case "optional":
                return _THOUGHT.sub(r"\1?\2", text)
            case "none":
                return _THOUGHT.sub("", text)

    def format_system_prompt(self, tools: Tools) -> str:
        nothing = self.language.say("nothing")
        return self.template.fill(
            tools=self.describe(list(tools.entries)) or nothing,
            tool_names=", ".join(tools.names) or nothing,
            think_first=self.language.say("think_first") if self.thought == "required" else "",
            result_key="success" if self.result_key == "both" else self.result_key,
            instructions=self.instructions,
        )

    def read(self, reply: ModelReply, tools: Tools) -> ValidReply | InvalidReply:
        try:
            refuse_incomplete(reply.finish_reason)
            members = find_only_object(reply.text)
        except Unreadable as error:
            return InvalidReply((error.remark,))
        # The form for OpenAI's strict mode.
        if members.keys() == {"reply"} and isinstance(members["reply"], dict):
            members = members["reply"]
        return _read(members, tools, self.thought)

    def format_reply(self, reply: ModelReply, reading: ValidReply | InvalidReply) -> Message:
        """Return a valid reply in its canonical form, an invalid one unchanged, so that the model
        can correct it.
        """
        content = (
            self.encode_reply(reading.message) if isinstance(reading, ValidReply) else reply.text
        )
        return {"role": "assistant", "content": content}

    def encode_reply(self, message: FromModel) -> str:
        """Return a reply in its canonical form."""
        return to_json(message, empty_thought=self.thought == "required")

    def format_message(self, message: ToModel, call_ids: list[str]) -> list[Message]:
        return [{"role": "user", "content": to_json(message, self.result_key)}]

    def describe_reply_format(self, tools: Tools, *, final: bool = False) -> str:
        say = self.language.say
        thought = "" if self.thought == "none" else say("sample_thought")
        samples: list[FromModel] = [FinalAnswer(thought, True, say("sample_answer"))]
        if not final:
            samples.append(Ask(thought, say("sample_question")))
            call = tools.sample()
            if call is not None:
                samples.insert(0, Action(thought, *call))
        return say("format_structured", samples="\n".join(map(self.encode_reply, samples)))

    def build_reply_schema(
        self,
        tools: Tools,
        *,
        strict: bool = False,
        final: bool = False,
        result: Schema | None = None,
    ) -> Schema:
        return build_reply_schema(
            tools, strict=strict, final=final, thought=self.thought, result=result
        )

    def create_answer_reader(self) -> JsonAnswerReader:
        return JsonAnswerReader()


_THOUGHT = re.compile(r"^( *thought)(: .*\n)", re.MULTILINE)
"""The lines about thoughts in the types of the prompt."""


_REPLIES: dict[str, tuple[type[Ask | Action | FinalAnswer], dict[str, type]]] = {
    "ASK": (Ask, {"content": str}),
    "ACTION": (Action, {"tool": str, "params": dict}),
    "FINAL_ANSWER": (FinalAnswer, {"ok": bool, "result": str}),
}
"""Each reply with the types of its members except the thought."""
_IN_JSON = {str: "string", dict: "object", bool: "boolean"}


def _read(members: dict[str, Any], tools: Tools, wanted: Thought) -> ValidReply | InvalidReply:
    """Return the meaning of a reply's *members*, or everything that is wrong with them."""
    if "type" not in members:
        return InvalidReply((remark("missing", member="type"),))
    kind, thought = members.pop("type"), members.pop("thought", None)
    if not isinstance(kind, str) or kind not in _REPLIES:
        allowed = ", ".join(sort_closest_first(str(kind).upper(), tuple(_REPLIES)))
        return InvalidReply((remark("type", given=format_value(kind), allowed=allowed),))
    odd: list[Remark] = []
    if not isinstance(thought, str | None):
        odd.append(remark("odd", member="thought"))
        thought = _as_json(thought)
    elif thought is None and wanted == "required":
        # A thought has no effect, so a missing one is no reason to ask again.
        odd.append(remark("no_thought"))
    if kind == "ACTION":
        _complete(members, tools)
    result = members.get("result", "")
    if kind == "FINAL_ANSWER" and not isinstance(result, str):
        odd.append(remark("odd", member="result"))
        members["result"] = "" if result is None else _as_json(result)
    reply, types = _REPLIES[kind]
    values, wrong = _take_members(members, types)
    strange = []
    if members:
        strange.append(remark("strange", members=", ".join(f"`{name}`" for name in members)))
    if wrong:
        return InvalidReply((*wrong, *strange))
    return ValidReply(reply(thought=thought or "", **values), (*odd, *strange))


def _take_members(
    members: dict[str, Any], types: dict[str, type]
) -> tuple[dict[str, Any], list[Remark]]:
    """Take the members of these *types* from *members*; return them, and what is wrong with
    them.
    """
    values: dict[str, Any] = {}
    wrong: list[Remark] = []
    for name, of_type in types.items():
        if name not in members:
            wrong.append(remark("missing", member=name))
            continue
        value = members.pop(name)
        if not isinstance(value, of_type):
            wanted = _IN_JSON[of_type]
            given = format_value(value)
            wrong.append(remark("wrong_type", member=name, wanted=wanted, given=given))
        elif name in ("content", "tool") and not str(value).strip():
            wrong.append(remark("blank", member=name))
        else:
            values[name] = value
    return values, wrong


def _complete(members: dict[str, Any], tools: Tools) -> None:
    """Name the tool of an action as it is listed; supply `params` that are left out, or that are
    JSON in a string.
    """
    tool, params = members.get("tool"), members.get("params")
    if isinstance(tool, str):
        members["tool"] = tool = tools.find(tool) or tool
    # Otherwise parameters may have come under another name.
    is_bare = members.keys() <= {"tool", "params"}
    if params is None and is_bare and tool in tools.names:
        if not tools.get_schema(tool).get("required"):
            members["params"] = {}
    elif isinstance(params, str) and params.lstrip().startswith("{"):
        with suppress(Unreadable):
            members["params"] = find_only_object(params)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
