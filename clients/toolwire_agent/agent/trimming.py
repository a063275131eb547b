"""Shortens the messages of a request for models with a short context, without breaking tool calls
apart.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable
from itertools import accumulate
from typing import Any

Message = dict[str, Any]
Trim = Callable[[list[Message]], list[Message] | Awaitable[list[Message]]]


async def trim_messages(messages: list[Message], trim: Trim) -> list[Message]:
    """Return *messages* as *trim* shortens them.

    Raises:
        ValueError: if it removed the last message, which needs a reply, or one half of a tool call.
    """
    made = trim([dict(message) for message in messages])
    kept = await made if inspect.isawaitable(made) else made
    if not kept or kept[-1].get("content") != messages[-1].get("content"):
        raise ValueError("trim removed the last message, which needs a reply")
    calls: set[str] = set()
    for message in kept:
        if "tool_call_id" in message and message["tool_call_id"] not in calls:
            raise ValueError(
                f"trim removed the call {message['tool_call_id']!r}, but kept its result"
            )
        calls = {call["id"] for call in message.get("tool_calls", ())} | (
            calls if "tool_call_id" in message else set()
        )
    return kept


def keep_last(max_chars: int) -> Trim:
    """Return a `Trim` that keeps the system prompt and at most *max_chars* characters from the end.

    The kept part starts with a user message, so that no call is separated from its result. The last
    message is always kept.
    """

    def trim(messages: list[Message]) -> list[Message]:
        system = [message for message in messages[:1] if message["role"] == "system"]
        rest = messages[len(system) :]
        left = max_chars - sum(map(_size, system))
        sizes = list(accumulate(map(_size, reversed(rest))))[::-1]  # from each message to the last
        starts = [place for place, message in enumerate(rest) if message["role"] == "user"]
        start = next(
            (place for place in starts if sizes[place] <= left), starts[-1] if starts else 0
        )
        return [*system, *rest[start:]]

    return trim


def _size(message: Message) -> int:
    return len(json.dumps(message, ensure_ascii=False))
