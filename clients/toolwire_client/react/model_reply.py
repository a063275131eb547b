"""A model's reply, independent of the vendor: text, tool calls, finish reason and usage. No I/O."""

from __future__ import annotations

from typing import Any

import msgspec


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """One native tool call: OpenAI's `tool_calls`, Anthropic's `tool_use`.

    `arguments` stay as received: text where the wire has text, which may be invalid JSON, or an object.
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
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


class ModelReply(msgspec.Struct, frozen=True, kw_only=True):
    """One reply of a model.

    `finish_reason` uses OpenAI's words for all vendors: `stop`, `length` (cut off by a token limit), `tool_calls`,
    `content_filter` (also a refusal); another reason as the vendor wrote it, or `None`. `reasoning` holds thoughts from
    a separate field, which are never part of `text`. `usage` is `None` if not reported. `echo` must be sent back
    unchanged in the assistant's message of the next request: signed thoughts, for instance.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    reasoning: str = ""
    echo: dict[str, Any] = {}
