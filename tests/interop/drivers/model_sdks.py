"""What the vendors' own SDKs make of the endpoint at the URL in the first argument, as JSON on
standard output.

Run in the peers' environment `models`. Each reply is asked for at once and as a stream, and told in
the same words.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import anthropic
import openai

TOOL_SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
ASK: Any = [{"role": "user", "content": "Hello?"}]


def main(url: str) -> dict[str, Any]:
    """Ask for everything, in an order that the test knows."""
    ours = openai.OpenAI(base_url=url, api_key="sk-0123456789", max_retries=1)
    theirs = anthropic.Anthropic(
        base_url=url.removesuffix("/v1"), api_key="sk-0123456789", max_retries=1
    )
    return {
        "openai": [openai_whole(ours), openai_stream(ours)],
        "anthropic": [anthropic_whole(theirs), anthropic_stream(theirs)],
        "openai errors": [error(lambda: openai_whole(ours)) for _ in range(3)],
        "anthropic errors": [error(lambda: anthropic_whole(theirs)) for _ in range(3)],
        "openai midway": error(lambda: openai_stream(ours)),
        "anthropic midway": error(lambda: anthropic_stream(theirs)),
        "retried": [openai_whole(ours)["text"], anthropic_whole(theirs)["text"]],
    }


def openai_request() -> dict[str, Any]:
    """A request with a tool in it."""
    tool = {"type": "function", "function": {"name": "add", "parameters": TOOL_SCHEMA}}
    return {"model": "some-model", "messages": ASK, "tools": [tool]}


def openai_whole(client: openai.OpenAI) -> dict[str, Any]:
    """A reply in one piece."""
    completion = client.chat.completions.create(**openai_request())
    (choice,) = completion.choices
    return openai_told(choice.message, choice.finish_reason, completion.usage)


def openai_stream(client: openai.OpenAI) -> dict[str, Any]:
    """A reply in pieces, put together by the SDK's own helper."""
    with client.chat.completions.stream(
        **openai_request(), stream_options={"include_usage": True}
    ) as stream:
        completion = stream.get_final_completion()
    (choice,) = completion.choices
    return openai_told(choice.message, choice.finish_reason, completion.usage)


def openai_told(message: Any, reason: str, usage: Any) -> dict[str, Any]:
    """What there is in a reply."""
    calls = [
        [call.id, call.function.name, json.loads(call.function.arguments)]
        for call in message.tool_calls or ()
    ]
    cached, thought = (
        usage.prompt_tokens_details.cached_tokens,
        usage.completion_tokens_details.reasoning_tokens,
    )
    tokens = [usage.prompt_tokens, usage.completion_tokens, cached, thought]
    return {"text": message.content or "", "calls": calls, "reason": reason, "tokens": tokens}


def anthropic_request() -> dict[str, Any]:
    """A request with a tool in it."""
    tool = {"name": "add", "input_schema": TOOL_SCHEMA}
    return {"model": "some-model", "messages": ASK, "max_tokens": 100, "tools": [tool]}


def anthropic_whole(client: anthropic.Anthropic) -> dict[str, Any]:
    """A reply in one piece."""
    return anthropic_told(client.messages.create(**anthropic_request()))


def anthropic_stream(client: anthropic.Anthropic) -> dict[str, Any]:
    """A reply in pieces, put together by the SDK's own helper."""
    with client.messages.stream(**anthropic_request()) as stream:
        return anthropic_told(stream.get_final_message())


def anthropic_told(message: Any) -> dict[str, Any]:
    """What there is in a reply."""
    usage = message.usage
    cached = usage.cache_read_input_tokens
    thought = usage.output_tokens_details.thinking_tokens
    return {
        "text": "".join(block.text for block in message.content if block.type == "text"),
        "thoughts": [
            [block.thinking, block.signature]
            for block in message.content
            if block.type == "thinking"
        ],
        "calls": [
            [block.id, block.name, block.input]
            for block in message.content
            if block.type == "tool_use"
        ],
        "reason": message.stop_reason,
        "tokens": [usage.input_tokens + cached, usage.output_tokens, cached, thought],
    }


def error(ask: Callable[[], object]) -> list[Any]:
    """The class of the error that asking leads to, and the body of the answer that it is about."""
    try:
        ask()
    except (openai.APIError, anthropic.APIError) as caught:
        return [type(caught).__name__, caught.body]
    return ["no error"]


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
