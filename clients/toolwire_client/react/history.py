"""Messages as providers take them: in roles of their own, and in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .prompt_protocol import Message


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
