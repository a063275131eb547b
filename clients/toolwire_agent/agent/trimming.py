"""Shortens the messages of a request for models with a short context, without breaking tool calls
apart.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable
from typing import Any

Message = dict[str, Any]
Trim = Callable[[list[Message]], list[Message] | Awaitable[list[Message]]]


async def trim_messages(messages: list[Message], trim: Trim) -> list[Message]:
    """Return *messages* as *trim* shortens them.

    Raises:
        ValueError: if it removed the last message, which needs a reply, or one half of a tool call.
    """
    trimmed = trim([dict(message) for message in messages])
    if inspect.isawaitable(trimmed):
        trimmed = await trimmed
    kept = trimmed
    if not kept or kept[-1].get("content") != messages[-1].get("content"):
        raise ValueError("trim removed the last message, which needs a reply")
    _check_calls(kept)
    return kept


def _check_calls(messages: list[Message]) -> None:
    """Check that each result follows its call, with nothing but other results between."""
    calls: set[str] = set()
    for message in messages:
        call_id = message.get("tool_call_id")
        if call_id is None:
            calls = set()
        elif call_id not in calls:
            raise ValueError(f"trim removed the call {call_id!r}, but kept its result")
        calls.update(call["id"] for call in message.get("tool_calls", ()))


def keep_last(max_chars: int) -> Trim:
    """Return a `Trim` that keeps the system prompt and at most *max_chars* characters from the end.

    The kept part starts with a user message, so that no call is separated from its result. The last
    message is always kept.
    """

    def trim(messages: list[Message]) -> list[Message]:
        system = [message for message in messages[:1] if message["role"] == "system"]
        rest = messages[len(system) :]
        left = max_chars - sum(map(_measure_message, system))
        start = None
        for place, message in reversed(list(enumerate(rest))):
            left -= _measure_message(message)
            if message["role"] != "user":
                continue
            if start is None or left >= 0:
                start = place
        return [*system, *rest[start or 0 :]]

    return trim


def _measure_message(message: Message) -> int:
    return len(json.dumps(message, ensure_ascii=False))
