"""How a model is spoken to: what it is told about its tools, how messages are written to it, how its replies are read.

A protocol decides nothing and remembers nothing; that is the part of `Conversation`, which is the same for all of them.
To make one of your own, write `system_prompt` and `read`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import msgspec

from . import prompts
from .messages import Action, ActionResult, Ask, Error, FinalAnswer, Question, ToModel, UserResponse, to_json
from .prompts import Remark, Unreadable
from .prompts.template import Template

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .model_reply import ModelReply
    from .tool_lookup import Entry, Schema, Tools


Message = dict[str, Any]
"""One message as chat models take it: `role`, `content`, and what calling tools natively adds to them."""


class Reading(msgspec.Struct, frozen=True):
    """A reply that was understood, and what was odd about it."""

    message: Ask | Action | FinalAnswer
    warnings: tuple[Remark, ...] = ()


class Invalid(msgspec.Struct, frozen=True):
    """A reply that has to be written again, and everything that is wrong with it."""

    remarks: tuple[Remark, ...]


class Protocol(ABC):
    """A way to exchange messages with a model, in one *language*: `en` or `zh`.

    *prompt* replaces the system prompt: a text with the slots of this protocol. *instructions* are what the model is
    told besides, for instance for whom it works.
    """

    required_slots: tuple[str, ...] = ()
    optional_slots: tuple[str, ...] = ("instructions",)

    def __init__(self, language: str | None = None, *, prompt: str | None = None, instructions: str = "") -> None:
        self.language = prompts.language(language)
        self.instructions = instructions
        text = prompt if prompt is not None else self.default_prompt()
        self.template = Template(text, required=self.required_slots, optional=self.optional_slots)

    def default_prompt(self) -> str:
        """Return the text of the prompt if the user gives none."""
        return "{{instructions}}"

    @abstractmethod
    def system_prompt(self, tools: Tools) -> str:
        """Return the first message of every request. What changes least stands first in it, for caches."""

    @abstractmethod
    def read(self, reply: ModelReply, tools: Tools) -> Reading | Invalid:
        """Return what the reply means. Never raises, whatever the model wrote."""

    def said(self, reply: ModelReply, reading: Reading | Invalid) -> Message:
        """Return the model's own reply as it is shown to the model later on."""
        return {"role": "assistant", "content": reply.text}

    def told(self, message: ToModel, call_ids: list[str]) -> list[Message]:
        """Return *message* as it is written to the model, whose last reply made native calls with these ids.

        By default words are told as they are; what came of an action is JSON, so that nothing in it can pass for
        anything else.
        """
        match message:
            case ActionResult():
                return [{"role": "tool", "content": to_json(message)}]
            case Question(content=content) | UserResponse(content=content) | Error(msg=content):
                return [{"role": "user", "content": content}]

    def how_to_reply(self) -> str:
        """Return a sentence that ends every complaint about a reply."""
        return ""

    def reply_schema(self, tools: Tools, *, strict: bool = False, final: bool = False) -> Schema | None:
        """Return a JSON Schema of replies, for models that can be held to one; None if they are no JSON.

        *strict* is the form that OpenAI's strict mode takes. With *final* only the final answer is allowed.
        """
        return None

    def offered(self, tools: Tools, *, final: bool = False) -> list[Entry]:
        """Return the tools to be sent along, for models that call them natively."""
        return []


_CUT = {"length": "cut", "content_filter": "filtered"}


def refuse_incomplete(finish_reason: str | None) -> None:
    """Do nothing, unless the model was stopped before its end: then nobody knows what it would have said.

    Raises:
        Unreadable: if it was.
    """
    if finish_reason in _CUT:
        raise Unreadable(_CUT[finish_reason])


def in_role(message: Message, roles: Mapping[str, str]) -> Message:
    """Return the message in the role that *roles* has for its own, unless it answers a native call."""
    if "tool_call_id" in message:
        return message
    return {**message, "role": roles.get(message["role"], message["role"])}


def in_turn(messages: list[Message]) -> list[Message]:
    """Return the messages, those together that follow one another in the same role."""
    made: list[Message] = []
    for message in messages:
        if made and made[-1].keys() == message.keys() == {"role", "content"} and made[-1]["role"] == message["role"]:
            made[-1] = {**message, "content": f"{made[-1]['content']}\n{message['content']}"}
        else:
            made.append(message)
    return made
