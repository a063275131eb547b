"""The structured protocol: every message, in both directions, is one JSON object with a `type`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from toolwire_schemas.dialects import python_stub as python
from toolwire_schemas.did_you_mean import closest_first
from toolwire_schemas.json_schema.error_text import shown

from .messages import FROM_MODEL, Action, Ask, FinalAnswer, ResultKey, ToModel, to_json
from .prompt_protocol import Invalid, Message, Protocol, Reading, refuse_incomplete
from .prompts import Remark, Unreadable, remark
from .reply_parser import only_object
from .reply_schema import reply_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from .messages import ModelReply
    from .tool_lookup import Entry, Schema, Tools


class StructuredProtocol(Protocol):
    """Messages of seven types: QUESTION, ACTION_RESULT, USER_RESPONSE, ERROR; ASK, ACTION and FINAL_ANSWER.

    *result_key* names the flag of `ACTION_RESULT`. *describe* writes the tools into the prompt, by default as Python
    stubs. The slots of *prompt* are `{{tools}}` (required), `{{tool_names}}`, `{{result_key}}` and `{{instructions}}`.
    """

    required_slots = ("tools",)
    optional_slots = ("tool_names", "result_key", "instructions")

    def __init__(
        self,
        language: str | None = None,
        *,
        result_key: ResultKey = "success",
        prompt: str | None = None,
        instructions: str = "",
        describe: Callable[[list[Entry]], str] = python.from_entries,
    ) -> None:
        super().__init__(language, prompt=prompt, instructions=instructions)
        self.result_key = result_key
        self.describe = describe

    def default_prompt(self) -> str:
        return self.language.structured

    def system_prompt(self, tools: Tools) -> str:
        nothing = self.language.say("nothing")
        return self.template.filled(
            tools=self.describe(list(tools.entries)) or nothing,
            tool_names=", ".join(tools.names) or nothing,
            result_key="success" if self.result_key == "both" else self.result_key,
            instructions=self.instructions,
        )

    def read(self, reply: ModelReply, tools: Tools) -> Reading | Invalid:
        try:
            refuse_incomplete(reply.finish_reason)
            members = only_object(reply.text)
        except Unreadable as error:
            return Invalid((error.remark,))
        if members.keys() == {"reply"} and isinstance(members["reply"], dict):  # the form for OpenAI's strict mode
            members = members["reply"]
        return _Members(members).reading(tools)

    def said(self, reply: ModelReply, reading: Reading | Invalid) -> Message:
        """Return a valid reply in its canonical form, an invalid one unchanged, so that the model can correct it."""
        content = to_json(reading.message) if isinstance(reading, Reading) else reply.text
        return {"role": "assistant", "content": content}

    def told(self, message: ToModel, call_ids: list[str]) -> list[Message]:
        return [{"role": "user", "content": to_json(message, self.result_key)}]

    def how_to_reply(self) -> str:
        return self.language.say("format_structured")

    def reply_schema(self, tools: Tools, *, strict: bool = False, final: bool = False) -> Schema:
        return reply_schema(tools, strict=strict, final=final)


_ANSWERS = (str, int, float, list, dict)
"""Types of a final answer; null is not one."""


class _Members:
    """Takes the members of a reply one by one and collects faults."""

    def __init__(self, members: dict[str, Any]) -> None:
        self._left = dict(members)
        self._wrong: list[Remark] = []
        self._odd: list[Remark] = []

    def reading(self, tools: Tools) -> Reading | Invalid:
        message = self._message(tools)
        strange = ", ".join(f"`{name}`" for name in self._left)
        if message is None or self._wrong:
            more = (remark("strange", members=strange),) if message and strange else ()
            return Invalid((*self._wrong, *more))
        more = (remark("strange_members", members=strange),) if strange else ()
        return Reading(message, (*self._odd, *more))

    def _message(self, tools: Tools) -> Ask | Action | FinalAnswer | None:
        thought = self._thought()
        match kind := self._left.pop("type", None):
            case "ASK":
                return Ask(thought, self._words("content"))
            case "ACTION":
                tool = self._words("tool")
                tool = tools.find(tool) or tool
                return Action(thought, tool, self._params(tools, tool))
            case "FINAL_ANSWER":
                return FinalAnswer(thought, self._flag("ok"), self._result())
        allowed = ", ".join(closest_first(str(kind).upper(), FROM_MODEL))
        self._wrong.append(remark("type", given=shown(kind), allowed=allowed))
        return None

    def _thought(self) -> str:
        """Return the thought, or a substitute: it has no effect, so it is no reason to ask again."""
        thought = self._left.pop("thought", None)
        if thought is None:
            self._odd.append(remark("no_thought"))
            return ""
        if not isinstance(thought, str):
            self._odd.append(remark("odd_thought"))
        return _text(thought)

    def _words(self, name: str) -> str:
        value = self._take(name, str, "string")
        if value is not None and not value.strip():
            self._wrong.append(remark("blank", member=name))
        return value or ""

    def _flag(self, name: str) -> bool:
        return self._take(name, bool, "boolean") is True

    def _result(self) -> str:
        result = self._take("result", _ANSWERS, "string")
        if not isinstance(result, str):
            self._odd.append(remark("odd_result"))
        return _text(result)

    def _params(self, tools: Tools, tool: str) -> dict[str, Any]:
        given = self._left.get("params")
        if given is None and self._may_lack_params(tools, tool):
            self._left.pop("params", None)
            return {}
        if isinstance(given, str):
            self._left["params"] = _decoded(given)
        return self._take("params", dict, "object") or {}

    def _may_lack_params(self, tools: Tools, tool: str) -> bool:
        """Whether the tool needs no parameters and none came under another name."""
        is_known = tool in tools.names
        return is_known and not tools.needs_params(tool) and not (self._left.keys() - {"params"})

    def _take(self, name: str, kind: type | tuple[type, ...], wanted: str) -> Any:
        """Return the member if it is of this *kind*; else None, and note the fault."""
        if name not in self._left:
            self._wrong.append(remark("missing", member=name))
            return None
        value = self._left.pop(name)
        if isinstance(value, kind):
            return value
        self._wrong.append(remark("wrong_type", member=name, wanted=wanted, given=shown(value)))
        return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _decoded(text: str) -> Any:
    """Return the object in the JSON *text*, if there is one: some models send parameters as text."""
    try:
        return only_object(text) if text.lstrip().startswith("{") else text
    except Unreadable:
        return text
