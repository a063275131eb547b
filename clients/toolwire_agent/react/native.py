"""Native tool calls: a model's calls come as `ModelReply.tool_calls`, next to its text.

Strategy. Messages have the form of OpenAI's chat completions, which nearly every server takes and
adapters for others translate. Calls return to the history in a form that every server accepts, even
if the model's own was invalid.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from toolwire_dialects.name_mapping import Names

from .messages import Action, Ask, FinalAnswer, Question, ToModel
from .prompt_protocol import InvalidReply, Message, Protocol, ValidReply, refuse_incomplete
from .prompts import Unreadable
from .replies.answer_reader import AnswerReader
from .replies.reply_parser import check_sendable, find_only_object

if TYPE_CHECKING:
    from .messages import ModelReply, ToolCall
    from .tool_lookup import Entry, Tools

_ASK = "ask_user"
_MAX_CALLS = 32
"""Calls in one reply. A model that makes more repeats itself."""
_UNREADABLE_CHARS = 500
"""Characters of unreadable arguments, perhaps cut off by a limit of tokens, as the model sees them
later.
"""


class NativeProtocol(Protocol):
    """Native tool calls; a reply without one is the final answer.

    With *can_ask* the model is offered an additional tool that asks the user. The slot of *prompt*
    is `{{instructions}}`.
    """

    def __init__(
        self,
        language: str | None = None,
        *,
        can_ask: bool = True,
        prompt: str | None = None,
        instructions: str = "",
    ) -> None:
        super().__init__(language, prompt=prompt, instructions=instructions)
        self.can_ask = can_ask

    @property
    def default_prompt(self) -> str:
        return self.language.native

    def format_system_prompt(self, tools: Tools) -> str:
        return self.template.fill(instructions=self.instructions)

    def list_native_tools(self, tools: Tools, *, final: bool = False) -> list[Entry]:
        if final:
            return []
        names = Names(tools.names, "openai")
        native = [{**entry, "name": names.theirs[entry["name"]]} for entry in tools.entries]
        if self.can_ask:
            native.append(self._ask_tool(names))
        return native

    def read(self, reply: ModelReply, tools: Tools) -> ValidReply | InvalidReply:
        try:
            refuse_incomplete(reply.finish_reason)
            first, *others = self._read_messages(reply, tools)
            # A question to the user comes alone.
            more = [message for message in others if isinstance(message, Action)]
            return ValidReply(first, more=tuple(more))
        except Unreadable as error:
            return InvalidReply((error.remark,))

    def format_reply(self, reply: ModelReply, reading: ValidReply | InvalidReply) -> Message:
        message: Message = {"role": "assistant", "content": reply.text}
        calls = [_encode_call(call, place) for place, call in enumerate(reply.tool_calls)]
        if calls:
            message["tool_calls"] = calls
        if reply.echo:
            message["echo"] = reply.echo
        return message

    def format_message(self, message: ToModel, call_ids: list[str]) -> list[Message]:
        (formatted,) = super().format_message(message, call_ids)
        if call_ids and not isinstance(message, Question):
            return [{**formatted, "role": "tool", "tool_call_id": id} for id in call_ids]
        return [{**formatted, "role": "user"}]

    def describe_reply_format(self, tools: Tools, *, final: bool = False) -> str:
        if final or (call := tools.sample()) is None:
            return ""
        name, params = call
        tool = Names(tools.names, "openai").theirs[name]
        return self.language.say(
            "format_native", tool=tool, params=json.dumps(params, ensure_ascii=False)
        )

    def create_answer_reader(self) -> AnswerReader:
        return AnswerReader()

    def _read_messages(self, reply: ModelReply, tools: Tools) -> list[Ask | Action | FinalAnswer]:
        if not reply.tool_calls:
            if not reply.text.strip():
                raise Unreadable("empty")
            return [FinalAnswer(reply.reasoning, True, reply.text)]
        thought = reply.text or reply.reasoning
        messages: list[Ask | Action | FinalAnswer] = []
        for call in reply.tool_calls:
            messages.append(self._read_call(call, thought, tools))
            thought = ""
        count = len(messages)
        has_question = any(isinstance(message, Ask) for message in messages)
        if count > _MAX_CALLS or (count > 1 and has_question):
            raise Unreadable("several_calls", count=count)
        return messages

    def _read_call(self, call: ToolCall, thought: str, tools: Tools) -> Ask | Action:
        params = _read_arguments(call)
        names = Names(tools.names, "openai")
        if self.can_ask and call.name == self._ask_tool(names)["name"]:
            content = params.get("content")
            if not isinstance(content, str) or not content.strip():
                raise Unreadable("missing", member="content")
            return Ask(thought, content)
        return Action(thought, names.ours.get(call.name, call.name), params)

    def _ask_tool(self, names: Names) -> Entry:
        name = _ASK
        while name in names.ours:
            name += "_"
        content = {"type": "string", "description": self.language.say("ask_content")}
        schema = {"type": "object", "properties": {"content": content}, "required": ["content"]}
        return {"name": name, "description": self.language.say("ask_tool"), "inputSchema": schema}


def _read_arguments(call: ToolCall) -> dict[str, Any]:
    """Return the arguments as an object. Empty text, which some servers send, means no
    arguments.
    """
    if isinstance(call.arguments, dict):
        return check_sendable(call.arguments)
    if call.arguments.strip():
        return find_only_object(call.arguments)
    return {}


def _encode_call(call: ToolCall, place: int) -> dict[str, Any]:
    """Return the call as the model sees it later."""
    try:
        arguments = _read_arguments(call)
    except Unreadable:
        arguments = {"unreadable": str(call.arguments)[:_UNREADABLE_CHARS]}
    function = {
        "name": Names([call.name], "openai").theirs[call.name],
        "arguments": json.dumps(arguments, ensure_ascii=False),
    }
    return {"id": call.id or f"call_{place}", "type": "function", "function": function}
