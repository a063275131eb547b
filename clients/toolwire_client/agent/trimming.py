"""Fewer messages, for a model that cannot take all; what is sent stays an exchange that providers take."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable
from typing import Any

Message = dict[str, Any]
Trim = Callable[[list[Message]], list[Message] | Awaitable[list[Message]]]


async def trimmed(messages: list[Message], trim: Trim) -> list[Message]:
    """Return what *trim* makes of *messages*.

    Raises:
        ValueError: if it left out the last of them, which the model has to reply to, or one half of a tool's call.
    """
    made = trim([dict(message) for message in messages])
    kept = await made if inspect.isawaitable(made) else made
    if not kept or kept[-1].get("content") != messages[-1].get("content"):
        raise ValueError("trim left out the last message, to which the model is to reply")
    calls: set[str] = set()
    for message in kept:
        if "tool_call_id" in message and message["tool_call_id"] not in calls:
            raise ValueError(f"trim left out the call {message['tool_call_id']!r}, but kept what came of it")
        calls = {call["id"] for call in message.get("tool_calls", ())} | (calls if "tool_call_id" in message else set())
    return kept


def keep_last(max_chars: int) -> Trim:
    """Return a `Trim` that keeps the system prompt and, of the rest, as much of its end as has *max_chars* characters.

    What is kept begins with a message of the user, so that no call is cut from its result; the last message is kept in
    any case.
    """

    def trim(messages: list[Message]) -> list[Message]:
        system = [message for message in messages[:1] if message["role"] == "system"]
        rest = messages[len(system) :]
        start, left = len(rest) - 1, max_chars - sum(map(_size, system))
        for place in range(len(rest) - 1, -1, -1):
            left -= _size(rest[place])
            if left < 0 and place < len(rest) - 1:
                break
            if rest[place]["role"] == "user":
                start = place
        while start > 0 and rest[start]["role"] != "user":  # the last message is what came of a call
            start -= 1
        return [*system, *rest[start:]]

    return trim


def _size(message: Message) -> int:
    return len(json.dumps(message, ensure_ascii=False))
