"""The base of protocols: how tools are described to a model, messages written to it, and its
replies read.

A protocol decides and remembers nothing; `Conversation` does that for all of them. A custom
protocol needs `format_system_prompt` and `read`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import msgspec

from . import prompts
from .messages import (
    Action,
    ActionResult,
    Ask,
    Error,
    FinalAnswer,
    Question,
    ToModel,
    UserResponse,
    to_json,
)
from .prompts import Remark, Template, Unreadable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .messages import ModelReply
    from .replies.answer_reader import AnswerReader
    from .tool_lookup import Entry, Schema, Tools


Message = dict[str, Any]
"""A message as chat models take it: `role`, `content`, and members for native tool calls."""


class ValidReply(msgspec.Struct, frozen=True):
    """A valid reply, and warnings about it. `more` are actions to do after the first one."""

    message: Ask | Action | FinalAnswer
    warnings: tuple[Remark, ...] = ()
    more: tuple[Action, ...] = ()


class InvalidReply(msgspec.Struct, frozen=True):
    """An invalid reply, and everything that is wrong with it."""

    remarks: tuple[Remark, ...]


class Protocol(ABC):
    """A way to exchange messages with a model, in one *language*: `en` or `zh`.

    *prompt* replaces the system prompt: a text with this protocol's slots. *instructions* are added
    to it.
    """

    required_slots: tuple[str, ...] = ()
    optional_slots: tuple[str, ...] = ("instructions",)

    def __init__(
        self, language: str | None = None, *, prompt: str | None = None, instructions: str = ""
    ) -> None:
        self.language = prompts.load_language(language)
        self.instructions = instructions
        text = prompt if prompt is not None else self.default_prompt
        self.template = Template(text, required=self.required_slots, optional=self.optional_slots)

    @property
    def default_prompt(self) -> str:
        """Return the default system prompt."""
        return "{{instructions}}"

    @abstractmethod
    def format_system_prompt(self, tools: Tools) -> str:
        """Return the first message of every request. Stable parts come first, for caches."""

    @abstractmethod
    def read(self, reply: ModelReply, tools: Tools) -> ValidReply | InvalidReply:
        """Return the meaning of the reply. Never raises, whatever the model wrote."""

    def format_reply(self, reply: ModelReply, reading: ValidReply | InvalidReply) -> Message:
        """Return the model's reply as the model sees it later."""
        return {"role": "assistant", "content": reply.text}

    def format_message(self, message: ToModel, call_ids: list[str]) -> list[Message]:
        """Return *message* for the model, whose last reply made native calls with these ids.

        By default text stays as it is; the result of an action is JSON, so that nothing in it can
        pass for another message.
        """
        match message:
            case ActionResult():
                return [{"role": "tool", "content": to_json(message)}]
            case Question(content=content) | UserResponse(content=content) | Error(msg=content):
                return [{"role": "user", "content": content}]

    def describe_reply_format(self, tools: Tools, *, final: bool = False) -> str:
        """Return the end of every error about a reply: a filled-in sample. With *final*, of the
        final answer.
        """
        return ""

    def list_examples(self, tools: Tools) -> list[Message]:
        """Return examples of exchanges: messages between the system prompt and the conversation."""
        return []

    def build_reply_schema(
        self,
        tools: Tools,
        *,
        strict: bool = False,
        final: bool = False,
        result: Schema | None = None,
    ) -> Schema | None:
        """Return a JSON Schema of replies, for constrained decoding; None if replies are not JSON.

        *strict* is the form for OpenAI's strict mode. With *final* only the final answer is
        allowed. *result* is the schema of an answer that is not text.
        """
        return None

    def narrow_schema(self, schema: Schema, tools: Tools, history: list[Message]) -> Schema:
        """Return *schema*, from `build_reply_schema`, for the reply to *history*, in which
        nothing is changed.
        """
        return schema

    def list_native_tools(self, tools: Tools, *, final: bool = False) -> list[Entry]:
        """Return the tools for native tool calling."""
        return []

    def create_answer_reader(self) -> AnswerReader | None:
        """Return what reads the final answer of a reply that still arrives; None if only a whole
        reply shows it.
        """
        return None


_CUT = {"length": "cut", "content_filter": "filtered"}


def refuse_incomplete(finish_reason: str | None) -> None:
    """Check that the model was not stopped before the end of its reply.

    Raises:
        Unreadable: if it was.
    """
    if finish_reason in _CUT:
        raise Unreadable(_CUT[finish_reason])


def rename_role(message: Message, roles: Mapping[str, str]) -> Message:
    """Return the message with its role renamed by *roles*, unless it answers a native call."""
    if "tool_call_id" in message:
        return message
    return {**message, "role": roles.get(message["role"], message["role"])}


def merge_turns(messages: list[Message]) -> list[Message]:
    """Return the messages, with adjacent ones of the same role merged."""
    made: list[Message] = []
    for message in messages:
        if (
            made
            and made[-1].keys() == message.keys() == {"role", "content"}
            and made[-1]["role"] == message["role"]
        ):
            made[-1] = {**message, "content": f"{made[-1]['content']}\n{message['content']}"}
        else:
            made.append(message)
    return made
