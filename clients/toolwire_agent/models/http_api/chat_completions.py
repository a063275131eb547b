"""OpenAI's chat completions, and the variants of its imitators. No I/O.

Strategy. Requests are the plainest that all servers take. Replies are read as liberally as servers
are known to write: a missing index or id, arguments as an object, content in parts, thoughts under
three names, an error during a stream, usage in the last piece or in every one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_dialects import openai
from toolwire_schemas.wire import codec

from ...react.messages import ModelReply, ToolCall, Usage
from .reasoning import ReasoningSplitter
from .wire_format import (
    CutOff,
    HttpRequest,
    StreamFailed,
    count_in,
    get_text,
    read_calls,
    read_content,
    read_role,
)

if TYPE_CHECKING:
    from ..model import Message
    from .vendors import Key, Preset

_FINISHED = {"function_call": "tool_calls", "max_tokens": "length", "error": "error"}
# DeepSeek and those who follow it; vLLM and OpenRouter. Both at once are the same text.
_THOUGHTS = ("reasoning_content", "reasoning")


# --- what is sent ---------------------------------------------------------------------------------


def _make_message(message: Message, request: HttpRequest) -> dict[str, Any]:
    role = read_role(message)
    made: dict[str, Any] = {"role": role, "content": read_content(message)}
    if role == "tool":
        made["tool_call_id"] = message["tool_call_id"]
    if role != "assistant":
        return made
    calls = []
    for id, name, arguments in read_calls(message):
        calls.append(_call_entry(id, request.names.theirs.get(name, name), arguments))
    if calls:
        made["tool_calls"] = calls
    return made | (message.get("echo") or {})


def _make_response_format(
    schema: dict[str, Any], form: Preset, messages: list[dict[str, Any]]
) -> dict[str, Any]:
    if form.formats[0] == "json_schema":
        wanted = {"name": "reply", "schema": schema, "strict": _is_strict(schema)}
        return {"response_format": {"type": "json_schema", "json_schema": wanted}}
    # OpenAI, and Qwen even for a schema: "'messages' must contain the word 'json' in some form".
    if form.formats[0] == "json_object" and re.search("json", str(messages), re.IGNORECASE):
        return {"response_format": {"type": "json_object"}}
    return {}


def _is_strict(schema: dict[str, Any]) -> bool:
    from toolwire_dialects.lint.vendors import check_strict

    return not list(check_strict(schema))


# --- what comes -----------------------------------------------------------------------------------


class _Call(msgspec.Struct):
    """A tool call in progress."""

    id: str = ""
    name: str = ""
    arguments: str | dict[str, Any] = ""
    more: dict[str, Any] = {}

    def goes_on(self, delta: dict[str, Any]) -> bool:
        """Whether *delta*, at the same index, belongs to this call. Gemini gives all calls 0,
        others have no ids.
        """
        function = _as_object(delta.get("function"))
        id = get_text(delta.get("id"))
        name = get_text(function.get("name"))
        has_other_id = id and self.id and id != self.id
        has_other_name = name and self.name and name != self.name
        if has_other_id or has_other_name:
            return False
        # Arguments that are an object come whole, so a second one is of another call.
        has_other_arguments = self.arguments and isinstance(function.get("arguments"), dict)
        return bool(id) or not has_other_arguments

    def add(self, delta: dict[str, Any]) -> None:
        function = _as_object(delta.get("function"))
        self.id = self.id or get_text(delta.get("id"))
        self.name = self.name or get_text(function.get("name"))
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            self.arguments = arguments
        elif isinstance(self.arguments, str):
            self.arguments += get_text(arguments)
        for name, value in delta.items():
            if name not in ("id", "index", "type", "function"):
                self.more[name] = value

    def to_echo(self) -> dict[str, Any]:
        """Return the call as the vendor expects it in the next request."""
        arguments = self.arguments
        if not isinstance(arguments, str):
            arguments = codec.encode(arguments).decode()
        return _call_entry(self.id, self.name, arguments) | self.more


class ChatCompletions:
    """The wire format of OpenAI's chat completions. An object assembles one reply, from events or
    one value.

    Raises `StreamFailed` for errors in place of a reply, `ValueError` for violations of the API.
    """

    path = "/chat/completions"
    dialect = "openai"

    def __init__(self, request: HttpRequest, preset: Preset) -> None:
        self.is_complete = False
        self._request = request
        self._echoes = preset.echoes
        self._thoughts = ReasoningSplitter()
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[_Call] = []
        self._at: dict[str, _Call] = {}
        self._echo: dict[str, Any] = {}
        self._finish_reason: str | None = None
        self._usage: Usage | None = None

    @staticmethod
    def make_headers(key: Key | None) -> dict[str, str]:
        if key is None:
            return {}
        return {"authorization": f"Bearer {key.reveal()}"}

    @staticmethod
    def make_body(request: HttpRequest, form: Preset) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": request.model,
            "messages": [_make_message(message, request) for message in request.messages],
        }
        if request.tools:
            body["tools"] = [openai.from_entry(entry) for entry in request.rename_tools()]
            if form.takes_parallel:
                body["parallel_tool_calls"] = False
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.max_tokens is not None:
            body[form.limit] = request.max_tokens
        if request.schema is not None:
            body |= _make_response_format(request.schema, form, body["messages"])
        if request.stream:
            body["stream"] = True
            if form.tells_usage:
                body["stream_options"] = {"include_usage": True}
        return body | request.body

    def read_event(self, data: bytes) -> str:
        if data.strip() in (b"", b"[DONE]"):
            self.is_complete = bool(data.strip())
            return ""
        return self._take(codec.decode(data), "delta")

    def read_whole(self, value: Any) -> str:
        self.is_complete = True
        if isinstance(value, dict) and "error" not in value and not value.get("choices"):
            raise ValueError("it has no choices")
        return self._take(value, "message")

    def reply(self) -> ModelReply:
        if not self.is_complete and self._finish_reason is None:
            raise CutOff
        text, thoughts = self._thoughts.finish()
        finish_reason = self._finish_reason
        refusal = "".join(self._refusal)
        if refusal and not text:
            text, finish_reason = refusal, "content_filter"
        calls = []
        for number, call in enumerate(self._calls, start=1):
            calls.append(self._finish_call(number, call))
        if calls and finish_reason == "stop":  # as several servers say it
            finish_reason = "tool_calls"
        reasoning = ["".join(self._reasoning), thoughts]
        return ModelReply(
            text=text,
            tool_calls=tuple(calls),
            finish_reason=finish_reason,
            usage=self._usage,
            reasoning="\n".join(filter(None, reasoning)),
            echo=self._to_echo() if calls else {},
        )

    def _take(self, value: Any, member: str) -> str:
        if not isinstance(value, dict):
            raise ValueError(f"not an object: {str(value)[:80]}")
        if error := value.get("error"):
            raise StreamFailed(error)
        self._count(value.get("usage"))
        # The last piece may have no choice, or only usage. No request asks for more than one
        # choice.
        choice = next(map(_as_object, _list(value.get("choices"))), {})
        if error := choice.get("error"):
            raise StreamFailed(error)
        self._count(choice.get("usage"))  # Moonshot's place for it
        if reason := choice.get("finish_reason"):
            self._finish_reason = _FINISHED.get(str(reason), str(reason))
        return self._add(_as_object(choice.get(member)), is_whole=member == "message")

    def _add(self, delta: dict[str, Any], *, is_whole: bool) -> str:
        for name in _THOUGHTS:
            if delta.get(name):
                self._reasoning.append(get_text(delta[name]))
                break
        self._refusal.append(get_text(delta.get("refusal")))
        for place, call in enumerate(map(_as_object, _list(delta.get("tool_calls")))):
            index = place if is_whole else call.get("index", 0)
            self._add_call(call, index)
        for name in self._echoes:
            if delta.get(name) is not None:
                self._add_echo(name, delta[name])
        return self._add_content(delta.get("content"))

    def _add_echo(self, name: str, value: Any) -> None:
        before = self._echo.get(name)
        is_piece = type(before) is type(value) and isinstance(value, str | list)
        self._echo[name] = before + value if is_piece else value

    def _add_content(self, content: Any) -> str:
        # Mistral's models that think answer in parts.
        parts = content if isinstance(content, list) else [{"text": content}]
        text = ""
        for part in map(_as_object, parts):
            thinking = part.get("thinking")
            if not isinstance(thinking, list):
                text += self._thoughts.feed(get_text(part.get("text")))
                continue
            for thought in thinking:
                self._reasoning.append(get_text(_as_object(thought).get("text")))
        return text

    def _add_call(self, delta: dict[str, Any], index: Any) -> None:
        call = self._at.get(str(index))
        if call is None or not call.goes_on(delta):
            call = self._at[str(index)] = _Call()
            self._calls.append(call)
        call.add(delta)

    def _count(self, usage: Any) -> None:
        if not isinstance(usage, dict):
            return
        cached_tokens = count_in(usage, "prompt_tokens_details", "cached_tokens")
        if not cached_tokens:  # DeepSeek has its own name for it
            cached_tokens = count_in(usage, "prompt_cache_hit_tokens")
        self._usage = Usage(
            input_tokens=count_in(usage, "prompt_tokens"),
            output_tokens=count_in(usage, "completion_tokens"),
            cached_tokens=cached_tokens,
            reasoning_tokens=count_in(usage, "completion_tokens_details", "reasoning_tokens"),
        )

    def _finish_call(self, number: int, call: _Call) -> ToolCall:
        # Mistral wants nine letters and digits for an id; servers that give none, or one twice,
        # take any.
        is_used = any(call.id == other.id for other in self._calls[: number - 1])
        if is_used or not call.id:
            call.id = f"call{number:05}"
        name = self._request.names.ours.get(call.name, call.name)
        return ToolCall(id=call.id, name=name, arguments=call.arguments)

    def _to_echo(self) -> dict[str, Any]:
        """Return what the vendor expects back, including unknown members of calls (Gemini:
        signatures).
        """
        if not any(call.more for call in self._calls):
            return self._echo
        return {**self._echo, "tool_calls": [call.to_echo() for call in self._calls]}


def _call_entry(id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _as_object(value: Any) -> dict[str, Any]:
    if value is not None and not isinstance(value, dict):
        raise ValueError(f"there is {str(value)[:80]!r} where an object should be")
    return value or {}


def _list(value: Any) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise ValueError(f"there is {str(value)[:80]!r} where a list should be")
    return value or []
