"""What a model answered, whichever vendor's wire it came over: text, calls of tools, why it stopped, what it cost.

Adapters of models make these; `Protocol.read` takes them apart. No I/O.
"""

from __future__ import annotations

from typing import Any

import msgspec


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call as a model's own tool calling has it: OpenAI's `tool_calls`, Anthropic's `tool_use`.

    `arguments` stays as it came: text where the wire has text (it may be no JSON; whoever reads the reply judges it and
    asks again), an object where the wire has an object.
    """

    id: str
    name: str
    arguments: str | dict[str, Any]


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one request, or the sum of several.

    `input_tokens` are all that were sent, `cached_tokens` those among them that the vendor had cached;
    `output_tokens` are all that were written, `reasoning_tokens` those among them that were thoughts.
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

    `finish_reason` is in OpenAI's words whatever the vendor's are: `stop`, `length` (cut off by a limit of tokens),
    `tool_calls`, `content_filter` (also a refusal); a word that fits none of them as the vendor wrote it, `None` if it
    gave no reason. `reasoning` holds thoughts that came in a field of their own, which are never part of `text`.
    `usage` is `None` if nothing was said about it. `echo` holds what this vendor wants to see again, unread, in the
    assistant's message of the next request: signed blocks of thought, for instance.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    reasoning: str = ""
    echo: dict[str, Any] = {}
